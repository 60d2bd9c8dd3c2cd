"""What is stored of PyTorch's refusals is what the installed PyTorch says."""

from __future__ import annotations

import pytest
import torch

from refused_calls import said, stored


@pytest.mark.parametrize("call", stored())
def test_stored_words(call: str) -> None:
    assert said(torch, call) == stored()[call]
