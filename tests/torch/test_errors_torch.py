"""The same wrong calls with an installed PyTorch: type and first sentence are the same, and the stored ones are up to
date."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import error_cases
import leafgrad
import leafgrad.nn
import leafgrad.optim

STORED = error_cases.stored()


@pytest.mark.parametrize("name", error_cases.CASES)
def test_the_error_is_torchs(name: str, tmp_path: Path) -> None:
    one = error_cases.CASES[name]
    theirs = error_cases.run(one, torch, tmp_path)
    ours = error_cases.run(one, leafgrad, tmp_path)
    assert (ours.kind, ours.first_line) == (theirs.kind, theirs.first_line)
    assert (STORED[name].kind, STORED[name].first_line) == (theirs.kind, theirs.first_line)
