"""The ratios as a picture: an SVG that needs nothing to be drawn, and is readable on light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from benchmarks.operations import COUNTS, OPERATIONS
from benchmarks.results import Results, geometric_mean
from benchmarks.workload import WORKLOADS
from benchmarks.workloads.optimizers import OPTIMIZERS

WIDTH, LEFT, RIGHT = 860, 300, 800
ROW, BAR = 18, 11
STYLE = """
svg { font: 12px system-ui, sans-serif }
.page { fill: #ffffff } text { fill: #1f2328 } .faint { fill: #59636e }
.heading { font-weight: 600 }
.grid { stroke: #d8dee4 } .one { stroke: #59636e }
.ahead { fill: #0f766e; stroke: #0f766e } .behind { fill: #c2410c; stroke: #c2410c }
.dot { fill-opacity: 0.55; stroke: none } .ring { fill: none; stroke-width: 1.6 } .mean { stroke-width: 2 }
@media (prefers-color-scheme: dark) {
.page { fill: #0d1117 } text { fill: #e6edf3 } .faint { fill: #9198a1 }
.grid { stroke: #2a3038 } .one { stroke: #9198a1 }
.ahead { fill: #2dd4bf; stroke: #2dd4bf } .behind { fill: #fb923c; stroke: #fb923c }
.ring { fill: none } .dot { stroke: none }
}
"""


class Scale:
    """Ratios on a logarithmic axis."""

    def __init__(self, ratios: Sequence[float]) -> None:
        self.low = math.floor(math.log2(min([*ratios, 0.5])))
        self.high = math.ceil(math.log2(max([*ratios, 2.0])))

    def x(self, ratio: float) -> float:
        return LEFT + (math.log2(ratio) - self.low) / (self.high - self.low) * (RIGHT - LEFT)

    def ticks(self) -> list[float]:
        """Powers of two, 1 among them, at most ten."""
        apart = math.ceil((self.high - self.low) / 9)
        return [2.0**power for power in range(self.low, self.high + 1) if power % apart == 0]


def side(ratio: float) -> str:
    return "ahead" if ratio >= 1 else "behind"


def text(x: float, y: float, content: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(content)}</text>'


def bar(scale: Scale, y: float, name: str, ratio: float) -> Iterator[str]:
    start, end = sorted((scale.x(1), scale.x(ratio)))
    yield text(LEFT - 10, y + 4, name, anchor="end")
    yield f'<rect x="{start:.1f}" y="{y - BAR / 2}" width="{end - start:.1f}" height="{BAR}" class="{side(ratio)}"/>'
    yield text(max(end, scale.x(1)) + 5, y + 4, f"{ratio:.2f}", "faint")


def pair(scale: Scale, y: float, name: str, few: float | None, many: float | None) -> Iterator[str]:
    """The same optimiser with few and with many tensors."""
    yield text(LEFT - 10, y + 4, name, anchor="end")
    if few:
        yield f'<circle cx="{scale.x(few):.1f}" cy="{y}" r="4.5" class="{side(few)}"/>'
    if many:
        yield f'<circle cx="{scale.x(many):.1f}" cy="{y}" r="6.5" class="{side(many)} ring"/>'


def strip(scale: Scale, y: float, name: str, ratios: Sequence[float]) -> Iterator[str]:
    """A dot for each operation, and a line at their geometric mean."""
    yield text(LEFT - 10, y + 4, name, anchor="end")
    for ratio in ratios:
        yield f'<circle cx="{scale.x(ratio):.1f}" cy="{y}" r="3.5" class="{side(ratio)} dot"/>'
    mean = geometric_mean(ratios)
    if mean:
        at = scale.x(mean)
        yield f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{y - 8}" y2="{y + 8}" class="{side(mean)} mean"/>'


def content(results: Results, scale: Scale) -> Iterator[tuple[str, list[str] | None]]:
    """Headings (without a drawing), and rows to be put below each other, drawn around y = 0."""
    group = ""
    for name, workload in WORKLOADS.items():
        ratio = results.ratio(name)
        if ratio and workload.group != OPTIMIZERS:
            if workload.group != group:
                group = workload.group
                yield group, None
            yield name, list(bar(scale, 0, name, ratio))
    optimizers = [name.removesuffix(", 4 tensors") for name in WORKLOADS if name.endswith(", 4 tensors")]
    both = {name: [results.ratio(f"{name}, {count} tensors") for count in (4, 400)] for name in optimizers}
    if any(any(ratios) for ratios in both.values()):
        yield f"{OPTIMIZERS}, in 4 tensors (disc) and in 400 (ring)", None
        for name, (few, many) in both.items():
            yield name, list(pair(scale, 0, name, few, many))
    strips = []
    for backward in (False, True):
        for n in COUNTS:
            names = [name for name, op in OPERATIONS.items() if (op.size["n"], op.size["backward"]) == (n, backward)]
            ratios = list(results.ratios(names).values())
            if ratios:
                title = f"{'with backward' if backward else 'forward'}, {n:,} elements"
                strips.append((title, list(strip(scale, 0, title, ratios))))
    if strips:
        yield "Single operations: a dot each, a line at their geometric mean", None
        yield from strips


def picture(results: Results) -> str:
    scale = Scale(list(results.ratios([*WORKLOADS, *OPERATIONS]).values()))
    rows: list[str] = []
    top = y = 64.0
    for title, drawing in content(results, scale):
        if drawing is None:
            y += ROW * 0.6
            # on a piece of the page, so that the lines of the grid do not go through it
            rows.append(f'<rect x="16" y="{y - 9:.1f}" width="{7 * len(title)}" height="{ROW}" class="page"/>')
            rows.append(text(20, y + 4, title, "heading"))
        else:
            rows.append(f'<g transform="translate(0 {y:.1f})">{"".join(drawing)}</g>')
        y += ROW
    lines = []
    for tick in scale.ticks():
        x, kind = scale.x(tick), "one" if tick == 1 else "grid"
        lines.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top - 14}" y2="{y:.1f}" class="{kind}"/>')
        label = f"{tick:g}" if tick >= 1 else f"1/{1 / tick:g}"
        lines.append(text(x, top - 20, label, "faint", "middle"))
    body = [
        text(20, 24, "PyTorch's time / leafgrad's time", "heading"),
        text(RIGHT, 24, "right of 1: leafgrad is faster", "faint", "end"), *lines, *rows,
    ]  # fmt: skip
    size = f'width="{WIDTH}" height="{y + 16:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 16:.0f}" {size} '
        f'role="img" aria-label="ratios of PyTorch\'s times to leafgrad\'s">\n<style>{STYLE}</style>\n'
        f'<rect {size} class="page"/>\n' + "\n".join(body) + "\n</svg>\n"
    )
