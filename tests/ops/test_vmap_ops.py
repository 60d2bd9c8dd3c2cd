"""Every operation under vmap gives what a loop over the samples gives, and so do its gradients."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from leafgrad.func.batching_rules import KINDS
from leafgrad.ops.registry import registry
from op_checks import Entry, entries
from vmap_checks import check, check_nested, check_tangents, samples_of

ops = pytest.mark.parametrize("entry", [e for e in entries() if "vmap" not in e.exempt], ids=lambda entry: entry.name)
pytestmark = [
    pytest.mark.filterwarnings("ignore:There is a performance drop"),
    pytest.mark.filterwarnings("ignore:Casting complex values to real"),
]


@ops
def test_values(entry: Entry) -> None:
    wrong = [what for same in samples_of(entry) for what in check(same, gradients=False)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@ops
def test_gradients(entry: Entry) -> None:
    wrong = [what for same in samples_of(entry) for what in check(same, gradients=True)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@ops
def test_tangents(entry: Entry) -> None:
    wrong = [what for same in samples_of(entry) for what in check_tangents(same)]
    assert not wrong, "\n".join(wrong)


@ops
def test_values_in_a_map_in_a_map(entry: Entry) -> None:
    wrong = [what for same in samples_of(entry) for what in check_nested(same)]
    assert not wrong, "\n".join(wrong)


def vmap_of(entry: Entry) -> Any:
    return registry[entry.name].core.vmap[0] if entry.name in registry else None


def test_kinds_of_rules_exist() -> None:
    assert all([callable(vmap_of(e)) or vmap_of(e) in KINDS for e in entries() if e.name in registry])


@pytest.mark.parametrize(
    "entry", [e for e in entries() if vmap_of(e) in ("elementwise", "dims")], ids=lambda entry: entry.name
)
def test_all_samples_at_once(entry: Entry) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="There is a performance drop")
        for same in samples_of(entry):
            check(same, gradients=False)


@pytest.mark.parametrize("entry", [e for e in entries() if "vmap" in e.exempt], ids=lambda entry: entry.name)
def test_refusals(entry: Entry) -> None:
    with pytest.raises(RuntimeError, match=entry.exempt["vmap"]):
        for same in samples_of(entry):
            check(same, gradients=False)
