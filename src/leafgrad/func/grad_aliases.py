"""Aliases of the arguments of a function, to differentiate it at: nobody outside of the transform can see them.

An argument that needs no gradient gets a leaf of its own; one that does (another transform or the user differentiates
by it as well) gets an alias that is recorded, so that derivatives of the derivative find their way. What leaves a
transform must not require grad on account of these aliases alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leafgrad._core.bind import bind
from leafgrad._core.reachable import reach
from leafgrad._core.recorder import edge, settle
from leafgrad._core.tensor import RareFields, TensorBase, wrap
from leafgrad._core.thread_state import state
from leafgrad.func import trees
from leafgrad.ops.shape.views import view


class Aliases:
    """The aliases of the arguments of one transform. `recorded`: is recording on outside of it? `leaves` are those that
    nobody outside differentiates by."""

    def __init__(self, recorded: bool | None = None, leaves: set[Any] | None = None) -> None:
        self.recorded = bool(state.recording) if recorded is None else recorded
        self.leaves = set() if leaves is None else leaves

    def of(self, t: Any) -> Any:
        """An alias of `t` to differentiate at."""
        if not isinstance(t, TensorBase):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(t)}")
        if t.array.dtype.kind in "biu":
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if t.rare is not None:
            settle(t)
        if t.needs_grad and self.recorded:
            alias = bind(view.core, (t,), (t.array.shape,))
        else:
            alias = same_value(t)
            alias.needs_grad = True
            self.leaves.add(alias)
        alias.version = t.version
        return alias

    def lead_elsewhere(self, tensors: Sequence[Any]) -> bool:
        """Do these tensors depend on something else that wants a gradient, or on a history that was cut off?"""
        if not self.recorded:
            return False
        places = [(edge(t), t) for t in tensors if isinstance(t, TensorBase)]  # views first learn what their base is
        nodes, leaves = reach([place for place, t in places if t.needs_grad])
        if any([leaf not in self.leaves for leaf in leaves]):
            return True
        # a view of a tensor that was detached has a node, by which one can differentiate, and nothing behind it
        return any([all([source is None for source in node.inputs]) for node in nodes.values()])

    def released(self, t: Any) -> Any:
        """A result as it is outside of the transform."""
        if not isinstance(t, TensorBase) or not t.needs_grad:
            return t
        if self.lead_elsewhere([t]):
            return t
        return same_value(t)

    def released_all(self, value: Any) -> Any:
        return trees.mapped(self.released, value)


def same_value(t: Any) -> Any:
    """A tensor on the same memory, without a history; what travels along in forward mode still does."""
    same = wrap(t.array)
    same.version = t.version
    if t.rare is not None and t.rare.tangents is not None:
        same.rare = RareFields()
        same.rare.tangents = t.rare.tangents
    return same
