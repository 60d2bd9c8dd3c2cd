"""What all reductions share: how they are called, how arrays are summed, how a gradient is spread out again."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.tensor import TensorBase
from leafgrad._core.thread_state import state
from leafgrad._dtypes import bool_, from_numpy_dtype, int64
from leafgrad._dtypes import dtype as Dtype
from leafgrad.kernels import native_reduction
from leafgrad.kernels.halves import converted, widened
from leafgrad.kernels.moving import in_rows
from leafgrad.ops.arguments import checked
from leafgrad.ops.dimensions import distinct_dims, wrap_dim
from leafgrad.ops.promotion import cast
from leafgrad.ops.registry import Family, Operation
from leafgrad.ops.shape.views import expand
from leafgrad.ops.signature import Declaration, DimOrDims, Tensor

A = Any  # an array, or a tensor under create_graph
Dims = tuple[int, ...]

F32, F64, BOOLEAN = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.bool_)
empty: Any = np.empty
add_reduce: Any = np.add.reduce
max_reduce: Any = np.maximum.reduce
min_reduce: Any = np.minimum.reduce
ndarray: Any = np.ndarray

# -- arguments --------------------------------------------------------------------------------------------------------


class Reduction(Family, family=True):
    """Operations over dimensions of one tensor."""

    saved_as = {"dims": "dim", "input_shape": ""}
    vmap: Any = "dims"
    out: Any = True
    silent = True


def refuse_integers(input: TensorBase, x: Any) -> None:
    """Integers have no gradient: refuse `x`, which a tensor was converted to, if one is wanted."""
    if input.needs_grad and x.dtype.kind in "biu" and state.recording:
        raise RuntimeError(f"Autograd not support dtype: {from_numpy_dtype(x.dtype).alias}\n  at {errors.here()}")


class Total(Reduction, family=True):
    """sum and mean: of a whole float tensor, by far the most frequent call, without a detour and
    without options. `dtype_of(array, dtype)` tells in which dtype integers are added, and what a user asked for."""

    saved_as = {"dims": "dim"}
    checked = "function"
    options = ("dims", "keepdim")
    jvp = "linear"
    signatures = (
        "(input: Tensor, *, dtype: Dtype | None = None) -> Tensor",
        "(input: Tensor, dim: DimOrDims | None, keepdim: bool = False, *, dtype: Dtype | None = None) -> Tensor",
    )

    @staticmethod
    def public(operation: Operation, body: dict[str, Any]) -> Callable[..., Any]:
        core, of_all, dtype_of = operation.core, operation.named[body["node_names"][0]], body["dtype_of"]

        def call(
            input: Tensor, dim: DimOrDims | None = None, keepdim: bool = False, *, dtype: Dtype | None = None
        ) -> Tensor:
            x = input.array
            kind = x.dtype
            if dtype is not None or not (kind is F32 or kind is F64 or kind.kind not in "biu"):
                wanted = dtype_of(x, dtype)
                if wanted is bool_:  # is any of them not zero?
                    return call(input.bool(), dim, keepdim).bool()
                if wanted is not int64 or kind is not BOOLEAN:  # those are counted as they are
                    x = cast(x, wanted)
                refuse_integers(input, x)
            if dim is None and not keepdim:
                return bind(of_all, (input,), (), (x,))
            return bind(core, (input,), (dims_of(() if dim is None else dim, x.ndim), keepdim), (x,))

        call.__doc__ = operation.doc
        operation.declaration = Declaration(call, body["signatures"])
        general = checked(operation.name, call, operation.declaration.as_method(), silent=True)

        def function(input: TensorBase, *args: Any, **options: Any) -> Any:
            if not options:
                kind = input.array.dtype
                if kind is F32 or kind is F64 or kind.kind not in "biu":
                    if not args:
                        return bind(of_all, (input,))
                    if len(args) == 1 and args[0].__class__ is int:
                        return bind(core, (input,), (dims_of(args[0], input.array.ndim), False))
            # a dimension that is named, and be it None, makes another operation of it, with the same result
            if args and args[0] is None:
                args = ((), *args[1:])
            elif "dim" in options and options["dim"] is None:
                options["dim"] = ()
            return general(input, *args, **options)

        return function


def one_dim(dim: int, ndim: int) -> int:
    """A single dimension, counted from the front."""
    if -ndim <= dim < ndim:
        return dim + ndim if dim < 0 else dim
    return wrap_dim(dim, ndim)


def named_dims(dim: Any, ndim: int) -> Dims:
    """The dimensions that `dim` names, counted from the front: of an int, a sequence of ints, or None for all."""
    if dim.__class__ is int:
        place = one_dim(dim, ndim)
        return (place,) if ndim else ()
    if dim is None:
        return tuple(range(ndim))
    return sorted_dims(tuple(dim), ndim)


@functools.lru_cache(maxsize=1024)  # found anew for each call they were a third of the time of a small one
def sorted_dims(dims: Dims, ndim: int) -> Dims:
    found = distinct_dims(dims, ndim)
    return tuple(sorted(found)) if ndim else ()


def dims_of(dim: Any, ndim: int) -> Dims:
    """The same for most reductions, which take an empty sequence for all dimensions."""
    if dim.__class__ is int and -ndim <= dim < ndim:
        return (dim + ndim,) if dim < 0 else (dim,)
    return named_dims(dim, ndim) or tuple(range(ndim))


def count_of(shape: Dims, dims: Dims) -> int:
    """How many elements are reduced to one."""
    return shape[dims[0]] if len(dims) == 1 else math.prod([shape[d] for d in dims])


def refused(kernel: str, t: TensorBase) -> NotImplementedError:
    alias = from_numpy_dtype(t.array.dtype).alias
    return NotImplementedError(f"\"{kernel}\" not implemented for '{alias}'\n  at {errors.here()}")


# -- for kernels and rules --------------------------------------------------------------------------------------------


def raw(x: A) -> Any:
    """The array of a tensor, or the array itself: for what has no gradient, such as comparisons."""
    return x.array if isinstance(x, TensorBase) else x


def has_zero(x: Any) -> bool:
    """Is an element of the array zero?"""
    return not (x.item() if x.size == 1 else x.all())


def is_half(kind: Any) -> bool:
    """float16 or bfloat16? They are accumulated in float32."""
    return bool(kind.itemsize == 2 and kind.kind in "fV")


def in_single(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that computes half precision numbers in single precision."""

    def wide(x: Any, *others: Any) -> Any:
        kind = x.dtype
        if kind is not F32 and kind is not F64 and is_half(kind):
            others = tuple([widened(v) if getattr(v, "dtype", None) == kind else v for v in others])
            return converted(kernel(widened(x), *others), kind)
        return kernel(x, *others)

    return wide


def restore(g: A, shape: Dims, dims: Dims, keepdim: bool) -> A:
    """The gradient of a reduction with the reduced dimensions back in place, with size 1."""
    if keepdim or not dims:
        return g
    return g.reshape(tuple([1 if i in dims else s for i, s in enumerate(shape)]))


def expand_gradient(g: A, shape: Dims) -> A:
    """A gradient repeated along the dimensions that were reduced."""
    if isinstance(g, TensorBase):
        return expand(g, shape)
    if math.prod(shape) > 4096:
        return np.broadcast_to(g, shape)
    copy = empty(shape, g.dtype)  # for few elements copying is faster than making a view
    copy[...] = g
    return copy


# -- sums -------------------------------------------------------------------------------------------------------------
# All sums of floats are made here, natively where that was built. On NumPy long ones go in blocks, so that no
# accumulator becomes so large that additions lose digits. The sum of a block is a product with ones where BLAS computes
# that several times faster than NumPy adds.

BLOCK = 1024
ROWS = 128  # so many are added one after the other
MANY = 1024  # elements from which on it pays to look how they lie in memory
_ONES: dict[str, Any] = {"f": np.ones(BLOCK, np.float32), "d": np.ones(BLOCK)}


@native_reduction("sum")
def total(x: Any, dims: Any = None, keepdim: bool = False) -> Any:
    """The sum of an array over `dims` (None: all; otherwise in ascending order), in its own dtype; the number of those
    that hold, of bools."""
    kind = x.dtype
    if (kind is F32 or kind is F64) and x.flags.c_contiguous:
        if dims is None:
            if not keepdim:
                return total_of_all(x)
        elif x.ndim == 2 and len(dims) == 1 and not keepdim and x.size:  # the gradient of a bias, for instance
            return row_sums(x) if dims[0] else _sum_of_rows(x)
        shape = x.shape
        n = len(shape)
        k = n if dims is None else len(dims)
        if not k or not x.size:
            return add_reduce(x, dims, kind, None, keepdim)
        if k == n:
            out = total_of_all(x)
            return out.reshape((1,) * n) if keepdim else out
        if dims[-1] == k - 1:  # the first k
            out = _sum_of_rows(x.reshape(count_of(shape, dims), -1))
            return out.reshape((1,) * k + shape[k:] if keepdim else shape[k:])
        if dims[0] == n - k:  # the last k
            out = row_sums(x.reshape(-1, count_of(shape, dims)))
            return out.reshape(shape[: n - k] + (1,) * k if keepdim else shape[: n - k])
    elif (kind is F32 or kind is F64) and dims is None and not keepdim and x.flags.f_contiguous:
        return total_of_all(x.T)
    elif kind is BOOLEAN:
        return in_rows(add_reduce(x, dims, np.int64, None, keepdim))
    if x.size <= MANY:
        out = in_rows(add_reduce(x, dims, F32 if is_half(kind) else kind, None, keepdim))
    else:
        out = wide_total(x, dims, keepdim)
    return out if out.dtype is kind else out.astype(kind)


def wide_total(x: Any, dims: Any = None, keepdim: bool = False) -> Any:
    """The same in the dtype in which it is added up: float32 for half precision."""
    shape, kind = x.shape, x.dtype
    if len(shape) > 1 and x.size > MANY and x.__class__ is ndarray and kind.kind in "fcV":
        chosen = tuple(range(len(shape))) if dims is None else dims
        if count_of(shape, chosen) > ROWS:
            out = _total_in_blocks(x, chosen)
            return out.reshape([1 if d in chosen else s for d, s in enumerate(shape)]) if keepdim else out
    return in_rows(add_reduce(x, dims, F32 if is_half(kind) else kind, None, keepdim))


def _total_in_blocks(x: Any, dims: Dims) -> Any:
    """The sum over dimensions of an array of floats, whatever its layout: what is near in memory is added first."""
    if x.dtype.kind == "c":
        return _total_in_blocks(x[..., None].view(x.real.dtype), dims).view(x.dtype)[..., 0]
    if is_half(x.dtype):
        x = widened(x)
    shape, steps = x.shape, x.strides
    if [d for d in dims if not steps[d] and shape[d] > 1]:  # the same numbers again and again
        once = x[tuple([slice(0, 1) if d in dims and not steps[d] else slice(None) for d in range(len(shape))])]
        return total(once, dims) * x.dtype.type(x.size // once.size)
    order = sorted(range(len(shape)), key=lambda d: -abs(steps[d]))
    groups = [(chosen, [shape[d] for d in ds]) for chosen, ds in itertools.groupby(order, lambda d: d in dims)]
    x = x.transpose(order).reshape([math.prod(sizes) for _, sizes in groups])
    for place in range(len(groups))[::-1]:
        if groups[place][0]:
            if place < x.ndim - 1:
                x = _sums_of_rows(x.reshape(*x.shape[: place + 1], -1))
            elif x.flags.c_contiguous:
                x = row_sums(x.reshape(-1, x.shape[-1])).reshape(x.shape[:-1])
            else:
                x = add_reduce(x, -1)
    kept = [d for d in order if d not in dims]
    return in_rows(x.reshape([shape[d] for d in kept]).transpose(np.argsort(kept).tolist()))


@native_reduction("sum")
def total_of_all(x: Any) -> Any:
    """The sum of all elements of a contiguous float32 or float64 array."""
    flat = x if x.ndim == 1 else x.reshape(-1)
    n = flat.size
    if n <= BLOCK:
        return flat.dot(_ONES[flat.dtype.char][:n])
    if n <= 16 * BLOCK:
        return add_reduce(flat)
    whole = n // BLOCK * BLOCK
    return add_reduce(np.vecdot(flat[:whole].reshape(-1, BLOCK), _ONES[flat.dtype.char])) + add_reduce(flat[whole:])


def row_sums(x: Any) -> Any:
    """The sum of each row of a contiguous float32 or float64 matrix."""
    columns = x.shape[1]
    return x.dot(_ONES[x.dtype.char][:columns]) if columns <= BLOCK else add_reduce(x, 1)


def _sum_of_rows(x: Any) -> Any:
    """The sum of all rows of a contiguous matrix."""
    rows = len(x)
    ones = _ONES["f" if x.dtype is F32 else "d"]
    if rows <= 2 * ROWS:
        return ones[:rows].dot(x)
    columns = x.shape[1]
    whole = rows // ROWS * ROWS
    parts = ones[:ROWS].reshape(1, ROWS) @ x[:whole].reshape(-1, ROWS, columns)
    return _sum_of_rows(parts.reshape(-1, columns)) + np.dot(ones[: rows - whole], x[whole:])


def _sums_of_rows(x: Any) -> Any:
    """The same for many matrices, which need not be contiguous."""
    *outer, rows, columns = x.shape
    if rows > 2 * ROWS:
        whole = rows // ROWS * ROWS
        parts = _sums_of_rows(x[..., :whole, :].reshape(*outer, -1, ROWS, columns))
        return _sums_of_rows(parts) + _sums_of_rows(x[..., whole:, :])
    if columns <= 64 or (x.size <= 1_000_000 and x.strides[-1] == x.itemsize):
        return _ONES[x.dtype.char][:rows] @ x
    return add_reduce(x, -2)


@native_reduction("sum_of_squares")
def sum_of_squares(x: Any) -> Any:
    """The sum of x**2 over all elements of a float32 or float64 array."""
    flat = x.reshape(-1)
    n = flat.size
    if n <= 8 * BLOCK:
        return flat.dot(flat)  # np.dot asks for __array_function__ first
    blocks, rest = flat[: n // BLOCK * BLOCK].reshape(-1, BLOCK), flat[n // BLOCK * BLOCK :]
    return add_reduce(np.vecdot(blocks, blocks)) + np.dot(rest, rest)


# -- extremes ---------------------------------------------------------------------------------------------------------

FEW = 4096  # elements up to which the time of a call matters more than that of the numbers


def extreme_of_all(x: Any, reduce: Any, find: Any) -> Any:
    """The best element of all."""
    if x.__class__ is ndarray and x.size <= FEW and x.dtype.kind == "f":
        best = x.take(find(x))  # a fifth of the time of a reduction
        if best:  # among zeros the first need not be the one, 0.0 or -0.0, that a reduction finds
            return best
    return reduce(x, None)


_starts: dict[tuple[int, int], Any] = {}


def starts_of_rows(rows: int, columns: int) -> Any:
    """Where each row of a contiguous matrix begins. Shared: not to be changed."""
    key = (rows, columns)
    found = _starts.get(key)
    if found is None:
        found = np.arange(0, rows * columns, columns) if columns else np.zeros(rows, np.int64)
        if rows <= FEW and len(_starts) < 100:
            found.setflags(write=False)
            _starts[key] = found
    return found


def extreme_along(x: Any, dim: int, reduce: Any, find: Any) -> tuple[Any, Any]:
    """The (values, indices) of the best elements along a dimension, which stays with size 1."""
    if dim != x.ndim - 1 or not x.flags.c_contiguous:
        return reduce(x, dim, None, None, True), find(x, dim, keepdims=True)
    # NumPy finds the place of an extreme much faster than the extreme itself
    shape = x.shape
    columns = shape[-1]
    indices = find(x if len(shape) == 2 else x.reshape(-1, columns), 1)
    values = x.take(indices + starts_of_rows(len(indices), columns))
    kept = shape[:-1] + (1,)
    return values.reshape(kept), indices.reshape(kept)


def largest_along(x: Any, dim: int) -> Any:
    """The largest elements along a dimension, which stays with size 1."""
    if dim != x.ndim - 1 or not x.flags.c_contiguous:
        return max_reduce(x, dim, None, None, True)
    if x.ndim == 1 and x.__class__ is ndarray:
        at = x.argmax()
        return x[at : at + 1]
    return extreme_along(x, dim, max_reduce, np.ndarray.argmax)[0]
