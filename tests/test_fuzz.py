"""Random programs (tests/support/fuzz.py) show what they show with PyTorch, whose logs are stored."""

from __future__ import annotations

import pytest

import differences_examples
import fuzz
import leafgrad

LOGS = fuzz.stored()


@pytest.mark.parametrize("seed", fuzz.STORED_SEEDS)
def test_a_random_program(seed: int) -> None:
    found = fuzz.compared_with(leafgrad, seed, LOGS[seed])
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


@pytest.mark.parametrize("seed", [0, 1, 3, 4, 5, 6])
def test_last_bits_explain_no_larger_difference(seed: int) -> None:
    reach = fuzz.reach_of_last_bits(leafgrad, seed)
    ours, other = [fuzz.Program(leafgrad, seed).run() for _ in range(2)]
    assert fuzz.difference(ours, other) == ""
    seen = [each for entry in other for each in entry.seen if isinstance(each, fuzz.Seen)]
    given = next(each for each in seen if each.values.size and each.values.dtype.kind in "fc")
    given.values = given.values + 0.5
    assert "values" in fuzz.difference(ours, other, reach)
