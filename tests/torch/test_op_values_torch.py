"""The stored values of operations are those that the installed PyTorch computes."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from added_op import example
from op_checks import Entry, entries
from op_values import HINT, KINDS, LEAFGRAD, ORDERS, Values, compare, computed, samples_of, stored

DATA = Path(__file__).parent.parent / "data"
script = runpy.run_path(str(DATA / "make_op_values.py"))
values_of: Callable[[Entry], dict[str, list[Values | None]]] = script["values_of"]
NONE = (None, None, None)


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_stored_values_are_up_to_date(entry: Entry) -> None:
    for dtype, current in values_of(entry).items():
        samples, known = samples_of(entry, dtype), stored(entry.name, dtype)
        assert len(known) == len(samples), HINT
        for case, now, then in zip(samples, current, known, strict=True):
            for kind, part, expected in zip(KINDS, now or NONE, then or NONE, strict=True):
                assert (part is None) == (expected is None), f"{kind} of {case}: {HINT}"
                if expected is not None:
                    compare(case, dtype, kind, part, expected)


def test_values_of_an_op_that_is_added() -> None:
    """The op that CONTRIBUTING.md adds: the script finds its values, and leafgrad computes them."""
    with example() as lean:
        found = values_of(lean)
        assert None not in found["float64"] and set(found["int64"]) == {None}  # which PyTorch refuses
        for dtype in ("float64", "float32"):
            for case, expected in zip(samples_of(lean, dtype), found[dtype], strict=True):
                assert expected is not None
                for kind, ours, theirs in zip(KINDS, computed(LEAFGRAD, case, ORDERS[dtype]), expected, strict=True):
                    if theirs is not None:
                        compare(case, dtype, kind, ours, theirs)
