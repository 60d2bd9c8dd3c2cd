"""Nested tuples, lists and dictionaries of tensors: taken apart into a flat list, and put together again."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from typing import Any

from leafgrad._device import Size
from leafgrad.return_types import NamedResult


class Spec:
    """The structure of a value: what kind of container, its keys, and the structures of the parts."""

    __slots__ = ("context", "count", "kind", "parts")

    def __init__(self, kind: Any, context: Any, parts: list[Spec]) -> None:
        self.kind = kind  # None for a leaf
        self.context = context
        self.parts = parts
        self.count: int = 1 if kind is None else sum(part.count for part in parts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Spec):
            return NotImplemented
        return (self.kind, self.context, self.parts) == (other.kind, other.context, other.parts)

    __hash__ = None  # type: ignore[assignment]

    type = property(lambda self: self.kind)
    num_leaves = property(lambda self: self.count)
    num_children = property(lambda self: len(self.parts))
    num_nodes = property(lambda self: 1 + sum([part.num_nodes for part in self.parts]))
    children_specs = property(lambda self: self.parts)

    def is_leaf(self) -> bool:
        """is_leaf(): is it the structure of a single leaf?"""
        return self.kind is None

    def children(self) -> list[Spec]:
        """children(): the structures of the parts."""
        return list(self.parts)

    def child(self, index: int) -> Spec:
        """child(index): the structure of one part."""
        return self.parts[index]

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """unflatten(leaves): the value of this structure that has these leaves."""
        return unflatten(list(leaves), self)

    def __repr__(self) -> str:
        """As PyTorch shows it."""
        if self.kind is None:
            return "*"
        inside = ",\n  ".join([repr(part).replace("\n", "\n  ") for part in self.parts])
        return f"TreeSpec({self.kind.__name__}, {self.context}, [{inside}])"

    def short(self) -> str:
        """The same as the literal that it came from: (*, {'a': *})."""
        if self.kind is None:
            return "*"
        inside = [part.short() for part in self.parts]
        if self.kind is tuple:
            return f"({', '.join(inside)}{',' if len(inside) == 1 else ''})"
        if self.kind is list:
            return f"[{', '.join(inside)}]"
        return "{" + ", ".join([f"{key!r}: {part}" for key, part in zip(self.context, inside, strict=False)]) + "}"


LEAF = Spec(None, None, [])


def is_namedtuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(type(value), "_fields")


# Classes of containers that programs have registered (leafgrad/utils/_pytree.py): how they are taken apart into parts
# and a context, and put together again.
registered: dict[type, tuple[Callable[[Any], tuple[Any, Any]], Callable[[Any, Any], Any]]] = {}


def children_of(value: Any) -> tuple[Any, Any, list[Any]] | None:
    """(kind, context, parts) of a container; None for a leaf."""
    kind = type(value)
    if kind is tuple or kind is list or kind is Size or isinstance(value, NamedResult):
        return kind, None, list(value)
    if kind is dict or kind is OrderedDict:
        return kind, list(value), list(value.values())
    if kind is defaultdict:
        return kind, [value.default_factory, list(value)], list(value.values())
    if kind is deque:
        return kind, value.maxlen, list(value)
    if kind in registered:
        parts, context = registered[kind][0](value)
        return kind, context, list(parts)
    if is_namedtuple(value):
        return namedtuple, kind, list(value)
    return None


def flatten(value: Any) -> tuple[list[Any], Spec]:
    """The leaves of a value from left to right, and its structure."""
    found = children_of(value)
    if found is None:
        return [value], LEAF
    kind, context, parts = found
    leaves: list[Any] = []
    specs = []
    for part in parts:
        inside, spec = flatten(part)
        leaves += inside
        specs.append(spec)
    return leaves, Spec(kind, context, specs)


def unflatten(leaves: list[Any], spec: Spec) -> Any:
    """The value of a structure with these leaves."""
    if spec.kind is None:
        return leaves[0]
    parts, start = [], 0
    for part in spec.parts:
        parts.append(unflatten(leaves[start : start + part.count], part))
        start += part.count
    if spec.kind in registered:
        return registered[spec.kind][1](parts, spec.context)
    if spec.kind is namedtuple:
        return spec.context(*parts)
    if spec.kind is defaultdict:
        return defaultdict(spec.context[0], zip(spec.context[1], parts, strict=True))
    if spec.kind is deque:
        return deque(parts, maxlen=spec.context)
    if spec.context is not None:
        return spec.kind(zip(spec.context, parts, strict=True))
    return spec.kind(parts)


def broadcast_to(value: Any, spec: Spec) -> list[Any] | None:
    """One value for each leaf of a structure, where a leaf of `value` stands for all that is below it; None if the
    two do not go together."""
    found = children_of(value)
    if found is None:
        return [value] * spec.count
    kind, context, parts = found
    if kind is not spec.kind or context != spec.context or len(parts) != len(spec.parts):
        return None
    leaves: list[Any] = []
    for part, below in zip(parts, spec.parts, strict=True):
        inside = broadcast_to(part, below)
        if inside is None:
            return None
        leaves += inside
    return leaves


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """The same structure with a function applied to each leaf."""
    leaves, spec = flatten(value)
    return unflatten([function(leaf) for leaf in leaves], spec)
