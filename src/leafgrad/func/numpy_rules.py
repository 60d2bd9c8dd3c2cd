"""NumPy's functions on batched arrays: what each does to all samples at once.

A rule has the signature of the function it stands for. Functions without one are called for each sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad.func import batched_array as b
from leafgrad.func.batched_array import RULES, BatchedArray
from leafgrad.func.level_marks import PerSample, SharedMemory, plain
from leafgrad.func.many_samples import highest, lined_up, size_at, widened
from leafgrad.func.messages import IN_PLACE, MASK

Array = Any
_function: Any


def rule(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(made: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            RULES[function] = made
        return made

    return register


# -- products ---------------------------------------------------------------------------------------------------------


@rule(np.matmul)
def matmul(left: Array, right: Array) -> Array:
    """Whose last two dimensions are not broadcast. A matrix that all samples share is multiplied once."""
    level = highest((left, right))
    size = size_at((left, right), level)
    vector_left, vector_right = left.ndim == 1, right.ndim == 1
    ndim = max(left.ndim, right.ndim, 2)
    shared = right.__class__ is not BatchedArray or right.level != level
    if shared and right.ndim <= 2 and left.ndim >= 1:
        x = left.value  # (samples, ..., n) @ (n, m): one product
        flat = np.matmul(x.reshape((math.prod(x.shape[:-1]), x.shape[-1])), right)
        return BatchedArray(flat.reshape(x.shape[:-1] + right.shape[1:]), level)
    x = left.value if left.__class__ is BatchedArray and left.level == level else left[None]
    y = right[None] if shared else right.value
    x = x[:, None, :] if vector_left else x
    y = y[:, :, None] if vector_right else y
    x = x.reshape(x.shape[:1] + (1,) * (ndim + 1 - x.ndim) + x.shape[1:])
    y = y.reshape(y.shape[:1] + (1,) * (ndim + 1 - y.ndim) + y.shape[1:])
    out = np.matmul(x, y)
    if vector_left:
        out = out[..., 0, :]
    if vector_right:
        out = out[..., 0]
    assert out.shape[0] == size
    return BatchedArray(out, level)


# -- choosing and joining ---------------------------------------------------------------------------------------------


@rule(np.where)
def where(condition: Array, *choices: Any) -> Array:
    if not choices:
        return b.by_sample(np.where, (condition,), {})
    values = [condition, *choices]
    level = highest(values)
    return BatchedArray(np.where(*lined_up(values, level)), level)


@rule(np.concatenate)
def concatenate(arrays: Any, axis: int = 0, out: Any = None, dtype: Any = None, casting: str = "same_kind") -> Array:
    arrays = list(arrays)
    values, level = b.spread_all(arrays)
    return BatchedArray(np.concatenate(values, axis % arrays[0].ndim + 1, dtype=plain(dtype)), level)


@rule(np.stack)
def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Array:
    arrays = list(arrays)
    values, level = b.spread_all(arrays)
    return BatchedArray(np.stack(values, axis % (arrays[0].ndim + 1) + 1, dtype=plain(dtype)), level)


@rule(np.take)
def take(a: Array, indices: Array, axis: Any = None, out: Any = None, mode: str = "raise") -> Array:
    level = highest((a, indices))
    size = size_at((a, indices), level)
    assert size is not None
    if axis is None:
        a, axis = a.reshape(-1), 0
    axis %= a.ndim
    if highest(indices) != level:
        return BatchedArray(np.take(a.value, indices, axis + 1), level)
    if highest(a) != level:
        out = np.take(a, indices.value, axis)  # the samples stand where the axis was
        return BatchedArray(np.moveaxis(out, axis, 0), level)
    # each sample takes from its own: the axis next to the samples, both indexed together
    x = np.moveaxis(a.value, axis + 1, 1)
    at = indices.value
    rows = np.arange(size).reshape((size,) + (1,) * (at.ndim - 1))
    if x.__class__ is BatchedArray or at.__class__ is BatchedArray:
        return b.by_sample(np.take, (a, indices, axis), {})
    found = x[rows, at]  # (samples, *index, *rest)
    order = range(1, at.ndim)
    return BatchedArray(np.moveaxis(found, tuple(order), tuple([axis + k for k in order])), level)


@rule(np.take_along_axis)
def take_along_axis(arr: Array, indices: Array, axis: int = -1) -> Array:
    values, level = b.spread_all([arr, indices])
    if any([v.__class__ is BatchedArray for v in values]):
        return b.by_sample(np.take_along_axis, (arr, indices, axis), {})
    return BatchedArray(np.take_along_axis(values[0], values[1], axis % arr.ndim + 1), level)


# -- shape ------------------------------------------------------------------------------------------------------------


@rule(np.moveaxis)
def moveaxis(a: Array, source: Any, destination: Any) -> Array:
    def front(axes: Any) -> tuple[int, ...]:
        return b.shifted([axes] if isinstance(axes, (int, np.integer)) else axes, a.ndim)

    return BatchedArray(np.moveaxis(a.value, front(source), front(destination)), a.level)


@rule(np.expand_dims)
def expand_dims(a: Array, axis: Any) -> Array:
    axes = [axis] if isinstance(axis, (int, np.integer)) else axis
    return BatchedArray(np.expand_dims(a.value, b.shifted(axes, a.ndim + len(axes))), a.level)


@rule(np.broadcast_to)
def broadcast_to(array: Array, shape: Any, subok: bool = False) -> Array:
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    return BatchedArray(np.broadcast_to(widened(array, len(shape)), (array.batch_size, *shape)), array.level)


# -- along a dimension ------------------------------------------------------------------------------------------------


for _function in (np.argmax, np.argmin):

    @rule(_function)
    def found_along(a: Array, axis: Any = None, *, f: Any = _function, **options: Any) -> Array:
        """Where that is None, in the flat array."""
        if axis is None and not options:
            a, axis = a.reshape(-1), 0
        elif axis is None:
            return b.by_sample(f, (a,), options)
        return BatchedArray(f(a.value, axis % a.ndim + 1, **options), a.level)

    setattr(BatchedArray, _function.__name__, found_along)


@rule(np.count_nonzero)
def count_nonzero(a: Array, axis: Any = None, *, keepdims: bool = False) -> Array:
    axes = b.shifted(range(a.ndim) if axis is None else [axis] if isinstance(axis, int) else axis, a.ndim)
    return BatchedArray(np.count_nonzero(a.value, axis=axes, keepdims=keepdims), a.level)


@rule(np.nonzero, np.flatnonzero, np.argwhere)
def nonzero(a: Array) -> Array:
    raise PerSample(MASK)  # the samples would get different numbers of indices


# -- memory -----------------------------------------------------------------------------------------------------------


for _function in (np.zeros_like, np.ones_like, np.empty_like):

    @rule(_function)
    def like(a: Array, dtype: Any = None, order: str = "K", *, f: Any = _function) -> Array:
        return BatchedArray(f(a.value, plain(a.dtype if dtype is None else np.dtype(dtype))), a.level)


@rule(np.copyto)
def copyto(dst: Array, src: Array, casting: Any = "same_kind", where: Any = True) -> None:
    level = highest((dst, src, where))
    if highest(dst) != level:
        raise SharedMemory(IN_PLACE)
    ndim = dst.ndim
    src, where = [widened(v, ndim) if v.__class__ is BatchedArray and v.level == level else v for v in (src, where)]
    np.copyto(dst.value, src, casting=casting, where=where)


@rule(np.array_equal)
def array_equal(a1: Array, a2: Array, equal_nan: bool = False) -> Any:
    raise RuntimeError("Batching rule not implemented for aten::equal. We could not generate a fallback.")


@rule(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: str = "raise", order: str = "C") -> Array:
    flat: Any = 0
    for at, size in zip(multi_index, dims, strict=True):
        if not (np.all(at >= 0) and np.all(at < size)):
            raise ValueError("invalid entry in coordinates array")
        flat = flat * size + at
    return flat


@rule(np.may_share_memory, np.shares_memory)
def may_share_memory(a: Array, c: Array, max_work: Any = None) -> bool:
    values = [v.value if v.__class__ is BatchedArray else v for v in (a, c)]
    return bool(np.may_share_memory(*values))
