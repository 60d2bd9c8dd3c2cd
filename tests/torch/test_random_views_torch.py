"""Random programs of views and changes in place show the same with leafgrad as with the installed PyTorch."""

from __future__ import annotations

import pytest
import torch

import leafgrad
from random_views import close, program, run


@pytest.mark.parametrize("start", range(0, 200, 20))
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_both_show_the_same(start: int, constant: bool) -> None:
    for seed in range(start, start + 20):
        steps = program(seed)
        expected, shown = [run(module, steps, constant) for module in (torch, leafgrad)]
        assert close(expected, shown), f"program {seed}: {steps}"
