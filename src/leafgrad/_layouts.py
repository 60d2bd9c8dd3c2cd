"""How elements lie in memory: PyTorch's memory formats on NumPy's strides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad._core.tensor import is_batched, is_meta, links
from leafgrad._device import channels_last, channels_last_3d, contiguous_format, memory_format, preserve_format
from leafgrad.kernels.moving import copied, native_move, written

Array = Any

# The channels come last in memory, though dimension 1 is theirs in the shape.
_ORDERS = {channels_last: (0, 2, 3, 1), channels_last_3d: (0, 2, 3, 4, 1)}


def steps_of(array: Array) -> tuple[int, ...]:
    """Strides in elements. A new array without elements has none in NumPy; in PyTorch those of the shape with a 1 in
    place of each 0."""
    if array.size == 0 and not any(array.strides):
        return row_major_steps(array.shape)
    size = array.itemsize
    return tuple([step // size for step in array.strides])


def row_major_steps(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a new tensor: a dimension without elements counts as one element."""
    return tuple([math.prod([max(n, 1) for n in shape[i + 1 :]]) for i in range(len(shape))])


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


@native_move("restrided")
def restrided(array: Array, shape: Sequence[int], strides: Sequence[int]) -> Array:
    """The memory of an array, from its first element on, under another shape and strides in bytes. (NumPy's way, which
    the native one is not, takes four microseconds.)"""
    if is_meta(array):
        return array.restrided(shape, strides)
    return np.lib.stride_tricks.as_strided(array, tuple(shape), tuple(strides), writeable=True)


def needs_no_copy(array: Array, shape: tuple[int, ...]) -> bool:
    """Can an array be seen in another shape, of as many elements, without being copied?"""
    if is_batched(array):
        return needs_no_copy(array.value, (array.batch_size, *shape))
    try:
        array.reshape(shape, copy=False)
    except ValueError:
        return False
    return True


def order_in_memory(*arrays: Array) -> list[int]:
    """The dimensions from the slowest to the fastest, in the order in which PyTorch lays out what is computed of these
    arrays, element by element.

    That is by the strides of the first array, and by size where those are equal. A dimension that was expanded compares
    with nothing (its stride is 0): there the next array decides, or else it keeps its place, unless others move past
    it. So the outcome depends on who is compared with whom, and PyTorch's way is insertion, beginning with the last
    dimension.
    """
    ndim = max([array.ndim for array in arrays])
    shape = [1] * ndim
    for array in arrays:
        lead = ndim - array.ndim
        shape[lead:] = [max(one, other) for one, other in zip(shape[lead:], array.shape)]
    steps = []
    for array in arrays:
        lead = ndim - array.ndim
        sizes = zip(array.shape, array.strides, shape[lead:])
        steps.append([0] * lead + [0 if size == 1 and whole != 1 else step for size, step, whole in sizes])
    if len(arrays) == 1:
        steps = [arrays[0].strides]

    def slower(one: int, other: int) -> int:
        for strides in steps:
            if strides[one] == 0 or strides[other] == 0:
                continue
            if strides[one] != strides[other]:
                return 1 if strides[one] > strides[other] else -1
            if shape[one] > shape[other]:
                return 1
        return 0

    order = list(range(ndim))[::-1]  # the fastest first
    for start in range(1, ndim):
        at = start
        for before in range(start - 1, -1, -1):
            found = slower(order[before], order[at])
            if found > 0:
                order[before], order[at] = order[at], order[before]
                at = before
            elif found < 0:
                break
    return order[::-1]


@native_move("in_common_order")
def in_common_order(arrays: Sequence[Array], out: Array) -> Array:
    """What was computed of arrays, element by element, laid out as PyTorch does it. Where the layouts of the arrays
    disagree NumPy goes row by row, PyTorch as the first of them."""
    if out.__class__ is not np.ndarray or out.ndim < 2 or out.size < 2:
        return out
    given = [x for x in arrays if x is not None and x.ndim]
    for x in given:
        if not x.flags.c_contiguous or (1 in x.shape and x.shape != out.shape):
            break
    else:
        return out if out.flags.c_contiguous else out.copy()
    order = order_in_memory(*given)
    laid = out.transpose(order)
    if laid.flags.c_contiguous and (1 not in laid.shape or laid.strides == np.empty(laid.shape, laid.dtype).strides):
        return out
    return in_order(out, order)  # also for dimensions of one element, by whose strides `format_of` decides


def copy_in_order_of(arrays: Sequence[Array], out: Array) -> Array:
    """A copy of what comes of arrays, element by element, laid out as PyTorch does it."""
    return in_order(out, order_in_memory(*[x for x in arrays if x.ndim]) if out.ndim else [])


def in_order(array: Array, order: Sequence[int]) -> Array:
    """A copy with the dimensions in this order in memory, the slowest first."""
    laid = np.empty([array.shape[d] for d in order], array.dtype).transpose(np.argsort(order))
    return written(laid, array)


links.in_common_order = in_common_order


def order_of(ndim: int, wanted: memory_format) -> tuple[int, ...]:
    """The dimensions in the order in which a memory format puts them."""
    order = _ORDERS.get(wanted)
    if order is None:
        return tuple(range(ndim))
    if ndim != len(order):
        raise RuntimeError(f"required rank {len(order)} tensor to use {wanted.name} format")
    return order


def format_of(array: Array) -> memory_format:
    """The memory format that the strides of an array look like, to PyTorch: also with gaps. Where it could be several,
    the contiguous one."""
    for wanted, order in _ORDERS.items():
        if array.ndim == len(order) and _looks_like(array, order):
            return wanted
    return contiguous_format


def _looks_like(array: Array, order: tuple[int, ...]) -> bool:
    shape, strides = array.shape, array.strides
    channels = strides[1]
    if channels == 0 or 0 in shape:
        return False
    least = 0
    for dim in order[::-1]:
        if strides[dim] < least or (dim == 0 and least == channels):
            return False
        least = strides[dim] * shape[dim]
    return True


def in_format_of_all(arrays: Sequence[Array], out: Array) -> Array:
    """What several arrays were joined to: in their memory format, if all have the same, otherwise row by row."""
    if out.__class__ is not np.ndarray:
        return out
    found = {format_of(x) for x in arrays}
    wanted = found.pop() if len(found) == 1 else contiguous_format
    if lies_in_format(out, wanted) and (1 not in out.shape or wanted is contiguous_format):
        return out
    return copy_in_format(out, wanted)  # also for the strides of dimensions of one element


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
    if is_meta(array):
        return array.empty_like(np_dtype, wanted)
    kind = array.dtype if np_dtype is None else np_dtype
    if wanted is preserve_format:
        if array.flags.c_contiguous:
            return np.empty(array.shape, kind)
        if is_dense(array):
            if 1 not in array.shape:
                return np.empty_like(array, kind, order="K")
            # which would give dimensions of one element other strides
            size = np.dtype(kind).itemsize
            steps = [step // array.itemsize * size for step in array.strides]
            return np.ndarray(array.shape, kind, np.empty(array.size, kind), strides=steps)
    order = order_in_memory(array) if wanted is preserve_format else order_of(array.ndim, wanted)
    return np.empty([array.shape[d] for d in order], kind).transpose(np.argsort(order))


def laid_like(array: Array, result: Array) -> Array:
    """A result in the layout of `empty_like_array(array)`, which has its shape: a copy of it, if it lies otherwise."""
    if array.flags.c_contiguous or is_batched(array):
        return result
    return written(empty_like_array(array, result.dtype), result)


def copy_in_format(array: Array, wanted: Any = None) -> Array:
    """A copy in a memory format."""
    if wanted is contiguous_format and array.__class__ is np.ndarray:
        return copied(array)
    return written(empty_like_array(array, None, wanted), array)


def lies_in_format(array: Array, wanted: Any = None) -> bool:
    """What `is_contiguous(memory_format=wanted)` asks."""
    wanted = check_format(wanted)
    if wanted is preserve_format or wanted is contiguous_format:
        return bool(array.flags.c_contiguous)
    order = _ORDERS[wanted]
    return array.ndim == len(order) and bool(array.transpose(order).flags.c_contiguous)
