"""Elements in order: sort, argsort, topk, kthvalue. What is not a number counts as larger than every number."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from leafgrad import errors, return_types
from leafgrad._core.bind import bind_many
from leafgrad._core.recorder import settle
from leafgrad._dtypes import BOOL, COMPLEX, from_numpy_dtype
from leafgrad._layouts import laid_like
from leafgrad.kernels.moving import copied, in_rows, native_move
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.index.gather import gather_array, gather_sum
from leafgrad.ops.out import EXACT_AND_APART, Apart
from leafgrad.ops.reduce.common import F32, F64, ndarray, raw, starts_of_rows
from leafgrad.ops.registry import Family, composite, op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Dim, Tensor

A = Any  # an array, or a tensor under create_graph
Array = Any

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)


def comparable(x: Array) -> Array:
    """An array that NumPy can sort: it does not know where to put what is no number among bfloat16."""
    return x.astype(np.float32) if x.dtype.kind == "V" else x


def rows_along(x: Array, dim: int) -> Array | None:
    """The elements along a dimension as rows of numbers of 32 or 64 bits, which compare as they do. None if there is no
    such dtype."""
    kind = x.dtype
    if not (kind is F32 or kind is F64 or kind is INT64):
        if kind.kind in "biu" and kind.itemsize < 8:
            x = x.astype(INT64)
        elif kind.itemsize == 2:
            x = x.astype(F32)
        else:
            return None
    return in_rows(x if dim == x.ndim - 1 else x.swapaxes(dim, -1))


def sorted_along(x: Array, dim: int, descending: bool) -> tuple[Array, Array]:
    """The elements in order along a dimension, and the indices of where they were. Equal elements stay in their
    order."""
    rows = rows_along(x, dim) if x.__class__ is ndarray and x.ndim else None
    if rows is None:
        order = order_of(x, dim, descending)
        return _at(x, order, dim), order
    values, order = sorted_rows(rows, descending)
    if dim != x.ndim - 1:
        values, order = copied(values.swapaxes(dim, -1)), copied(order.swapaxes(dim, -1))
    return (values if values.dtype is x.dtype else _at(x, order, dim)), order


@native_move("ordered")
def sorted_rows(x: Array, descending: bool) -> tuple[Array, Array]:
    order = order_of(x, x.ndim - 1, descending)
    return _at(x, order, x.ndim - 1), order


def of_rank(x: Array, k: int, dim: int, keepdim: bool, nan: str = "last") -> list[Array]:
    """The elements of rank k, counted from 0, along a dimension, and their indices. What is not a number counts as the
    largest ("last"), or the first of it is taken wherever there is some ("wins"), or k is the middle of what is left
    without it ("skipped")."""
    ndim = x.ndim
    if ndim == 0:
        return [x.copy(), np.zeros((), np.int64)]
    if x.__class__ is ndarray and dim == ndim - 1 and x.dtype.char in "fd" and x.flags.c_contiguous:
        return [*ranked_in_rows(x, k, nan, keepdim)]
    rows = rows_along(x, dim) if x.__class__ is ndarray else None
    if rows is None:
        found = order_of(x, dim, False).take(np.arange(k, k + 1), dim)
        results = [_at(x, found, dim), found]
        return results if keepdim else [np.squeeze(r, dim) for r in results]
    if dim == x.ndim - 1:
        value, place = ranked_in_rows(rows, k, nan, keepdim)
    else:
        value, place = [copied(r.swapaxes(dim, -1)) for r in ranked_in_rows(rows, k, nan, True)]
        if not keepdim:
            value, place = value.squeeze(dim), place.squeeze(dim)
    if value.dtype is not x.dtype:
        value = _at(x, place if keepdim else np.expand_dims(place, dim), dim).reshape(place.shape)
    return [value, place]


@native_move("ranked")
def ranked_in_rows(x: Array, k: int, nan: str, keepdim: bool) -> tuple[Array, Array]:
    """`of_rank` for each row."""
    order, size = order_of(x, x.ndim - 1, False), x.shape[-1]
    numbers = size - np.count_nonzero(x != x, axis=-1, keepdims=True)
    rank = np.full(numbers.shape, k)
    if nan != "last":
        rank[numbers < size] = (numbers if nan == "wins" else (np.maximum(numbers, 1) - 1) // 2)[numbers < size]
    places = np.take_along_axis(order, rank, -1)
    values = np.take_along_axis(x, places, -1)
    return (values, places) if keepdim else (values[..., 0], places[..., 0])


def order_of(x: Array, dim: int, descending: bool) -> Array:
    """The indices that sort an array along a dimension; equal elements stay in their order."""
    if x.ndim == 0:
        return np.zeros((), np.int64)
    if x.__class__ is ndarray:
        kind = x.dtype
        floats = kind is F32 or kind is F64
        if x.shape[dim] >= MANY and x.size and (kind is INT32 or (kind is F32 and not _has_nan(x))):
            return _order_of_many(x, dim, descending)
        if not descending and kind.kind != "V":
            return x.argsort(dim, "stable")
        if descending and floats and x.size and not _has_nan(x):
            return np.negative(x).argsort(dim, "stable")
    x = comparable(x)
    if not descending:
        return np.argsort(x, dim, "stable")
    # backwards twice, so that equal elements stay in their order here too
    order = x.shape[dim] - 1 - np.argsort(np.flip(x, dim), dim, "stable")
    return np.ascontiguousarray(np.flip(order, dim))


def _has_nan(x: Array) -> bool:
    """Is there a nan among real floating point numbers? It counts as the largest."""
    largest = x.take(x.argmax())
    return bool(largest != largest)


MANY = 512  # elements from which on the following pays
# of the right dtype, which saves NumPy from finding out
SIGN_PLACE, BELOW_SIGN = np.array(31, np.int32), np.array(0x7FFFFFFF, np.int32)
HALF_WAY, LOWER_HALF = np.array(32), np.array(0xFFFFFFFF)
ZERO = np.zeros((), np.float32)


def _order_of_many(x: Array, dim: int, descending: bool) -> Array:
    """The same for float32 and int32, by sorting 64-bit numbers: an element above its place, so that equal elements
    stay in their order. NumPy sorts numbers several times faster than it finds the order of others."""
    if x.dtype is F32:
        bits = (x + ZERO).view(INT32)  # -0.0 becomes 0.0, which it is equal to
        keys = bits ^ ((bits >> SIGN_PLACE) & BELOW_SIGN)  # negative numbers have a sign bit and then their size
    else:
        keys = x
    wide = (~keys if descending else keys).astype(np.int64, order="C")
    wide <<= HALF_WAY
    wide |= np.arange(x.shape[dim]).reshape((-1,) + (1,) * (-1 - dim if dim < 0 else x.ndim - 1 - dim))
    wide.sort(dim)
    wide &= LOWER_HALF
    return wide


def _places(index: Array, shape: Any, dim: int) -> Array | None:
    """Where the elements that `index` names lie in a contiguous vector, or in the rows of a contiguous matrix."""
    if index.__class__ is ndarray and dim == len(shape) - 1 <= 1:
        return index if dim == 0 else index + starts_of_rows(*shape).reshape(-1, 1)
    return None


def _at(x: Array, order: Array, dim: int) -> Array:
    """The elements that `order` names along a dimension."""
    return gather_array(x, order, dim)


def _back(g: A, out1: A, input_shape: A, dim: A) -> A:
    if g[0].__class__ is ndarray and (places := _places(out1, input_shape, dim)) is not None:
        back = np.zeros(input_shape, g[0].dtype)
        back.reshape(-1)[places] = g[0]  # no place is named twice
        return back
    return gather_sum(g[0], raw(out1), input_shape, dim)


UNORDERED = {COMPLEX: (RuntimeError, " Sort does not support complex dtypes on CPU")}


@op
class sort(Family):
    """sort(input, dim=-1, descending=False, *, stable=False): the elements in order along a dimension, and the indices
    of where they were."""

    options = ("dim", "descending")
    vmap = "dims"
    results = 2
    result_names = ("values", "indices")
    refuses = UNORDERED
    node_names = ("SortBackward1",)  # if it is told whether to be stable
    out = True
    vjp = _back

    def kernel(x: A, dim: int, descending: bool) -> Any:
        values, order = sorted_along(x, dim, descending)
        return laid_like(x, values), laid_like(x, order)

    def call(
        input: Tensor, dim: Dim = -1, descending: bool = False, *, stable: bool | None = None
    ) -> return_types.sort:
        dim = wrap_dim(dim, input.array.ndim)
        sort.check(from_numpy_dtype(input.array.dtype))
        core = sort.core if stable is None else sort.named["SortBackward1"]
        return sort.result_of(bind_many(core, (input,), (dim, descending)))  # type: ignore[no-any-return]

    samples = staticmethod(
        lambda t: [S(t(3, 4)), S(t(3, 4), 0), S(t(2, 3, 4), 1, True), S(t(5), stable=True), S(t()), S(t(0, 2))]
    )


@op
class argsort(Family):
    """argsort(input, dim=-1, descending=False, *, stable=False): the indices that sort along a dimension."""

    options = ("dim", "descending")
    vmap = "dims"
    differentiable = False
    refuses = UNORDERED

    def kernel(x: A, dim: int, descending: bool) -> A:
        return laid_like(x, sorted_along(x, dim, descending)[1])

    def call(input: Tensor, dim: Dim = -1, descending: bool = False, *, stable: bool = False) -> Tensor:
        dim = wrap_dim(dim, input.array.ndim)
        argsort.check(from_numpy_dtype(input.array.dtype))
        if input.rare is not None:  # it is that of sort, which has a history: a view has to follow its base
            settle(input)
        return argsort.record(input, dim, descending)

    samples = staticmethod(lambda t: [S(t(3, 4)), S(t(2, 3, 4), 1, True), S(t())])


@composite(lambda t: [S(t(3, 4)), S(t(5))], out=True)
def msort(input: Tensor) -> Tensor:
    """msort(input): the elements in order along the first dimension."""
    return sort.function(input, 0)[0]


def _first_of_order(x: Array, k: int, dim: int, largest: bool) -> Array:
    """The indices of the k first elements of an order, in that order."""
    if 0 < k <= 8 and x.__class__ is ndarray and dim == x.ndim - 1 and x.dtype.char in "fd" and x.size and NATIVE:
        return _few_of_rows(in_rows(x), k, largest)  # the usual case
    if x.ndim == 0:
        return np.zeros((), np.int64)
    size = x.shape[dim]
    if k == 0 or x.size == 0:
        return np.zeros((*x.shape[:dim], k, *x.shape[dim + 1 :]), np.int64)
    if (size < 64 and not NATIVE) or k > max(8, size // 4):
        order = sorted_along(x, dim, largest)[1]
        if x.__class__ is ndarray:
            return np.ascontiguousarray(order[(slice(None),) * dim + (slice(k),)])
        return order.take(np.arange(k), dim)
    if x.__class__ is not ndarray:
        return _few_of_rows(x, k, largest, dim)
    if x.dtype.itemsize < 4 or x.dtype is INT32:
        x = x.astype(np.int64 if x.dtype.kind in "iu" else np.float32)
    if dim == x.ndim - 1:
        return _few_of_rows(in_rows(x), k, largest)
    return np.ascontiguousarray(np.moveaxis(_few_of_rows(in_rows(np.moveaxis(x, dim, -1)), k, largest), -1, dim))


@native_move("first_of_order")
def _few_of_rows(x: Array, k: int, largest: bool, dim: int = -1) -> Array:
    """`_first_of_order` where few are wanted of many: those are found first and sorted alone."""
    x, size = comparable(x), x.shape[dim]
    few = np.argpartition(x, size - k if largest else k - 1, dim)
    few = few.take(np.arange(size - k, size) if largest else np.arange(k), dim)
    return np.take_along_axis(few, order_of(np.take_along_axis(x, few, dim), dim, largest), dim)


NATIVE = _few_of_rows.__class__ is not FunctionType


@op
class topk(Family):
    """topk(input, k, dim=-1, largest=True, sorted=True): the k largest (or smallest) elements along a dimension, and
    their indices."""

    options = ("k", "dim", "largest")
    refuses = {
        COMPLEX: (RuntimeError, " topk does not support complex dtypes on CPU"),
        BOOL: (RuntimeError, "topk does not support bool dtypes on CPU"),
    }
    vmap = "dims"
    results = 2
    finds_any = True
    result_names = ("values", "indices")
    out = EXACT_AND_APART
    vjp = _back

    def kernel(x: A, k: int, dim: int, largest: bool) -> Any:
        found = _first_of_order(x, k, dim, largest)
        return gather_array(x, found, dim), found

    def call(input: Tensor, k: int, dim: Dim = -1, largest: bool = True, sorted: bool = True) -> return_types.topk:
        dim = wrap_dim(dim, input.array.ndim)
        size = input.array.shape[dim] if input.array.ndim else 1
        if not 0 <= k <= size:
            raise errors.mistake(
                RuntimeError, "selected index k out of range", ("k", f"{k}, of {size} in dimension {dim}")
            )
        if input.array.dtype.char not in "fd":
            topk.check(from_numpy_dtype(input.array.dtype))
        return topk.result_of(bind_many(topk.core, (input,), (k, dim, largest)))  # type: ignore[no-any-return]

    samples = staticmethod(
        lambda t: [
            S(t(3, 5), 2),
            S(t(5, 3), 2, 0, False),
            S(t(200), 3),
            S(t(2, 100), 3, largest=False),
            S(t(), 1),
            S(t(3, 4), 0),
        ]
    )


@op
class kthvalue(Family):
    """kthvalue(input, k, dim=-1, keepdim=False): the k-th smallest element along a dimension, and its index."""

    options = ("k", "dim", "keepdim")
    refuses = (COMPLEX, BOOL)
    vmap = "dims"
    results = 2
    finds_any = True
    result_names = ("values", "indices")
    out = (Apart("output values must be of same type as input"), "output indices must be of scalar type Long")

    def kernel(x: A, k: int, dim: int, keepdim: bool) -> Any:
        return of_rank(x, k - 1, dim, keepdim)

    def call(input: Tensor, k: int, dim: Dim = -1, keepdim: bool = False) -> return_types.kthvalue:
        dim = wrap_dim(dim, input.array.ndim)
        size = input.array.shape[dim] if input.array.ndim else 1
        if size == 0:
            raise errors.mistake(IndexError, f"kthvalue(): Expected reduction dim {dim} to have non-zero size.")
        if not 1 <= k <= size:
            raise errors.mistake(RuntimeError, f"kthvalue(): selected number k out of range for dimension {dim}")
        if input.array.ndim:
            kthvalue.check(from_numpy_dtype(input.array.dtype))
        return kthvalue.result_of(kthvalue.record(input, k, dim, keepdim))  # type: ignore[no-any-return]

    def vjp(g: A, out1: A, input_shape: A, dim: A, keepdim: A) -> A:
        index, back = raw(out1), g[0]
        if input_shape and not keepdim:
            index = np.expand_dims(index, dim)
            back = back.reshape(index.shape)
        return gather_sum(back, index, input_shape, dim)

    samples = staticmethod(lambda t: [S(t(3, 5), 2), S(t(3, 5), 3, 0, True), S(t(), 1)])
