"""How elements lie in memory: PyTorch's memory formats on NumPy's strides."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad._core.tensor import is_batched
from leafgrad._device import channels_last, channels_last_3d, contiguous_format, memory_format, preserve_format

Array = Any

# The channels come last in memory, though dimension 1 is theirs in the shape.
_ORDERS = {channels_last: (0, 2, 3, 1), channels_last_3d: (0, 2, 3, 4, 1)}


def is_dense(array: Array) -> bool:
    """Does each element have a place of its own, with no gaps between them, in whatever order of the dimensions?"""
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return True
    expected = array.itemsize
    for stride, size in sorted([(st, s) for st, s in zip(array.strides, array.shape) if s != 1]):
        if stride != expected:
            return False
        expected *= size
    return True


def needs_no_copy(array: Array, shape: tuple[int, ...]) -> bool:
    """Can an array be seen in another shape, of as many elements, without being copied?"""
    if is_batched(array):
        return needs_no_copy(array.value, (array.batch_size, *shape))
    try:
        array.reshape(shape, copy=False)
    except ValueError:
        return False
    return True


def order_in_memory(array: Array) -> list[int]:
    """The dimensions from the slowest to the fastest, in the order in which PyTorch lays out what is like this array.

    That is by strides, and by size where those are equal. A dimension that was expanded compares with nothing (its
    stride is 0): it keeps its place, unless others move past it. So the outcome depends on who is compared with whom,
    and PyTorch's way is insertion, beginning with the last dimension.
    """
    strides, shape = array.strides, array.shape

    def slower(one: int, other: int) -> int:
        if strides[one] == 0 or strides[other] == 0:
            return 0
        if strides[one] == strides[other]:
            return int(shape[one] > shape[other])
        return 1 if strides[one] > strides[other] else -1

    order = list(range(array.ndim))[::-1]  # the fastest first
    for start in range(1, array.ndim):
        at = start
        for before in range(start - 1, -1, -1):
            found = slower(order[before], order[at])
            if found > 0:
                order[before], order[at] = order[at], order[before]
                at = before
            elif found < 0:
                break
    return order[::-1]


def order_of(array: Array, wanted: memory_format) -> tuple[int, ...]:
    """The dimensions in the order in which a memory format puts them."""
    order = _ORDERS.get(wanted)
    if order is None:
        return tuple(range(array.ndim))
    if array.ndim != len(order):
        raise RuntimeError(f"required rank {len(order)} tensor to use {wanted.name} format")
    return order


def channels_last_order(array: Array) -> tuple[int, ...] | None:
    """The dimensions in the order of channels_last, or channels_last_3d, if that is how the array lies; else None."""
    order = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}.get(array.ndim)
    if order is None or array.flags.c_contiguous or array.size == 0 or array.strides[1] == 0:
        return None
    least = 0
    for dim in order[::-1]:
        stride = array.strides[dim]
        if stride < least or (dim == 0 and least == array.strides[1]):
            return None
        least = stride * array.shape[dim]
    return order


def check_format(wanted: Any) -> memory_format:
    """The argument `memory_format`; None is the format that keeps the order there is."""
    if wanted is None:
        return preserve_format
    if not isinstance(wanted, memory_format):
        raise TypeError(f"argument 'memory_format' must be torch.memory_format, not {type(wanted).__name__}")
    return wanted


def empty_array(shape: tuple[int, ...], np_dtype: Any, wanted: Any = None) -> Array:
    """A new array without set values, in the memory format that is asked for."""
    if wanted is None:
        return np.empty(shape, np_dtype)
    if wanted is preserve_format:
        raise RuntimeError("unsupported memory format Preserve")
    return empty_like_array(np.broadcast_to(np.empty((), np_dtype), shape), None, wanted)


def empty_like_array(array: Array, np_dtype: Any = None, wanted: Any = None) -> Array:
    """A new array without set values in the shape of another. By default its dimensions lie in the order of those of
    the other, without gaps and overlaps."""
    wanted = check_format(wanted)
    if is_batched(array):
        return np.empty_like(array, np_dtype)  # for each sample one
    kind = array.dtype if np_dtype is None else np_dtype
    if wanted is preserve_format:
        if array.flags.c_contiguous:
            return np.empty(array.shape, kind)
        if is_dense(array):
            return np.empty_like(array, kind, order="K")
    order = order_in_memory(array) if wanted is preserve_format else order_of(array, wanted)
    return np.empty([array.shape[d] for d in order], kind).transpose(np.argsort(order))


def laid_like(array: Array, result: Array) -> Array:
    """A result in the layout of `empty_like_array(array)`, which has its shape: a copy of it, if it lies otherwise."""
    if array.flags.c_contiguous or is_batched(array):
        return result
    laid = empty_like_array(array, result.dtype)
    laid[...] = result
    return laid


def copy_in_format(array: Array, wanted: Any = None) -> Array:
    """A copy in a memory format."""
    copy = empty_like_array(array, None, wanted)
    copy[...] = array
    return copy


def lies_in_format(array: Array, wanted: Any = None) -> bool:
    """What `is_contiguous(memory_format=wanted)` asks."""
    wanted = check_format(wanted)
    if wanted is preserve_format or wanted is contiguous_format:
        return bool(array.flags.c_contiguous)
    order = _ORDERS[wanted]
    return array.ndim == len(order) and bool(array.transpose(order).flags.c_contiguous)
