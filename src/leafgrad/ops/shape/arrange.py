"""The same elements in another order or shape, or several times: moved dimensions, shapes taken from another tensor,
repetition, reversal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import TensorBase, with_layout_noted
from leafgrad._core.unbroadcast import unbroadcast
from leafgrad._device import Size
from leafgrad._layouts import copy_in_format, empty_array, format_of, laid_like
from leafgrad.kernels.moving import in_rows, native_move, written
from leafgrad.ops.dimensions import distinct_dims, shape_arguments, wrap_dim
from leafgrad.ops.index.slices import ALL, alias
from leafgrad.ops.registry import Family, composite, op
from leafgrad.ops.samples import S
from leafgrad.ops.shape.join import arrays_of, joined
from leafgrad.ops.shape.view_history import view_of
from leafgrad.ops.shape.views import expand, permute, reshape, transpose, view
from leafgrad.ops.signature import Dim, DimOrDims, Shape, Sizes, Tensor, Tensors, by_name, declared

A = Any  # an array, or a tensor under create_graph

REVERSED = slice(None, None, -1)

# -- dimensions in another order --------------------------------------------------------------------------------------


@composite(
    lambda t: [S(t(2, 3, 4), 0, 2), S(t(2, 3, 4), (0, 1), (-1, 0)), S(t(2, 3), 1, 1), S(t(), 0, 0)],
    aliases=("moveaxis",),
)
def movedim(input: Tensor, source: DimOrDims, destination: DimOrDims) -> Tensor:
    """movedim(input, source, destination): the dimensions `source` moved to the places `destination`."""
    ndim = input.array.ndim
    given = [(d,) if isinstance(d, int) else tuple(d) for d in (source, destination)]
    if len(given[0]) != len(given[1]):
        raise errors.mistake(
            RuntimeError,
            f"movedim: Invalid source or destination dims: source ({errors.size(given[0])} dims) should contain the "
            f"same number of dims as destination ({errors.size(given[1])} dims)",
        )
    dims = [[wrap_dim(d, ndim) for d in group] for group in given]
    for name, group, listed in zip(("source", "destination"), dims, given, strict=True):
        if len(set(group)) != len(group):
            raise errors.mistake(RuntimeError, f"movedim: repeated dim in `{name}` ({errors.size(listed)})")
    if ndim == 0:
        return view_of(alias, input, (...,))
    order: list[int] = [-1] * ndim
    for start, end in zip(*dims, strict=True):
        order[end] = start
    rest = iter([d for d in range(ndim) if d not in dims[0]])
    return view_of(permute, input, tuple([next(rest) if d == -1 else d for d in order]))


@composite(lambda t: [S(t(2, 3, 4), 0, 2)])
def swapaxes(input: Tensor, axis0: Dim, axis1: Dim) -> Tensor:
    """swapaxes(input, axis0, axis1): another name of transpose."""
    return transpose.function(input, axis0, axis1)


# -- shapes taken from elsewhere --------------------------------------------------------------------------------------


@composite(lambda t: [S(t(3, 1), t(3, 4)), S(t(), t(2))], method_only=True)
def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """expand_as(input, other): expanded to the shape of other."""
    return expand.function(input, other.array.shape)


@composite(lambda t: [S(t(3, 4, contiguous=True), t(2, 6))], method_only=True)
def view_as(input: Tensor, other: Tensor) -> Tensor:
    """view_as(input, other): viewed under the shape of other."""
    return view.function(input, other.array.shape)


@composite(lambda t: [S(t(3, 4), t(2, 6)), S(t(1), t())], method_only=True)
def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """reshape_as(input, other): reshaped to the shape of other."""
    return reshape(input, other.array.shape)


@composite(lambda t: [S(t(3, 1), (2, 3, 4)), S(t(), (2,))])
def broadcast_to(input: Tensor, *sizes: Sizes, size: Shape | None = None) -> Tensor:
    """broadcast_to(input, *size): another name of expand."""
    return expand.function(input, *sizes, size=size)


@composite(lambda t: [S(t(3, 1), t(4)), S(t(3)), S(t(2, 1), t(), t(1, 3))], method=False, in_python=("function",))
def broadcast_tensors(*tensors: Tensor | Tensors) -> tuple[Tensor, ...]:
    """broadcast_tensors(*tensors): all of them expanded to the one shape that they broadcast to."""
    shape: tuple[int, ...] = ()
    for x in arrays_of(tensors):
        try:
            shape = np.broadcast_shapes(shape, x.shape)
        except ValueError:
            raise errors.broadcast_mismatch("broadcast_tensors", (np.empty(shape), x)) from None
    return tuple([t if t.array.shape == shape else expand.function(t, shape) for t in tensors])


@declared()
def broadcast_shapes(*shapes: int | Shape) -> Size:
    """broadcast_shapes(*shapes): the one shape that tensors of all these shapes broadcast to."""
    whole: list[int] = []
    for position, given in enumerate(shapes):
        if not isinstance(given, (int, tuple, list)):
            first = "Input shapes should be of type ints, a tuple of ints, or a list of ints, got"
            raise errors.mistake(RuntimeError, f"{first} {given}")
        shape = Size((given,) if isinstance(given, int) else given)
        if any([n < 0 for n in shape]):
            raise errors.mistake(ValueError, "Attempting to broadcast a dimension with negative length!")
        whole = [1] * (len(shape) - len(whole)) + whole
        for dim in range(-1, -1 - len(shape), -1):
            if shape[dim] == 1 or shape[dim] == whole[dim]:
                continue
            if whole[dim] != 1:
                raise errors.mistake(
                    RuntimeError,
                    f"Attempting to broadcast a dimension of length {shape[dim]} at {dim}! Mismatching argument at "
                    f"index {position} had {tuple(shape)}; but expected shape should be broadcastable to {whole}",
                )
            whole[dim] = shape[dim]
    return Size(whole)


@composite(lambda t: [S(t(3, 4, 2)), S(t(3, 4, 2), 1), S(t(3, 4, 2), 0, 1), S(t())], checked="function")
def flatten(input: Tensor, start_dim: Dim = 0, end_dim: Dim = -1) -> Tensor:
    """flatten(input, start_dim=0, end_dim=-1): dimensions start_dim to end_dim made one."""
    shape = input.array.shape
    start, end = wrap_dim(start_dim, len(shape)), wrap_dim(end_dim, len(shape))
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return reshape(input, (1,))
    if start == end:
        return input
    return reshape(input, shape[:start] + (math.prod(shape[start : end + 1]),) + shape[end + 1 :])


@composite(lambda t: [S(t(2, 3)), S(t()), S(t(4))])
def ravel(input: Tensor) -> Tensor:
    """ravel(input): all elements in one dimension; a view where that is possible."""
    return view.function(input.contiguous(), (-1,))


@composite(lambda t: [S(t(2, 6), 1, (2, 3)), S(t(2, 6), -1, (-1, 2)), S(t(4, 2), 0, (2, 2))], in_python=("method",))
def unflatten(input: Tensor, dim: Dim, sizes: Shape) -> Tensor:
    """unflatten(input, dim, sizes): one dimension made several; one of the sizes may be -1."""
    shape, new = input.array.shape, tuple(sizes)
    at = wrap_dim(dim, len(shape))
    if not new:
        raise errors.mistake(RuntimeError, "unflatten: sizes must be non-empty")
    if not shape or new.count(-1) > 1 or min(new) < -1:
        raise errors.mistake(RuntimeError, "unflatten got an unexpected error:", ("sizes", errors.size(new)))
    known = math.prod([s for s in new if s != -1])
    if known == 0 and -1 in new and shape[at] == 0:
        raise errors.mistake(
            RuntimeError, "unflatten got an unexpected error:", ("sizes", f"{errors.size(new)}: -1 could be anything")
        )
    if shape[at] != known if -1 not in new else known == 0 or shape[at] % known:
        raise errors.mistake(
            RuntimeError,
            f"unflatten: Provided sizes {errors.size(new)} don't multiply up to the size of dim {at} ({shape[at]}) in "
            "the input tensor",
            ("tensor", errors.describe(input)),
        )
    filled = tuple([shape[at] // known if s == -1 else s for s in new])
    return view.function(input, (*shape[:at], *filled, *shape[at + 1 :]))


# -- repetition -------------------------------------------------------------------------------------------------------


@op
class repeat(Family):
    """repeat(input, *repeats): a copy in which each dimension is repeated so many times."""

    row_major = True
    options = ("repeats",)
    holomorphic = False  # numbers are moved, not computed with
    jvp = "linear"
    method_only = True

    def kernel(x: A, repeats: Any) -> A:
        out = np.empty([s * n for s, n in zip(_padded(x.shape, repeats), repeats)], x.dtype)
        twice, once = _interleaved(x.shape, repeats)
        written(out.reshape(twice), x.reshape(once))
        return out

    def call(input: Tensor, *counts: Sizes, repeats: Shape | None = None) -> Tensor:
        if repeats is not None:
            counts = (repeats,)
        if not counts:
            raise errors.mistake(TypeError, 'repeat() missing 1 required positional arguments: "repeats"')
        counts, shape = shape_arguments(counts, "repeat", "repeats"), input.array.shape
        if len(counts) < len(shape):
            raise errors.mistake(
                RuntimeError,
                "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor",
                ("tensor", errors.describe(input)),
                ("repeat", errors.size(counts)),
            )
        target = [s * n for s, n in zip(_padded(shape, counts), counts)]
        if target and min(target) < 0:
            odd = next(s for s in target if s < 0)
            first = f"Trying to create tensor with negative dimension {odd}: {errors.size(target)}"
            raise errors.mistake(RuntimeError, first)
        return repeat.record(input, tuple([max(n, 0) for n in counts]))  # nothing, repeated less than no times

    def vjp(g: A, repeats: A, input_shape: A) -> A:
        twice, once = _interleaved(input_shape, repeats)  # where repetitions have dimensions of their own
        kind = g.array.dtype if isinstance(g, TensorBase) else g.dtype
        return unbroadcast(g.reshape(twice), tuple(once), kind).reshape(input_shape)

    def vmap(batch: A, x: A, repeats: Any) -> A:
        return batch.apply((batch.aligned(x, len(repeats)),), ((1, *repeats),))

    samples = lambda t: [S(t(2, 3), 2, 2), S(t(2, 3), (2, 1, 3)), S(t(), 3), S(t(), ()), S(t(2), 0), S(t(0, 2), 2, 3)]


def _padded(shape: Sequence[int], repeats: Sequence[int]) -> tuple[int, ...]:
    return (1,) * (len(repeats) - len(shape)) + tuple(shape)


def _interleaved(shape: Sequence[int], repeats: Sequence[int]) -> tuple[list[int], list[int]]:
    """Shapes with a dimension for each repetition in front of each dimension: (n0, s0, n1, s1, ...) of the result and
    (1, s0, 1, s1, ...) of the input."""
    pairs = list(zip(repeats, _padded(shape, repeats), strict=True))
    return [size for pair in pairs for size in pair], [size for _, s in pairs for size in (1, s)]


@composite(lambda t: [S(t(2, 3), (2,)), S(t(2, 3), (2, 1, 2)), S(t(), (2,)), S(t(2, 3), ())])
def tile(input: Tensor, *counts: Sizes, dims: Shape | None = None) -> Tensor:
    """tile(input, dims): repeat, where missing dimensions count as one."""
    counts = shape_arguments(counts if dims is None else (dims,), "tile", "dims")
    try:
        return repeat.function(input, (1,) * (input.array.ndim - len(counts)) + counts)
    except AttributeError:
        raise errors.not_a_tensor("tile", "input", 1, input) from None


# -- reversal ---------------------------------------------------------------------------------------------------------


@native_move("flipped")
def _flipped(x: A, dims: Any) -> A:
    if dims and x.__class__ is np.ndarray:  # np.flip, without its preparations
        index = [ALL] * x.ndim
        for dim in dims:
            index[dim] = REVERSED
        reverse = x[tuple(index)]
        return reverse.copy() if x.flags.c_contiguous else laid_like(x, reverse)
    return np.flip(x, dims).copy() if dims else copy_in_format(x)


@op
class flip(Family):
    """flip(input, dims): a copy in which the order of the elements along some dimensions is reversed."""

    options = ("dims",)
    vmap = "dims"
    holomorphic = False
    jvp = "linear"

    kernel = _flipped

    def call(input: Tensor, *chosen: Sizes, dims: DimOrDims | None = None) -> Tensor:
        try:
            ndim = input.array.ndim
        except AttributeError:
            raise errors.not_a_tensor("flip", "input", 1, input) from None
        chosen = distinct_dims(shape_arguments(chosen if dims is None else (dims,), "flip", "dims"), ndim)
        return flip.record(input, chosen if ndim else ())

    def vjp(g: A, dims: A) -> A:
        return flip(g, dims)

    samples = lambda t: [S(t(2, 3), (0,)), S(t(2, 3), (0, -1)), S(t(2, 3), ()), S(t(), (0,)), S(t(0), (0,))]


@composite(lambda t: [S(t(2, 3))])
def fliplr(input: Tensor) -> Tensor:
    """fliplr(input): columns in reverse order."""
    if input.array.ndim < 2:
        raise errors.mistake(RuntimeError, "Input must be >= 2-d.")
    return flip.function(input, (1,))


@composite(lambda t: [S(t(2, 3)), S(t(3))])
def flipud(input: Tensor) -> Tensor:
    """flipud(input): rows in reverse order."""
    if input.array.ndim < 1:
        raise errors.mistake(RuntimeError, "Input must be >= 1-d.")
    return flip.function(input, (0,))


@op
class roll(Family):
    """roll(input, shifts, dims=None): elements shifted along dimensions; what leaves at the end enters at the start."""

    options = ("shifts", "dims")
    holomorphic = False
    jvp = "linear"

    def kernel(x: A, shifts: Any, dims: Any) -> A:
        if x.__class__ is not np.ndarray or not x.size or (dims and shifts.__class__ is not tuple):
            return in_rows(np.roll(x, shifts, dims) if dims else np.roll(x, shifts))
        if not dims:
            return _rolled(x.reshape(-1), shifts, 0).reshape(x.shape)
        for by, dim in zip(shifts, dims, strict=True):
            x = _rolled(x, by, dim)
        return x

    def call(input: Tensor, shifts: int | Shape, dims: DimOrDims | None = None) -> Tensor:
        by = (shifts,) if isinstance(shifts, int) else tuple(shifts)
        along = () if dims is None else (dims,) if isinstance(dims, int) else tuple(dims)
        if not by:
            raise errors.mistake(RuntimeError, "`shifts` required")
        if len(by) != len(along) and not (len(by) == 1 and not along):
            raise errors.mistake(
                RuntimeError, f"shifts and dimensions must align. shifts: {len(by)}, dims:{len(along)}"
            )
        if not along or input.array.size == 0:
            return roll.record(input, by[0], ())
        if not input.array.ndim:
            raise errors.mistake(IndexError, f"Dimension specified as {along[0]} but tensor has no dimensions")
        along = tuple([wrap_dim(d, input.array.ndim) for d in along])
        return roll.record(input, by, along)

    def vjp(g: A, shifts: A, dims: A) -> A:
        return roll(g, tuple([-s for s in shifts]) if dims else -shifts, dims)

    def vmap(batch: A, x: A, shifts: Any, dims: Any) -> A:
        if dims:
            return batch.apply((batch.value(x),), (shifts, tuple([d + 1 for d in dims])))
        return batch.wrap(batch.run((batch.flat(x),), (shifts, (1,))).reshape(x.value.shape))

    samples = lambda t: [
        S(t(2, 3), 1),
        S(t(4), -2, 0),
        S(t(2, 3), (1, -1), (0, 1)),
        S(t(3, 2), 5, -1),
        S(t(0), 1),
        S(t(), 1),
    ]


def _rolled(x: Any, by: int, dim: int) -> Any:
    """np.roll along one dimension, without its preparations: two parts change places."""
    cut = by % x.shape[dim]
    lead = (ALL,) * dim
    if x.ndim <= 3:
        return joined(x[(*lead, slice(x.shape[dim] - cut, None))], x[(*lead, slice(x.shape[dim] - cut))], dim, ())
    out = empty_array(x.shape, x.dtype, format_of(x))
    out[(*lead, slice(cut))] = x[(*lead, slice(x.shape[dim] - cut, None))]
    out[(*lead, slice(cut, None))] = x[(*lead, slice(x.shape[dim] - cut))]
    return out


@op
class rot90(Family):
    """rot90(input, k=1, dims=(0, 1)): turned k times by 90 degrees, from the first of two dimensions to the second."""

    options = ("k", "dims")
    vmap = "dims"
    holomorphic = False
    jvp = "linear"

    def kernel(x: A, k: int, dims: Any) -> A:
        if k % 4 == 0:
            return x.copy()
        if k % 4 == 2:
            return flip(x, dims)
        return flip(x, dims[1:] if k % 4 == 1 else dims[:1]).swapaxes(*dims)

    def call(input: Tensor, k: int = 1, dims: Shape = (0, 1)) -> Tensor:
        ndim = input.array.ndim
        if len(dims) != 2:
            raise errors.mistake(RuntimeError, f"expected total rotation dims == 2, but got dims = {len(dims)}")
        if ndim < 2:
            raise errors.mistake(RuntimeError, f"expected total dims >= 2, but got total dims = {ndim}")
        plane = (wrap_dim(dims[0], ndim), wrap_dim(dims[1], ndim))
        if plane[0] == plane[1]:
            raise errors.mistake(
                RuntimeError, f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
            )
        return with_layout_noted(rot90.record(input, k, plane))

    def vjp(g: A, k: A, dims: A) -> A:
        return rot90(g, -k, dims)

    samples = lambda t: [S(t(2, 3)), S(t(2, 3), 2), S(t(2, 3, 4), -1, (2, 0)), S(t(2, 3), 0)]


FUNCTIONS = by_name(broadcast_shapes)
