"""What is in a graph: its operations, leaves, inputs and cut points, and the values that go from one to another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from leafgrad._core.function import CallNode
from leafgrad._core.node import Freed, Node, Output, plan_of
from leafgrad._core.reachable import reach
from leafgrad._core.recorder import edge
from leafgrad._core.tensor import wrap
from leafgrad._dtypes import from_numpy_dtype
from leafgrad._explain.backward_walk import pull_back
from leafgrad._explain.explanation import Explanation
from leafgrad._explain.held_memory import arrays_of, freed_at
from leafgrad._explain.modules import Call, ModuleCalls
from leafgrad._explain.names import Model, Names, operation
from leafgrad._explain.quantities import magnitude, memory
from leafgrad.autograd.composition import first_seen
from leafgrad.errors.cuts import Cut, cut_of, recognised, why_no_graph
from leafgrad.errors.naming import Place, assignment, is_tensor, place_of

WITHOUT_GRADIENT = ("input", "cut", "unreached")
NO_NAME = "(no name)"
MOST_BEHIND = 6  # leaves that are drawn behind one cut
KINDS = {
    "output": "result: backward() starts here",
    "op": "operation",
    "module": "module, opens with a click",
    "block": "operations in a row, open with a click",
    "leaf": "leaf, .grad is None",
    "filled": "leaf with a .grad",
    "input": "does not require grad",
    "cut": "the graph is cut here",
    "unreached": "leaf that this graph does not reach",
    "saved": "saved for the backward pass",
}


@dataclass(eq=False)
class Item:
    """Something that is drawn as one box."""

    kind: str
    title: str
    lines: list[str] = field(default_factory=list)
    place: Place | None = None  # the line of the program
    call: Call | None = None  # the module that recorded it
    code: Any = None  # of the function that cut the graph
    time: int = 0  # when it was recorded
    saved: list[str] = field(default_factory=list)
    tensor: Any = None
    module: str = ""  # the title of the module that has nothing but this operation in it
    parent: Any = None  # the Group that it is in
    number: int = -1  # among all boxes


@dataclass(eq=False)
class Value:
    """A result of an item, which others use; gradients go the same way back."""

    item: Item
    port: int
    shape: str
    norm: float | None = None  # of its gradient
    number: int = -1


@dataclass
class Contents:
    items: list[Item]
    edges: list[tuple[Item, Value]]  # an item and what it was computed from, in the order of its inputs
    freed: Place | None  # the backward call that freed what the graph had saved
    values: dict[tuple[int, int], Value]
    inner: bool = False  # have the gradients of inner values been computed?

    def refresh(self) -> None:
        """Read the gradients of the leaves: they may have changed since the graph was looked at."""
        for item in self.items:
            if item.kind in ("leaf", "filled") and item.tensor is not None:
                self._refresh_leaf(item)

    def _refresh_leaf(self, item: Item) -> None:
        grad = item.tensor.grad
        norm = None if grad is None else magnitude(grad.detach().numpy())
        item.kind = "leaf" if norm is None else "filled"
        item.lines = [described(item.tensor.array), ".grad is None" if norm is None else f"grad norm {norm:.3g}"]
        if not self.inner:
            self.values[id(item), 0].norm = norm


def shape_text(shape: Sequence[int]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def described(array: Any) -> str:
    return f"{shape_text(array.shape)} {str(from_numpy_dtype(array.dtype)).rpartition('.')[2]}"


class Collector:
    """Walks a graph and makes items of what it meets."""

    def __init__(self, roots: list[Any], names: Names) -> None:
        self.names = names
        self.calls = ModuleCalls()
        self.items: list[Item] = []
        self.edges: list[tuple[Item, Value]] = []
        self.values: dict[tuple[int, int], Value] = {}
        self.known: dict[int, Item] = {}  # by the id of a node, leaf or array
        self.kept: list[Any] = [names]
        self.places: dict[tuple[int, int], Place] = {}
        freed: list[Freed] = []
        nodes, self.reached = reach([edge(tensor) for tensor in roots if tensor.requires_grad])
        tops = [self._root(tensor) for tensor in roots]
        self.roots = {top.title for top in tops}
        for _, node in sorted(nodes.items()):  # the last one recorded first
            if not isinstance(node, Output) and first_seen(node) is node:
                self._operation(node)
                if (one := freed_at(node)) is not None:
                    freed.append(one)
        for top, tensor in zip(tops, roots, strict=True):
            if tensor.requires_grad:
                self._edge(top, edge(tensor))
            else:
                for cut in why_no_graph(tensor).cuts:
                    self.edges.append((top, self._value(self._cut_alone(cut), 0, "")))
        last = min(freed, key=lambda one: one.order, default=None)  # these numbers go down
        place = None if last is None else place_of(last.code, last.lasti)
        self.contents = Contents(self.items, self.edges, place, self.values)

    def _add(self, key: Any, item: Item) -> Item:
        self.kept.append(key)
        self.known[id(key)] = item
        self.items.append(item)
        return item

    def _root(self, tensor: Any) -> Item:
        item = Item("output", self.names.of(tensor) or result_name(tensor) or "output", tensor=tensor)
        item.lines = [described(tensor.array)]
        if tensor.array.size == 1 and tensor.array.dtype.kind in "fiu" and tensor.array.__class__ is np.ndarray:
            item.lines[0] += f" = {tensor.array.item():.6g}"
        if not tensor.requires_grad:
            item.lines.append("no graph: does not require grad")
        self.items.append(item)
        return item

    def _operation(self, node: Node) -> None:
        item = self._item_of(node)
        item.saved = list(saved_values(node))
        for source in node.inputs:
            if source is not None:
                self._edge(item, source)
        for array in inputs_without_gradient(node, self.names):
            self.edges.append((item, self._value(self._input(array), 0, shape_text(array.shape))))

    def _item_of(self, node: Node) -> Item:
        known = self.known.get(id(node))
        if known is not None:
            return known
        item = Item("op", operation(node), [], self._place_of(node), self.calls.of(node), -node.order)
        name = self.names.of_node(node)
        if name is not None and name not in self.roots:
            item.lines.append(f"= {name}")
        return self._add(node, item)

    def _place_of(self, node: Node) -> Place:
        key = (id(node.code), node.lasti)
        if key not in self.places:
            self.places[key] = place_of(node.code, node.lasti)
        return self.places[key]

    def _edge(self, item: Item, source: Any) -> None:
        source = first_seen(source)
        port = 0
        if isinstance(source, Output):
            port, shape, source = source.index, source.shape, source.parent
        elif isinstance(source, Node):
            shape = source.shape
        if isinstance(source, Node):
            target = self._item_of(source)
        else:
            target, shape = self._leaf(source), source.array.shape
        self.edges.append((item, self._value(target, port, shape_text(shape))))

    def _value(self, item: Item, port: int, shape: str) -> Value:
        return self.values.setdefault((id(item), port), Value(item, port, shape))

    def _leaf(self, tensor: Any) -> Item:
        known = self.known.get(id(tensor))
        if known is not None:
            return known
        item = Item("leaf", self.names.of(tensor) or NO_NAME, [described(tensor.array)], tensor=tensor)
        return self._add(tensor, item)

    def _input(self, array: Any) -> Item:
        known = self.known.get(id(array))
        if known is not None:
            return known
        tensor = self.names.tensor_with(array)
        name = None if tensor is None else self.names.of(tensor)
        event = None if tensor is None or tensor.rare is None else tensor.rare.graph_break
        if event is None:  # the tensor may be gone that remembered it, but the array is the one that left the graph
            event = next(iter(recognised(wrap(array), by_value=False) or ()), None)
        if event is not None:
            return self._add(array, self._cut(cut_of(event), name, described(array)))
        return self._add(array, Item("input", name or NO_NAME, [described(array), "does not require grad"]))

    def _cut_alone(self, cut: Cut) -> Item:
        known = self.known.get(id(cut.event))
        return known if known is not None else self._add(cut.event, self._cut(cut, None, None))

    def _cut(self, cut: Cut, name: str | None, what: str | None) -> Item:
        """A cut point, with the leaves behind it that get no gradient because of it."""
        stored, whole = assignment(cut.event) or (None, False)  # `hidden` of `hidden = hidden.detach()`
        title = name or (f"cut by {cut.event.reason}" if what is None else stored if stored and whole else NO_NAME)
        lines = [line for line in (what, cut.sentence, *cut.place) if line]
        item = Item("cut", title, lines, cut.place, code=cut.event.code)
        behind = [leaf for leaf in cut.leaves if leaf not in self.reached]
        for leaf in behind[:MOST_BEHIND]:
            target = self.known.get(id(leaf))
            if target is None:
                text = "behind the cut: no gradient"
                target = Item("unreached", self.names.of(leaf) or NO_NAME, [described(leaf.array), text])
                target.tensor = leaf
                self._add(leaf, target)
            self.edges.append((item, self._value(target, 0, "")))
        if len(behind) > MOST_BEHIND:
            item.lines.append(f"and {len(behind) - MOST_BEHIND} leaves more get no gradient")
        return item


def result_name(tensor: Any) -> str | None:
    if tensor.node is None:
        return None
    name, whole = assignment(tensor.node) or (None, False)
    return name if whole else None


def saved_values(node: Node) -> Iterator[str]:
    """What a node keeps for its rule: arrays, by the names that PyTorch has for them."""
    if isinstance(node.saved, Freed):
        return
    named = {
        id(value): name
        for name, value in zip(node.op.gradient_rules().saved_names, node.saved, strict=False)
        if isinstance(value, np.ndarray)
    }
    for array in arrays_of(node):
        if array.ndim:
            yield f"{named.get(id(array), 'saved')} {shape_text(array.shape)}, {memory(array.nbytes)}"


def inputs_without_gradient(node: Node, names: Names) -> Iterator[Any]:
    """The arrays of the inputs that need no gradient. A graph does not refer to such inputs; they are known where the
    rule of the operation needs their values, until a backward pass frees these."""
    if isinstance(node.saved, Freed):
        return
    mine: set[int] = set()
    for place, value in zip(plan_of(node), node.saved, strict=False):
        if 0 <= place < len(node.inputs) and node.inputs[place] is None:
            mine.add(id(value))
    for array in arrays_of(node):
        tensor = names.tensor_with(array)
        if tensor is None and (id(array) not in mine or array.ndim == 0):  # a number that was written in the program
            continue
        # what a Function of the user's has saved may be an argument that needs no gradient
        saved = isinstance(node, CallNode) and None in node.inputs and tensor is not None and not tensor.requires_grad
        if id(array) in mine or saved:
            yield array


def collect(roots: list[Any], names: Names, model: Model, inner_gradients: bool) -> Contents:
    """What is behind some tensors."""
    collector = Collector(roots, names)
    contents = collector.contents
    if inner_gradients:
        contents.inner = True
        note_inner_gradients(roots, collector)
    missing = [(name, value) for name, value in names.given if is_tensor(value) and id(value) not in collector.known]
    reasons = {row.name: row.reason for row in Explanation(roots, model).unreached} if missing else {}
    for name, value in missing:
        if name in reasons and not any([value is root for root in roots]):
            contents.items.append(Item("unreached", name, [described(value.array), reasons[name]], tensor=value))
    contents.refresh()
    return contents


def note_inner_gradients(roots: list[Any], collector: Collector) -> None:
    """Compute the gradient of every value in the graph of a single number, and keep their sizes."""

    def note(thing: Any, g: Any) -> None:
        item = collector.known.get(id(thing))
        if item is not None:
            for port, one in enumerate(g if isinstance(g, list) else [g]):
                value = collector.values.get((id(item), port))
                if value is not None and one is not None:
                    value.norm = magnitude(one)

    for root in roots:
        if root.array.size != 1:
            raise RuntimeError(
                "inner_gradients needs a result with a single element to start from, but "
                f"{collector.names.of(root) or 'the tensor'} has shape {shape_text(root.array.shape)}"
            )
        leaves = pull_back(root, np.ones_like(root.array), lambda node, g, results: note(node, g))
        for leaf, g in leaves.items():
            note(leaf, g)
