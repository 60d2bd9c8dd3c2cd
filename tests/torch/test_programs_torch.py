"""The programs of tests/programs/ under the installed PyTorch and under leafgrad, side by side."""

from __future__ import annotations

import pytest
import torch  # noqa: F401  (the comparison means nothing without it)

import program_runs
import seed_blocks


@pytest.mark.parametrize("name", program_runs.NAMES)
def test_same_as_torch(name: str) -> None:
    expected = program_runs.with_torch(name)
    seed_blocks.assert_same_output(program_runs.with_leafgrad(name), expected)
    # the values stored for the tests without PyTorch are those of this PyTorch
    seed_blocks.assert_same_output(program_runs.stored()[name], expected)
