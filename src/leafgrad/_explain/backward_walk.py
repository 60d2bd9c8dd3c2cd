"""A backward pass that only looks: it touches no `.grad`, frees nothing and calls no hook of the user's.

The engine's own passes call hooks and gradients that are retained, which a report must not do. This is the chain rule
once more, without speed and special cases; whoever wants to see the gradients on the way gives a `visit`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Any

from leafgrad._core.node import Freed, Node, Output
from leafgrad._core.recorder import edge
from leafgrad._core.special import missing, rule_of
from leafgrad._core.tensor import TensorBase
from leafgrad._core.thread_state import state
from leafgrad._core.unbroadcast import unbroadcast
from leafgrad._explain.held_memory import freed_at, nodes_behind
from leafgrad.autograd.public_nodes import check_usable

Visit = Callable[[Node, Any, Sequence[Any]], bool | None]  # node, its gradient, what its rule returned; True: stop


def freed_behind(root: Any) -> Freed | None:
    """What a backward pass left in the graph of a tensor when it freed it; the latest, if there were several."""
    found = [freed for node in nodes_behind([root]) if (freed := freed_at(node)) is not None]
    return min(found, key=lambda freed: freed.order, default=None)  # these numbers go down


def pull_back(root: Any, g: Any, visit: Visit | None = None) -> dict[Any, Any]:
    """The gradient `g` of a tensor, an array, sent backward: what arrives at each leaf."""
    before = bool(state.recording)
    state.record(False)
    try:
        return _walk(edge(root), g, visit)
    finally:
        state.record(before)


def _walk(start: Any, g: Any, visit: Visit | None) -> dict[Any, Any]:
    waiting: dict[Any, Any] = {}
    heap: list[tuple[int, Node]] = []
    _send(waiting, heap, start, g)
    while heap:
        _, node = heappop(heap)
        g = waiting.pop(node)
        if isinstance(node, Output):
            _collect(waiting, heap, node, g)
            continue
        results = rule(node, g)
        if visit is not None and visit(node, g, results):
            break
        for target, r in zip(node.inputs, results, strict=False):
            if target is not None and r is not None:
                _send(waiting, heap, target, r.array if isinstance(r, TensorBase) else r)
    return {place: g for place, g in waiting.items() if not isinstance(place, Node)}


def rule(node: Node, g: Any) -> Sequence[Any]:
    """What the rule of a node makes of a gradient."""
    check_usable(node)
    saved = node.saved if node.hooks is None else node.hooks.unpacked(node, node.saved)
    if g is None:
        g = missing(node)
    return (None,) * len(node.inputs) if g is None else rule_of(node, g, saved, node.inputs)


def _send(waiting: dict[Any, Any], heap: list[tuple[int, Node]], target: Any, r: Any) -> None:
    if isinstance(target, Node):
        r = unbroadcast(r, target.shape, target.dtype)
        if target not in waiting:
            heappush(heap, (target.order, target))
    else:
        r = unbroadcast(r, target.array.shape, target.array.dtype)
    waiting[target] = waiting[target] + r if target in waiting else r


def _collect(waiting: dict[Any, Any], heap: list[tuple[int, Node]], node: Output, g: Any) -> None:
    """The gradient of one result of several takes its place among those of the operation."""
    parent = node.parent
    if parent not in waiting:
        heappush(heap, (parent.order, parent))
        waiting[parent] = [None] * len(parent.shape)
    sofar = waiting[parent][node.index]
    waiting[parent][node.index] = g if sofar is None else sofar + g
