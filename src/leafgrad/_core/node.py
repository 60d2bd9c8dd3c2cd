"""The graph: what is remembered of a computation so that it can be differentiated later.

Every recorded operation leaves one `Node`. A node has an edge for each input of its operation (to another node, to a
leaf tensor, or None if that input needs no gradient) and holds the values that its gradient rule needs. Nodes point
backward only, from results to inputs, so a graph has no reference cycles and is freed with the last tensor that refers
to it.

    x ──┐
        ├─▶ x*w ──▶ +b ──▶ loss            the forward computation, left to right
    w ──┘
    leaf x ◀── Node(mul) ◀── Node(add)     what is recorded; gradients go along these edges

The numbers that `take_order` returns go down. A node is recorded after the nodes that it points to, so "smallest number
first" is a topological order, and the engine needs no dependency counts. The numbers are even; odd ones are for nodes
that are inserted before another one later (leafgrad/autograd/grown_nodes.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Final

from leafgrad._build import mypyc_attr
from leafgrad._core.op import Op

Array = Any  # an np.ndarray, or a NumPy scalar where the gradient has no dimensions
Edge = Any  # Node | leaf tensor | None
Version = list[Any]  # [changes so far, (code object, offset) of the last one or None]; shared by all views of a memory

UNCHANGING: Final[tuple[Any, ...]] = ([0], 0)  # the version of saved values that no tensor shares, so none can change

take_order: Final[Callable[[], int]] = itertools.count(0, -2).__next__


@mypyc_attr(allow_interpreted_subclasses=True)
class Node:
    """One recorded operation. Shown to users as `tensor.grad_fn`."""

    __slots__ = ("code", "dtype", "hooks", "inputs", "lasti", "op", "order", "saved", "shape", "versions")

    op: Op
    inputs: tuple[Edge, ...]
    saved: tuple[Any, ...] | Freed
    # (version, count at saving time) for each saved tensor, flat; None if the rule needs no tensor at all, in which
    # case the node survives any number of backward passes
    versions: tuple[Any, ...] | None
    order: int
    shape: tuple[int, ...]  # of the result: the engine brings gradients back to it
    dtype: Any
    code: Any  # where the user's program recorded it: a code object and an offset, no frame kept alive
    lasti: int
    hooks: Any  # a leafgrad.autograd.hooks.Hooks, once somebody registers one

    def fill(
        self,
        op: Op,
        inputs: tuple[Edge, ...],
        saved: tuple[Any, ...],
        versions: tuple[Any, ...] | None,
        shape: tuple[int, ...],
        dtype: Any,
        code: Any,
        lasti: int,
    ) -> Node:
        """Set all fields. Not `__init__`, because the executor's short cut for two operands sets them one by one."""
        self.op = op
        self.inputs = inputs
        self.saved = saved
        self.versions = versions
        self.order = take_order()
        self.shape = shape
        self.dtype = dtype
        self.code = code
        self.lasti = lasti
        self.hooks = None
        return self


def plan_of(node: Node) -> tuple[int, ...]:
    """Where the saved values of a node came from: see the places in op.py."""
    mask = 0
    for i, source in enumerate(node.inputs):
        if source is not None:
            mask |= 1 << i
    return node.op.plan(mask)


class Freed:
    """Replaces the saved values of a node after a backward pass has used them: its line, and when it ran."""

    __slots__ = ("code", "lasti", "order")

    def __init__(self, code: Any, lasti: int) -> None:
        self.code = code
        self.lasti = lasti
        self.order: int = take_order()


class Output(Node):
    """One result of an operation with several: it collects that result's gradient and hands it to the node `parent`."""

    __slots__ = ("index", "parent")

    parent: Node
    index: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Output) and self.parent is other.parent and self.index == other.index

    def __hash__(self) -> int:
        return hash((self.parent, self.index))


def output_of(parent: Node, index: int, shape: tuple[int, ...], dtype: Any) -> Output:
    """The node of result `index` of an operation."""
    node = Output()
    node.fill(parent.op, (parent,), (), None, shape, dtype, parent.code, parent.lasti)
    node.parent = parent
    node.index = index
    return node
