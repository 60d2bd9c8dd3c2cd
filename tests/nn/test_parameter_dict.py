"""ParameterDict has the methods of a dictionary."""

from __future__ import annotations

from collections import OrderedDict

import pytest

import leafgrad as torch
from leafgrad import nn


def made(**values: float) -> nn.ParameterDict:
    return nn.ParameterDict({name: torch.tensor(value) for name, value in values.items()})


def test_methods_of_a_dictionary() -> None:
    d = made(a=1.0, b=2.0)
    assert d.setdefault("a", torch.zeros(1)).item() == 1.0
    assert d.setdefault("c", torch.tensor(3.0)).item() == 3.0 and isinstance(d["c"], nn.Parameter)
    assert list(reversed(d)) == ["c", "b", "a"]
    name, value = d.popitem()
    assert (name, value.item(), list(d)) == ("c", 3.0, ["a", "b"])
    copied = d.copy()
    assert type(copied) is nn.ParameterDict and copied["a"] is d["a"]
    assert list(d.fromkeys(["p", "q"], 1).items()) == [("p", 1), ("q", 1)]
    d.clear()
    assert len(d) == 0 and list(d.parameters()) == [] and list(copied) == ["a", "b"]


def test_unions() -> None:
    d, e = made(a=1.0, b=2.0), made(b=3.0, c=4.0)
    joined = d | e
    assert [(name, value.item()) for name, value in joined.items()] == [("a", 1.0), ("b", 3.0), ("c", 4.0)]
    assert d["b"].item() == 2.0
    d |= e
    assert d["b"].item() == 3.0 and list(d) == ["a", "b", "c"]


def test_plain_dictionaries_are_taken_in_the_order_of_their_names() -> None:
    values = {"b": torch.ones(1), "a": torch.zeros(1)}
    assert list(nn.ParameterDict(values)) == ["a", "b"]  # and so are parameters() and state_dict()
    assert list(nn.ParameterDict(OrderedDict(values))) == list(nn.ParameterDict(values.items())) == ["b", "a"]
    assert list(nn.ParameterDict(nn.ParameterDict(values.items()))) == ["b", "a"]


def test_containers_of_long_ago() -> None:
    with pytest.warns(FutureWarning, match=r"`nn.Container` is deprecated"):
        container = nn.Container(a=nn.Linear(1, 2), b=None)
    assert container.a.out_features == 2 and container.b is None
