"""An autograd graph as text for a terminal."""

from collections import Counter
from typing import Any

from leafgrad._explain.drawing import Graph, Params, collect

DEEPEST = 24  # levels of indentation, after which a branch goes on in a paragraph of its own


def as_text(root: Any, params: Params = None, *, max_nodes: int = 1000) -> str:
    """The graph behind `root`, a tensor or several, as an indented tree, for terminals.

    Every node is printed once: a shared one gets a number, `[1]`, and is referred to by it, `→ [1]`, in the other
    places. `params` and `max_nodes` mean what they mean for `draw`.
    """
    graph = collect(root, params, max_nodes)
    lines = _Tree(graph).lines
    if graph.aside:
        lines.append("")
        lines += [_one_line(box.lines) for box in graph.aside]
    return "\n".join(lines) + "\n"


def _one_line(lines: tuple[str, ...]) -> str:
    return "  ".join(lines)


class _Tree:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.lines: list[str] = []
        self.children: list[list[tuple[int, int]]] = [[] for _ in graph.boxes]  # (box, number of its output)
        for edge in graph.edges:
            self.children[edge.source].append((edge.target, edge.port))
        self.parents = Counter(edge.target for edge in graph.edges)
        self.several = {edge.target for edge in graph.edges if edge.port}  # boxes that have more than one output
        self.number: dict[int, int] = {}
        self.printed: set[int] = set()
        paragraphs = list(range(graph.outputs))
        for box in paragraphs:  # grows by the branches that are too deep to go on where they are
            if box not in self.printed:
                paragraphs += self._paragraph(box)

    def _paragraph(self, top: int) -> list[int]:
        """Print what is below `top`, depth first, and return the boxes at which a branch was cut off."""
        cut: list[int] = []
        if self.lines:
            self.lines.append("")
        stack = [(top, -1, "", "")]  # box, output, indentation of what is below it, and of itself
        while stack:
            box, port, indent, own = stack.pop()
            output = f"  (output {port})" if port >= 0 and box in self.several else ""
            if box in self.printed:
                self.lines.append(f"{own}→ [{self._numbered(box)}] {self.graph.boxes[box].lines[0]}{output}")
                continue
            if len(indent) > 3 * DEEPEST and self.children[box]:
                cut.append(box)
                self.lines.append(f"{own}→ [{self._numbered(box)}] further down{output}")
                continue
            self.printed.add(box)
            mark = f"[{self._numbered(box)}] " if self.parents[box] > 1 or box in self.number else ""
            self.lines.append(f"{own}{mark}{_one_line(self.graph.boxes[box].lines)}{output}")
            below = self.children[box]
            for position in range(len(below) - 1, -1, -1):
                last = position == len(below) - 1
                branch, bar = ("└─ ", "   ") if last else ("├─ ", "│  ")
                stack.append((*below[position], indent + bar, indent + branch))
        return cut

    def _numbered(self, box: int) -> int:
        return self.number.setdefault(box, len(self.number) + 1)
