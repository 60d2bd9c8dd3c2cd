"""The semantics of autograd, compared with the installed PyTorch: the same small program run with both modules.

A scenario takes the module and returns what can be seen: values, flags, names, the type and the first sentence of
exceptions, the category and the first sentence of warnings. Both modules must show the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import leafgrad

Scenario = Callable[[Any], Any]
SCENARIOS: dict[str, Scenario] = {}


def scenario(function: Scenario) -> Scenario:
    assert function.__name__ not in SCENARIOS
    SCENARIOS[function.__name__] = function
    return function


def first_sentence(text: str) -> str:
    return text.split("\n")[0].split(". ")[0].rstrip(".")


def plain(value: Any) -> Any:
    """What is compared: tensors as lists, everything else as it is."""
    if hasattr(value, "detach"):
        return (tuple(value.shape), np.round(value.detach().numpy().astype(complex), 5).tolist(), value.requires_grad)
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


def attempt(function: Callable[[], Any]) -> Any:
    """The result, or the exception as text."""
    try:
        return plain(function())
    except Exception as error:
        return f"{type(error).__name__}: {first_sentence(str(error))}"


def observe(function: Scenario, module: Any) -> Any:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        seen = attempt(lambda: function(module))
    return seen, [(w.category.__name__, first_sentence(str(w.message))) for w in caught]


def graph_of(node: Any, depth: int = 6) -> Any:
    """A graph as nested lists of names and result numbers."""
    if node is None or depth == 0:
        return None
    return [node.name(), [(graph_of(next_node, depth - 1), number) for next_node, number in node.next_functions]]


@pytest.mark.parametrize("name", sorted(SCENARIOS) or ["none"])
def test_placeholder(name: str) -> None:
    assert name
