"""Random programs (tests/support/fuzz.py) show what they show with PyTorch, whose logs are stored."""

from __future__ import annotations

import pytest

import differences_examples
import fuzz
import leafgrad

LOGS = fuzz.stored()


@pytest.mark.parametrize("seed", fuzz.STORED_SEEDS)
def test_a_random_program(seed: int) -> None:
    found = fuzz.difference(fuzz.Program(leafgrad, seed).run(), LOGS[seed])
    assert found == "" or fuzz.explanation(found), f"{found}\npython tools/fuzz.py --show {seed}"


def test_explanations_are_rows_of_the_page() -> None:
    known = {row[0] for row in differences_examples.rows()}
    assert {row for *_, row in fuzz.EXPLAINED} <= known


def test_an_error_of_leafgrad_is_explained_by_no_other_error() -> None:
    assert (
        fuzz.explanation("step 3, end: TypeError: cannot unpack, not RuntimeError: Trying to use a saved tensor") == ""
    )
    assert fuzz.explanation("step 3, end: values 1, not 2") == ""


def test_a_difference_is_found() -> None:
    first = fuzz.STORED_SEEDS[0]
    assert fuzz.difference(LOGS[first], fuzz.stored()[first]) == ""
    other = fuzz.stored()[first]
    seen = next(each for entry in other for each in entry.seen if isinstance(each, fuzz.Seen) and each.values.size)
    seen.values.reshape(-1)[0] += 1
    assert "values" in fuzz.difference(other, LOGS[first])
