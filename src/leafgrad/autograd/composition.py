"""Operations that are one in leafgrad and several in PyTorch, and what `next_functions` shows of them.

The block of such an operation writes down PyTorch's nodes as an expression of its inputs:

    AddmmBackward0(bias, input, TBackward0(weight))

The engine has one node, which is shown as the outermost one. The others are made when `next_functions` is read: see
`InnerNode` in public_nodes.py.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from typing import Any

from leafgrad import errors
from leafgrad._core.node import Node
from leafgrad._core.tensor import links


class Part:
    """A node of an expression: its name, and where its inputs come from. (A NamedTuple takes longer to import.)"""

    __slots__ = ("name", "sources")

    def __init__(self, name: str, sources: tuple[tuple[Any, int], ...]) -> None:
        self.name = name
        self.sources = sources  # a Part, or the number of an input; and which result of it

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Part) and (self.name, self.sources) == (other.name, other.sources)

    def __hash__(self) -> int:
        return hash((self.name, self.sources))


@functools.cache
def read(expression: str, inputs: tuple[str, ...]) -> Part:
    """The outermost node of an expression. `A(b).1` is the second result of A."""
    words = re.findall(r"\w+|\.\d+|[(,)]", expression)
    part: Part = source_in(words[::-1], inputs)[0]
    return part


def source_in(words: list[str], inputs: tuple[str, ...]) -> tuple[Any, int]:
    """The source that the last of the words begin, which are taken away."""
    name = words.pop()
    if not words or words[-1] != "(":
        return inputs.index(name), 0
    sources = []
    while words.pop() != ")":  # but "(" or ","
        sources.append(source_in(words, inputs))
    number = int(words.pop()[1:]) if words and words[-1][0] == "." else 0
    return Part(name, tuple(sources)), number


def first_seen(place: Any) -> Any:
    """Where an edge leads to for users: steps that PyTorch does not record by themselves are passed over."""
    while isinstance(place, Node) and place.op.composition == ():
        place = next(source for source in place.inputs if source is not None)
    return place


def whole(node: Node) -> Part | None:
    """The nodes that one in the engine is to users, if they are several."""
    composition = node.op.composition
    if not composition:
        return None
    return read(*(composition if isinstance(composition, tuple) else composition(node)))


def visible_name(node: Node) -> str:
    """What a node is called where users see it."""
    part = whole(node)
    return node.op.node_name if part is None else part.name


def sources_of(node: Node) -> Sequence[tuple[Any, int]]:
    """What the inputs of a node are to users: numbers of the inputs that it has in the engine, and Parts."""
    part = whole(node)
    if part is not None:
        return part.sources
    hidden = node.op.gradient_rules().hidden
    return [(i, 0) for i in range(len(node.inputs)) if i not in hidden]


def inputs_behind(source: Any) -> list[int]:
    """The inputs in the engine that a source stands for."""
    return [i for inner, _ in source.sources for i in inputs_behind(inner)] if isinstance(source, Part) else [source]


def saves_itself(node: Node, place: int) -> bool:
    """Does PyTorch save this input as it is, and not what a node in between makes of it?"""
    return any([source == place or is_factor(source, place) for source, _ in sources_of(node)])


def is_factor(source: Any, place: int) -> bool:
    """Is an input, as it is, multiplied by one of the nodes that a source stands for?"""
    if not isinstance(source, Part):
        return False
    saves = source.name in ("MmBackward0", "MvBackward0", "BmmBackward0", "AddmmBackward0")
    return any([(saves and inner == place) or is_factor(inner, place) for inner, _ in source.sources])


links.saves_itself = saves_itself


def between(node: Node, source: Any, results: Sequence[Any], g: Any, saved: Sequence[Any]) -> Any:
    """The gradient that a node passes on to one of its inputs as users see them, from those that it has computed or
    from what it has saved."""
    if not isinstance(source, Part):
        return results[source]
    if is_transposed(source):
        result = results[source.sources[0][0]]
        return None if result is None else result.T
    if g is None:
        return None
    rule = node.op.gradient_rules().passed_on
    if rule is not None:
        return rule(source.name, g, saved)
    return g.reshape(shape_before(node.op.node_name, source.name, tuple(g.shape)))


def replace_between(node: Node, source: Any, results: list[Any], replaced: Any) -> None:
    """Put a gradient that a hook has returned in the place of the one that it was given."""
    if not isinstance(source, Part):
        results[source] = replaced
    elif is_transposed(source):
        results[source.sources[0][0]] = None if replaced is None else replaced.T
    else:
        raise fused(node, f"A hook has replaced the gradient that {node.op.node_name} passes on to {source.name}")


def is_transposed(source: Part) -> bool:
    return source.name == "TBackward0" and not isinstance(source.sources[0][0], Part)


def shape_before(last: str, name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that the result of a node had before the last one reshaped it, if that is all that the last one did."""
    if last in ("ViewBackward0", "UnsafeViewBackward0", "SqueezeBackward4"):
        if name in ("AddmmBackward0", "MmBackward0", "SqueezeBackward1"):
            return (math.prod(shape[:-1]), shape[-1])
        if name == "MvBackward0":
            return (math.prod(shape),)
        if name == "BmmBackward0":
            return (math.prod(shape[:-2]), *shape[-2:])
    if last in ("CloneBackward0", "AddBackward0"):
        return shape
    return ()


def check_hook(node: Node) -> None:
    """Refuse a hook that would be given a gradient which is never computed."""
    for source, _ in sources_of(node) if node.op.gradient_rules().passed_on is None else ():
        if isinstance(source, Part) and not is_transposed(source):
            if not shape_before(node.op.node_name, source.name, (1, 1, 1)):
                raise fused(node, f"{node.op.node_name} passes its gradient on to {source.name}")


def fused(node: Node, why: str, operation: str = "") -> NotImplementedError:
    """The error for a gradient between two nodes of PyTorch's that are one in leafgrad."""
    return errors.mistake(
        NotImplementedError,
        f"{why}, but leafgrad computes `{operation or node.op.name}` in one step: there is no gradient in between.",
        fix=[
            "tensor.register_hook(hook)   # on the input or the result of the operation",
            "module.register_full_backward_hook(hook)   # on the module that computes it",
        ],
    )
