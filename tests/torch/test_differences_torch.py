"""docs/differences.md is true: what it says of PyTorch."""

from __future__ import annotations

import pytest
import torch

from differences_examples import Example, examples, outcome

PYTORCH = 1


@pytest.mark.parametrize("example", examples(PYTORCH), ids=lambda example: example.row)
@pytest.mark.filterwarnings("ignore")
def test_what_pytorch_does(example: Example) -> None:
    assert outcome(torch, example.code) == example.result
