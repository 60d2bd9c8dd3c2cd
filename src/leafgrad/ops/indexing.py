"""x[...] in all its forms, reading and writing, with gradients.

An index is read in two steps, as PyTorch does it. First everything that gives a view: numbers, slices, None, Ellipsis
(leafgrad/ops/slicing.py). Then, on that view, the index arrays and masks, all at once, which makes a copy
(leafgrad/ops/gathering.py). So a number between two arrays does not count as an array, as it would in NumPy.

    x[0, :, rows]   is   x[0][:, rows]
"""

from __future__ import annotations

import operator
import warnings
from builtins import slice as Slice
from math import prod
from typing import Any

import numpy as np

from leafgrad import _core, dtypes, errors, from_data
from leafgrad._core import TensorBase, state
from leafgrad.ops.fill import copy_from
from leafgrad.ops.gathering import index as index_op
from leafgrad.ops.inplace import changed, check_writable, copy_slices, rebase, stand_in
from leafgrad.ops.overwriting import number_as, overwrite
from leafgrad.ops.promotion import cast
from leafgrad.ops.registry import composite
from leafgrad.ops.samples import S
from leafgrad.ops.scattering import index_write, write_index
from leafgrad.ops.slicing import ALL, alias, new_dimension, select, slice_, view_at
from leafgrad.ops.views import permute, reshape, view_of

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
            warnings.warn(
                "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch "
                "2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, "
                "x[torch.tensor(seq)], which will result either in an error or a different result",
                UserWarning,
                stacklevel=5,
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
        if array.ndim == 0 and array.dtype.kind in "biu":
            return bool(array) if array.dtype.kind == "b" or array.dtype == np.uint8 else int(array)
        return index_array(array)
    if isinstance(item, np.generic) or not is_sequence(item):
        module = "numpy." if isinstance(item, np.generic) else ""
        raise IndexError(
            errors.lines(
                "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
                f"{module}{type(item).__name__})",
                f"at {errors.here()}",
            )
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
    if array.dtype == np.int64 or array.dtype.kind == "b":
        return array
    if array.dtype == np.int32:
        return array.astype(np.int64)
    if array.dtype == np.uint8:
        warnings.warn(
            "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.",
            UserWarning,
            stacklevel=6,
        )
        return array != 0
    raise IndexError(
        errors.lines(
            "tensors used as indices must be long, int, byte or bool tensors",
            f"this one is {dtypes.from_numpy_dtype(array.dtype)} of shape {errors.size(array.shape)}, "
            f"at {errors.here()}",
        )
    )


def checked_slice(part: slice) -> slice:
    """A slice of plain ints with a positive step."""
    start, stop, step = part.start, part.stop, part.step
    if step is not None and step.__class__ is not int or start.__class__ is not int or stop.__class__ is not int:
        try:
            start, stop, step = [None if v is None else operator.index(v) for v in (start, stop, step)]
        except TypeError:
            raise TypeError("slice indices must be integers or None or have an __index__ method") from None
        part = Slice(start, stop, step)
    if step is not None and step < 1:
        raise ValueError("step must be greater than zero" if step else "slice step cannot be zero")
    return part


class Reading:
    """An index, read for a tensor of a certain shape."""

    __slots__ = ("arrays", "operation", "view")

    view: tuple[Any, ...] | None  # the part that gives a view, as NumPy takes it; None if it is all of the tensor
    operation: Any  # what the view is recorded as
    arrays: list[Any] | None  # for each dimension of the view an index array, a mask (for several), or None


def read(index: Any, shape: tuple[int, ...]) -> Reading:
    parts = [part_of(item) for item in items_of(index)]
    taken = 0
    for part in parts:
        if part.__class__ is np.ndarray:
            taken += part.ndim if part.dtype.kind == "b" else 1
        elif part is not None and part is not ... and part.__class__ is not bool:
            taken += 1
    if taken > len(shape):
        raise too_many(index, shape)
    view: list[Any] = []
    arrays: list[Any] = []
    operation: Any = None
    dim = 0
    for part in parts:
        if part.__class__ is np.ndarray:
            count = part.ndim if part.dtype.kind == "b" else 1
            view += [ALL] * count
            arrays += [part] + [()] * (count - 1)
            dim += count
        elif part is None:
            view.append(None)
            arrays.append(None)
            operation = new_dimension
        elif part.__class__ is bool:  # a new dimension, of which one element is taken, or none
            view.append(None)
            arrays.append(np.zeros(1 if part else 0, np.int64))
            operation = new_dimension
        elif part is ...:
            rest, taken = len(shape) - taken, len(shape)  # a second one stands for nothing
            view += [ALL] * rest
            arrays += [None] * rest
            dim += rest
        elif part.__class__ is Slice:
            if not (part.start in (None, 0) and part.stop is None and part.step in (None, 1)):
                operation = slice_
            view.append(part)
            arrays.append(None)
            dim += 1
        else:
            if not -shape[dim] <= part < shape[dim]:
                raise out_of_bounds(part, dim, shape)
            view.append(int(part))
            operation = select
            dim += 1
    reading = Reading()
    reading.operation = operation or (slice_ if len(parts) == 1 and parts[0].__class__ is Slice else alias)
    reading.view = None if operation is None else (*view, ...)
    reading.arrays = arrays if any([a is not None for a in arrays]) else None
    return reading


def too_many(index: Any, shape: tuple[int, ...]) -> IndexError:
    if not shape and index.__class__ is int:
        return IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
            f"0-dim tensor to a number\n  at {errors.here()}"
        )
    if not shape and isinstance(index, Slice):
        return IndexError(f"slice() cannot be applied to a 0-dim tensor.\n  at {errors.here()}")
    return IndexError(
        errors.lines(
            f"too many indices for tensor of dimension {len(shape)}",
            f"the tensor has shape {errors.size(shape)}, at {errors.here()}",
        )
    )


def out_of_bounds(number: int, dim: int, shape: tuple[int, ...], named: int | None = None) -> Exception:
    """`named` is the dimension that PyTorch names where it is not the right one: it counts index tensors only."""
    if not -(2**63) <= number < 2**63:
        return ValueError("Overflow when unpacking long long")
    first = f"index {number} is out of bounds for dimension {dim if named is None else named} with size {shape[dim]}"
    if shape[dim] == 0 and named is not None:
        first = "index is out of bounds for dimension with size 0"
    where = f"dimension {dim} of a tensor of shape {errors.size(shape)}, at {errors.here()}"
    return IndexError(errors.lines(first, where))


# -- index arrays -----------------------------------------------------------------------------------------------------


class Places:
    """Index arrays brought to the form that `index` takes: of the tensor with its dimensions in `order` (None: as they
    are), `count` dimensions from `dim` on are indexed as one by `at`. `shape` is that of the result."""

    __slots__ = ("at", "count", "dim", "order", "shape")

    def __init__(self, dim: int, count: int, at: Array, shape: tuple[int, ...], order: tuple[int, ...] | None = None):
        self.dim = dim
        self.count = count
        self.at = at
        self.order = order
        rest = shape if order is None else tuple([shape[d] for d in order])
        self.shape = rest[:dim] + at.shape + rest[dim + count :]


def places_of(arrays: list[Any], shape: tuple[int, ...]) -> Places:
    """Make one index of index arrays and masks, given for each dimension of a tensor of `shape`."""
    dims = [d for d, a in enumerate(arrays) if a is not None]
    first = arrays[dims[0]]
    if first.dtype.kind == "b":
        check_mask(first, dims[0], shape)
        if len(dims) == max(first.ndim, 1) and first.ndim:  # nothing but this mask
            return Places(dims[0], first.ndim, np.flatnonzero(first), shape)
    elif len(dims) == 1:
        return Places(dims[0], 1, in_bounds(first, dims[0], shape, 0), shape)
    given: list[Any] = []
    for d in dims:
        if arrays[d].__class__ is tuple:
            continue  # belongs to the mask before it
        if arrays[d].dtype.kind == "b":
            check_mask(arrays[d], d, shape)
            given += np.nonzero(arrays[d])
        else:
            given.append(arrays[d])
    try:
        np.broadcast_shapes(*[a.shape for a in given])
    except ValueError:
        shapes = ", ".join([errors.size(a.shape) for a in given])
        raise IndexError(
            errors.lines(
                f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}",
                f"at {errors.here()}",
            )
        ) from None
    at: Any = 0
    for n, (d, a) in enumerate(zip(dims, given, strict=True)):
        a = in_bounds(a, d, shape, n)
        at = at * shape[d] + (np.where(a < 0, a + shape[d], a) if a.size and a.min() < 0 else a)
    if dims[-1] - dims[0] == len(dims) - 1:
        return Places(dims[0], len(dims), at, shape)
    # arrays with something between them: their dimensions come first in the result
    order = (*dims, *[d for d in range(len(shape)) if d not in dims])
    return Places(0, len(dims), at, shape, order)


def in_bounds(a: Array, dim: int, shape: tuple[int, ...], number: int) -> Array:
    """Check an index array; `number` counts those before it."""
    size = shape[dim]
    if a.size and not (a.min() >= -size and a.max() < size):
        flat = a.reshape(-1)
        wrong = int(flat[np.argmax((flat < -size) | (flat >= size))])
        raise out_of_bounds(wrong, dim, shape, number)
    return a


def check_mask(mask: Array, dim: int, shape: tuple[int, ...]) -> None:
    for i, size in enumerate(mask.shape):
        if size != shape[dim + i]:
            raise IndexError(
                errors.lines(
                    f"The shape of the mask {errors.size(mask.shape)} at index {i} does not match the shape of the "
                    f"indexed tensor {errors.size(shape)} at index {dim + i}",
                    f"at {errors.here()}",
                )
            )


# -- x[index] ---------------------------------------------------------------------------------------------------------


def getitem(self: Any, index: Any) -> Any:
    """x[index]: a view for numbers, slices, None and Ellipsis; a copy for index tensors, lists and masks."""
    kind = index.__class__
    array = self.array
    if kind is int:
        where = (index, ...)
        try:
            return view_at(select, self, where, array[where])
        except IndexError:
            raise (out_of_bounds(index, 0, array.shape) if array.ndim else too_many(index, ())) from None
    if kind is Slice and array.ndim:
        where = (checked_slice(index), ...)
        return view_at(slice_, self, where, array[where])
    reading = read(index, array.shape)
    if reading.arrays is None:
        where = reading.view or (...,)
        return view_at(reading.operation, self, where, array[where])
    if reading.view is not None:
        self = view_at(reading.operation, self, reading.view, array[reading.view])
    places = places_of(reading.arrays, self.array.shape)
    if places.order is not None:
        self = view_of(permute, self, places.order)
    return index_op.record(self, places.dim, places.count, kept(places.at, self))


def kept(at: Array, *tensors: Any) -> Array:
    """The index array of a node to be recorded: a copy, because the user may change the one he gave."""
    if state.grad_enabled and any([t.needs_grad for t in tensors]):
        return at.copy()
    return at


# -- x[index] = value -------------------------------------------------------------------------------------------------


def setitem(self: Any, index: Any, value: Any) -> None:
    """x[index] = value, where value is a tensor or a number."""
    if isinstance(value, TensorBase):
        part: Any = value
    elif isinstance(value, (int, float, complex, np.integer)):
        part = _core.wrap(number_as(value, self.array))
    else:
        module = "numpy." if isinstance(value, (np.ndarray, np.generic)) else ""
        name = dtypes.from_numpy_dtype(self.array.dtype).alias
        raise TypeError(f"can't assign a {module}{type(value).__name__} to a torch.{name}Tensor\n  at {errors.here()}")
    if index is False:
        return
    reading = read(index if index is not True else None, self.array.shape)
    if reading.arrays is None:
        if reading.view is None:
            write_all(self, part)
        else:
            write_view(self, reading, part)
        return
    if reading.view is not None:
        self = view_at(reading.operation, self, reading.view, self.array[reading.view])
    places = places_of(reading.arrays, self.array.shape)
    if not part.array.ndim and part.array.dtype != self.array.dtype and is_mask(reading.arrays):
        part = part.to(self.dtype)  # PyTorch fills masks, and only there takes another dtype
    write_places(self, places, part, False)


def is_mask(arrays: list[Any]) -> bool:
    given = [a for a in arrays if a.__class__ is np.ndarray]
    return len(given) == 1 and given[0].dtype.kind == "b"


def fitting(part: Any, shape: tuple[int, ...]) -> Any:
    """A value without the leading dimensions of size 1 that `shape` has no place for."""
    own = part.array.shape
    extra = len(own) - len(shape)
    if extra > 0 and own[:extra] == (1,) * extra:
        return reshape(part, own[extra:])
    return part


def check_expands(own: tuple[int, ...], shape: tuple[int, ...], array: Array) -> None:
    """May a value of shape `own` be written to a part of `shape`?"""
    extra = len(shape) - len(own)
    if extra < 0:
        kind = dtypes.from_numpy_dtype(array.dtype).alias
        first = (
            f"expand(torch.{kind}Tensor{{{errors.size(own)}}}, size={errors.size(shape)}): the number of sizes provided "
            f"({len(shape)}) must be greater or equal to the number of dimensions in the tensor ({len(own)})"
        )
        raise RuntimeError(errors.lines(first, f"assigned at {errors.here()}"))
    for d in range(len(shape) - 1, extra - 1, -1):
        if own[d - extra] not in (1, shape[d]):
            raise RuntimeError(
                errors.lines(
                    f"The expanded size of the tensor ({shape[d]}) must match the existing size ({own[d - extra]}) at "
                    f"non-singleton dimension {d}.  Target sizes: {errors.size(shape)}.  Tensor sizes: "
                    f"{errors.size(own)}",
                    f"assigned at {errors.here()}",
                )
            )


def write_all(x: Any, part: Any) -> None:
    """x[...] = part: the history of x becomes that of part."""
    part = fitting(part, x.array.shape)
    check_expands(part.array.shape, x.array.shape, part.array)
    check_writable(x)
    result = copy_from.function(_core.wrap(x.array), part)
    np.copyto(x.array, result.array)
    changed(x)
    rebase(x, result if result.needs_grad else None)


def write_view(x: Any, reading: Reading, part: Any) -> None:
    """x[view] = part: the history of x, or of what x is a view of, becomes `copy_slices`."""
    step = (reading.operation, (reading.view,))
    into = x.array[reading.view]
    part = fitting(part, into.shape)
    check_expands(part.array.shape, into.shape, part.array)
    if state.grad_enabled and x.needs_grad and x.node is None:
        raise errors.leaf_in_place(x, True)
    check_writable(x)
    seen_through = x.extra.view if x.extra is not None else None
    base, steps = (x, (step,)) if seen_through is None else (seen_through.base, (*seen_through.steps, step))
    recorded = _core.needs_recording((base, part)) and x.array.dtype.kind not in "biu"
    if recorded:
        # neither the values of the base nor those of the part are needed: only where the part is
        node = _core.make_node(
            copy_slices.core, (stand_in(base), part), (base.array, into), (steps,), (), (),
            base.array.shape, base.array.dtype,
        )  # fmt: skip
    if part.array.dtype != into.dtype and part.array.dtype.kind == "c":
        warn_of_lost_imaginary(into)
    np.copyto(into, cast(part.array, dtypes.from_numpy_dtype(into.dtype)))
    changed(x)
    if recorded:
        base.node, base.needs_grad = node, True


def warn_of_lost_imaginary(into: Array) -> None:
    if into.dtype.kind not in "bc":
        warnings.warn("Casting complex values to real discards the imaginary part", UserWarning, stacklevel=4)


def write_places(x: Any, places: Places, values: Any, accumulate: bool) -> Any:
    """Write or add `values` to where `places` says."""
    own = x.array
    if values.array.dtype != own.dtype:
        source, target = [dtypes.from_numpy_dtype(a.dtype).alias for a in (values.array, own)]
        raise RuntimeError(
            errors.lines(
                f"Index put requires the source and destination dtypes match, got {target} for the destination and "
                f"{source} for the source.",
                f"at {errors.here()}",
            )
        )
    into = x if places.order is None else view_of(permute, x, places.order)
    values = broadcastable(values, places)
    options = (places.dim, places.count, kept(places.at, x, values), accumulate)
    overwrite(into, index_write, write_index, (values,), options)
    return x


def broadcastable(values: Any, places: Places) -> Any:
    """Values that can be broadcast to what the index selects."""
    values = fitting(values, places.shape)
    shape = values.array.shape
    extra = len(places.shape) - len(shape)
    if extra < 0 or any([n not in (1, places.shape[extra + d]) for d, n in enumerate(shape)]):
        raise RuntimeError(
            errors.lines(
                f"shape mismatch: value tensor of shape {errors.size(shape)} cannot be broadcast to indexing result of "
                f"shape {errors.size(places.shape)}",
                f"at {errors.here()}",
            )
        )
    return values


# -- the same as methods ----------------------------------------------------------------------------------------------


def _places_of_tensors(name: str, input: TensorBase, indices: Any, values: Any) -> Places:
    if not isinstance(indices, (tuple, list)):
        raise TypeError(
            f"{name}(): argument 'indices' (position 1) must be tuple of Tensors, not {type(indices).__name__}"
        )
    if not isinstance(values, TensorBase):
        raise errors.not_a_tensor(name, "values", 2, values)
    arrays: list[Any] = []
    for i, t in enumerate(indices):
        if not isinstance(t, TensorBase):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(t).__name__}")
        array = index_array(t.array)
        arrays += [array] + [()] * (array.ndim - 1 if array.dtype.kind == "b" else 0)
    if len(arrays) > input.array.ndim:
        raise IndexError(
            f"too many indices for tensor of dimension {input.array.ndim} (got {len(arrays)})\n  at {errors.here()}"
        )
    return places_of(arrays, input.array.shape)


def _put_samples(t: Any) -> list[S]:
    return [
        S(t(4, 3), (t(2, dtype="int64", low=0, high=4),), t(3), True),
        S(t(4, 3), (t(2, dtype="int64", low=0, high=4), t(2, dtype="int64", low=0, high=3)), t(2), True),
        S(t(4, 3), (t(1, dtype="int64", low=0, high=4),), t(1, 3)),
        S(t(4, 3), (t(4, 3, dtype="bool"),), t()),
    ]


@composite(_put_samples)
def index_put(input: TensorBase, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """index_put(input, indices, values, accumulate=False): a copy of input with input[indices] = values, or with
    values added there."""
    places = _places_of_tensors("index_put", input, indices, values)
    values = broadcastable(values, places)
    same = values.array.dtype == input.array.dtype
    if not same:
        source, target = [dtypes.from_numpy_dtype(a.dtype).alias for a in (values.array, input.array)]
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {target} for the destination and "
            f"{source} for the source.\n  at {errors.here()}"
        )
    return index_write.record(input, values, places.dim, places.count, kept(places.at, input, values), accumulate)


@composite(lambda t: [])
def index_put_(input: TensorBase, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """index_put_(indices, values, accumulate=False): index_put, in place."""
    places = _places_of_tensors("index_put_", input, indices, values)
    return write_places(input, places, values, accumulate)


_ = prod
