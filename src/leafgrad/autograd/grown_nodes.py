"""Transpositions that PyTorch records and leafgrad does not: they become nodes when a hook is registered with one.

`linear` is one node, which users see as AddmmBackward0(bias, input, TBackward0(weight)). The gradient of the weight is
that of its transpose, transposed: so a node that passes it on can be put between `linear` and the weight at any time,
and its hooks are shown what TBackward0 would show them.
"""

from __future__ import annotations

from typing import Any

from leafgrad._core.node import Node
from leafgrad._core.op import GradientRules, Op
from leafgrad.autograd.composition import Part
from leafgrad.autograd.hooks import Hooks, of_node

PASSING = Op("t", "TBackward0", lambda x: x, GradientRules(lambda g, saved, inputs: (g,), lambda mask: ()))


class TransposedHooks(Hooks):
    """The hooks of such a node: the gradient that it is given is transposed for them."""

    def __init__(self, operation: str) -> None:
        super().__init__()
        self.operation = operation  # which PyTorch has several nodes for

    def about_to_run(self, place: Any, g: Any, create_graph: bool) -> Any:
        return transposed(super().about_to_run(place, transposed(g), create_graph)) if self.before else g

    def ran(self, node: Node, results: Any, g: Any, saved: Any, late: bool = False) -> Any:
        return super().ran(node, results, transposed(g), saved, late)


def transposed(g: Any) -> Any:
    return None if g is None else g.T


def is_grown(place: Any) -> bool:
    return isinstance(place, Node) and isinstance(place.hooks, TransposedHooks)


def grown(owner: Node, part: Part) -> Node:
    """The node that a part of another one is from now on."""
    number: int = part.sources[0][0]
    source: Any = owner.inputs[number]
    if is_grown(source):
        return source  # type: ignore[no-any-return]
    form = source if isinstance(source, Node) else source.array
    node = Node()
    node.fill(PASSING, (source,), (), None, form.shape, form.dtype, owner.code, owner.lasti)
    node.order = owner.order + 1  # recorded just before: `take_order` leaves these numbers free
    node.hooks = TransposedHooks(owner.op.name)
    node.hooks.metadata = of_node(owner).inner_metadata.setdefault(part, {})
    owner.inputs = (*owner.inputs[:number], node, *owner.inputs[number + 1 :])
    return node
