"""Dictionaries whose keys are tensors that nobody else holds alive."""

from __future__ import annotations

import copy
import gc

import pytest

import leafgrad as torch
from leafgrad.utils.weak import TensorWeakRef, WeakIdKeyDictionary, WeakIdRef, WeakTensorKeyDictionary


def test_entries_go_with_their_keys() -> None:
    first, second = torch.ones(2), torch.ones(2)
    known = WeakTensorKeyDictionary({first: 1})
    known[second] = 2
    assert (known[first], known[second], len(known)) == (1, 2, 2)
    assert list(known) == [first, second] or [key is first or key is second for key in known] == [True, True]
    assert second in known
    assert torch.ones(2) not in known
    assert 3 not in known
    del second
    gc.collect()
    assert list(known.values()) == [1]
    assert len(known.keyrefs()) == 1


def test_keys_are_told_apart_by_identity() -> None:
    a, b = torch.zeros(2), torch.zeros(2)
    assert WeakIdRef(a) == WeakIdRef(a)
    assert WeakIdRef(a) != WeakIdRef(b)
    assert hash(WeakIdRef(a)) == hash(WeakIdRef(a))
    gone = WeakIdRef(torch.ones(1))
    gc.collect()
    assert gone() is None
    assert gone != WeakIdRef(a)


def test_as_other_dictionaries() -> None:
    a, b = torch.zeros(2), torch.zeros(2)
    known = WeakIdKeyDictionary({a: 1})
    assert known.get(b) is None
    assert known.get(b, 3) == 3
    assert known.setdefault(b, 2) == 2
    assert known == {a: 1, b: 2} == known.copy()
    assert copy.deepcopy(known) == known
    assert known | {a: 5} == {a: 5, b: 2}
    assert {a: 5} | known == {a: 1, b: 2}
    known |= {b: 7}
    assert known.pop(b) == 7
    with pytest.raises(KeyError):
        known.pop(b)
    with pytest.raises(KeyError):
        known[b]
    del known[a]
    with pytest.raises(KeyError):
        known.popitem()


def test_a_reference_to_a_tensor() -> None:
    x = torch.ones(2)
    reference = TensorWeakRef(x)
    assert reference() is x
    del x
    gc.collect()
    assert reference() is None
