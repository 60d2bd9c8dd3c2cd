"""Graphs that grow from step to step, because something of the program holds the old ones. For `leafgrad.check`, which
calls these functions and decides what it says, and when.

A backward pass leaves one mark in all nodes that it frees. So the number of different marks behind a tensor is the
number of backward calls whose graphs it still holds: one for a loss, 40 for a `total += loss` after 40 steps.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from leafgrad._core.node import Node
from leafgrad._explain.held_memory import freed_at, named_tensors, nodes_behind, saved_memory
from leafgrad._explain.quantities import memory, plural
from leafgrad.errors.naming import (
    Place,
    as_code,
    place_of,
    quietly,
    shown_name,
    source_line,
    statement,
    users_frames,
)

FEWEST = 3  # graphs that something must hold to be called growing: a loss of the last step is often looked at


class Growth(NamedTuple):
    """Something that holds the graphs of several backward calls."""

    name: str  # of the variable or list: `total`, `losses`
    graphs: int
    nodes: int
    nbytes: int
    grows_at: Place | None  # the line that adds one more graph, where that is an operation
    backward_at: Place  # the line of the latest of the backward calls
    fix: str

    def lines(self) -> list[str]:
        """The finding, as reports print it: where it grows, what that costs, where backward is called, the fix."""
        held = f"keeps the graphs of {plural(self.graphs, 'loss', 'losses')} alive"
        step = self.nbytes / self.graphs
        first = f"{self.grows_at}" if self.grows_at else f"{self.name}"
        result = [
            first,
            f"  {held} ({memory(self.nbytes)} in {plural(self.nodes, 'operation')}, about {memory(step)} more a step),",
            f"  although their backward pass is over: {self.backward_at}",
        ]
        return [*result, f"  fix   {self.fix}"] if self.fix else result


def growing(least: int = FEWEST) -> list[Growth]:
    """What in the variables of the running program holds the graphs of several backward calls."""
    groups: dict[str, list[Any]] = {}
    for name, t in named_tensors():
        if t.node is not None:
            groups.setdefault(container_of(name), []).append(t)
    distinct = {frozenset(map(id, tensors)): name for name, tensors in reversed(groups.items())}  # the innermost name
    found = [growth_of(name, groups[name]) for name in distinct.values()]
    return sorted([one for one in found if one is not None and one.graphs >= least], key=lambda one: -one.graphs)


def container_of(name: str) -> str:
    """The list that a tensor is in: `losses` for `losses[3]`."""
    return name.partition("[")[0]


def growth_of(name: str, tensors: Sequence[Any]) -> Growth | None:
    """The graphs of how many backward calls these tensors, all under one name, hold; None if of none."""
    nodes = nodes_behind(tensors)
    passes = {id(freed): freed for node in nodes if (freed := freed_at(node)) is not None}
    if not passes:
        return None
    saved, _ = saved_memory(nodes, ())
    latest = min(passes.values(), key=lambda freed: freed.order)  # these numbers go down
    last = tensors[-1]
    value = "item()" if last.array.size == 1 else "detach()"
    if len(tensors) == 1:
        grows_at: Place | None = place_of(last.node.code, last.node.lasti)
        fix = without_graph(grows_at.source, as_code(name), value) if grows_at else None
    else:
        grows_at = append_line(name)
        fix = re.sub(r"\)$", f".{value})", grows_at.source) if grows_at else None
    return Growth(
        name,
        len(passes),
        len(nodes),
        sum([one.nbytes for one in saved]) + sum(map(size_of, nodes)),
        grows_at,
        place_of(latest.code, latest.lasti),
        fix or "",
    )


def size_of(node: Node) -> int:
    """The bytes of a node itself, with its tuples and the version counter of its result."""
    return sum(map(sys.getsizeof, (node, node.inputs, node.versions or (), [0])))


@quietly
def append_line(name: str) -> Place | None:
    """The line of the program that appends a variable to a list, if there is exactly one."""
    call = re.compile(rf"\s*{re.escape(name)}\.append\(\w+\)\s*(#.*)?$")
    variable = name.partition(".")[0]
    for frame in users_frames():
        code = frame.f_code
        if (
            variable not in (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
            and variable not in frame.f_globals
        ):
            continue
        filename = code.co_filename
        found = [i for i, line in enumerate(linecache.getlines(filename), 1) if call.match(line)]
        if len(found) == 1:
            return Place(f"{shown_name(filename) or filename}:{found[0]}", source_line(filename, found[0]) or "")
    return None


@quietly
def without_graph(source: str, name: str, value: str) -> str | None:
    """`total += loss` as `total += loss.item()`, and `total = total + loss` as `total = total + loss.item()`."""
    (only,) = ast.parse(statement(source)).body
    if isinstance(only, ast.AugAssign):
        added: ast.expr = only.value
    elif isinstance(only, ast.Assign) and isinstance(only.value, ast.BinOp):
        sides = [only.value.left, only.value.right]
        (added,) = [side for side in sides if ast.unparse(side) != name]
    else:
        return None
    start, end = added.col_offset, added.end_col_offset
    text = source[start:end]
    text = text if isinstance(added, ast.Name | ast.Attribute | ast.Call | ast.Subscript) else f"({text})"
    return f"{source[:start]}{text}.{value}{source[end:]}"


class GradientGraph(NamedTuple):
    """A `.grad` that holds the graph that computed it, as backward(create_graph=True) leaves it."""

    name: str  # of the leaf
    nodes: int
    nbytes: int
    made_at: Place  # the line of the backward call
    fix: str

    def lines(self) -> list[str]:
        """The finding, as reports print it."""
        return [
            f"{self.made_at}",
            f"  leaves a graph of {plural(self.nodes, 'operation')} ({memory(self.nbytes)}) behind {self.name}.grad,",
            f"  which holds {self.name} in turn: neither is freed before that .grad is reset",
            f"  fix   {self.fix}",
        ]


def gradients_with_graphs(leaves: Iterable[tuple[str, Any]]) -> list[GradientGraph]:
    """The leaves, given with their names, whose `.grad` holds a graph: the largest first."""
    found = []
    for name, leaf in leaves:
        if leaf._grad is None or leaf._grad.node is None:
            continue
        nodes = nodes_behind([leaf._grad])
        saved, _ = saved_memory(nodes, ())
        node = leaf._grad.node
        size = sum([one.nbytes for one in saved]) + sum(map(size_of, nodes))
        fix = (
            f"{as_code(name)}.grad = None   # when it has been used; or autograd.grad(loss, inputs, create_graph=True)"
        )
        found.append(GradientGraph(name, len(nodes), size, place_of(node.code, node.lasti), fix))
    return sorted(found, key=lambda one: -one.nbytes)
