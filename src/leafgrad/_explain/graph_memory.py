"""How much memory a graph keeps, operation by operation and line by line, and what keeps the graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from leafgrad._core.node import Node
from leafgrad._core.reachable import reach
from leafgrad._core.recorder import edge
from leafgrad._core.tensor import TensorBase
from leafgrad._explain.growth import growth_of
from leafgrad._explain.held_memory import Saved, freed_at, holders, in_order, saved_memory
from leafgrad._explain.quantities import memory, percent, plural
from leafgrad._explain.reach import operation
from leafgrad._explain.table import Report, Table
from leafgrad.errors import needs_graph
from leafgrad.errors.form import mistake
from leafgrad.errors.naming import Place, as_code, library, name_of, place_of

MOST_ROWS = 20


class SavedHere(NamedTuple):
    """What the operations of one kind in one line have saved."""

    operation: str
    place: Place
    nodes: int
    buffers: int
    nbytes: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "operation": self.operation,
            "line": self.place.spot,
            "source": self.place.source,
            "nodes": self.nodes,
            "buffers": self.buffers,
            "nbytes": self.nbytes,
        }


class GraphMemory(Report):
    """What `graph_memory` returns: `total` bytes, `rows` (a SavedHere for each operation and line, the largest first),
    `holders` (the names of the tensors that keep the graph), `freed`, the line that freed it, if one did, and `growth`,
    if it holds the graphs of several backward calls."""

    def __init__(self, roots: list[Any], name: str) -> None:
        self.name = name
        found, leaves = reach([edge(root) for root in roots])
        nodes = in_order(found)
        saved, self.leaf_bytes = saved_memory(nodes, leaves)
        self.nodes = len(nodes)
        self.buffers = len(saved)
        self.total = sum([one.nbytes for one in saved])
        passes = {id(freed): freed for node in nodes if (freed := freed_at(node)) is not None}
        latest = min(passes.values(), key=lambda freed: freed.order, default=None)  # these numbers go down
        self.freed = None if latest is None else place_of(latest.code, latest.lasti)
        self.growth = growth_of(name, roots) if len(passes) > 1 else None
        self.holders = [holder for holder, _ in holders(nodes)]
        self.rows = rows_of(nodes, saved)

    def by_line(self) -> dict[str, int]:
        """Bytes for each line of the program, the largest first."""
        found: dict[str, int] = {}
        for row in self.rows:
            found[row.place.spot] = found.get(row.place.spot, 0) + row.nbytes
        return dict(sorted(found.items(), key=lambda one: -one[1]))

    def to_dict(self) -> dict[str, Any]:
        return {
            "total": self.total,
            "leaf_bytes": self.leaf_bytes,
            "nodes": self.nodes,
            "freed": None if self.freed is None else self.freed.spot,
            "holders": self.holders,
            "rows": [row.to_dict() for row in self.rows],
        }

    def parts(self) -> Iterable[str | Table]:
        yield self._first_lines()
        keeping = [row for row in self.rows if row.nbytes]
        table = Table("operation", "line", "saved", "memory", "share", right=["saved", "memory", "share"])
        for row in keeping[:MOST_ROWS]:
            times = f" x {row.nodes}" if row.nodes > 1 else ""
            cells = [row.buffers, memory(row.nbytes), percent(row.nbytes / self.total)]
            table.add(row.operation + times, str(row.place), *cells)
        if len(keeping) > MOST_ROWS:
            rest = sum([row.nbytes for row in keeping[MOST_ROWS:]])
            table.add(f"{len(keeping) - MOST_ROWS} others", "", "", memory(rest), percent(rest / self.total))
        if keeping:
            yield table
        if self.growth is not None:
            yield "\n".join(self.growth.lines())
        if self.holders:
            yield "the graph lives as long as one of these: " + ", ".join(self.holders)

    def _first_lines(self) -> str:
        first = f"{self.name} keeps {memory(self.total)} in {plural(self.buffers, 'saved buffer')}"
        lines = [f"{first} of {plural(self.nodes, 'operation')}"]
        if self.leaf_bytes:
            lines.append(f"not counted: {memory(self.leaf_bytes)} of leaves, which exist anyway")
        if self.freed is not None:
            lines.append(f"freed  {self.freed}")
            lines.append("       what that backward pass used is gone; the operations themselves are still there")
        return "\n".join(lines)


def rows_of(nodes: Sequence[Node], saved: Sequence[Saved]) -> list[SavedHere]:
    """What was saved by operation and line, the largest first."""
    instructions: dict[tuple[Any, ...], list[Any]] = {}  # name, nodes, buffers, bytes: to find a line takes longer
    for node in nodes:
        counts = instructions.get((node.op, node.code, node.lasti))
        if counts is None:
            counts = instructions[node.op, node.code, node.lasti] = [operation(node), 0, 0, 0]
        counts[1] += 1
    for node, nbytes in saved:
        counts = instructions[node.op, node.code, node.lasti]
        counts[2] += 1
        counts[3] += nbytes
    lines: dict[tuple[str, Place], list[int]] = {}
    for (_, code, lasti), (name, *counts) in instructions.items():
        line = lines.setdefault((name, place_of(code, lasti)), [0, 0, 0])
        line[:] = [a + b for a, b in zip(line, counts, strict=True)]
    return sorted([SavedHere(*key, *counts) for key, counts in lines.items()], key=lambda row: -row.nbytes)


def graph_memory(loss: Any) -> GraphMemory:
    """graph_memory(loss): which memory the graph behind a tensor, or several, keeps until backward has used it.

        >>> x = torch.randn(1000, 100)
        >>> model = torch.nn.Linear(100, 10)
        >>> loss = model(x).exp().sum()
        >>> report = leafgrad.graph_memory(loss)
        >>> report.total       # x and the result of exp, of 4 bytes a number
        440000

    A buffer that several operations have saved counts once, for the first of them; the memory of parameters and other
    leaves does not count.
    """
    roots = list(loss) if isinstance(loss, list | tuple) else [loss]
    if not roots or not all([isinstance(root, TensorBase) for root in roots]):
        got = type(loss).__name__ if not roots or not isinstance(loss, list | tuple) else "a list of something else"
        raise mistake(
            TypeError,
            f"graph_memory(): loss must be a tensor or a list of tensors, not {got}",
            fix=f"{library()}.graph_memory(loss)   # the tensor that backward() is called on",
        )
    for root in roots:
        if not root.requires_grad:
            raise needs_graph("graph_memory(): this tensor does not require grad and has no graph", root)
    return GraphMemory(roots, ", ".join([as_code(name_of(root), "the tensor") for root in roots]))
