"""Every public form of every operation asks every argument that is, or holds, a tensor whether it takes the call over
by `__torch_function__`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import leafgrad as lg
from leafgrad._core.overrides import name_of
from leafgrad._tensor.install import methods_of
from op_checks import Entry, cases, entries, is_public


class Duck:
    """It takes every call over, and says which call that was."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return "taken over", name_of(func)


def not_taken_over(call: Callable[..., Any], name: str, entry: Entry, of_tensor: bool = False) -> list[Any]:
    """The samples in which a tensor, exchanged for somebody who takes calls over, did not, or not by this name. The
    tensor of a method is not exchanged."""
    missed: list[Any] = []
    for case in cases(entry)[:4]:
        for at in range(of_tensor, len(case.tensors)):
            tensors = [Duck() if i == at else t for i, t in enumerate(case.tensors)]
            try:
                seen = case.call(tensors, call)
            except Exception as error:
                seen = repr(error)
            if seen != ("taken over", name):
                missed.append((case.index, at, seen))
    return missed


def method_called(name: str) -> Callable[..., Any]:
    """A method, as it is called on a tensor."""
    return lambda self, *args, **kwargs: getattr(self, name)(*args, **kwargs)


public = pytest.mark.parametrize("entry", [e for e in entries() if is_public(e)], ids=lambda entry: entry.name)


@public
def test_functions_ask(entry: Entry) -> None:
    for name in (entry.public_name, *entry.aliases):
        if hasattr(lg, name) and not entry.method_only:
            assert not_taken_over(getattr(lg, name), f"torch.{name}", entry) == []


@public
def test_methods_ask(entry: Entry) -> None:
    if entry.method is not True or entry.name == "pow":  # its arguments come in another order, or a number comes first
        return
    for name, method in methods_of(entry).items():
        if callable(method) and name[0] != "_":
            assert not_taken_over(method_called(name), f"torch.Tensor.{name}", entry, True) == []
