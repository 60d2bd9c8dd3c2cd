"""What is stored of PyTorch's messages about wrong arguments is what it says."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from argument_cases import CASES, first_line


@pytest.mark.parametrize("expression", CASES)
def test_message(expression: str) -> None:
    assert first_line(expression, torch, np) == CASES[expression]
