"""Calls that PyTorch refuses are refused in its words."""

from __future__ import annotations

import pytest

import leafgrad
from refused_calls import calls, said, stored


@pytest.mark.parametrize("call", calls())
def test_the_words_are_pytorchs(call: str) -> None:
    known = stored()
    assert call in known, "run tests/data/make_refused_calls.py, with PyTorch installed"
    assert said(leafgrad, call) == known[call]


def test_nothing_else_is_stored() -> None:
    assert list(stored()) == calls() and "nothing" not in stored().values()
