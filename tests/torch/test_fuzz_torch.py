"""Random programs (tests/support/fuzz.py) with PyTorch beside; tools/fuzz.py runs many more of them."""

from __future__ import annotations

import pytest
import torch

import fuzz
import leafgrad


@pytest.mark.parametrize("block", range(10))
def test_random_programs(block: int) -> None:
    for seed in range(100_000 + 30 * block, 100_000 + 30 * (block + 1)):
        found = fuzz.compared(leafgrad, torch, seed)
        assert found == "" or fuzz.explanation(found), f"{found}\npython tools/fuzz.py --show {seed}"


def test_stored_logs_are_what_pytorch_shows() -> None:
    for seed, log in fuzz.stored().items():
        assert fuzz.difference(fuzz.Program(torch, seed).run(), log) == "", "run python tests/data/make_fuzz.py"
