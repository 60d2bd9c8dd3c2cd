"""The code blocks of the four documents under the installed PyTorch and under leafgrad, side by side."""

from __future__ import annotations

import pytest
import torch  # noqa: F401  (the comparison means nothing without it)

import seed_blocks


@pytest.mark.parametrize("name", seed_blocks.NAMES)
def test_same_as_torch(name: str) -> None:
    expected, outcome = seed_blocks.run_with_torch(name), seed_blocks.run_with_leafgrad(name)
    seed_blocks.assert_same_output(outcome.stdout, expected.stdout)
    assert outcome.error == expected.error
    assert outcome.first_line == expected.first_line

    # The values stored for the tests without PyTorch are those of this PyTorch.
    kept = seed_blocks.stored()[name]
    seed_blocks.assert_same_output(kept.stdout, expected.stdout)
    assert (kept.error, kept.first_line) == (expected.error, expected.first_line)
