"""Several tensors made one: cat, stack and their relatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import arrays_of_plain, bind
from leafgrad._core.overrides import TakesOver, leaves_usual_way
from leafgrad._core.tensor import TensorBase
from leafgrad._layouts import in_format_of_all
from leafgrad.kernels.moving import in_rows, native_move
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.index.slices import slice_
from leafgrad.ops.out import CastableApart
from leafgrad.ops.promotion import cast, common_dtype
from leafgrad.ops.registry import Family, composite, op
from leafgrad.ops.samples import S
from leafgrad.ops.shape.split import at, range_of
from leafgrad.ops.shape.views import reshape, unsqueeze
from leafgrad.ops.signature import Dim, Tensor, Tensors

A = Any  # an array, or a tensor under create_graph

JOINED = CastableApart("torch.cat(): input types can't be cast to the desired output type {given.alias}")
JOINED.error = TypeError
SKIPPED = -1  # stands where the size of a tensor would be that takes no part


class Joining(Family, family=True):
    """Operations on any number of tensors. Their rules move numbers, so they serve complex ones as they are."""

    inputs = ("tensors",)
    variadic = True
    holomorphic = False
    jvp = "linear"
    method = False
    out = JOINED

    def vmap(batch: Any, *args: Any) -> Any:
        dim, *rest = batch.options
        return batch.apply(batch.values(*batch.arrays), (dim + 1, *rest))


def arrays_of(tensors: Any) -> list[Any]:
    """The arrays of the one argument of these functions, a list or tuple of tensors."""
    arrays = arrays_of_plain(tensors)
    if len(arrays) == len(tensors):
        return arrays
    if leaves_usual_way(tensors):
        raise TakesOver
    try:
        return [t.array for t in tensors]
    except AttributeError:
        position, wrong = next((i, t) for i, t in enumerate(tensors) if not isinstance(t, TensorBase))
        first = f"expected Tensor as element {position} in argument 0, but got {type(wrong).__name__}"
        raise errors.mistake(TypeError, first) from None


def in_common_dtype(arrays: list[Any], tensors: Any) -> list[Any]:
    kind = arrays[0].dtype
    for x in arrays:
        if x.dtype is not kind:
            common = common_dtype(*tensors)
            return [cast(x, common) for x in arrays]
    return arrays


@native_move("joined")
def joined(*args: Any) -> A:
    """(*arrays, dim, sizes): one after the other along a dimension."""
    dim, sizes = args[-2:]
    parts: Any = args[:-2] if SKIPPED not in sizes else [x for x, size in zip(args, sizes) if size != SKIPPED]
    whole = np.concatenate(parts, dim)
    return in_rows(whole) if whole.ndim < 4 else in_format_of_all(parts, whole)


@op
class cat(Joining):
    """cat(tensors, dim=0): tensors one after the other along a dimension."""

    autocast = "promote"
    saved_as = {"sizes": ""}
    aliases = ("concat", "concatenate")
    options = ("dim", "sizes")

    kernel = joined

    def call(tensors: Tensors, dim: Dim = 0) -> Tensor:
        arrays = arrays_of_plain(tensors)
        if len(arrays) != len(tensors):
            arrays = arrays_of(tensors)
        if not arrays:
            raise errors.mistake(ValueError, "torch.cat(): expected a non-empty list of Tensors")
        sizes = _sizes_of_alike(arrays, dim)  # nearly always, and nothing else is to be known then
        if sizes is None:
            dim, sizes, arrays = _sizes_along(dim, arrays, tensors)
        try:
            return bind(cat.core, tuple(tensors), (dim, sizes), arrays)
        except ValueError:
            raise _cannot_join(arrays, dim) from None

    def vjp_all(g: A, needs: A, dim: A, sizes: A) -> A:
        gradients, start = [], 0
        for need, size in zip(needs, sizes, strict=True):
            if size == SKIPPED:
                gradients.append(slice_(g.reshape((-1,)), (slice(0),)) if need else None)
            else:
                gradients.append(slice_(g, range_of(dim, start, size)) if need else None)
                start += size
        return gradients

    samples = lambda t: [
        S([t(2, 3), t(2, 3)]),
        S((t(2, 3), t(2, 1), t(2, 0)), -1),
        S([t(4)], 0),
        S([t(0), t(2, 3)], dim=1),
        S([t(2, 3), t(1, 3)], axis=0),
        S([t(0), t(0)]),
    ]


@native_move("sizes_of_alike")
def _sizes_of_alike(arrays: list[Any], at: int) -> tuple[int, ...] | None:
    """The sizes along a dimension that all arrays have, if dtypes and numbers of dimensions are the same."""
    first = arrays[0]
    kind, ndim = first.dtype, first.ndim
    if not 0 <= at < ndim or first.shape == (0,):
        return None
    sizes = [x.shape[at] for x in arrays if x.dtype is kind and x.ndim == ndim]
    return tuple(sizes) if len(sizes) == len(arrays) else None


def _sizes_along(dim: int, arrays: list[Any], tensors: Any) -> tuple[int, tuple[int, ...], list[Any]]:
    """The dimension, counted from the front, the size of each tensor in it, and the arrays in one dtype. For the sake
    of old programs, tensors of shape (0,) fit everywhere and are left out."""
    at = dim + arrays[0].ndim if dim < 0 else dim
    usual = _sizes_of_alike(arrays, at)
    if usual is not None:  # nearly always
        return at, usual, arrays
    arrays = in_common_dtype(arrays, tensors)
    lead = next((x.shape for x in arrays if x.shape != (0,)), None)
    if lead is None:
        return 0, (0,) * len(arrays), arrays
    for position, x in enumerate(arrays):
        if not x.ndim:
            message = f"zero-dimensional tensor (at position {position}) cannot be concatenated"
            raise errors.mistake(
                RuntimeError, message, fix=f"{errors.library()}.stack takes tensors without dimensions"
            )
    dim = wrap_dim(dim, len(lead))
    sizes = []
    for x in arrays:
        if x.ndim == len(lead):
            sizes.append(x.shape[dim])
        elif x.shape == (0,):
            sizes.append(SKIPPED)
        else:
            raise _cannot_join(arrays, dim)
    return dim, tuple(sizes), arrays


def _cannot_join(arrays: list[Any], dim: int) -> RuntimeError:
    """The first tensor that does not fit, and in which dimension it does not."""
    lead = next(x.shape for x in arrays if x.shape != (0,))
    shapes = ", ".join(errors.describe_array(x) for x in arrays[:6]) + (", ..." if len(arrays) > 6 else "")
    for position, x in enumerate(arrays):
        if x.ndim != len(lead) and x.shape != (0,):
            first = f"Tensors must have same number of dimensions: got {len(lead)} and {x.ndim}"
            return errors.mistake(
                RuntimeError, first, ("cat", shapes), ("mismatch", f"tensor number {position} has {x.ndim} dimensions")
            )
        for i, (want, have) in enumerate(zip(lead, x.shape)):
            if i != dim and want != have and x.ndim == len(lead):
                return errors.mistake(
                    RuntimeError,
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {want} but got size {have} "
                    f"for tensor number {position} in the list.",
                    ("cat", f"{shapes} along dimension {dim}"),
                    ("mismatch", f"dimension {i} of tensor number {position} is {have}, not {want}"),
                )
    raise AssertionError("cat failed although all sizes match")


@native_move("stacked")
def stacked(*args: Any) -> A:
    """(*arrays, dim): arrays of one shape along a new dimension."""
    parts, dim = args[:-1], args[-1]
    if dim == parts[0].ndim:
        return in_rows(joined(*[x[..., None] for x in parts], dim, ()))
    whole = joined(*parts, dim, ())
    shape = parts[0].shape
    return whole.reshape((*shape[:dim], len(parts), *shape[dim:]))


@op
class stack(Joining):
    """stack(tensors, dim=0): tensors of one shape along a new dimension."""

    autocast = "promote"
    options = ("dim",)
    kernel = stacked

    def call(tensors: Tensors, dim: Dim = 0) -> Tensor:
        arrays = arrays_of_plain(tensors)
        if len(arrays) != len(tensors):
            arrays = arrays_of(tensors)
        if not arrays:
            raise errors.mistake(RuntimeError, "stack expects a non-empty TensorList")
        sizes = _sizes_of_alike(arrays, 0)
        if sizes is None:  # as it nearly never is: dtypes are the same
            arrays = in_common_dtype(arrays, tensors)
        shape = arrays[0].shape
        dim = dim if dim == 0 else wrap_dim(dim, len(shape) + 1)
        vectors = len(shape) == 1 and sizes is not None and sizes.count(sizes[0]) == len(sizes)
        for position, x in enumerate(() if vectors else arrays):
            if x.shape != shape:
                raise errors.mistake(
                    RuntimeError,
                    f"stack expects each tensor to be equal size, but got {errors.size(shape)} at entry 0 and "
                    f"{errors.size(x.shape)} at entry {position}",
                )
        return bind(stack.core, tuple(tensors), (dim,), arrays)

    def vjp_all(g: A, needs: A, dim: A) -> A:
        return [slice_(g, at(dim, i)) if need else None for i, need in enumerate(needs)]

    samples = lambda t: [
        S([t(2, 3), t(2, 3)]),
        S((t(2, 3), t(2, 3)), -1),
        S([t(), t(), t()]),
        S([t(0)]),
        S([t(2), t(2)], axis=1),
    ]


# -- joining after bringing all to a number of dimensions -------------------------------------------------------------


ONE_OR_MORE = (
    "(tensor: Tensor) -> Tensor",
    "(first: Tensor, second: Tensor, *more: Tensor) -> tuple[Tensor, ...]",
    "(tensors: Tensors) -> tuple[Tensor, ...]",
)


def _each_at_least(n: int, name: str, tensors: tuple[Any, ...]) -> Any:
    """One tensor, several, or a list of them, each brought to at least n dimensions."""
    if len(tensors) == 1 and isinstance(tensors[0], TensorBase):
        return _at_least(n, tensors[0])
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    arrays_of(tensors)
    return tuple([_at_least(n, t) for t in tensors])


def _at_least(n: int, t: Any) -> Any:
    ndim = t.array.ndim
    if ndim >= n:
        return t
    if ndim == 0:
        return reshape(t, (1,) * n)
    if ndim == 1 and n > 1:
        t = unsqueeze.function(t, 0)
    return unsqueeze.function(t, -1) if n == 3 else t


_AT_LEAST: dict[str, Any] = {"method": False, "signatures": ONE_OR_MORE, "in_python": ("function",)}


@composite(lambda t: [S(t()), S(t(2)), S(t(), t(3)), S([t(), t(2)])], **_AT_LEAST)
def atleast_1d(*tensors: Tensor | Tensors) -> Tensor | tuple[Tensor, ...]:
    """atleast_1d(*tensors): numbers as vectors of one element; everything else as it is."""
    return _each_at_least(1, "atleast_1d", tensors)


@composite(lambda t: [S(t()), S(t(2)), S(t(2, 3)), S(t(), t(3))], **_AT_LEAST)
def atleast_2d(*tensors: Tensor | Tensors) -> Tensor | tuple[Tensor, ...]:
    """atleast_2d(*tensors): numbers and vectors as matrices of one row."""
    return _each_at_least(2, "atleast_2d", tensors)


@composite(lambda t: [S(t()), S(t(2)), S(t(2, 3)), S(t(2, 3, 4))], **_AT_LEAST)
def atleast_3d(*tensors: Tensor | Tensors) -> Tensor | tuple[Tensor, ...]:
    """atleast_3d(*tensors): with three dimensions, (n) as (1, n, 1) and (n, m) as (n, m, 1)."""
    return _each_at_least(3, "atleast_3d", tensors)


def _stacking(name: str, tensors: Any, n: int) -> list[Any]:
    if not arrays_of(tensors):
        raise errors.mistake(RuntimeError, f"{name} expects a non-empty TensorList")
    return [_at_least(n, t) for t in tensors]


@composite(lambda t: [S([t(2), t(3)]), S([t(2, 1), t(2, 3)]), S([t(), t()])], method=False, out=JOINED)
def hstack(tensors: Tensors) -> Tensor:
    """hstack(tensors): side by side, along dimension 1 (dimension 0 for vectors)."""
    parts = _stacking("hstack", tensors, 1)
    return cat.function(parts, 0 if parts[0].array.ndim == 1 else 1)


@composite(
    lambda t: [S([t(3), t(3)]), S([t(1, 3), t(2, 3)]), S([t(), t()])], method=False, out=JOINED, aliases=("row_stack",)
)
def vstack(tensors: Tensors) -> Tensor:
    """vstack(tensors): on top of each other, along dimension 0; vectors are rows."""
    return cat.function(_stacking("vstack", tensors, 2), 0)


@composite(lambda t: [S([t(3), t(3)]), S([t(2, 3), t(2, 3)]), S([t(), t()])], method=False, out=JOINED)
def dstack(tensors: Tensors) -> Tensor:
    """dstack(tensors): behind each other, along dimension 2."""
    return cat.function(_stacking("dstack", tensors, 3), 2)


@composite(lambda t: [S([t(3), t(3)]), S([t(2, 3), t(2)]), S([t(), t()])], method=False, out=JOINED)
def column_stack(tensors: Tensors) -> Tensor:
    """column_stack(tensors): side by side; numbers and vectors are columns."""
    parts = _stacking("column_stack", tensors, 0)
    return cat.function([reshape(t, (t.array.size, 1)) if t.array.ndim < 2 else t for t in parts], 1)
