"""x[...] in all its forms, reading and writing, with gradients.

An index is read in two steps, as PyTorch does it. First everything that gives a view: numbers, slices, None, Ellipsis
(leafgrad/ops/index/slices.py). Then, on that view, the index arrays and masks, all at once, which makes a copy
(leafgrad/ops/index/gather.py). So a number between two arrays does not count as an array, as it would in NumPy:
x[0, :, rows] is x[0][:, rows].
"""

from __future__ import annotations

from builtins import slice as Slice
from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._core.bind import bind, execute
from leafgrad._core.inplace import count_change, is_free, write
from leafgrad._core.modes import current_modes
from leafgrad._core.overrides import UNCHANGED, overridden, plain, plain_tensors
from leafgrad._core.recorder import make_node, needs_recording, settle
from leafgrad._core.tensor import TensorBase, constant, links, wrap
from leafgrad._core.thread_state import state
from leafgrad._core.views import bind_view
from leafgrad.ops.creation.numbers import fits
from leafgrad.ops.index import parse
from leafgrad.ops.index.checks import INT64
from leafgrad.ops.index.gather import index as index_op
from leafgrad.ops.index.masks import masked_fill, places_of_mask
from leafgrad.ops.index.overwrite import expanded_warning, number_as, overwrite
from leafgrad.ops.index.parse import checked_slice
from leafgrad.ops.index.scatter import index_write
from leafgrad.ops.index.slices import IN_FRONT, OF_PARTS, new_dimension, select, slice_, view_at, write_slice
from leafgrad.ops.inplace import check_history, check_writable, copy_slices, replace, stand_in
from leafgrad.ops.out import check_overlap
from leafgrad.ops.pointwise.fill import copy_from, fill_with_tensor
from leafgrad.ops.promotion import cast
from leafgrad.ops.registry import composite, unseen
from leafgrad.ops.samples import S
from leafgrad.ops.shape.view_history import axes_of, current_steps
from leafgrad.ops.shape.views import expand, permute, reshape, view
from leafgrad.ops.signature import Tensor

Array = Any

_BOOL = np.dtype(np.bool_)
_slices = slice_.named[OF_PARTS]

# -- x[index] ---------------------------------------------------------------------------------------------------------


def getitem(self: Any, index: Any) -> Any:
    """x[index]: a view for numbers, slices, None and Ellipsis; a copy for index tensors, lists and masks."""
    if index is None:
        return bind_view(new_dimension.core, new_dimension, self, (IN_FRONT,))
    kind = index.__class__
    array = self.array
    if kind is int:
        where = (index, ...)
        try:
            return bind_view(select.core, select, self, (where,))
        except IndexError:
            raise (parse.out_of_bounds(index, 0, array.shape) if array.ndim else parse.too_many(index, ())) from None
    if kind is Slice and array.ndim:
        where = (checked_slice(index), ...)
        return bind_view(slice_.core, slice_, self, (where,))
    if kind is tuple and (found := simple(index, array.shape)) is not None:
        operation, dots, news = found
        where = index if dots else index + (...,)
        try:
            if news:
                return view_at(operation, self, where)
            return bind_view(_slices if operation is slice_ else operation.core, operation, self, (where,))
        except IndexError:
            pass  # read() finds out what is wrong, and says it as PyTorch does
    if kind is links.tensor_class and index.array.ndim and array.ndim and index.array.dtype == INT64:
        try:
            return bind(index_op.core, (self,), (0, 1, kept(index.array, self)))
        except IndexError:  # NumPy checks while it reads
            parse.in_bounds(index.array, 0, array.shape, 0)
            raise
    places = parse.plain_places(index, array.shape) if kind is tuple else None
    if places is None:
        if (taken := taken_over("__getitem__", self, index)) is not UNCHANGED:
            return taken
        if (at := marked(index, array)) is not None:
            return index_op.record(self, 0, index.array.ndim, at)
        reading = parse.read(index, array.shape)
        if reading.arrays is None:
            where = reading.view or (...,)
            return view_at(reading.operation, self, where)
        if reading.view is not None:
            self = view_at(reading.operation, self, reading.view)
        places = parse.places_of(reading.arrays, self.array.shape)
    if places.order is not None:
        self = permute.function(self, places.order)
    return bind(index_op.core, (self,), (places.dim, places.span, kept(places.at, self)))


def taken_over(name: str, self: Any, index: Any, *value: Any) -> Any:
    """What becomes of x[index] if a part of the index, or the value, takes the call over; otherwise UNCHANGED."""
    parts = index if index.__class__ is tuple else (index,)
    if plain.issuperset(map(type, (*parts, *value))):
        return UNCHANGED
    asked = [part for part in (*parts, *value) if part.__class__ is not list]
    return overridden(lambda: getattr(links.tensor_class, name), (self, index, *value), {}, asked)


def simple(index: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, int, int] | None:
    """What an index of plain numbers and slices, None and one Ellipsis is recorded as, and how many of the last two it
    has; None if there is more to it."""
    operation: Any = None
    dots = news = dim = 0
    for part in index:
        kind = part.__class__
        if kind is int:
            operation = select
            dim += 1
        elif kind is Slice:
            if part.step is not None or dim >= len(shape):
                return None
            start, stop = part.start, part.stop
            if start.__class__ not in _BOUNDS or stop.__class__ not in _BOUNDS:
                checked_slice(part)  # which may refuse it
                return None
            if start or (stop is not None and stop < shape[dim]):  # as `takes_all` has it
                operation = slice_
            dim += 1
        elif part is None:
            operation = new_dimension
            news += 1
        elif part is ... and not dots:
            dots = 1
            after = index[index.index(...) + 1 :]
            dim = len(shape) - sum([other is not None for other in after])
        else:
            return None
    return None if operation is None else (operation, dots, news)


def marked(index: Any, array: Array) -> Array | None:
    """Where a mask that fits is true, as places in the dimensions that it has, taken as one; None for other indices,
    and for masks that have to be refused."""
    if index.__class__ is not links.tensor_class:
        return None
    mask = index.array
    if mask.__class__ is not np.ndarray or mask.dtype is not _BOOL or not mask.ndim:
        return None
    if mask.shape != array.shape[: mask.ndim]:
        return None
    return execute(places_of_mask, (mask,))


def kept(at: Array, *tensors: Any) -> Array:
    """The index array of a node to be recorded: a copy, because the user may change the one he gave."""
    if state.recording:
        for t in tensors:
            if t.needs_grad:
                return execute(links.assign, (at,))
    return at


# -- x[index] = value -------------------------------------------------------------------------------------------------


def setitem(self: Any, index: Any, value: Any) -> None:
    """x[index] = value, where value is a tensor or a number."""
    if written_directly(self, index, value):
        return
    if taken_over("__setitem__", self, index, value) is not UNCHANGED:
        return
    if isinstance(value, TensorBase):
        part: Any = value
    elif isinstance(value, (int, float, complex, np.integer)):
        part = wrap(number_as(value, self.array, True))
    else:
        module = "numpy." if isinstance(value, (np.ndarray, np.generic)) else ""
        name = _dtypes.from_numpy_dtype(self.array.dtype).alias
        raise errors.mistake(TypeError, f"can't assign a {module}{type(value).__name__} to a torch.{name}Tensor")
    if index is False:
        return
    if index.__class__ is links.tensor_class and index.array.dtype == INT64 and index.array.ndim and self.array.ndim:
        check_history(self, (part,))
        write_places(self, parse.places_of([index.array], self.array.shape), bare(part), False)
        return
    reading = parse.read(index if index is not True else None, self.array.shape)
    if reading.arrays is None:
        if reading.view is None:
            write_all(self, part)
        else:
            write_view(self, reading, part)
        return
    if reading.view is not None:
        self = view_at(reading.operation, self, reading.view)
    check_history(self, (part,))
    places = parse.places_of(reading.arrays, self.array.shape)
    if places.mask and part.array.size == 1 and part.array.ndim:
        part = reshape(part, ())
    write_places(self, places, bare(part), False)


def written_directly(x: Any, index: Any, value: Any) -> bool:
    """x[index] = value, done by NumPy where that means the same and autograd has nothing to do with it: done?"""
    array = x.array
    kind = index.__class__
    data: Any = value
    if value.__class__ in plain_tensors:
        data = data.array
        if data.dtype is not array.dtype:
            return False
    elif not fits(value, array.dtype):
        return False
    if not is_free(x, None if data is value else value):
        return False
    whole = data is value or data.ndim == 0  # one number for all places
    try:
        if kind is links.tensor_class:
            at = index.array
            if at.__class__ is not np.ndarray or not array.ndim:
                return False
            if data is value:
                data = constant(value, array.dtype)
            if at.dtype.kind == "b" and whole and at.shape == array.shape:
                write(x, masked_fill.core, (array, at, data))
            elif at.dtype == INT64 and at.ndim and (whole or data.shape == at.shape + array.shape[1:]):
                write(x, index_write.core, (array, data, 0, 1, at, False))
            else:
                return False
        elif (
            kind is int
            or (kind is tuple and simple(index, array.shape) is not None)
            or (kind is Slice and is_simple(index))
        ):
            if not whole:
                into = array[index]
                if into.__class__ is not np.ndarray or into.shape != data.shape:
                    return False
            write(x, write_slice.core, (array, data, index))
        else:
            return False
    except IndexError:
        return False  # read() finds out what is wrong, and says it as PyTorch does
    return True


def is_simple(part: Slice) -> bool:
    """Is this a slice without a step, from and to plain numbers or nothing?"""
    return part.step is None and part.start.__class__ in _BOUNDS and part.stop.__class__ in _BOUNDS


_BOUNDS = (int, type(None))


def delitem(self: Any, index: Any) -> None:
    """del x[index]: tensors cannot lose elements."""
    raise TypeError("Tensor does not support deleting items")


def bare(part: Any) -> Any:
    """A value without leading dimensions of size 1, if the graph shows it."""
    ones = leading_ones(part.array.shape) if part.needs_grad else 0
    return view.function(part, part.array.shape[ones:]) if ones else part


def fitting(part: Any, shape: tuple[int, ...]) -> Any:
    """A value without the leading dimensions of size 1 that `shape` has no place for."""
    own = part.array.shape
    extra = len(own) - len(shape)
    return view.function(part, own[extra:]) if extra > 0 and own[:extra] == (1,) * extra else part


def expandable(part: Any, shape: tuple[int, ...]) -> Any:
    """A value that can be written to a part of `shape`; expanded, if the graph shows it."""
    own = part.array.shape
    if own == shape or not own:
        return part
    extra = max(0, len(own) - len(shape))
    if own[:extra] != (1,) * extra or not expands_to(own[extra:], shape):
        raise errors.expand_mismatch(reshape(part, own[leading_ones(own) :]), shape)
    if not part.needs_grad:
        return fitting(part, shape)
    part = bare(part)
    return part if part.array.shape == shape else expand.function(part, shape)


def leading_ones(shape: tuple[int, ...]) -> int:
    return next((at for at, size in enumerate(shape) if size != 1), len(shape))


def expands_to(own: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """May a value of shape `own` be written to a part of `shape`?"""
    extra = len(shape) - len(own)
    return extra >= 0 and all([n == 1 or n == shape[extra + d] for d, n in enumerate(own)])


def write_all(x: Any, part: Any) -> None:
    """x[...] = part: a copy, or a fill where part is one number."""
    part = expandable(part, x.array.shape)
    check_writable(x, part)
    check_overlap(x.array, x.version, (part,), x.array.shape)
    replace(x, copy_from.function if part.array.ndim or not x.array.ndim else fill_with_tensor, part)


def write_view(x: Any, reading: parse.Reading, part: Any) -> None:
    """x[view] = part: the history of x, or of what x is a view of, becomes `copy_slices`."""
    if x.rare is not None and x.rare.view is not None and state.recording:
        settle(x)
    step = (reading.operation, (reading.view,))
    into = x.array[reading.view]
    part = expandable(part, into.shape)
    check_part_writable(x, part)
    check_overlap(into, x.version, (part,), into.shape)
    seen_through = x.rare.view if x.rare is not None else None
    base, steps = (x, (step,)) if seen_through is None else (seen_through.base, (*current_steps(x, seen_through), step))
    recorded = needs_recording((base, part)) and x.array.dtype.kind not in "biu"
    if recorded:
        # neither the values of the base nor those of the part are needed: only where the part is
        node = make_node(
            copy_slices.core, (stand_in(base), part), (base.array, into), (steps, axes_of(base.array)), (), (),
            base.array.shape, base.array.dtype,
        )  # fmt: skip
    if part.array.dtype != into.dtype and part.array.dtype.kind == "c":
        warn_of_lost_imaginary(into)
    values = cast(part.array, _dtypes.from_numpy_dtype(into.dtype))
    execute(write_slice.core, (x.array, values), (reading.view,), x.array)
    count_change(x)
    if recorded:
        links.give_history(base, node)
    for mode in current_modes():
        mode.changed_part(x, reading.view, part)


def check_part_writable(x: TensorBase, part: TensorBase) -> None:
    """What `check_writable` would say of x[view], if that had been made first."""
    is_base = x.rare is None or x.rare.view is None
    if is_base and x.needs_grad and x.node is None and state.recording:
        raise errors.leaf_in_place(x, True)
    check_writable(x, part)


def warn_of_lost_imaginary(into: Array) -> None:
    if into.dtype.kind not in "bc":
        errors.warn("Casting complex values to real discards the imaginary part")


EXPANDED = expanded_warning("index_put_", "tensor[indices] = tensor")


def write_places(x: Any, places: parse.Places, values: Any, accumulate: bool) -> Any:
    """Write or add `values` to where `places` says."""
    values = broadcastable(values, x, places, accumulate)
    into = x if places.order is None else permute.function(x, places.order)
    options = (places.dim, places.span, kept(places.at, x, values), accumulate)
    overwrite(into, index_write.core, (values,), options, EXPANDED)
    return x


def broadcastable(values: Any, x: Any, places: parse.Places, accumulate: bool) -> Any:
    """Values that can be broadcast to what the index selects of x."""
    if places.mask and values.array.size == 1 and not accumulate:
        if values.array.ndim:
            values = bind_view(unseen(view), view, values, ((),))
        return values.to(x.dtype)  # PyTorch fills masks, and only there takes another dtype
    shape = places.shape
    if values.array.shape != shape:
        values = fitting(values, shape)
        if not expands_to(values.array.shape, shape):
            own = values.array.shape[leading_ones(values.array.shape) :]
            raise errors.mistake(
                RuntimeError,
                f"shape mismatch: value tensor of shape {errors.size(own)} cannot be broadcast to "
                f"indexing result of shape {errors.size(shape)}",
            )
    if values.array.dtype is not x.array.dtype and values.array.dtype != x.array.dtype:
        source, target = [_dtypes.from_numpy_dtype(t.array.dtype).alias for t in (values, x)]
        raise errors.mistake(
            RuntimeError,
            f"Index put requires the source and destination dtypes match, got {target} for the destination and "
            f"{source} for the source.",
            fix=f"{errors.as_code(errors.name_of(values), 'value')}.to(torch.{x.dtype.name})",
        )
    return values


# -- the same as methods ----------------------------------------------------------------------------------------------


def places_of_tensors(name: str, input: TensorBase, indices: Any, holes: bool = False) -> parse.Places:
    """Where index tensors point to; with `holes` one of them may be None, for a dimension that is not indexed."""
    if indices.__class__ is tuple and Slice not in map(type, indices):
        if (places := parse.plain_places(indices, input.array.shape)) is not None:
            return places
    arrays: list[Any] = []
    for i, t in enumerate(indices):
        if t is None and holes:
            arrays.append(None)
            continue
        if not isinstance(t, TensorBase):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(t).__name__}")
        array = parse.index_array(t.array)
        arrays += [array] + [()] * (array.ndim - 1 if array.dtype.kind == "b" else 0)
    if all([array is None for array in arrays]):
        raise errors.mistake(RuntimeError, f"{name}(): indices is empty: nothing says where the values go")
    if len(arrays) > input.array.ndim:
        raise errors.mistake(
            IndexError, f"too many indices for tensor of dimension {input.array.ndim} (got {len(arrays)})"
        )
    return parse.places_of(arrays, input.array.shape)


def _put_samples(t: Any) -> list[S]:
    return [
        S(t(4, 3), (t(2, dtype="int64", low=0, high=4),), t(3), True),
        S(t(4, 3), (t(2, dtype="int64", low=0, high=4), t(2, dtype="int64", low=0, high=3)), t(2), True),
        S(t(4, 3), (t(1, dtype="int64", low=0, high=4),), t(1, 3)),
        S(t(4, 3), (t(4, 3, dtype="bool"),), t()),
    ]


def index_put_(self: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False) -> Tensor:
    """index_put_(indices, values, accumulate=False): index_put, in place."""
    if not isinstance(values, TensorBase):
        raise errors.not_a_tensor("index_put_", "values", 2, values)
    check_history(self, (values,))
    places = places_of_tensors("index_put_", self, indices)
    return write_places(self, places, values, accumulate)


@composite(_put_samples, in_place=index_put_, in_place_function=True, exempt={"vmap": "dynamic shape"})
def index_put(input: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False) -> Tensor:
    """index_put(input, indices, values, accumulate=False): a copy of input with input[indices] = values, or with
    values added there."""
    return put_copy(input, places_of_tensors("index_put", input, indices), values, accumulate)


def put_copy(input: Any, places: parse.Places, values: Any, accumulate: bool) -> Any:
    """A copy of input with values written or added to where `places` says."""
    if places.order is not None:
        return write_places(input.clone(), places, values, accumulate)
    values = broadcastable(values, input, places, accumulate)
    return index_write.record(input, values, places.dim, places.span, kept(places.at, input, values), accumulate)


METHODS = {"__getitem__": getitem, "__setitem__": setitem, "__delitem__": delitem}
