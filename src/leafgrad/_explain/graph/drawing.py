"""From the groups of a graph to a picture: boxes with sizes and tooltips, lines with widths. Drawn by `svg.py` and
`page.js`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from leafgrad._explain.graph.contents import KINDS, WITHOUT_GRADIENT, Contents, Item, Value
from leafgrad._explain.graph.groups import Arranging, Box, Group
from leafgrad._explain.graph.layout import Arrow, Level, Size
from leafgrad._explain.graph.look import (
    DECADES,
    LABEL,
    THICKEST,
    THINNEST,
    TITLE,
    box,
    box_size,
    shortened,
    text_width,
)

MARGIN = 24.0
PADDING = 18.0  # inside of an open module
HEADER = 26.0  # for its title
PORT_STEP = 22.0  # distance between arrows that enter a box, if their labels are left out
MOST_LABELS = 3  # arrows into one box that are labelled
HEAD = 7.0  # length of an arrow head
MOST_SEEN = 30  # boxes: modules are open at first, the outermost first, as long as no more are seen


@dataclass(eq=False)
class Look:
    """A box as it is drawn when it is closed."""

    lines: list[str]
    size: Size
    tip: list[str]
    entries: dict[int, float] = field(default_factory=dict)  # number of a value -> where it enters, from the centre
    labelled: bool = True


class Drawing:
    """Everything that is known of a picture before it is decided which modules are open."""

    def __init__(self, contents: Contents, arranged: Arranging, saved: bool) -> None:
        self.contents, self.whole, self.boxes, self.saved = contents, arranged.whole, arranged.boxes, saved
        self.values = list(contents.values.values())
        self.strongest = max([v.norm for v in self.values if v.norm and math.isfinite(v.norm)], default=0.0)
        self.results: dict[int, list[Value]] = {}  # by the id of an item
        for value in self.values:
            self.results.setdefault(id(value.item), []).append(value)
        self.arriving: dict[
            int, dict[Value, list[int]]
        ] = {}  # by the number of a box: values, with the times of arrows
        self.levels: dict[int, Level] = {}  # by the number of a group
        for group in self.groups():
            for (_, target, value), times in group.edges.items():
                if target is not None:
                    self.arriving.setdefault(target.number, {}).setdefault(value, []).append(times)
        self._looks: dict[int, Look] = {}  # by the number of a box; made when they are needed

    def level(self, group: Group) -> Level:
        known = self.levels.get(group.number)
        if known is None:
            inside = {id(child): number for number, child in enumerate(group.children)}
            arrows = [
                Arrow(
                    None if source is None else inside[id(source)],
                    None if target is None else inside[id(target)],
                    value.number,
                )
                for source, target, value in group.edges
            ]
            outputs = [number for number, child in enumerate(group.children) if child.kind == "output"]
            known = self.levels[group.number] = Level(len(group.children), arrows, outputs)
        return known

    def look(self, one: Box) -> Look:
        if one.number not in self._looks:
            self._looks[one.number] = self._make_look(one)
        return self._looks[one.number]

    def _make_look(self, one: Box) -> Look:
        lines = [one.title, *one.lines]
        tip = list(lines)
        if isinstance(one, Item):
            if one.place is not None and one.kind == "op":
                lines.append(one.place.spot)
            if one.place is not None and one.kind != "cut":
                tip.append(str(one.place))
            tip += [f"saves {text}" for text in one.saved]
            tip += self.gradients_of(one)
        result = Look(lines, box_size(one.kind, lines, self.saved_lines(one)), tip)
        values = sorted(self.arriving.get(one.number, ()), key=lambda value: (value.port, value.number))
        right = max([text_width(self.label(one, value), LABEL) for value in values], default=0.0)
        left = max([text_width(self.times(one, value), LABEL) for value in values], default=0.0)
        result.labelled = len(values) <= MOST_LABELS
        step = max(PORT_STEP, right + left + 16) if result.labelled else PORT_STEP
        needed = (len(values) - 1) * step + max(2 * max(left, right) - 12, 30) if result.labelled else 0.0
        result.size = Size(max(result.size.width, needed), result.size.height)
        step = min(step, (result.size.width - 16) / max(len(values) - 1, 1))
        for position, value in enumerate(values):
            result.entries[value.number] = (position - (len(values) - 1) / 2) * step
        return result

    def saved_lines(self, one: Box) -> list[str]:
        return one.saved if self.saved and isinstance(one, Item) else []

    def gradients_of(self, item: Item) -> Iterator[str]:
        for value in self.results.get(id(item), ()):
            if value.norm is not None and item.kind == "op":
                which = f" of result {value.port}" if value.port else ""
                yield f"gradient{which}: norm {value.norm:.3g}"

    def label(self, target: Box, value: Value) -> str:
        """The text at an arrow head: boxes of leaves and inputs have the shape in them."""
        if isinstance(target, Item) and target.kind != "op":
            return ""
        several = len(self.results[id(value.item)]) > 1 or value.port
        return f"{value.port}: {value.shape}" if several else value.shape

    def times(self, target: Box, value: Value) -> str:
        """The text on the other side: how often a box uses a value, if arrows do not show it."""
        times = self.arriving[target.number][value]
        return f"×{sum(times)}" if max(times) > 1 else ""

    def labels(self, target: Box, value: Value) -> tuple[str, str]:
        """The texts to the right and to the left of an arrow head."""
        if not self.look(target).labelled:
            return "", ""
        return self.label(target, value), self.times(target, value)

    def thickness(self, value: Value) -> float:
        norm = value.norm
        if not norm or not self.strongest:
            return THINNEST
        if not math.isfinite(norm):
            return THICKEST
        part = 1 + math.log10(norm / self.strongest) / DECADES
        return THINNEST + (THICKEST - THINNEST) * max(part, 0.0)

    def first_open(self, most: int = MOST_SEEN) -> set[int]:
        """The modules to open: all of a depth at once, the outermost first, as long as no more than `most` boxes are
        seen."""
        opened: set[int] = set()
        seen = len(self.whole.children)
        depth = modules_in([self.whole])
        while depth:
            seen += sum([len(group.children) - 1 for group in depth])
            if seen > most:
                break
            opened |= {group.number for group in depth}
            depth = modules_in(depth)
        return opened

    def legend(self) -> list[tuple[str, str]]:
        """The kinds that occur, and what they are."""
        kinds = {one.kind for one in self.boxes}
        if any(item.saved for item in self.contents.items):
            kinds.add("saved")
        return [(kind, text) for kind, text in KINDS.items() if kind in kinds]

    def description(self) -> dict[str, Any]:
        """All of it as JSON, for `page.js`."""
        parents = {id(group): group.number for group in self.groups()}
        return {
            "boxes": [self.described(one, parents) for one in self.boxes],
            "values": [
                [round(self.thickness(value), 1), line_class(value), "" if value.norm is None else f"{value.norm:.3g}"]
                for value in self.values
            ],
            "whole": self.described_level(self.whole),
            "opened": sorted(self.first_open()),
        }

    def groups(self) -> list[Group]:
        return [self.whole, *[one for one in self.boxes if isinstance(one, Group)]]

    def described(self, one: Box, parents: dict[int, int]) -> dict[str, Any]:
        look = self.look(one)
        result: dict[str, Any] = {
            "kind": one.kind,
            "parent": parents[id(one.parent)],
            "tip": look.tip,
            "size": rounded(look.size),
            "svg": box(one.kind, look.lines, look.size),
            "entries": {
                value: [round(x, 1), *self.labels(one, self.values[value])] for value, x in look.entries.items()
            },
        }
        if isinstance(one, Group):
            result["title"] = shortened(one.title)
            result["titleWidth"] = round(text_width(shortened(one.title), TITLE), 1)
            result["level"] = self.described_level(one)
        elif one.saved:
            size = box_size(one.kind, look.lines, one.saved)
            size = Size(max(size.width, look.size.width), size.height)
            result["saved"] = {"size": rounded(size), "svg": box(one.kind, look.lines, size, one.saved)}
        return result

    def described_level(self, group: Group) -> dict[str, Any]:
        level = self.level(group)
        return {
            "boxes": [child.number for child in group.children],
            "layer": level.layer,
            "layers": level.layers,
            "entries": level.entries,
            "exits": level.exits,
            "ways": [
                [way.arrow.value, way.vertices, way.arrives, way.arrow.source, way.arrow.target] for way in level.ways
            ],
        }

    def notes(self) -> list[str]:
        """What is to be said of the whole."""
        found = []
        if self.contents.freed is not None:
            found.append(
                f"{self.contents.freed}   has freed this graph: what it had saved is gone, and with it the inputs that "
                "need no gradient"
            )
        if self.strongest:
            least = self.strongest / 10**DECADES
            what = "gradients" if self.contents.inner else "gradients of the leaves"
            found.append(f"width of lines: norm of {what}, from {least:.1g} (thin) to {self.strongest:.2g} (thick)")
        return found


def modules_in(groups: list[Group]) -> list[Group]:
    inside = [child for group in groups for child in group.children]
    return [child for child in inside if isinstance(child, Group) and child.kind == "module"]


def rounded(size: Size) -> list[float]:
    return [round(size.width, 1), round(size.height, 1)]


def line_class(value: Value) -> str:
    """How a line is drawn: dashed where no gradient goes, red where it is nan or inf."""
    if value.item.kind in WITHOUT_GRADIENT:
        return " none"
    return " nan" if value.norm is not None and not math.isfinite(value.norm) else ""


def title_of(drawing: Drawing) -> str:
    names = [item.title for item in drawing.contents.items if item.kind == "output"]
    return "autograd graph of " + ", ".join(names)
