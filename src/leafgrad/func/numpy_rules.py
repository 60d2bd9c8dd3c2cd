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
from leafgrad.func.messages import IN_PLACE, MASK

Array = Any
_function: Any
_ufunc: Any


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
    level = b.highest((left, right))
    size = b.size_at((left, right), level)
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


@rule(np.dot)
def dot(a: Array, c: Array, out: Any = None) -> Array:
    if a.ndim != 1 or c.ndim != 1:
        return np.matmul(a, c)
    return np.add.reduce(a * c, axis=0)


RULES[np.vdot] = lambda a, c: dot(np.conjugate(a), c)


# -- choosing and joining ---------------------------------------------------------------------------------------------


@rule(np.where)
def where(condition: Array, *choices: Any) -> Array:
    if not choices:
        return b.by_sample(np.where, (condition,), {})
    values = [condition, *choices]
    level = b.highest(values)
    return BatchedArray(np.where(*b.lined_up(values, level)), level)


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
    level = b.highest((a, indices))
    size = b.size_at((a, indices), level)
    assert size is not None
    if axis is None:
        a, axis = a.reshape(-1), 0
    axis %= a.ndim
    if b.highest(indices) != level:
        return BatchedArray(np.take(a.value, indices, axis + 1), level)
    if b.highest(a) != level:
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


@rule(np.transpose)
def transpose(a: Array, axes: Any = None) -> Array:
    return a.transpose(axes) if axes is not None else a.transpose()


@rule(np.swapaxes)
def swapaxes(a: Array, axis1: int, axis2: int) -> Array:
    return a.swapaxes(axis1, axis2)


@rule(np.moveaxis)
def moveaxis(a: Array, source: Any, destination: Any) -> Array:
    def front(axes: Any) -> tuple[int, ...]:
        return b.shifted([axes] if isinstance(axes, (int, np.integer)) else axes, a.ndim)

    return BatchedArray(np.moveaxis(a.value, front(source), front(destination)), a.level)


@rule(np.expand_dims)
def expand_dims(a: Array, axis: Any) -> Array:
    axes = [axis] if isinstance(axis, (int, np.integer)) else axis
    return BatchedArray(np.expand_dims(a.value, b.shifted(axes, a.ndim + len(axes))), a.level)


@rule(np.reshape)
def reshape(a: Array, /, shape: Any, order: str = "C", *, copy: Any = None) -> Array:
    return a.reshape(shape, copy=copy)


@rule(np.ravel)
def ravel(a: Array, order: str = "C") -> Array:
    return a.reshape(-1)


@rule(np.squeeze)
def squeeze(a: Array, axis: Any = None) -> Array:
    return a.squeeze(axis)


@rule(np.broadcast_to)
def broadcast_to(array: Array, shape: Any, subok: bool = False) -> Array:
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    return BatchedArray(np.broadcast_to(b.widened(array, len(shape)), (array.batch_size, *shape)), array.level)


@rule(np.flip)
def flip(m: Array, axis: Any = None) -> Array:
    axes = range(m.ndim) if axis is None else [axis] if isinstance(axis, (int, np.integer)) else axis
    return BatchedArray(np.flip(m.value, b.shifted(axes, m.ndim)), m.level)


@rule(np.diagonal)
def diagonal(a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    return BatchedArray(np.diagonal(a.value, offset, axis1 % a.ndim + 1, axis2 % a.ndim + 1), a.level)


@rule(np.shape)
def shape(a: Array) -> Any:
    return a.shape


@rule(np.ndim)
def ndim(a: Array) -> int:
    return int(a.ndim)


@rule(np.size)
def size(a: Array, axis: Any = None) -> int:
    return int(a.size if axis is None else a.shape[axis])


# -- along a dimension ------------------------------------------------------------------------------------------------


def _along(function: Any) -> None:
    """A function of one array along one dimension, or of the flat array where that is None."""

    def made(a: Array, axis: Any = None, *args: Any, keepdims: bool = False, **kwargs: Any) -> Array:
        if b.highest((args, kwargs)):
            return b.by_sample(function, (a, axis, *args), kwargs)
        if keepdims:
            kwargs["keepdims"] = True
        if axis is None:
            flat = function(a.value.reshape((a.batch_size, a.size)), 1, *args, **kwargs)
            if keepdims:
                flat = flat.reshape((a.batch_size,) + (1,) * a.ndim)
            return BatchedArray(flat, a.level)
        return BatchedArray(function(a.value, axis % a.ndim + 1, *args, **kwargs), a.level)

    RULES[function] = made


for _function in (np.cumsum, np.cumprod, np.argmax, np.argmin):
    _along(_function)


def _sorting(function: Any) -> None:
    def made(a: Array, axis: Any = -1, *args: Any, **kwargs: Any) -> Array:
        if axis is None:
            a, axis = a.reshape(-1), 0
        return BatchedArray(function(a.value, axis % a.ndim + 1, *args, **kwargs), a.level)

    RULES[function] = made


for _function in (np.sort, np.argsort):
    _sorting(_function)


def _reducing(function: Any, ufunc: Any) -> None:
    def made(a: Array, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **_: Any) -> Array:
        return ufunc.reduce(a, axis=axis, dtype=dtype, keepdims=keepdims is True)

    RULES[function] = made


_reducing(np.sum, np.add)
_reducing(np.prod, np.multiply)


def _truth(function: Any, ufunc: Any) -> None:
    def made(a: Array, axis: Any = None, out: Any = None, keepdims: Any = False, **_: Any) -> Array:
        return ufunc.reduce(a, axis=axis, keepdims=keepdims is True)

    RULES[function] = made


for _function, _ufunc in (
    (np.any, np.logical_or),
    (np.all, np.logical_and),
    (np.max, np.maximum),
    (np.min, np.minimum),
):
    _truth(_function, _ufunc)


@rule(np.mean)
def mean(a: Array, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **_: Any) -> Array:
    axes = b.shifted(range(a.ndim) if axis is None else [axis] if isinstance(axis, int) else axis, a.ndim)
    return BatchedArray(np.mean(a.value, axis=axes, dtype=plain(dtype), keepdims=keepdims is True), a.level)


@rule(np.count_nonzero)
def count_nonzero(a: Array, axis: Any = None, *, keepdims: bool = False) -> Array:
    axes = b.shifted(range(a.ndim) if axis is None else [axis] if isinstance(axis, int) else axis, a.ndim)
    return BatchedArray(np.count_nonzero(a.value, axis=axes, keepdims=keepdims), a.level)


@rule(np.nonzero, np.flatnonzero, np.argwhere)
def nonzero(a: Array) -> Array:
    raise PerSample(MASK)  # the samples would get different numbers of indices


# -- memory -----------------------------------------------------------------------------------------------------------


def _like(function: Any) -> None:
    def made(a: Array, *args: Any, shape: Any = None, dtype: Any = None, **kwargs: Any) -> Array:
        if shape is not None:
            raise PerSample(function.__name__)
        args = tuple([plain(x) if isinstance(x, np.dtype) else x for x in args])
        kind = {} if dtype is None else {"dtype": plain(np.dtype(dtype))}
        return BatchedArray(function(a.value, *args, **kind), a.level)

    RULES[function] = made


for _function in (np.zeros_like, np.ones_like, np.empty_like, np.full_like):
    _like(_function)


@rule(np.copy)
def copy(a: Array, order: str = "K", subok: bool = False) -> Array:
    return a.copy(order)


@rule(np.copyto)
def copyto(dst: Array, src: Array, casting: Any = "same_kind", where: Any = True) -> None:
    level = b.highest((dst, src, where))
    if b.highest(dst) != level:
        raise SharedMemory(IN_PLACE)
    ndim = dst.ndim
    src, where = [b.widened(v, ndim) if v.__class__ is BatchedArray and v.level == level else v for v in (src, where)]
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


@rule(np.real)
def real(val: Array) -> Array:
    return val.real


@rule(np.imag)
def imag(val: Array) -> Array:
    return val.imag


@rule(np.result_type)
def result_type(*values: Any) -> Any:
    return np.result_type(*[v.dtype if v.__class__ is BatchedArray else v for v in values])


@rule(np.iscomplexobj)
def iscomplexobj(x: Array) -> bool:
    return bool(x.dtype.kind == "c")


@rule(np.may_share_memory, np.shares_memory)
def may_share_memory(a: Array, c: Array, max_work: Any = None) -> bool:
    values = [v.value if v.__class__ is BatchedArray else v for v in (a, c)]
    return bool(np.may_share_memory(*values))
