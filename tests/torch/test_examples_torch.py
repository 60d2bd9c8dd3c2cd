"""The examples under the installed PyTorch and under leafgrad, side by side."""

from __future__ import annotations

import pytest
import torch  # noqa: F401  (the comparison means nothing without it)

import example_runs
import seed_blocks


@pytest.mark.parametrize("name", example_runs.NAMES)
def test_same_as_torch(name: str) -> None:
    expected = example_runs.run("-c", example_runs.source_for_torch(name))
    seed_blocks.assert_same_output(example_runs.run(str(example_runs.EXAMPLES / f"{name}.py")), expected)
    # the values stored for the tests without PyTorch are those of this PyTorch
    seed_blocks.assert_same_output(example_runs.stored()[name], expected)


@pytest.mark.parametrize("name", example_runs.NAMES)
def test_only_the_imports_differ(name: str) -> None:
    mine = (example_runs.EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines()
    theirs = example_runs.source_for_torch(name).splitlines()
    changed = [a for a, b in zip(mine, theirs, strict=True) if a != b]
    assert changed and all(line.startswith(("import leafgrad", "from leafgrad")) for line in changed)
