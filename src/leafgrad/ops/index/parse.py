"""What stands between the brackets of x[...]: taken apart, checked, brought to the form that the operations take."""

from __future__ import annotations

import functools
import operator
from builtins import slice as Slice
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._core.tensor import TensorBase, is_batched, links
from leafgrad.kernels.moving import native_move
from leafgrad.ops.creation import from_data
from leafgrad.ops.index.checks import INT64, outside
from leafgrad.ops.index.slices import ALL, alias, new_dimension, select, slice_, takes_all

Array = Any

# -- reading an index -------------------------------------------------------------------------------------------------


def items_of(index: Any) -> tuple[Any, ...]:
    """The parts of an index, one for each comma in x[a, b, c]."""
    if isinstance(index, tuple):
        return index
    if isinstance(index, (TensorBase, np.ndarray)) or not is_sequence(index) or len(index) >= 32:
        return (index,)
    if any([isinstance(i, (TensorBase, Slice)) or i is None or i is ... or is_sequence(i) for i in index]):
        if not isinstance(index, str):
            errors.warn(
                "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch "
                "2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, "
                "x[torch.tensor(seq)], which will result either in an error or a different result"
            )
        return tuple(index)
    return (index,)


def is_sequence(value: Any) -> bool:
    return hasattr(type(value), "__getitem__") and hasattr(type(value), "__len__") and not isinstance(value, dict)


def part_of(item: Any) -> Any:
    """One part of an index as an int, a bool, a slice of ints, None, Ellipsis, or an array of int64 or bool."""
    if item is None or item is ... or isinstance(item, (int, np.integer)):  # bool is an int
        return item
    if isinstance(item, Slice):
        return checked_slice(item)
    if isinstance(item, TensorBase):
        array = item.array
        if array.ndim == 0 and array.dtype.kind in "biu" and not is_batched(array):
            return bool(array) if array.dtype.kind == "b" or array.dtype == np.uint8 else int(array)
        return index_array(array)
    if isinstance(item, np.generic) or not is_sequence(item):
        module = "numpy." if isinstance(item, np.generic) else ""
        raise errors.mistake(
            IndexError,
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
            f"{module}{type(item).__name__})",
        )
    if isinstance(item, str):
        raise TypeError(f"new(): invalid data type '{type(item).__name__}'")
    if isinstance(item, np.ndarray):
        if item.ndim == 0 and item.dtype.kind in "iu":
            return int(item)
        array = item
    else:
        array = from_data.copied(item, None)
    # lists and NumPy arrays are converted, tensors have to have the right dtype
    return index_array(array if array.dtype.kind == "b" or array.dtype == np.uint8 else array.astype(np.int64))


def index_array(array: Array) -> Array:
    """An array of int64 or bool for what a tensor used as an index holds."""
    if array.dtype == INT64 or array.dtype.kind == "b":
        return array
    if array.dtype == np.int32:
        return array.astype(np.int64)
    if array.dtype == np.uint8:
        errors.warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.")
        return array != 0
    raise errors.mistake(
        IndexError,
        "tensors used as indices must be long, int, byte or bool tensors",
        ("index", f"shape {errors.size(array.shape)}, {_dtypes.from_numpy_dtype(array.dtype)}"),
        fix="index.long()",
    )


def checked_slice(part: slice) -> slice:
    """A slice of plain ints with a positive step."""
    start, stop, step = part.start, part.stop, part.step
    for bound in (start, stop, step):
        if bound is not None and bound.__class__ is not int:
            try:
                start, stop, step = [None if v is None else operator.index(v) for v in (start, stop, step)]
            except TypeError:
                raise TypeError("slice indices must be integers or None or have an __index__ method") from None
            part = Slice(start, stop, step)
            break
    if step is not None and step < 1:
        raise ValueError("step must be greater than zero" if step else "slice step cannot be zero")
    return part


class Reading(NamedTuple):
    """An index, read for a tensor of a certain shape."""

    view: tuple[Any, ...] | None  # the part that gives a view, as NumPy takes it; None if it is all of the tensor
    operation: Any  # what the view is recorded as
    arrays: list[Any] | None  # for each dimension of the view an index array, a mask (for several), or None


def read(index: Any, shape: tuple[int, ...]) -> Reading:
    parts: list[tuple[Any, int]] = []
    taken = 0
    for item in items_of(index):
        part = part_of(item)
        count = dimensions_of(part)
        parts.append((part, count))
        taken += count
    if taken > len(shape):
        raise too_many(index, shape)
    view: list[Any] = []
    arrays: list[Any] = []
    operation: Any = None
    dim = 0
    for part, count in parts:
        if part.__class__ is not bool and isinstance(part, (int, np.integer)):
            if not -shape[dim] <= part < shape[dim]:
                raise out_of_bounds(int(part), dim, shape)
            view.append(int(part))
            operation = select
        elif part.__class__ is Slice:
            if not takes_all(part, shape[dim]):
                operation = slice_
            view.append(part)
            arrays.append(None)
        elif part is None or part.__class__ is bool:  # with a bool, one element of the new dimension is taken, or none
            view.append(None)
            arrays.append(None if part is None else np.zeros(int(part), np.int64))
            operation = new_dimension
        elif part is ...:
            count, taken = len(shape) - taken, len(shape)  # a second one stands for nothing
            view += [ALL] * count
            arrays += [None] * count
        else:
            view += [ALL] * count
            arrays += [part] + [()] * (count - 1)
        dim += count
    given = arrays if any([a is not None for a in arrays]) else None
    return Reading(None if operation is None else (*view, ...), operation or alias, given)


def dimensions_of(part: Any) -> int:
    """How many dimensions of a tensor a part of an index takes; Ellipsis takes what the others leave."""
    kind = part.__class__
    if kind is int or kind is Slice:
        return 1
    if part is None or part is ... or kind is bool:
        return 0
    return int(part.ndim) if part.dtype.kind == "b" else 1


def too_many(index: Any, shape: tuple[int, ...]) -> IndexError:
    if not shape and index.__class__ is int:
        return errors.mistake(
            IndexError,
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
            "0-dim tensor to a number",
        )
    if not shape and isinstance(index, Slice):
        return errors.mistake(IndexError, "slice() cannot be applied to a 0-dim tensor.")
    first = f"too many indices for tensor of dimension {len(shape)}"
    return errors.mistake(IndexError, first, ("indexed", f"shape {errors.size(shape)}"))


def out_of_bounds(number: int, dim: int, shape: tuple[int, ...], named: int | None = None) -> Exception:
    """`named` is the dimension that PyTorch names where it is not the right one: it counts index tensors only."""
    if not -(2**63) <= number < 2**63:
        return ValueError("Overflow when unpacking long long")
    first = f"index {number} is out of bounds for dimension {dim if named is None else named} with size {shape[dim]}"
    if shape[dim] == 0 and named is not None:
        first = "index is out of bounds for dimension with size 0"
    return errors.mistake(IndexError, first, ("indexed", f"dimension {dim} of shape {errors.size(shape)}"))


# -- index arrays -----------------------------------------------------------------------------------------------------


class Places(NamedTuple):
    """Index arrays brought to the form that `index` takes: of a tensor of shape `whole` with its dimensions in `order`
    (None: as they are), `span` dimensions from `dim` on are indexed as one by `at`. `mask` says that `at` came from
    one mask and nothing else."""

    dim: int
    span: int
    at: Array
    whole: tuple[int, ...]
    order: tuple[int, ...] | None = None
    mask: bool = False

    @property
    def shape(self) -> Any:
        """What they select has this shape."""
        dim, span, at, rest, order, _ = self
        if order is not None:
            rest = tuple([rest[d] for d in order])
        return rest[:dim] + at.shape + rest[dim + span :]


# from a tuple of all six, without a call in Python: half of the time
places_from: Callable[[Any], Places] = functools.partial(tuple.__new__, Places)


def plain_places(index: tuple[Any, ...], shape: tuple[int, ...]) -> Places | None:
    """The places of an index of integer tensors, perhaps with `:` before and between them; None for all others.
    `read` and `places_of` find the same step by step, in three times the time of x[i, j] on few elements."""
    given: list[Any] = []
    dims: list[int] = []
    for d, part in enumerate(index):
        if part.__class__ is links.tensor_class:
            array = part.array
            if array.dtype is not INT64 or not array.ndim:
                return None
            given.append(array)
            dims.append(d)
        elif part.__class__ is not Slice or not (part.start is part.stop is part.step is None):
            return None
    return places_in(given, dims, shape) if given and len(index) <= len(shape) else None


def places_of(arrays: list[Any], shape: tuple[int, ...]) -> Places:
    """Make one index of index arrays and masks, given for each dimension of a tensor of `shape`."""
    dims = [d for d, a in enumerate(arrays) if a is not None]
    first = arrays[dims[0]]
    if first.dtype.kind == "b":
        check_mask(first, dims[0], shape)
        if len(dims) == max(first.ndim, 1) and first.ndim:  # nothing but this mask
            return Places(dims[0], first.ndim, np.flatnonzero(first), shape, mask=True)
    given: list[Any] = []
    for d in dims:
        if arrays[d].__class__ is not tuple and arrays[d].dtype.kind == "b":
            check_mask(arrays[d], d, shape)
            given += np.nonzero(arrays[d])
        elif arrays[d].__class__ is not tuple:  # which belongs to the mask before it
            given.append(arrays[d])
    return places_in(given, dims, shape)


def places_in(given: list[Any], dims: list[int], shape: tuple[int, ...]) -> Places:
    """The same of index arrays alone, one for each of `dims`."""
    if len(dims) == 1:
        return places_from((dims[0], 1, in_bounds(given[0], dims[0], shape, 0), shape, None, False))
    at = as_one(given, dims, shape)
    if dims[-1] - dims[0] == len(dims) - 1:
        return places_from((dims[0], len(dims), at, shape, None, False))
    # arrays with something between them: their dimensions come first in the result
    order = (*dims, *[d for d in range(len(shape)) if d not in dims])
    return Places(0, len(dims), at, shape, order)


@native_move("flat_index")
def flat_index(shape: tuple[int, ...], *given: Array) -> Array:
    """An index array for each dimension as one for all of them taken together; a ValueError, if it is out of bounds."""
    return np.ravel_multi_index(given, shape)


def as_one(given: list[Any], dims: list[int], shape: tuple[int, ...]) -> Array:
    """Several index arrays, for one dimension each, as one for all of these dimensions taken together."""
    try:
        if dims[-1] - dims[0] == len(dims) - 1:
            return flat_index(shape[dims[0] : dims[-1] + 1], *given)
        return flat_index(tuple([shape[d] for d in dims]), *given)
    except ValueError:
        pass  # out of bounds, negative, or they cannot be broadcast
    try:
        np.broadcast(*given)
    except ValueError:
        shapes = ", ".join([errors.size(a.shape) for a in given])
        first = f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        raise errors.mistake(IndexError, first) from None
    at: Any = 0
    for number, (d, a) in enumerate(zip(dims, given, strict=True)):
        a = in_bounds(a, d, shape, number)
        at = at * shape[d] + np.where(a < 0, a + shape[d], a)
    return at


def in_bounds(a: Array, dim: int, shape: tuple[int, ...], number: int) -> Array:
    """Check an index array; `number` counts those before it."""
    if (wrong := outside(a, -shape[dim], shape[dim])) is not None:
        raise out_of_bounds(wrong, dim, shape, number)
    return a


def check_mask(mask: Array, dim: int, shape: tuple[int, ...]) -> None:
    for i, size in enumerate(mask.shape):
        if size != shape[dim + i]:
            raise errors.mistake(
                IndexError,
                f"The shape of the mask {errors.size(mask.shape)} at index {i} does not match the shape of the "
                f"indexed tensor {errors.size(shape)} at index {dim + i}",
            )
