"""The static picture: an SVG with some modules open."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from leafgrad._explain.graph.drawing import HEAD, HEADER, MARGIN, PADDING, Drawing, line_class, title_of
from leafgrad._explain.graph.groups import Group
from leafgrad._explain.graph.layout import Level, Placed, Size, Sizes, Stop, Way, place, routes
from leafgrad._explain.graph.look import SMALL, TITLE, box, css, escaped, shape, shortened, text_width


@dataclass
class Inside:
    """An open group with coordinates."""

    level: Level
    sizes: Sizes
    placed: Placed
    size: Size  # with its frame
    opened: dict[int, Inside]  # by the number of the child

    def port(self, value: int, ports: dict[int, int]) -> float:
        """Where a value goes through the frame, seen from the centre."""
        return PADDING + self.placed.x[ports[value]] - self.size.width / 2


class StaticPicture:
    """The SVG text of a drawing with some groups open."""

    def __init__(self, drawing: Drawing, opened: set[int]) -> None:
        self.drawing, self.opened = drawing, opened
        self.frames: list[str] = []
        self.edges: list[str] = []
        self.labels: list[str] = []
        self.closed: list[str] = []
        self.rects: dict[int, tuple[float, float, float, float]] = {}
        self.inside = self.lay_out(drawing.whole)
        self.emit(drawing.whole, self.inside, 0.0, 0.0)

    def lay_out(self, group: Group) -> Inside:
        drawing = self.drawing
        level = drawing.level(group)
        opened = {
            position: self.lay_out(child)
            for position, child in enumerate(group.children)
            if isinstance(child, Group) and child.number in self.opened
        }
        looks = [drawing.look(child) for child in group.children]
        boxes = [opened[n].size if n in opened else look.size for n, look in enumerate(looks)]

        def leaves(child: int, value: int) -> float:
            return opened[child].port(value, opened[child].level.exits) if child in opened else 0.0

        def enters(child: int, value: int) -> float:
            if child in opened:
                return opened[child].port(value, opened[child].level.entries)
            return looks[child].entries[value]

        sizes = Sizes(boxes, leaves, enters)
        placed = place(level, sizes)
        if group is drawing.whole:
            return Inside(level, sizes, placed, placed.size, opened)
        width = max(placed.size.width, text_width(shortened(group.title), TITLE) + 20) + 2 * PADDING
        extra = (width - placed.size.width) / 2 - PADDING
        placed.x[:] = [x + extra for x in placed.x]
        return Inside(level, sizes, placed, Size(width, placed.size.height + HEADER + 2 * PADDING), opened)

    def emit(self, group: Group, inside: Inside, left: float, top: float) -> None:
        drawing, whole = self.drawing, group is self.drawing.whole
        if not whole:
            self.frame(group, inside, left, top)
        x0, y0 = (left, top) if whole else (left + PADDING, top + HEADER + PADDING)
        for way, stops in routes(inside.level, inside.placed, inside.sizes):
            moved = [Stop(x0 + stop.x, y0 + stop.top, y0 + stop.bottom) for stop in stops]
            if way.arrow.source is None:
                moved[0] = moved[0]._replace(top=top)
            if way.arrow.target is None and way.arrives:
                moved[-1] = moved[-1]._replace(bottom=top + inside.size.height)
            self.arrow(group, inside, way, moved)
        for position, child in enumerate(group.children):
            x, y = inside.placed.corner(inside.level, position, inside.sizes.boxes[position])
            if position in inside.opened:
                assert isinstance(child, Group)
                self.emit(child, inside.opened[position], x0 + x, y0 + y)
            else:
                look = drawing.look(child)
                self.rects[child.number] = (x0 + x, y0 + y, *look.size)
                tip = escaped("\n".join(look.tip))
                body = box(child.kind, look.lines, look.size, drawing.saved_lines(child))
                move = f'transform="translate({x0 + x:.1f} {y0 + y:.1f})"'
                self.closed.append(f'<g class="{child.kind}" {move}><title>{tip}</title>{body}</g>')

    def frame(self, group: Group, inside: Inside, left: float, top: float) -> None:
        self.rects[group.number] = (left, top, *inside.size)
        size = f'width="{inside.size.width:.1f}" height="{inside.size.height:.1f}"'
        move = f'transform="translate({left:.1f} {top:.1f})"'
        self.frames.append(
            f'<g class="{group.kind} frame" {move}><rect class="shape" {size} rx="8" stroke-width="1.2"/></g>'
        )
        entries = [PADDING + inside.placed.x[vertex] for vertex in inside.level.entries.values()]
        x, anchor = title_place(shortened(group.title), inside.size.width, entries)
        text = f'<text class="title" x="{x:.1f}" y="19" text-anchor="{anchor}">{escaped(shortened(group.title))}</text>'
        self.labels.append(f'<g class="{group.kind}" {move}>{text}</g>')

    def arrow(self, group: Group, inside: Inside, way: Way, stops: list[Stop]) -> None:
        value = self.drawing.values[way.arrow.value]
        target = None if way.arrow.target is None else group.children[way.arrow.target]
        head = way.arrives and target is not None and way.arrow.target not in inside.opened
        thick = self.drawing.thickness(value)
        nan = line_class(value)
        self.edges.append(f'<path class="edge{nan}" stroke-width="{thick:.1f}" d="{line(stops, head)}"/>')
        end = stops[-1]
        if head:
            half = 3.4 + thick * 0.45
            tip = f"M{end.x - half:.1f} {end.bottom - HEAD - 1:.1f}L{end.x:.1f} {end.bottom:.1f}"
            self.edges.append(f'<path class="head{nan}" d="{tip}L{end.x + half:.1f} {end.bottom - HEAD - 1:.1f}Z"/>')
            assert target is not None
            right, left = self.drawing.labels(target, value)
            self.label(end.x + half + 3, end.bottom - 4, "start", right)
            self.label(end.x - half - 3, end.bottom - 4, "end", left)

    def label(self, x: float, y: float, anchor: str, words: str) -> None:
        text = f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escaped(words)}</text>'
        if words and text not in self.labels:  # several arrows may end at the same place
            self.labels.append(text)

    def text(self) -> str:
        legend, below = self.legend()
        size = self.inside.size
        width = max(size.width, max([right for _, right in legend], default=0.0)) + 2 * MARGIN
        left = (width - size.width) / 2
        height = size.height + 2 * MARGIN + below + 12
        parts = [
            f'<svg class="leafgrad" xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{escaped(title_of(self.drawing))}">',
            f"<style>{css()}</style>",
            f'<rect class="page" width="{width:.0f}" height="{height:.0f}" rx="8"/>',
            f'<g transform="translate({left:.1f} {MARGIN})">',
            *[f'<g class="{name}">{"".join(parts)}</g>' for name, parts in self.layers()],
            "</g>",
            f'<g class="legend" transform="translate({MARGIN} {size.height + 2 * MARGIN:.1f})">',
            *[text for text, _ in legend],
            "</g></svg>\n",
        ]
        return "\n".join(parts)

    def layers(self) -> Iterable[tuple[str, list[str]]]:
        yield "frames", self.frames
        yield "edges", self.edges
        yield "label", self.labels
        yield "boxes", self.closed

    def legend(self) -> tuple[list[tuple[str, float]], float]:
        """The pieces of the legend, each with where it ends; and how high it is. It is as wide as the picture."""
        pieces: list[tuple[str, float]] = []
        limit = max(self.inside.size.width, 560.0)
        x, y = 0.0, 0.0
        for kind, text in self.drawing.legend():
            if kind in ("module", "block"):
                text = text.split(",")[0].replace(" open with a click", "")
            if kind == "saved" and not self.drawing.saved:
                continue
            end = x + 28 + text_width(text, SMALL)
            if end > limit and x:
                x, y, end = 0.0, y + 20, 28 + text_width(text, SMALL)
            body = f'<g class="{kind}">{shape(kind, 20, 12)}</g><text x="27" y="10">{escaped(text)}</text>'
            pieces.append((f'<g transform="translate({x:.1f} {y:.1f})">{body}</g>', end))
            x = end + 20
        for note in self.drawing.notes():
            y += 20
            pieces.append((f'<text y="{y + 10:.1f}">{escaped(note)}</text>', text_width(note, SMALL)))
        return pieces, y + 20


def title_place(title: str, width: float, entries: list[float]) -> tuple[float, str]:
    """Where the title of an open module stands: on the left, or on the right if arrows come in on the left."""
    room = text_width(title, TITLE) + 8
    left, right = PADDING - 6, width - PADDING + 6
    blocked_left = any([x < left + room for x in entries])
    blocked_right = any([x > right - room for x in entries])
    return (right, "end") if blocked_left and not blocked_right else (left, "start")


def line(stops: list[Stop], head: bool) -> str:
    """The arrow without its head, so that the thick end of the line does not stick out beside the tip."""
    x, top, bottom = stops[0]
    path = f"M{x:.1f} {top:.1f}V{bottom:.1f}"
    for stop in stops[1:]:
        end = stop.bottom - HEAD if head and stop is stops[-1] else stop.bottom
        bend_end = min(stop.top, end)
        if abs(stop.x - x) > 0.05:
            middle = (bottom + bend_end) / 2
            path += f"C{x:.1f} {middle:.1f} {stop.x:.1f} {middle:.1f} {stop.x:.1f} {bend_end:.1f}"
        path += f"V{end:.1f}"
        x, bottom = stop.x, stop.bottom
    return path
