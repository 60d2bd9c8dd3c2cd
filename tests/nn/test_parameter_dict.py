"""ParameterDict has the methods of a dictionary."""

from __future__ import annotations

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
