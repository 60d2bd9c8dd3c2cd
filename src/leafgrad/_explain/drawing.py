"""Pictures of the autograd graph: `collect` finds out what is in it, `draw` makes an SVG of that.

Only the public attributes of tensors and nodes are read (`grad_fn`, `next_functions`, `name()`, `variable`, ...).
These stay in place after `backward()`, which frees the saved values but not the graph, so a graph can be drawn
before and after it. Nothing here records an operation or changes a graph.
"""

from __future__ import annotations

import html
import math
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from leafgrad._explain.layout import PORT_STEP, Edge, Layout, Rect, Route, arrange

Params = Mapping[str, Any] | Iterable[tuple[str, Any]] | None

FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
TITLE, SMALL = 12.5, 10.0  # font sizes
CHARACTER = 0.61  # width of a monospace character, as a part of the font size
LONGEST = 36  # characters in a line of a box
MARGIN = 28.0
HEAD = 7.0  # length of an arrow head
MOST_PORTS = 16  # entries that a box is made wide enough for
# fill, border, title colour and corner radius per kind of box
STYLE = {
    "output": ("#fff8c5", "#bf8700", "#4d2d00", 6),
    "op": ("#f6f8fa", "#afb8c1", "#1f2328", 4),
    "leaf": ("#ddf4ff", "#54aeff", "#0a3069", 14),
    "leaf with grad": ("#dafbe1", "#4ac26b", "#044f1e", 14),
    "more": ("#ffffff", "#8c959f", "#57606a", 4),
    "aside": ("#ffffff", "#8c959f", "#57606a", 14),
}
DASHES = {"more": "2 3", "aside": "5 4"}
LEGEND = {"output": "output", "op": "operation", "leaf": "leaf, .grad is None", "leaf with grad": "leaf with .grad"}


@dataclass(frozen=True)
class Box:
    kind: str
    lines: tuple[str, ...]  # the first one is the title

    def size(self, ports: int = 1) -> tuple[float, float]:
        title, *small = (_text_width(_shortened(line)) for line in self.lines)
        width = max(title * TITLE, *(line * SMALL for line in small), 0.0) + 24
        return max(width, min(ports, MOST_PORTS) * PORT_STEP), 17.0 + 14.0 * len(small) + 14.0


@dataclass(frozen=True)
class Graph:
    """What there is to draw: outputs first, then the nodes in breadth-first order, then "more" if some are left out."""

    boxes: list[Box]
    edges: list[Edge]
    outputs: int
    aside: list[Box]


class _Walk:
    """All nodes behind some tensors, breadth first. A leaf is stored as its tensor, anything else as its node."""

    def __init__(self, tensors: list[Any], limit: int) -> None:
        self.found: list[Any] = []  # keeps everything alive, so that an id stays unique
        self.number: dict[int, int] = {}
        self.edges: list[Edge] = []
        self.starts = [self._meet(_start(tensor)) for tensor in tensors]
        for source, thing in enumerate(self.found):  # grows while it is walked
            for node, port in getattr(thing, "next_functions", ()):
                if node is not None:
                    target = self._meet(_leaf_or_node(node))
                    if source < limit and target is not None:
                        self.edges.append(Edge(source, target, port))

    def _meet(self, thing: Any) -> int | None:
        if thing is None:
            return None
        number = self.number.setdefault(id(thing), len(self.found))
        if number == len(self.found):
            self.found.append(thing)
        return number


def _start(tensor: Any) -> Any:
    """Where the backward of `tensor` begins: its node, or the tensor itself if it is a leaf; None without gradient."""
    return tensor.grad_fn if tensor.grad_fn is not None else tensor if tensor.requires_grad else None


def _leaf_or_node(node: Any) -> Any:
    # Only AccumulateGrad: other nodes may well have a saved value which happens to be called `variable`.
    variable = getattr(node, "variable", None) if _op_name(node) == "AccumulateGrad" else None
    return node if variable is None else variable


def collect(root: Any, params: Params, max_nodes: int) -> Graph:
    """Walk the graph behind `root` and describe what was found."""
    if max_nodes < 1:
        raise ValueError(f"max_nodes must be at least 1, got {max_nodes}")
    tensors = _tensors(root)
    walk = _Walk(tensors, max_nodes)
    roots = {id(tensor) for tensor in tensors}
    names: dict[int, list[str]] = {}  # by the id of a tensor, and of the node of a tensor that is not a leaf
    aside = []
    for name, tensor in _named(params):
        names.setdefault(id(tensor), []).append(name)
        start = _start(tensor)
        if start is None or id(start) not in walk.number:
            if id(tensor) not in roots:
                reason = () if start is not None else ("requires_grad=False",)
                aside.append(Box("aside", (name, _kind_of_values(tensor), "not in this graph", *reason)))
        elif start is not tensor and id(tensor) not in roots:
            names.setdefault(id(start), []).append(name)

    boxes = []
    for position, tensor in enumerate(tensors):
        unnamed = f"output {position}" if len(tensors) > 1 else "output"
        boxes.append(_output_box(tensor, ", ".join(names.get(id(tensor), [unnamed]))))
    drawn = walk.found[:max_nodes]
    boxes += [_node_box(thing, names.get(id(thing), [])) for thing in drawn]
    if more := len(walk.found) - len(drawn):
        boxes.append(Box("more", (f"… {more:,} more node{'s' * (more > 1)}",)))
    outputs, last = len(tensors), len(boxes) - 1
    edges = [
        Edge(position, min(start + outputs, last), getattr(tensor, "output_nr", 0))
        for position, (tensor, start) in enumerate(zip(tensors, walk.starts, strict=True))
        if start is not None
    ]
    for source, target, port in walk.edges:
        hidden = target >= len(drawn)
        edges.append(Edge(source + outputs, last if hidden else target + outputs, 0 if hidden else port))
    return Graph(boxes, edges, outputs, aside)


def _tensors(root: Any) -> list[Any]:
    if hasattr(root, "grad_fn"):
        return [root]
    tensors = list(root) if isinstance(root, Iterable) and not isinstance(root, str | Mapping) else []
    if not tensors or not all(hasattr(tensor, "grad_fn") for tensor in tensors):
        raise TypeError(f"expected a tensor or several tensors to start from, got {type(root).__name__}")
    return tensors


def _named(params: Params) -> list[tuple[str, Any]]:
    named = list(dict(params or {}).items())
    for name, tensor in named:
        if not hasattr(tensor, "grad_fn"):
            raise TypeError(f"params must map names to tensors, but {name!r} is a {type(tensor).__name__}")
    return named


def _op_name(node: Any) -> str:
    name = str(node.name()).rsplit("::", 1)[-1]
    return re.sub(r"(?<=.)Backward\d*$", "", name)


def _node_box(thing: Any, names: list[str]) -> Box:
    if not hasattr(thing, "next_functions"):
        return _leaf_box(thing, ", ".join(names) or "leaf")
    lines = [_op_name(thing)]
    if names:
        lines.append("→ " + ", ".join(names))
    origin = getattr(thing, "origin", None)
    if origin is not None:
        file, line = origin
        lines.append(f"{os.path.basename(file)}:{line}")
    return Box("op", tuple(lines))


def _leaf_box(tensor: Any, name: str) -> Box:
    if tensor.grad is None:
        return Box("leaf", (name, _kind_of_values(tensor), ".grad is None"))
    values = _values(tensor.grad)
    with np.errstate(all="ignore"):  # a huge gradient is worth a picture, not a warning
        norm = "grad" if values is None else f"grad norm {np.linalg.norm(values.ravel()):.4g}"
    return Box("leaf with grad", (name, _kind_of_values(tensor), norm))


def _output_box(tensor: Any, name: str) -> Box:
    values = _values(tensor) if math.prod(tensor.shape) == 1 else None
    value = "" if values is None else f" = {values.item():.6g}"
    missing = () if _start(tensor) is not None else ("no graph: requires_grad=False",)
    return Box("output", (name, _kind_of_values(tensor) + value, *missing))


def _kind_of_values(tensor: Any) -> str:
    return f"{tuple(tensor.shape)} {str(tensor.dtype).rsplit('.', 1)[-1]}"


def _values(tensor: Any) -> np.ndarray[Any, Any] | None:
    """The numbers in a tensor, or None for one that NumPy cannot hold: a picture is no place to fail on that."""
    try:
        values = np.asarray(tensor.detach().numpy())
        return values if values.dtype.kind == "c" else values.astype(np.float64)
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return None


def draw(root: Any, path: str | os.PathLike[str] | None = None, params: Params = None, *, max_nodes: int = 200) -> str:
    """Draw the graph behind `root`, a tensor or several, and return it as SVG text.

    Arrows go the way of the gradient: from the output through the operations to the leaves. `params` gives names
    to tensors, as a dict or as the pairs of `named_parameters()`; those the graph does not reach are drawn aside,
    dashed. With a `path`, the picture is written there too, as a page if it ends in `.html`. Of a graph with more
    than `max_nodes` nodes the nearest to the root are drawn, and the others counted.
    """
    file = None if path is None else Path(path)
    if file is not None and file.suffix.lower() not in (".svg", ".html"):
        raise ValueError(f"draw() writes .svg and .html files, not {file.suffix or 'files without extension'}: {file}")
    graph = collect(root, params, max_nodes)
    svg = _svg(graph)
    if file is not None:
        file.write_text(svg if file.suffix.lower() == ".svg" else _page(svg, graph), encoding="utf-8")
    return svg


def _svg(graph: Graph) -> str:
    ports = Counter(target for target, _ in {(edge.target, edge.port) for edge in graph.edges})
    sizes = [box.size(ports[number]) for number, box in enumerate(graph.boxes)]
    layout = arrange(sizes, graph.edges, sinking=range(graph.outputs))
    aside, aside_width = _columns([box.size() for box in graph.aside], layout)
    legend = [(STYLE[kind], text) for kind, text in LEGEND.items() if any(box.kind == kind for box in graph.boxes)]
    legend_width = sum(_text_width(text) * SMALL + 34 for _, text in legend)

    content = max(layout.width + aside_width, legend_width)
    left = MARGIN + (content - layout.width - aside_width) / 2
    depth = max([layout.height, *(rect.top + rect.height for rect in aside)])
    width, height = content + 2 * MARGIN, depth + 2 * MARGIN + 30
    size = f'width="{width:.0f}" height="{height:.0f}"'
    view = f'viewBox="-0.5 -0.5 {width + 1:.0f} {height + 1:.0f}" role="img" aria-label="{_title(graph)}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {view} font-family="{FONT}">',
        f'<rect class="card" {size} rx="10" fill="#ffffff" stroke="#d0d7de"/>',
        f'<g transform="translate({left:.1f} {MARGIN})">',
        '<g class="edges" fill="none" stroke="#6e7781" stroke-width="1.3">',
        *(_line(route) for route in layout.routes),
        "</g>",
        '<g class="heads" fill="#6e7781">',
        *(_head(route) for route in layout.routes if route.arrives),
        "</g>",
        '<g class="labels" font-size="9" fill="#57606a" stroke="#ffffff" stroke-width="3" paint-order="stroke">',
        *(text for route in layout.routes for text in _edge_labels(route, ports)),
        "</g>",
        *(_box(box, rect) for box, rect in zip(graph.boxes, layout.rects, strict=True)),
        *(_box(box, rect) for box, rect in zip(graph.aside, aside, strict=True)),
        "</g>",
        f'<g class="legend" font-size="{SMALL:g}" fill="#57606a">',
    ]
    x, y = (width - legend_width) / 2 + 12, height - MARGIN + 2
    for (fill, border, *_), text in legend:
        parts.append(f'<circle cx="{x:.1f}" cy="{y - 3.5:.1f}" r="4.5" fill="{fill}" stroke="{border}"/>')
        parts.append(f'<text x="{x + 9:.1f}" y="{y:.1f}">{text}</text>')
        x += _text_width(text) * SMALL + 34
    return "\n".join([*parts, "</g>", "</svg>"]) + "\n"


def _columns(sizes: list[tuple[float, float]], layout: Layout) -> tuple[list[Rect], float]:
    """Boxes one below the other, in columns no higher than the graph, to the right of it; and the width added."""
    rects: list[Rect] = []
    gap = 18.0
    x, y, widest = layout.width + 2 * MARGIN, 0.0, 0.0
    for width, height in sizes:
        if y > 0 and y + height > max(layout.height, 300.0):
            x, y, widest = x + widest + gap, 0.0, 0.0
        rects.append(Rect(x, y, width, height))
        y, widest = y + height + gap, max(widest, width)
    return rects, x + widest - layout.width if sizes else 0.0


def _line(route: Route) -> str:
    """The arrow without its head, so that the thick end of the line does not stick out beside the tip."""
    x, top, bottom = route.stops[0]
    path = f"M{x:.1f} {top:.1f}V{bottom:.1f}"
    for stop in route.stops[1:]:
        last = stop is route.stops[-1] and route.arrives
        end = stop.bottom - HEAD if last else stop.bottom
        bend_end = min(stop.top, end)
        if abs(stop.x - x) > 0.05:
            middle = (bottom + bend_end) / 2
            path += f"C{x:.1f} {middle:.1f} {stop.x:.1f} {middle:.1f} {stop.x:.1f} {bend_end:.1f}"
        path += f"V{end:.1f}"
        x, bottom = stop.x, stop.bottom
    return f'<path d="{path}"/>'


def _head(route: Route) -> str:
    x, _, y = route.stops[-1]
    return f'<path d="M{x - 4:.1f} {y - HEAD - 1:.1f}L{x:.1f} {y:.1f}L{x + 4:.1f} {y - HEAD - 1:.1f}Z"/>'


def _edge_labels(route: Route, ports: Counter[int]) -> Iterator[str]:
    """The number of the output at the arrow head of an operation with several; "×2" where two edges are one line."""
    edge, (start, after), end = route.edge, route.stops[:2], route.stops[-1]
    if route.arrives and (ports[edge.target] > 1 or edge.port) and ports[edge.target] <= MOST_PORTS:
        yield f'<text x="{end.x + 6:.1f}" y="{end.bottom - 3:.1f}">{edge.port}</text>'
    if route.count > 1:
        x, y = (start.x + after.x) / 2, (start.bottom + after.top) / 2
        yield f'<text x="{x + 6:.1f}" y="{y + 2:.1f}">×{route.count}</text>'


def _box(box: Box, rect: Rect) -> str:
    fill, border, colour, radius = STYLE[box.kind]
    dashes = f' stroke-dasharray="{DASHES[box.kind]}"' if box.kind in DASHES else ""
    centre, y = rect.left + rect.width / 2, rect.top + 20
    place = f'x="{rect.left:.1f}" y="{rect.top:.1f}" width="{rect.width:.1f}" height="{rect.height:.1f}"'
    parts = [
        f'<g class="{box.kind}" text-anchor="middle"><title>{_escaped(" · ".join(box.lines))}</title>',
        f'<rect {place} rx="{radius}" fill="{fill}" stroke="{border}" stroke-width="1.2"{dashes}/>',
    ]
    for number, line in enumerate(box.lines):
        look = f'font-size="{SMALL:g}" fill="#57606a"' if number else f'font-size="{TITLE:g}" fill="{colour}"'
        parts.append(f'<text x="{centre:.1f}" y="{y:.1f}" {look}>{_escaped(_shortened(line))}</text>')
        y += 14
    return "".join([*parts, "</g>"])


def _text_width(text: str) -> float:
    """In units of the font size."""
    return CHARACTER * sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _shortened(line: str) -> str:
    """Long names keep both ends, which tell more than the middle; the tooltip has the whole."""
    return line if len(line) <= LONGEST else f"{line[: LONGEST // 2 - 1]}…{line[-LONGEST // 2 :]}"


def _escaped(text: str) -> str:
    """For use in XML, which cannot hold some control characters at all."""
    return html.escape(re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text))


def _title(graph: Graph) -> str:
    return _escaped("autograd graph of " + ", ".join(box.lines[0] for box in graph.boxes[: graph.outputs]))


def _page(svg: str, graph: Graph) -> str:
    style = ":root { color-scheme: light dark } body { margin: 24px } svg { display: block; margin: auto }"
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{_title(graph)}</title>\n'
        f"<style>{style}</style>\n</head>\n<body>\n{svg}</body>\n</html>\n"
    )
