"""Which part of a graph lies behind some results, and which part of that leads to the tensors that are asked for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from leafgrad._core.node import Edge, Node, Output


def reach(roots: Sequence[Edge]) -> tuple[dict[int, Node], dict[Any, int]]:
    """Everything behind `roots`: the nodes by their order, and for each leaf how many edges lead to it."""
    nodes: dict[int, Node] = {}
    leaves: dict[Any, int] = {}
    stack = [root for root in roots if root is not None]
    while stack:
        place = stack.pop()
        if not isinstance(place, Node):
            leaves[place] = leaves.get(place, 0) + 1
        elif place.order not in nodes:
            nodes[place.order] = place
            stack.extend([i for i in place.inputs if i is not None])
    return nodes, leaves


def paths_to(roots: Sequence[Edge], targets: set[Any], targets_run: bool) -> tuple[dict[Any, bool], bool]:
    """The part of the graph that leads from `roots` to `targets`: place -> must its rule run? A pass to one result of
    an operation goes to the operation, by way of its other results as well. Second: is that the whole graph, and are
    the targets its leaves?"""
    nodes: dict[int, Node] = {}
    wanted: dict[Any, bool] = {}
    stack: list[Any] = list(roots)
    everything = True  # does every way that goes on end at a target?
    while stack:
        place = stack.pop()
        if isinstance(place, Node):
            if place.order not in nodes:
                nodes[place.order] = place
                goes_on = False
                for i in place.inputs:
                    if i is not None:
                        stack.append(i)
                        goes_on = True
                everything = everything and goes_on
        elif place is None:
            continue
        elif place in targets:
            wanted[place] = False
        else:
            everything = False
    if everything and len(wanted) == len(targets):  # which are leaves, and all there are: no node need be judged
        for node in nodes.values():
            wanted[node] = True
        return wanted, True
    among = {*targets, *[target.parent for target in targets if isinstance(target, Output)]}
    for number in sorted(nodes, reverse=True):  # first recorded, first judged: inputs before results
        node = nodes[number]
        leads_on = False
        for i in node.inputs:
            if i is not None and i in wanted:
                leads_on = True
                break
        if leads_on:
            wanted[node] = True
        elif node in among:
            wanted[node] = targets_run
    start = roots[0] if len(roots) == 1 else None
    if isinstance(start, Node) and start not in wanted:
        wanted[start] = False  # as in PyTorch, a pass to elsewhere calls hooks where it begins
        if isinstance(start, Output):
            wanted[start], wanted[start.parent] = True, False
    return wanted, False


def last_uses(roots: Sequence[Edge]) -> dict[Any, int]:
    """For each leaf the order of the last node that uses it; orders go down. A root is in use now."""
    found: dict[Any, int] = {}
    for node in reach(roots)[0].values():
        for i in node.inputs:
            if i is not None and not isinstance(i, Node) and node.order < found.get(i, 1):
                found[i] = node.order
    found.update(dict.fromkeys(roots, -sys.maxsize))
    return found


def edges_to_leaves(roots: Sequence[Edge], wanted: dict[Any, bool] | None) -> dict[Any, int]:
    """For each leaf how many edges lead to it, in the part of the graph that a pass goes through."""
    if wanted is None:
        return reach(roots)[1]
    counts: dict[Any, int] = {place: 0 for place in wanted if not isinstance(place, Node)}
    for places in [roots, *[place.inputs for place, runs in wanted.items() if runs and isinstance(place, Node)]]:
        for place in places:
            if place in counts:
                counts[place] += 1
    return counts
