"""Into a map and out again: the operations that make a dimension of a tensor the samples of a level, and back.

Both are recorded like any other, so gradients go through a map, and are in one themselves on the way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad._core.bind import bind
from leafgrad._core.node import Node, Output
from leafgrad._core.tensor import is_batched, links
from leafgrad._core.views import link
from leafgrad.autograd.composition import first_seen, visible_name
from leafgrad.func.batched_array import BatchedArray, spread
from leafgrad.func.level_marks import levels_of, unmarked
from leafgrad.func.levels import Map, Trace, running
from leafgrad.func.many_samples import size_at
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.shape.resize import steps_between

A = Any  # an array, or a tensor under create_graph


def _there_and_back(torch: Any, x: Any, dim: int) -> Any:
    return torch.func.vmap(lambda y: y.sin(), in_dims=dim, out_dims=1)(x)


@op
class enter_map(Family):
    """enter_map(input, dim, level, trace): dimension `dim` becomes the samples of a level. The node keeps `trace`, so
    that the engine knows that a map is in the graph."""

    options = ("dim", "level", "trace")
    node_name = "PermuteBackward0"  # not shown
    public_name = ""
    aten = "movedim"
    jvp = "linear"
    holomorphic = False

    def kernel(x: A, dim: int, level: int, trace: Trace) -> A:
        if x.__class__ is BatchedArray and x.level > level:  # a gradient may be in a map that is further in
            return BatchedArray(enter_map.kernel(x.value, dim + 1, level, trace), x.level)
        return BatchedArray(np.moveaxis(x, dim, 0) if dim else x, level, dim)

    def call(input: Any, dim: int, level: int) -> Any:
        return enter(input, dim, level)

    def vjp(g: A, dim: A, level: A, trace: A, input_shape: A) -> A:
        return leave(g, dim, level, input_shape[dim])

    samples = ValuesOnly("is part of vmap", lambda t: [S(t(3, 4), 0), S(t(3, 4), 1)], _there_and_back)


enter_map.core.composition = ()  # PyTorch records nothing here


@op
class leave_map(Family):
    """leave_map(input, dim, level, size, trace): the samples of a level, `size` of them, become dimension `dim`."""

    options = ("dim", "level", "size", "trace")
    node_name = "PermuteBackward0"
    public_name = ""
    aten = "movedim"
    jvp = "linear"
    holomorphic = False

    def kernel(x: A, dim: int, level: int, size: int, trace: Trace) -> A:
        if x.__class__ is BatchedArray and x.level > level:
            return BatchedArray(leave_map.kernel(x.value, dim + 1, level, size, trace), x.level)
        samples = spread(x, level, size)
        return np.moveaxis(samples, 0, dim) if dim else samples

    def composition(node: Any) -> str:
        """PyTorch records nothing here, unless the dimension is moved: what users see is the last operation inside."""
        last = first_seen(node.inputs[0])
        inside = last.parent if isinstance(last, Output) else last
        moves = node.saved[0] or not isinstance(inside, Node)
        return f"{'PermuteBackward0' if moves else visible_name(inside)}(input)"

    def call(input: Any, dim: int, level: int, size: int) -> Any:
        return leave(input, dim, level, size)

    def vjp(g: A, dim: A, level: A, trace: A) -> A:
        return enter(g, dim, level)

    samples = ValuesOnly("is part of vmap", lambda t: [S(t(3, 4), 0), S(t(3, 4), 1)], _there_and_back)


@op
class share_in_map(Family):
    """share_in_map(input, level, size): input for each sample of a level, without copying."""

    options = ("level", "size")
    node_name = "ExpandBackward0"
    public_name = ""
    jvp = "linear"
    holomorphic = False

    def kernel(x: A, level: int, size: int) -> A:
        if x.__class__ is BatchedArray and x.level > level:
            return BatchedArray(share_in_map.kernel(x.value, level, size), x.level)
        return BatchedArray(spread(x, level, size), level)

    def call(input: Any, level: int, size: int) -> Any:
        """Out of the map again, because nobody can look into one that does not run; for tests."""
        with links.batching:
            return leave(share_in_map(input, level, size), 0, level)

    def vjp(g: A) -> A:
        return g  # summed over the samples where the map is over

    samples = ValuesOnly("is part of vmap", lambda t: [S(t(2, 3), 1, 4)])
    reference = lambda torch, x, level, size: x.expand(size, *x.shape)


def for_each_sample(t: Any) -> Any:
    """A tensor with samples of the innermost map, all equal if it had none."""
    innermost = next(m for m in reversed(running()) if isinstance(m, Map))
    if size_at(t.array, innermost.level) is not None:
        return t
    return share_in_map(t, innermost.level, innermost.size)


def with_levels_of(other: Any, t: Any) -> Any:
    """A tensor with samples of all levels that another has."""
    for level, size in reversed(levels_of(other.array.shape)):
        if size_at(t.array, level) is None:
            t = share_in_map(t, level, size)
    return t


def enter(t: Any, dim: int, level: int) -> Any:
    """A dimension of a tensor as the samples of a level."""
    return bind(enter_map.core, (t,), (dim, level, Trace()))


def view_in_map(t: Any, dim: int, level: int) -> Any:
    """The same for the function that is mapped, which may change it in place: a view, so that `t` gets to know."""
    trace = Trace()
    return link(bind(enter_map.core, (t,), (dim, level, trace)), t, enter_map, (dim, level, trace), None)


def view_outside(t: Any, dim: int, level: int, size: int) -> Any:
    """`leave` for the results of the function that is mapped: a view, if `t` is one of a tensor outside."""
    result = leave(t, dim, level, size)
    result.array = unmarked(result.array)
    view = t.rare.view if t.rare is not None else None
    own = size_at(t.array, level)
    if view is None or own is None or size_at(view.base.array, level) is not None:
        return result
    link(result, t, leave_map, (dim, level, own, Trace()), None)
    if result.rare.view is not None and not is_batched(result.array):
        # outside of all maps nothing shall remind of them, least of all a Trace
        result.rare.view.steps = steps_between(view.base.array, result.array)
    return result


def leave(t: Any, dim: int, level: int, size: int | None = None) -> Any:
    """The samples of a level as a dimension; a tensor that has none is repeated `size` times."""
    own = size_at(t.array, level)
    if own is not None:
        return bind(leave_map.core, (t,), (dim, level, own, Trace()))
    assert size is not None
    shape = t.array.shape
    return t.unsqueeze(dim).expand((*shape[:dim], size, *shape[dim:]))
