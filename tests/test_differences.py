"""docs/differences.md is true: what it says of leafgrad. What it says of PyTorch is looked at in tests/torch."""

from __future__ import annotations

import pytest

import leafgrad
from differences_examples import Example, examples, outcome, rows

LEAFGRAD = 2


def test_every_row_has_four_cells() -> None:
    assert [row for row in rows() if len(row) != 4 or not row[0] or not row[2]] == []
    assert len({row[0] for row in rows()}) == len(rows()) and len(examples(LEAFGRAD)) > 10


@pytest.mark.parametrize("example", examples(LEAFGRAD), ids=lambda example: example.row)
def test_what_leafgrad_does(example: Example) -> None:
    assert outcome(leafgrad, example.code) == example.result
