"""Operations that read or write by index, on batched arrays: see `op_rules`.

An index that is the same for all samples stays what it is, one dimension further in. Where each sample has an index of
its own, the samples and what is indexed are taken together as one dimension, and the indices moved accordingly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad.func import batched_array as b
from leafgrad.func import numpy_rules, op_rules
from leafgrad.func.batched_array import BatchedArray
from leafgrad.func.op_rules import NO_RULE, made, rule

Array = Any


def compute(op: Any, arrays: Any, options: tuple[Any, ...]) -> Any:
    return op_rules.compute(op, arrays, options)


def spread_all(arrays: tuple[Any, ...], level: int) -> list[Any]:
    size = b.size_at(arrays, level)
    assert size is not None
    return [None if x is None else b.spread(x, level, size) for x in arrays]


# input, index and perhaps source have the same number of dimensions, and the index is along one: the samples are just
# one more of the others
@rule("gather", "scatter", "scatter_add", "scatter_reduce")
def along_index(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    dim, *rest = options
    number = arrays[2:] and arrays[2] is not None and not arrays[2].ndim and b.highest(arrays[2]) < level
    tensors = arrays[:2] if number else arrays  # one number may stand for all of the source
    ndims = [x.ndim for x in tensors if x is not None]
    if len(set(ndims)) != 1 or not ndims[0]:
        return NO_RULE
    values = spread_all(tensors, level)
    return made(compute(op, [*values, *arrays[len(tensors) :]], (dim + 1, *rest)), level)


@rule("gather_sum")
def gather_sum(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    shape, dim = options
    values = spread_all(arrays, level)
    if not shape or not arrays[1].ndim:
        return NO_RULE
    return made(compute(op, values, ((len(values[0]), *shape), dim + 1)), level)


@rule("index")
def index(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    x, (dim, count, at) = arrays[0], options
    if b.highest(at) < level:
        return made(compute(op, (x.value,), (dim + 1, count, at)), level)
    if b.highest(x) < level:  # all samples look into the same: theirs are just more indices
        return made(np.moveaxis(compute(op, (x,), (dim, count, at.value)), dim, 0), level)
    # the samples and the indexed dimensions, side by side, are indexed as one
    values = np.moveaxis(x.value, places_from(dim + 1, count), places_from(1, count))
    places = flat_places(x.shape[dim : dim + count], at.value, x.batch_size)
    out = compute(op, (values,), (0, count + 1, places))
    return made(np.moveaxis(out, places_from(1, at.ndim), places_from(dim + 1, at.ndim)), level)


@rule("index_sum")
def index_sum(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    g, (shape, dim, count, at) = arrays[0], options
    size = b.size_at((g, at), level)
    assert size is not None
    if b.highest(at) < level:
        return made(compute(op, (g.value,), ((size, *shape), dim + 1, count, at)), level)
    values = np.moveaxis(b.spread(g, level, size), places_from(dim + 1, at.ndim), places_from(1, at.ndim))
    indexed = tuple(shape[dim : dim + count])
    whole = (size, *indexed, *shape[:dim], *shape[dim + count :])
    out = compute(op, (values,), (whole, 0, count + 1, flat_places(indexed, at.value, size)))
    return made(np.moveaxis(out, places_from(1, count), places_from(dim + 1, count)), level)


def places_from(start: int, count: int) -> tuple[int, ...]:
    return tuple(range(start, start + count))


def flat_places(sizes: tuple[int, ...], at: Array, samples: int) -> Array:
    """Indices within a sample as indices within all of them."""
    width = int(np.prod(sizes))
    at = np.where(at < 0, at + width, at)
    return at + (np.arange(samples) * width).reshape((samples,) + (1,) * (at.ndim - 1))


def flat_indices(at: Array, level: int, samples: int, width: int) -> Array:
    """Indices into each of several samples of `width` elements as indices into all of them."""
    at = b.spread(at, level, samples)
    at = np.where(at < 0, at + width, at)
    return at + (np.arange(samples) * width).reshape((samples,) + (1,) * (at.ndim - 1))


@rule("index_select", "index_add", "index_copy", "index_fill")
def along_rows(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    """One index for all samples: one dimension further. An index for each: the rows of all samples as one."""
    x, at, *source = arrays
    dim, *rest = options
    is_fill = op.name == "index_fill"
    if not x.ndim or (source and source[0].ndim != (0 if is_fill else x.ndim)) or (is_fill and b.highest(source)):
        return NO_RULE
    size = b.size_at(arrays, level)
    assert size is not None
    values = [b.spread(v, level, size) for v in (x, *([] if is_fill else source))]
    if b.highest(at) < level:
        return made(compute(op, (values[0], at, *(source if is_fill else values[1:])), (dim + 1, *rest)), level)
    count = x.shape[dim]
    index = flat_indices(at if at.ndim else at.reshape(1), level, size, count).reshape(-1)
    rows = [np.moveaxis(v, dim + 1, 1) for v in values]
    rows = [v.reshape((v.shape[0] * v.shape[1], *v.shape[2:])) for v in rows]
    out = compute(op, (rows[0], index, *(source if is_fill else rows[1:])), (0, *rest))
    out = out.reshape((size, out.shape[0] // size if size else 0, *out.shape[1:]))
    return made(np.moveaxis(out, 1, dim + 1), level)


@rule("take", "put")
def flat_elements(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    x, at, *source = arrays
    size = b.size_at(arrays, level)
    assert size is not None
    index = flat_indices(at, level, size, x.size)
    return made(
        compute(op, [b.spread(x, level, size), index, *[b.spread(v, level, size) for v in source]], options), level
    )


@rule("index_write")
def index_write(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    (x, values), (dim, count, at, accumulate) = arrays, options
    size = b.size_at((x, values, at), level)
    assert size is not None
    if values.__class__ is BatchedArray and values.level == level:
        values = b.widened(values, x.ndim - count + at.ndim)
    into = b.spread(x, level, size)
    if b.highest(at) < level:
        return made(compute(op, (into, values), (dim + 1, count, at, accumulate)), level)
    if dim:
        return NO_RULE
    places = flat_places(x.shape[:count], at.value, size)
    return made(compute(op, (into, values), (0, count + 1, places, accumulate)), level)


@rule("embedding")
def embedding(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    weight, at = arrays
    if b.highest(weight) < level:  # more indices into one table
        return made(compute(op, (weight, at.value), options), level)
    return numpy_rules.take(weight, at, 0)


@rule("pick")
def pick(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    x, (at, dim) = arrays[0], options
    size = b.size_at((x, at), level)
    assert size is not None
    if not x.ndim:
        return NO_RULE
    return made(compute(op, (b.spread(x, level, size),), (b.spread(at, level, size), dim % x.ndim + 1)), level)


@rule("place")
def place(op: Any, level: int, arrays: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    x, (at, dim, length) = arrays[0], options
    size = b.size_at((x, at), level)
    assert size is not None
    if not x.ndim:
        return NO_RULE
    values = b.spread(x, level, size), b.spread(at, level, size)
    return made(compute(op, (values[0],), (values[1], dim % x.ndim + 1, length)), level)
