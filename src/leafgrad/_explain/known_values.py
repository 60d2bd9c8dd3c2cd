"""The values of the forward pass, as far as a graph knows them: what its nodes have saved, and what follows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from leafgrad._core.bind import execute
from leafgrad._core.node import Freed, Node, Output, plan_of
from leafgrad._core.op import OPTION, OUT
from leafgrad._core.tensor import wrap
from leafgrad.errors.naming import quietly
from leafgrad.ops.registry import registry

UNKNOWN: Any = object()
DEEPEST = 100  # operations that are computed again, one from the other


class Values:
    """`of(place)`: the value of a leaf, of a node's result or of one of several, or None if it cannot be known.

    Whoever has seen the operations run says more: `calls` are their inputs and options, `saved` what was saved, which
    the nodes themselves no longer have when a backward pass frees them.
    """

    def __init__(self, nodes: Iterable[Node] = ()) -> None:
        self.known: dict[Any, Any] = {}
        self.calls: dict[Node, tuple[Sequence[Any], tuple[Any, ...]]] = {}
        self.saved: dict[Node, Sequence[Any]] = {}
        for node in nodes:
            self.look_at(node)

    def look_at(self, node: Node) -> None:
        """Remember the values that a node has saved, its own result and those of others."""
        for place, value in self.saved_places(node):
            if isinstance(value, np.ndarray) and place < OPTION:
                if 0 <= place < len(node.inputs) and isinstance(node.inputs[place], Node):
                    self.known.setdefault(node.inputs[place], value)
                elif place == OUT and not is_several(node):
                    self.known.setdefault(node, value)

    def saved_places(self, node: Node) -> list[tuple[int, Any]]:
        """What a node has saved: the places that the values came from, and the values."""
        saved: Any = self.saved.get(node, node.saved)
        if isinstance(saved, Freed) or node.op.name not in registry:
            return []
        return list(zip(plan_of(node), saved, strict=False))

    def of(self, place: Any, depth: int = 0) -> Any:
        if place is None:
            return None
        if not isinstance(place, Node):
            return place.array
        if place not in self.known:
            self.known[place] = None
            if not isinstance(place, Output) and not is_several(place) and depth < DEEPEST:
                self.known[place] = self.computed(place, depth)
        return self.known[place]

    def inputs_of(self, node: Node, depth: int = 0) -> list[Any]:
        """The values of the inputs of an operation; None for those that are not known."""
        if node in self.calls:
            return [value if isinstance(value, np.ndarray) else None for value in self.calls[node][0]]
        saved = dict(self.saved_places(node))
        return [
            value if isinstance(value := saved.get(i), np.ndarray) else self.of(source, depth + 1)
            for i, source in enumerate(node.inputs)
        ]

    def options_of(self, node: Node) -> list[Any]:
        """The options of an operation; UNKNOWN for those that are not known."""
        if node in self.calls:
            return list(self.calls[node][1])
        options = [UNKNOWN] * len(registry[node.op.name].options)
        for place, value in self.saved_places(node):
            if OPTION <= place < OPTION + len(options):  # behind them comes what the kernel has found
                options[place - OPTION] = value
        return options

    @quietly
    def computed(self, node: Node, depth: int) -> Any:
        """The result of an operation, from its inputs, if these and its options are known."""
        operation = registry.get(node.op.name)
        if operation is None or operation.module.startswith("leafgrad.ops.random") or operation.finds:
            return None
        options = self.options_of(node)
        arrays = self.inputs_of(node, depth)
        if any([value is None for value in arrays]):
            return None
        if any([value is UNKNOWN for value in options]):
            # to a single number a linear function of one input leads in one way only: the sum or mean of all elements
            if operation.jvp != "linear" or node.shape != () or len(arrays) != 1:
                return None
            return operation.function(wrap(arrays[0])).array
        out = np.asarray(execute(node.op, arrays, tuple(options)))
        return out if out.shape == node.shape else None


def is_several(node: Node) -> bool:
    return bool(node.shape) and isinstance(node.shape[0], tuple)


def is_finite(array: Any) -> bool:
    """Is there neither nan nor inf in it? What is no array (of numbers, or at all) has none."""
    if not isinstance(array, np.ndarray | np.generic) or array.dtype.kind not in "fcV":
        return True
    return bool(np.isfinite(array).all())


def first_bad(arrays: Sequence[Any]) -> int | None:
    """The first array that holds nan or inf."""
    return next((i for i, array in enumerate(arrays) if array is not None and not is_finite(array)), None)


def public_name(node: Node) -> str:
    """What users call an operation: div, pow, where."""
    operation = registry.get(node.op.name)
    return node.op.name if operation is None else operation.aten_function
