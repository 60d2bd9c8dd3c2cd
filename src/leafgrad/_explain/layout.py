"""Where the boxes and arrows of a layered graph drawing go.

The method is Sugiyama's, in four steps:

1. *layers*: every box sits one layer below the lowest box that points at it (longest path);
2. *waypoints*: an arrow which jumps over layers gets an invisible box, and so some room, in each layer it crosses;
3. *order*: sweeping down and up, each layer is sorted by the mean position of its neighbours (barycentre), and
   the order with the fewest crossings is kept;
4. *coordinates*: each layer in turn is moved as close to its neighbours as it can be without boxes touching.

Arrows run straight down inside a layer and bend only in the free strip between two layers. That is why none of
them can cross a box, however crowded the graph is. Only geometry lives here: no tensors, no SVG.
"""

from __future__ import annotations

from bisect import bisect, insort
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import NamedTuple

BOX_GAP = 26.0  # free space between two boxes of a layer
LINE_GAP = 9.0  # free space on either side of an arrow that passes through a layer
PORT_STEP = 22.0  # distance between the arrow heads of a box with several entries
STRIP = 36.0  # least height of the strip between two layers
ORDER_SWEEPS, SWAP_ROUNDS, PLACE_SWEEPS = 12, 3, 10  # beyond these, pictures hardly get better


class Edge(NamedTuple):
    """An arrow from box `source` to box `target`; `port` tells apart the entries of a target that has several."""

    source: int
    target: int
    port: int = 0


class Rect(NamedTuple):
    left: float
    top: float
    width: float
    height: float


class Stop(NamedTuple):
    """A vertical piece of an arrow, from `top` down to `bottom`."""

    x: float
    top: float
    bottom: float


@dataclass(frozen=True)
class Route:
    """An arrow: vertical pieces with bends between them. It ends early where it meets another to the same entry."""

    edge: Edge
    count: int  # how many equal edges it stands for
    stops: list[Stop]
    arrives: bool  # False if it ends early


class Layout(NamedTuple):
    rects: list[Rect]
    routes: list[Route]
    width: float
    height: float


class _Lattice:
    """The boxes `0 .. n-1` and the waypoints that follow them, in layers, with links between adjacent layers only."""

    def __init__(self, sizes: Sequence[tuple[float, float]], edges: Sequence[Edge], sinking: Sequence[int]) -> None:
        self.count = len(sizes)
        self.width = [width for width, _ in sizes]
        self.layer = _longest_path(self.count, edges, sinking)
        self.entry = _entries(edges, self.width)
        # up[v] and down[v] hold (neighbour, x of the link relative to the centre of its lower end).
        self.up: list[list[tuple[int, float]]] = [[] for _ in sizes]
        self.down: list[list[tuple[int, float]]] = [[] for _ in sizes]
        self.ways: list[tuple[Edge, int, list[int]]] = []  # edge, how often, the vertices that it goes through
        # Arrows to the same entry share their waypoints: they merge on the way, as the gradients that they
        # stand for are summed, and a weight used in a hundred places does not get a hundred parallel lines.
        waypoints: dict[tuple[int, int, int], int] = {}
        for edge, count in Counter(edges).items():
            way = [edge.source]
            for layer in range(self.layer[edge.source] + 1, self.layer[edge.target]):
                key = (edge.target, edge.port, layer)
                known = key in waypoints
                if not known:
                    waypoints[key] = self._add_waypoint(layer)
                way.append(waypoints[key])
                if known:
                    break  # the rest of the way is there already
            else:
                way.append(edge.target)
            self.ways.append((edge, count, way))
            for above, below in pairwise(way):
                offset = self.entry[edge.target, edge.port] if below == edge.target else 0.0
                self.down[above].append((below, offset))
                self.up[below].append((above, offset))
        self.layers: list[list[int]] = [[] for _ in range(max(self.layer, default=-1) + 1)]
        for vertex in self._depth_first():
            self.layers[self.layer[vertex]].append(vertex)

    def _add_waypoint(self, layer: int) -> int:
        self.layer.append(layer)
        self.width.append(0.0)
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
        return vertex < self.count

    def weight(self, above: int, below: int) -> int:
        """How much a link should be straight: long arrows most, those to a leaf (which has room to move) least."""
        if self.is_box(above) and self.is_box(below):
            return 2 if self.down[below] else 1
        return 3 if self.is_box(above) or self.is_box(below) else 8

    def distance(self, left: int, right: int) -> float:
        """How far apart the centres of two neighbours in a layer have to be."""
        gap = sum(BOX_GAP / 2 if self.is_box(vertex) else LINE_GAP for vertex in (left, right))
        return (self.width[left] + self.width[right]) / 2 + gap


def _longest_path(count: int, edges: Sequence[Edge], sinking: Sequence[int]) -> list[int]:
    above: dict[int, list[int]] = {vertex: [] for vertex in range(count)}
    below: dict[int, list[int]] = {vertex: [] for vertex in range(count)}
    for edge in edges:
        above[edge.target].append(edge.source)
        below[edge.source].append(edge.target)
    layer = [0] * count
    for vertex in TopologicalSorter(above).static_order():
        layer[vertex] = max([layer[source] + 1 for source in above[vertex]], default=0)
    # Boxes that nothing points at (outputs) would all float at the top: let them sink to what they point at.
    for vertex in sinking:
        if below[vertex]:
            layer[vertex] = min(layer[target] for target in below[vertex]) - 1
    return layer


def _entries(edges: Sequence[Edge], width: Sequence[float]) -> dict[tuple[int, int], float]:
    """The x of every entry (target, port), relative to the centre of the target."""
    ports: dict[int, set[int]] = {}
    for edge in edges:
        ports.setdefault(edge.target, set()).add(edge.port)
    entries: dict[tuple[int, int], float] = {}
    for target, used in ports.items():
        step = min(PORT_STEP, width[target] / len(used))
        for position, port in enumerate(sorted(used)):
            entries[target, port] = (position - (len(used) - 1) / 2) * step
    return entries


def _choose_order(lattice: _Lattice) -> None:
    """Sort the layers of `lattice` to have few crossings."""
    layers = lattice.layers
    best, fewest = [list(layer) for layer in layers], _crossings(lattice)
    centre: dict[int, float] = {}
    for sweep in range(ORDER_SWEEPS):
        if not fewest:
            break
        downwards = sweep % 2 == 0
        position = _positions(lattice)
        for layer in layers if downwards else reversed(layers):
            for vertex in layer:
                above = [position[v] for v, _ in lattice.up[vertex]]
                near = above if downwards else _ends(lattice, position, vertex)
                centre[vertex] = sum(near) / len(near) if near else position[vertex]
            layer.sort(key=centre.__getitem__)
            for index, vertex in enumerate(layer):
                position[vertex] = index
        _swap_neighbours(lattice, position)
        crossings = _crossings(lattice)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    lattice.layers = best


def _swap_neighbours(lattice: _Lattice, position: dict[int, float]) -> None:
    """Exchange neighbours in a layer where that saves crossings, which a mean position cannot see."""
    for _ in range(SWAP_ROUNDS):
        for layer in lattice.layers:
            for index in range(len(layer) - 1):
                left, right = layer[index], layer[index + 1]
                if _pair_crossings(lattice, position, right, left) < _pair_crossings(lattice, position, left, right):
                    layer[index], layer[index + 1] = right, left
                    position[left], position[right] = position[right], position[left]


def _pair_crossings(lattice: _Lattice, position: dict[int, float], left: int, right: int) -> int:
    """How often the links of two neighbours cross if `left` is the left one."""
    above = sum(position[a] > position[b] for a, _ in lattice.up[left] for b, _ in lattice.up[right])
    right_ends = _ends(lattice, position, right)
    return above + sum(a > b for a in _ends(lattice, position, left) for b in right_ends)


def _positions(lattice: _Lattice) -> dict[int, float]:
    return {vertex: index for layer in lattice.layers for index, vertex in enumerate(layer)}


def _ends(lattice: _Lattice, position: dict[int, float], vertex: int) -> list[float]:
    """The positions to which the links down from `vertex` go; entries of one box are in order, but within the box."""
    return [position[below] + offset / (lattice.width[below] + 1.0) for below, offset in lattice.down[vertex]]


def _crossings(lattice: _Lattice) -> int:
    position, total = _positions(lattice), 0
    for layer in lattice.layers:
        passed: list[float] = []
        for vertex in layer:
            ends = _ends(lattice, position, vertex)
            total += sum(len(passed) - bisect(passed, end) for end in ends)
            for end in ends:
                insort(passed, end)
    return total


def _choose_x(lattice: _Lattice) -> list[float]:
    """The centre of every vertex: layers take turns to move towards their neighbours above, below, or both."""
    x = [0.0] * len(lattice.layer)
    for layer in lattice.layers:
        for left, right in pairwise(layer):
            x[right] = x[left] + lattice.distance(left, right)
    for sweep in range(PLACE_SWEEPS):
        both = sweep >= PLACE_SWEEPS // 2
        for look_up in (True, False):
            for layer in lattice.layers if look_up else reversed(lattice.layers):
                wishes = [_wishes(lattice, x, v, look_up or both, both or not look_up) for v in layer]
                _settle(lattice, x, layer, wishes)
    return x


def _wishes(lattice: _Lattice, x: list[float], vertex: int, look_up: bool, look_down: bool) -> list[float]:
    """The places where `vertex` would like to be, one per link; repeated for links that have to look straight."""
    above = [x[v] - offset for v, offset in lattice.up[vertex] for _ in range(lattice.weight(v, vertex))]
    below = [x[v] + offset for v, offset in lattice.down[vertex] for _ in range(lattice.weight(vertex, v))]
    wishes = sorted((above if look_up else []) + (below if look_down else []))
    if not wishes:
        return [x[vertex]]
    if not (above and below and look_up and look_down):
        # All neighbours are on one side: between the middle two of them is the best-looking place.
        wishes.append((wishes[(len(wishes) - 1) // 2] + wishes[len(wishes) // 2]) / 2)
    return wishes


def _settle(lattice: _Lattice, x: list[float], layer: list[int], wishes: list[list[float]]) -> None:
    """Move a layer so that the sum of distances to all `wishes` is least, in the given order and without overlap.

    Measured from the place that it has when the layer is packed tightly, no vertex may be left of its predecessor:
    this is isotonic regression, solved by pooling neighbours that are in each other's way and giving every pool
    the median of what its members wish.
    """
    packed = 0.0
    shifts: list[float] = []
    pools: list[tuple[float, list[float], int]] = []  # place, wishes, number of members
    for index, vertex in enumerate(layer):
        packed += lattice.distance(layer[index - 1], vertex) if index else 0.0
        shifts.append(packed)
        pooled, size = sorted(wish - packed for wish in wishes[index]), 1
        while pools and pools[-1][0] > _median(pooled):
            _, more, members = pools.pop()
            pooled, size = sorted(more + pooled), size + members
        pools.append((_median(pooled), pooled, size))
    places = [place for place, _, size in pools for _ in range(size)]
    for vertex, place, shift in zip(layer, places, shifts, strict=True):
        x[vertex] = place + shift


def _median(ordered: list[float]) -> float:
    """The lower one of two: a place that a member did wish, so that at least its link is straight."""
    return ordered[(len(ordered) - 1) // 2]


def _join_parts(lattice: _Lattice, x: list[float]) -> float:
    """Put the parts of the graph that no arrow connects side by side, from zero on, and return the width of all."""
    seen: set[int] = set()
    width = -BOX_GAP
    for start in range(lattice.count):
        part = [] if start in seen else [start]
        seen.add(start)
        for vertex in part:  # grows while it is walked
            new = {other for other, _ in lattice.up[vertex] + lattice.down[vertex]} - seen
            seen |= new
            part += new
        if part:
            left = min(x[vertex] - lattice.width[vertex] / 2 for vertex in part)
            for vertex in part:
                x[vertex] += width + BOX_GAP - left
            width = max(x[vertex] + lattice.width[vertex] / 2 for vertex in part)
    return max(width, 0.0)


def arrange(sizes: Sequence[tuple[float, float]], edges: Sequence[Edge], sinking: Sequence[int] = ()) -> Layout:
    """Place boxes of the given (width, height) and their arrows, with all coordinates at or above zero.

    The edges must not form a cycle. `sinking` lists boxes that nothing points at, and which are to be drawn next
    to the box they point at rather than in the top layer.
    """
    lattice = _Lattice(sizes, edges, sinking)
    _choose_order(lattice)
    x = _choose_x(lattice)
    total_width = _join_parts(lattice, x)
    tops, bottoms = _bands(lattice, [height for _, height in sizes], x)

    rects = []
    for box, (width, height) in enumerate(sizes):
        middle = (tops[lattice.layer[box]] + bottoms[lattice.layer[box]]) / 2
        rects.append(Rect(x[box] - width / 2, middle - height / 2, width, height))
    routes = []
    for edge, count, way in lattice.ways:
        stops = [Stop(x[v], tops[lattice.layer[v]], bottoms[lattice.layer[v]]) for v in way]
        first, last, arrives = rects[edge.source], stops[-1], way[-1] == edge.target
        stops[0] = stops[0]._replace(top=first.top + first.height)
        offset = lattice.entry[edge.target, edge.port] if arrives else 0.0
        stops[-1] = Stop(last.x + offset, last.top, rects[edge.target].top if arrives else last.top)
        routes.append(Route(edge, count, stops, arrives))
    return Layout(rects, routes, total_width, bottoms[-1] if bottoms else 0.0)


def _bands(lattice: _Lattice, heights: Sequence[float], x: Sequence[float]) -> tuple[list[float], list[float]]:
    """The top and bottom of every layer. The strip below it is higher the farther its arrows go sideways."""
    tops, bottoms, y = [], [], 0.0
    for layer in lattice.layers:
        height = max((heights[vertex] for vertex in layer if lattice.is_box(vertex)), default=0.0)
        sideways = max((abs(x[v] - x[w] - offset) for v in layer for w, offset in lattice.down[v]), default=0.0)
        tops.append(y)
        bottoms.append(y + height)
        y += height + min(STRIP + 0.08 * sideways, 3 * STRIP)
    return tops, bottoms
