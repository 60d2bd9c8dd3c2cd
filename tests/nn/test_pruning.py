"""Pruning: mistakes."""

from __future__ import annotations

import pytest

from leafgrad import nn
from leafgrad.nn.utils import prune


def test_pruning_a_dimension_that_is_not_there() -> None:
    with pytest.raises(IndexError, match=r"Invalid index 5 for tensor of size torch.Size\(\[2, 2\]\)"):
        prune.ln_structured(nn.Linear(2, 2), "weight", 1, 2, 5)
