"""Small programs run with PyTorch and with leafgrad, which must show the same.

A scenario takes the module and returns what can be seen: values, flags, names, the type and first sentence of errors.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

Scenario = Callable[[Any], Any]


def collection() -> tuple[dict[str, Scenario], Callable[[Scenario], Scenario]]:
    """A dictionary for the scenarios of a file, and the decorator that puts them there."""
    found: dict[str, Scenario] = {}

    def scenario(function: Scenario) -> Scenario:
        found[function.__name__] = function
        return function

    return found, scenario


def leaf(T: Any, values: Any) -> Any:
    """A tensor that requires grad."""
    return T.tensor(values, requires_grad=True)


def make(
    T: Any, forward: Callable[..., Any], backward: Callable[..., Any] | None = None, named: str = "My", **more: Any
) -> Any:
    """A Function with these methods; values that are no functions are attributes of its class."""
    members: dict[str, Any] = {"forward": staticmethod(forward)}
    if backward is not None:
        members["backward"] = staticmethod(backward)
    members.update({name: staticmethod(value) if callable(value) else value for name, value in more.items()})
    base = T.autograd.Function
    return type(base)(named, (base,), members)


def first_sentence(text: str) -> str:
    return text.split("\n")[0].split(". ")[0].rstrip(".")


def plain(value: Any) -> Any:
    """What is compared: a tensor as shape, values (to five digits) and requires_grad, everything else as it is."""
    if hasattr(value, "detach"):
        values = np.round(value.detach().numpy().astype(complex), 5) + 0
        return tuple(value.shape), values.tolist(), value.requires_grad
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


def attempt(function: Callable[..., Any], *args: Any) -> Any:
    """The result, or the error as text."""
    try:
        return plain(function(*args))
    except Exception as error:
        return f"{type(error).__name__}: {first_sentence(str(error))}"


def observe(scenario: Scenario, module: Any) -> Any:
    """What a scenario shows, and the warnings it gave."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        seen = attempt(scenario, module)
    return seen, [(w.category.__name__, first_sentence(str(w.message))) for w in caught]


def graph_of(node: Any, depth: int = 6) -> Any:
    """A graph as nested lists of names and result numbers."""
    if node is None or depth == 0:
        return None
    return [node.name(), [(graph_of(source, depth - 1), number) for source, number in node.next_functions]]
