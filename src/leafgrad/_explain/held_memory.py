"""Which memory a graph keeps: what its nodes have saved, each buffer once, and who keeps the graph itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from leafgrad._core.function import CallNode
from leafgrad._core.node import Freed, Node, Output
from leafgrad._core.reachable import reach
from leafgrad._core.recorder import edge
from leafgrad._core.tensor import TensorBase
from leafgrad._explain.names import named_values
from leafgrad.errors.naming import is_tensor

MOST_HOLDERS = 20


class Saved(NamedTuple):
    """A buffer that a node has saved first, and that no tensor of the user's shares."""

    node: Node
    nbytes: int


def owner(array: Any) -> Any:
    """The array whose memory this one shows."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def freed_at(node: Node) -> Freed | None:
    """The backward pass that freed what a node had saved."""
    if isinstance(node, CallNode):
        return node.context._record.freed
    return node.saved if isinstance(node.saved, Freed) else None


def nodes_behind(roots: Iterable[Any]) -> list[Node]:
    """The nodes of a graph, in the order of recording; an operation with several results is one node."""
    return in_order(reach([edge(root) for root in roots])[0])


def in_order(found: dict[int, Node]) -> list[Node]:
    return [node for _, node in sorted(found.items(), reverse=True) if not isinstance(node, Output)]


def arrays_of(node: Node) -> Iterator[Any]:
    """The arrays that a node holds for its rule, also those that hooks or a Function of the user's keep for it."""
    values: list[Any] = [] if isinstance(node.saved, Freed) else list(node.saved)
    if node.hooks is not None:
        values += [packed.form for packed in node.hooks.packed.values()]
    if isinstance(node, CallNode):
        for one in node.context._record.saved:
            values += [one.array, one.leaf, None if one.packed is None else one.packed.form]
        values += list(vars(node.context).values())
    for value in values:
        if isinstance(value, TensorBase):
            value = value.array
        if isinstance(value, np.ndarray):
            yield value


def saved_memory(nodes: Sequence[Node], not_counted: Iterable[Any]) -> tuple[list[Saved], int]:
    """What the nodes have saved, each buffer once, with the first node that did; and how many bytes of it are the
    memory of the tensors `not_counted`, which exist anyway."""
    theirs = {id(owner(t.array)) for t in not_counted}
    seen: set[int] = set()
    found: list[Saved] = []
    shared = 0
    for node in nodes:
        for array in arrays_of(node):
            block = owner(array)
            if id(block) in seen:
                continue
            seen.add(id(block))
            if id(block) in theirs:
                shared += block.nbytes
            elif block.ndim:  # no single numbers, as the 2 in x * 2
                found.append(Saved(node, int(block.nbytes)))
    return found, shared


def named_tensors() -> Iterator[tuple[str, Any]]:
    """The tensors of the program, under every name that leads to one."""
    return ((name, value) for name, value in named_values() if is_tensor(value))


def holders(nodes: Iterable[Node]) -> list[tuple[str, Any]]:
    """The names in the program, and the tensors under them, that keep one of these nodes alive."""
    ids = {id(node) for node in nodes}

    def among(t: Any) -> bool:
        return t is not None and id(t.node.parent if isinstance(t.node, Output) else t.node) in ids

    found: dict[str, Any] = {}
    for name, t in named_tensors():
        if among(t):
            found.setdefault(name, t)
        if among(t._grad):
            found.setdefault(f"{name}.grad", t._grad)
    return list(found.items())[:MOST_HOLDERS]
