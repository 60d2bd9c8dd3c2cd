"""The graph: what is remembered of a computation so that it can be differentiated later.

Every recorded operation leaves one `Node`. A node knows, for each input of its operation, where that input came
from (another node, or a leaf tensor, or nothing that wants a gradient) and holds the values its gradient rule will
ask for. That is all. Nodes point backward only, from results to inputs, so a graph dies with the last tensor that
needs it, by reference counting alone.

    x ──┐
        ├─▶ x*w ──▶ +b ──▶ loss            the forward computation, left to right
    w ──┘
    leaf x ◀── Node(mul) ◀── Node(add)     what is recorded, and the way a gradient travels

The numbers that `take_order` hands out only ever go down. A node is always recorded after the nodes it points to, so
"smallest number first" is an order in which every node comes before everything it depends on: the engine needs no
other preparation. They are even; the odd ones are for nodes that are put before another one afterwards
(leafgrad/autograd/grown_nodes.py).
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

UNCHANGING: Final[tuple[Any, ...]] = ([0], 0)  # the version of what a node saved for itself alone

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
    """Which places the saved values of a node came from."""
    mask = 0
    for i, source in enumerate(node.inputs):
        if source is not None:
            mask |= 1 << i
    return node.op.plan(mask)


class Freed:
    """Stands where the saved values of a node were, after a backward pass has used them: which call, and when."""

    __slots__ = ("code", "lasti", "order")

    def __init__(self, code: Any, lasti: int) -> None:
        self.code = code
        self.lasti = lasti
        self.order: int = take_order()


class Output(Node):
    """One result of an operation with several: it collects that result's gradient on behalf of `parent`."""

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
