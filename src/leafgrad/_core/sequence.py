"""Sequence numbers that users have set: in which order a backward pass takes the nodes that are ready.

The engine takes nodes in the order in which they were recorded, the latest first, and so every node after all that lead
to it. Numbers set by hand need not be such an order. So a pass that may meet some counts, as PyTorch's does, what each
node still waits for, and numbers the nodes accordingly for as long as it lasts.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from leafgrad._core.node import Node, Output


def sequence_number(node: Node) -> int:
    """The number that was set, or that of the recording."""
    if node.hooks is not None and node.hooks.sequence is not None:
        return int(node.hooks.sequence)
    return -node.order // 2  # every second number is left free, see node.py


def put_in_sequence(nodes: Iterable[Node]) -> list[tuple[Node, int]]:
    """Give the nodes of a pass the order in which they will run: each when nothing leads to it any more, of those that
    are ready the one with the highest number first. Returns what they had."""
    before = [(node, node.order) for node in nodes]
    missing: dict[Node, int] = {node: 0 for node, _ in before}
    for node, _ in before:
        for source in node.inputs:
            if isinstance(source, Node):
                missing[source] += 1
    ready = [entry(node) for node, count in missing.items() if count == 0]
    heapify(ready)
    free = sorted([order for _, order in before])
    for order in free:
        node = heappop(ready)[2]
        for source in node.inputs:
            if isinstance(source, Node):
                missing[source] -= 1
                if missing[source] == 0:
                    heappush(ready, entry(source))
        node.order = order
    return before


def entry(node: Node) -> tuple[int, int, Node]:
    """One result of several only passes its gradient on, so it never waits."""
    return (0 if isinstance(node, Output) else 1, -sequence_number(node), node)
