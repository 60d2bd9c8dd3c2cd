"""What lies behind a tensor: the operations, the leaves, and the ways between."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from leafgrad._core.node import Freed, Node, Output
from leafgrad._core.recorder import edge
from leafgrad._core.tensor import TensorBase
from leafgrad._explain.names import operation as operation

MOST_NAMES = 6  # of operations in a way


class Way(NamedTuple):
    """How a leaf is reached: on how many paths, and the operations of a shortest one, from the leaf to the root."""

    paths: float
    operations: int
    nodes: tuple[Node, ...]

    def __str__(self) -> str:
        """`Addmm > Relu > Addmm > NllLoss`; of a long way the beginning and the end."""
        runs = [(name, len(list(same))) for name, same in groupby(map(operation, self.nodes))]
        names = [name if count == 1 else f"{name} x{count}" for name, count in runs]
        if len(names) > MOST_NAMES:
            names[3:-2] = [f"({len(names) - 5} more)"]
        return " > ".join(names)


class Reach:
    """Everything behind one or several tensors, found in one walk."""

    def __init__(self, *roots: TensorBase) -> None:
        self.roots = [edge(root) for root in roots if root.needs_grad]
        self.nodes: list[Node] = []  # the most recently recorded first, so that results come before their inputs
        self.leaves: list[TensorBase] = []  # in the order in which they were first used
        self._paths: dict[Any, float] = {}  # there may be more than an integer of any size should count
        self._towards: dict[Any, Node | None] = {}  # the next place on a shortest way to the root
        self._length: dict[Any, int] = {}
        self._walk()
        self._count()

    @property
    def operations(self) -> int:
        return sum([not isinstance(node, Output) for node in self.nodes])

    @property
    def freed(self) -> Freed | None:
        """The backward pass that has freed the graph, if one has."""
        return next((node.saved for node in self.nodes if isinstance(node.saved, Freed)), None)

    def way(self, leaf: TensorBase) -> Way:
        nodes: list[Node] = []
        place = self._towards[leaf]
        while place is not None:
            if not isinstance(place, Output):
                nodes.append(place)
            place = self._towards[place.order]
        return Way(self._paths[leaf], len(nodes), tuple(nodes))

    def _walk(self) -> None:
        found: dict[int, Node] = {}
        stack: list[Any] = [root for root in self.roots if isinstance(root, Node)]
        while stack:
            node = stack.pop()
            if node.order not in found:
                found[node.order] = node
                stack.extend([i for i in node.inputs if isinstance(i, Node) and i.order not in found])
        self.nodes = [found[order] for order in sorted(found)]

    def _count(self) -> None:
        """The paths and a shortest way to each place. Results come before their inputs, so one look at each is enough.
        Nodes are known by their order here, which is faster than to ask for their hash."""
        paths, towards, length = self._paths, self._towards, self._length
        leaves: dict[TensorBase, bool] = {}
        for root in self.roots:
            key: Any = root.order if isinstance(root, Node) else root
            paths[key] = paths.get(key, 0.0) + 1.0
            towards[key] = None
            length[key] = 0
            if key is root:
                leaves[root] = True
        for node in self.nodes:
            number = paths[node.order]
            distance = length[node.order] + (node.__class__ is not Output)
            for source in node.inputs:
                if source is None:
                    continue
                if isinstance(source, Node):
                    key = source.order
                else:
                    key = source
                    leaves[source] = True
                known = length.get(key)
                if known is None:
                    paths[key] = number
                else:
                    paths[key] += number
                if known is None or distance < known:
                    length[key] = distance
                    towards[key] = node
        self.leaves = list(reversed(leaves))


def lines_of(nodes: Sequence[Node]) -> dict[tuple[Any, int], Node]:
    """The instructions that recorded these nodes, each with one of them."""
    return {(node.code, node.lasti): node for node in nodes}
