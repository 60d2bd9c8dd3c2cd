"""Where the boxes and arrows inside of one group go.

The method is Sugiyama's, in four steps:

1. *layers*: every box sits one layer below the lowest box that points at it (longest path);
2. *waypoints*: an arrow which jumps over layers gets an invisible box, and so some room, in each layer it crosses;
3. *order*: sweeping down and up, each layer is sorted by the mean position of its neighbours (barycentre), and
   the order with the fewest crossings is kept;
4. *coordinates*: each layer in turn is moved as close to its neighbours as it can be without boxes touching.

Arrows run straight down inside a layer and bend only in the free strip between two layers. That is why none of them can
cross a box, however crowded the graph is. The first three steps make a `Level`, once. The last, `place`, depends on the
sizes of the boxes, which change when one is opened; `page.js` has it as well, line by line, for the browser.
Only geometry lives here: no tensors, no SVG.
"""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import NamedTuple

BOX_GAP = 30.0  # free space between two boxes of a layer
LINE_GAP = 9.0  # free space on either side of an arrow that passes through a layer
STRIP = 40.0  # least height of the strip between two layers
BORDER_STRIP = 12.0  # between a layer and the border of the group
ORDER_SWEEPS, SWAP_ROUNDS, PLACE_SWEEPS = 12, 3, 10  # beyond these, pictures hardly get better
MOST_SWAPPED = 400  # vertices, beyond which neighbours are not exchanged one by one
ROW = 5  # boxes side by side that nothing is connected with

Value = int  # the number of what an arrow stands for: arrows of the same value are one where they arrive


class Arrow(NamedTuple):
    """From one box down to another; None is the border of the group, above or below."""

    source: int | None
    target: int | None
    value: Value


class Way(NamedTuple):
    """The vertices that an arrow goes through. It ends early where it meets another arrow of the same value."""

    arrow: Arrow
    vertices: list[int]
    arrives: bool


class Level:
    """The inside of a group: boxes `0 .. boxes-1`, then places where arrows come in at the top and go out at the
    bottom, then waypoints; all in layers, with links between adjacent layers only."""

    def __init__(self, boxes: int, arrows: Sequence[Arrow], sinking: Sequence[int] = ()) -> None:
        self.boxes = boxes
        self.entries: dict[Value, int] = {}  # vertices at the top border, and
        self.exits: dict[Value, int] = {}  # at the bottom border
        self.ways: list[Way] = []
        self.layer = self._layers(arrows, sinking)
        self.down: list[list[tuple[int, Value]]] = [[] for _ in self.layer]
        self.up: list[list[tuple[int, Value]]] = [[] for _ in self.layer]
        waypoints: dict[tuple[int, Value, int], int] = {}
        for arrow in arrows:
            self._add_way(arrow, waypoints)
        self.layers: list[list[int]] = [[] for _ in range(max(self.layer, default=-1) + 1)]
        for vertex in self._depth_first():
            self.layers[self.layer[vertex]].append(vertex)
        _choose_order(self)

    def _ends(self, arrow: Arrow) -> tuple[int, int]:
        source = self.entries[arrow.value] if arrow.source is None else arrow.source
        return source, self.exits[arrow.value] if arrow.target is None else arrow.target

    def _layers(self, arrows: Sequence[Arrow], sinking: Sequence[int]) -> list[int]:
        count = self.boxes
        for arrow in arrows:
            if arrow.source is None and arrow.value not in self.entries:
                self.entries[arrow.value] = count
                count += 1
        for arrow in arrows:
            if arrow.target is None and arrow.value not in self.exits:
                self.exits[arrow.value] = count
                count += 1
        above: dict[int, list[int]] = {vertex: [] for vertex in range(count)}
        below: dict[int, list[int]] = {vertex: [] for vertex in range(count)}
        for source, target in map(self._ends, arrows):
            above[target].append(source)
            below[source].append(target)
        first = 1 if self.entries else 0
        layer = [0] * count
        for vertex in TopologicalSorter(above).static_order():
            start = first if vertex < self.boxes else 0
            layer[vertex] = max([layer[source] + 1 for source in above[vertex]], default=start)
        # Boxes that nothing points at (outputs) would all float at the top: let them sink to what they point at.
        for vertex in sinking:
            if below[vertex]:
                layer[vertex] = min(layer[target] for target in below[vertex]) - 1
        last = max([layer[vertex] for vertex in range(self.boxes)], default=0)
        alone = [vertex for vertex in range(self.boxes) if not above[vertex] and not below[vertex]]
        if len(alone) < self.boxes:
            last += 1
        for position, vertex in enumerate(alone):
            layer[vertex] = last + position // ROW
        bottom = max(layer, default=0) + 1
        for vertex in self.exits.values():
            layer[vertex] = bottom
        return layer

    def _add_way(self, arrow: Arrow, waypoints: dict[tuple[int, Value, int], int]) -> None:
        # Arrows of the same value share their waypoints: they merge on the way, as the gradients that they stand for
        # are summed, and a weight used in a hundred places does not get a hundred parallel lines.
        source, target = self._ends(arrow)
        vertices, arrives = [source], True
        for layer in range(self.layer[source] + 1, self.layer[target]):
            key = (target, arrow.value, layer)
            known = waypoints.get(key)
            if known is not None:
                vertices.append(known)
                arrives = False  # the rest of the way is there already
                break
            waypoints[key] = self._add_waypoint(layer)
            vertices.append(waypoints[key])
        if arrives:
            vertices.append(target)
        self.ways.append(Way(arrow, vertices, arrives))
        for above, below in pairwise(vertices):
            self.down[above].append((below, arrow.value))
            self.up[below].append((above, arrow.value))

    def _add_waypoint(self, layer: int) -> int:
        self.layer.append(layer)
        self.up.append([])
        self.down.append([])
        return len(self.layer) - 1

    def _depth_first(self) -> list[int]:
        """All vertices, left operands before right ones: a first order that already has few crossings."""
        stack = [vertex for vertex in range(len(self.layer) - 1, -1, -1) if not self.up[vertex]]
        seen: dict[int, None] = {}
        while stack:
            vertex = stack.pop()
            if vertex not in seen:
                seen[vertex] = None
                stack.extend(below for below, _ in reversed(self.down[vertex]))
        return list(seen)

    def is_box(self, vertex: int) -> bool:
        return vertex < self.boxes


# -- order ------------------------------------------------------------------------------------------------------------


def _choose_order(level: Level) -> None:
    """Sort the layers to have few crossings."""
    layers = level.layers
    best, fewest = [list(layer) for layer in layers], _crossings(level)
    centre: dict[int, float] = {}
    for sweep in range(ORDER_SWEEPS):
        if not fewest:
            break
        downwards = sweep % 2 == 0
        position = _positions(level)
        for layer in layers if downwards else reversed(layers):
            for vertex in layer:
                near = [position[v] for v, _ in (level.up if downwards else level.down)[vertex]]
                centre[vertex] = sum(near) / len(near) if near else position[vertex]
            layer.sort(key=centre.__getitem__)
            for index, vertex in enumerate(layer):
                position[vertex] = index
        if len(level.layer) <= MOST_SWAPPED:
            _swap_neighbours(level, position)
        crossings = _crossings(level)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    level.layers = best


def _swap_neighbours(level: Level, position: dict[int, float]) -> None:
    """Exchange neighbours in a layer where that saves crossings, which a mean position cannot see."""
    for _ in range(SWAP_ROUNDS):
        for layer in level.layers:
            for index in range(len(layer) - 1):
                left, right = layer[index], layer[index + 1]
                if _pair_crossings(level, position, right, left) < _pair_crossings(level, position, left, right):
                    layer[index], layer[index + 1] = right, left
                    position[left], position[right] = position[right], position[left]


def _pair_crossings(level: Level, position: dict[int, float], left: int, right: int) -> int:
    """How often the links of two neighbours cross if `left` is the left one."""
    return sum(
        [position[a] > position[b] for links in (level.up, level.down) for a, _ in links[left] for b, _ in links[right]]
    )


def _positions(level: Level) -> dict[int, float]:
    return {vertex: index for layer in level.layers for index, vertex in enumerate(layer)}


def _crossings(level: Level) -> int:
    position, total = _positions(level), 0
    for layer in level.layers:
        passed: list[float] = []
        for vertex in layer:
            ends = [position[below] for below, _ in level.down[vertex]]
            total += sum([len(passed) - bisect(passed, end) for end in ends])
            for end in ends:
                insort(passed, end)
    return total


# -- coordinates ------------------------------------------------------------------------------------------------------


class Size(NamedTuple):
    width: float
    height: float


@dataclass
class Sizes:
    """The sizes of the boxes of a level, and where arrows leave and enter them, seen from their centres."""

    boxes: Sequence[Size]
    exit: Callable[[int, Value], float]
    entry: Callable[[int, Value], float]


class Stop(NamedTuple):
    """A vertical piece of an arrow, from `top` down to `bottom`."""

    x: float
    top: float
    bottom: float


class Placed(NamedTuple):
    x: list[float]  # the centre of every vertex
    tops: list[float]  # of the layers
    bottoms: list[float]
    size: Size

    def corner(self, level: Level, box: int, size: Size) -> tuple[float, float]:
        """The left top corner of a box: they are centred in their layers, but for leaves and inputs."""
        layer = level.layer[box]
        free = self.bottoms[layer] - self.tops[layer] - size.height
        return self.x[box] - size.width / 2, self.tops[layer] + (free / 2 if level.down[box] else free)


class _Placing:
    def __init__(self, level: Level, sizes: Sizes) -> None:
        self.level, self.sizes = level, sizes
        self.x = [0.0] * len(level.layer)
        for layer in level.layers:
            for left, right in pairwise(layer):
                self.x[right] = self.x[left] + self.distance(left, right)
        for sweep in range(PLACE_SWEEPS):
            both = sweep >= PLACE_SWEEPS // 2
            for look_up in (True, False):
                for layer in level.layers if look_up else reversed(level.layers):
                    wishes = [self.wishes(vertex, look_up or both, both or not look_up) for vertex in layer]
                    self.settle(layer, wishes)

    def width(self, vertex: int) -> float:
        return self.sizes.boxes[vertex].width if self.level.is_box(vertex) else 0.0

    def distance(self, left: int, right: int) -> float:
        """How far apart the centres of two neighbours in a layer have to be."""
        gap = sum([BOX_GAP / 2 if self.level.is_box(vertex) else LINE_GAP for vertex in (left, right)])
        return (self.width(left) + self.width(right)) / 2 + gap

    def shift(self, above: int, below: int, value: Value) -> float:
        """How far to the right of the upper centre the lower one is where a link is straight."""
        start = self.sizes.exit(above, value) if self.level.is_box(above) else 0.0
        return start - (self.sizes.entry(below, value) if self.level.is_box(below) else 0.0)

    def weight(self, above: int, below: int) -> int:
        """How much a link should be straight: long arrows most, those to a leaf (which has room to move) least."""
        is_box = self.level.is_box
        if is_box(above) and is_box(below):
            return 2 if self.level.down[below] else 1
        return 3 if is_box(above) or is_box(below) else 8

    def wishes(self, vertex: int, look_up: bool, look_down: bool) -> list[float]:
        """The places where `vertex` would like to be, one per link; repeated for links that have to look straight."""
        wishes: list[float] = []
        sides = 0
        if look_up and self.level.up[vertex]:
            sides += 1
            for above, value in self.level.up[vertex]:
                wishes += [self.x[above] + self.shift(above, vertex, value)] * self.weight(above, vertex)
        if look_down and self.level.down[vertex]:
            sides += 1
            for below, value in self.level.down[vertex]:
                wishes += [self.x[below] - self.shift(vertex, below, value)] * self.weight(vertex, below)
        wishes.sort()
        if not wishes:
            return [self.x[vertex]]
        if sides == 1:  # all neighbours are on one side: between the middle two of them is the best-looking place
            wishes.append((wishes[(len(wishes) - 1) // 2] + wishes[len(wishes) // 2]) / 2)
        return wishes

    def settle(self, layer: list[int], wishes: list[list[float]]) -> None:
        """Move a layer so that the sum of distances to all `wishes` is least, in the given order and without overlap.

        Measured from the place that it has when the layer is packed tightly, no vertex may be left of its predecessor:
        this is isotonic regression, solved by pooling neighbours that are in each other's way and giving every pool
        the median of what its members wish.
        """
        packed = 0.0
        shifts: list[float] = []
        pools: list[tuple[float, list[float], int]] = []  # place, wishes, number of members
        for index, vertex in enumerate(layer):
            packed += self.distance(layer[index - 1], vertex) if index else 0.0
            shifts.append(packed)
            pooled, size = sorted([wish - packed for wish in wishes[index]]), 1
            while pools and pools[-1][0] > _median(pooled):
                _, more, members = pools.pop()
                pooled, size = sorted(more + pooled), size + members
            pools.append((_median(pooled), pooled, size))
        index = 0
        for place, _, size in pools:
            for _ in range(size):
                self.x[layer[index]] = place + shifts[index]
                index += 1

    def centre_the_others(self) -> None:
        """Put layers of boxes that nothing is connected with below the middle of the rest."""
        linked = [v for v in range(len(self.x)) if self.level.up[v] or self.level.down[v]]
        middle = self.middle(linked) if linked else 0.0
        for layer in self.level.layers:
            if not any([self.level.up[v] or self.level.down[v] for v in layer]):
                shift = middle - self.middle(layer)
                for vertex in layer:
                    self.x[vertex] += shift

    def middle(self, vertices: list[int]) -> float:
        left = min([self.x[v] - self.width(v) / 2 for v in vertices])
        return (left + max([self.x[v] + self.width(v) / 2 for v in vertices])) / 2


def _median(ordered: list[float]) -> float:
    """The lower one of two: a place that a member did wish, so that at least its link is straight."""
    return ordered[(len(ordered) - 1) // 2]


def place(level: Level, sizes: Sizes) -> Placed:
    """Coordinates for all vertices, from zero on."""
    placing = _Placing(level, sizes)
    x = placing.x
    placing.centre_the_others()
    left = min([x[v] - placing.width(v) / 2 for v in range(len(x))], default=0.0)
    x[:] = [one - left for one in x]
    width = max([x[v] + placing.width(v) / 2 for v in range(len(x))], default=0.0)
    tops, bottoms, y = [], [], 0.0
    for number, layer in enumerate(level.layers):
        height = max([sizes.boxes[v].height for v in layer if level.is_box(v)], default=0.0)
        tops.append(y)
        bottoms.append(y + height)
        # the strip below is higher the farther its arrows go sideways
        sideways = [abs(x[v] + placing.shift(v, w, value) - x[w]) for v in layer for w, value in level.down[v]]
        border = (number == 0 and level.entries) or (number == len(level.layers) - 2 and level.exits)
        least = BORDER_STRIP if border else STRIP
        y += height + min(least + 0.08 * max(sideways, default=0.0), 2.5 * STRIP)
    return Placed(x, tops, bottoms, Size(width, bottoms[-1] if bottoms else 0.0))


def routes(level: Level, placed: Placed, sizes: Sizes) -> Iterator[tuple[Way, list[Stop]]]:
    """The arrows: vertical pieces with bends between them."""
    for way in level.ways:
        stops = []
        for vertex in way.vertices:
            layer = level.layer[vertex]
            stops.append(Stop(placed.x[vertex], placed.tops[layer], placed.bottoms[layer]))
        first, last = way.vertices[0], way.vertices[-1]
        if level.is_box(first):
            corner = placed.corner(level, first, sizes.boxes[first])
            x = stops[0].x + sizes.exit(first, way.arrow.value)
            stops[0] = Stop(x, corner[1] + sizes.boxes[first].height, stops[0].bottom)
        if way.arrives and level.is_box(last):
            corner = placed.corner(level, last, sizes.boxes[last])
            stops[-1] = Stop(stops[-1].x + sizes.entry(last, way.arrow.value), stops[-1].top, corner[1])
        elif not way.arrives:
            stops[-1] = Stop(stops[-1].x, stops[-1].top, stops[-1].top)
        yield way, stops
