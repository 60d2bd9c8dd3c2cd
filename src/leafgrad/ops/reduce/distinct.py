"""Elements that are equal: unique, unique_consecutive, isin. What is not a number is equal to nothing. And hash_tensor,
a number that differs where elements do, in nearly all cases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind_many
from leafgrad._core.tensor import TensorBase
from leafgrad._dtypes import BOOL, COMPLEX, from_numpy_dtype, result_dtype
from leafgrad.kernels.moving import taken
from leafgrad.ops.arguments import matched
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.promotion import cast, operand
from leafgrad.ops.reduce.binning import occurrences
from leafgrad.ops.reduce.common import dims_of
from leafgrad.ops.reduce.ordering import comparable, sorted_along
from leafgrad.ops.registry import Family, composite, op
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.signature import Dim, DimOrDims, Number, Tensor

A = Any  # an array, or a tensor under create_graph
Array = Any


# -- groups of equal elements -----------------------------------------------------------------------------------------


def rows_of(x: Array, dim: int | None) -> Array:
    """What is compared: all elements, or the slices along a dimension, each as a row."""
    if dim is None:
        return x.reshape(-1, 1)
    return np.moveaxis(x, dim, 0).reshape(x.shape[dim], math.prod(x.shape[:dim] + x.shape[dim + 1 :]))


def begins(rows: Array) -> Array:
    """Does a row differ from the one before it?"""
    found = np.ones(len(rows), np.bool_)
    found[1:] = (rows[1:] != rows[:-1]).any(1)
    return found


def chosen(x: Array, places: Array, dim: int | None) -> Array:
    """The elements, or the slices, each of which lies in memory in one piece."""
    return x.reshape(-1)[places] if dim is None else np.moveaxis(np.moveaxis(x, dim, 0).take(places, 0), 0, dim)


def counts_of(starts: Array, size: int) -> Array:
    return np.diff(np.append(np.flatnonzero(starts), size)).astype(np.int64)


CLOSE = 4  # if there are so many times as many integers between the smallest and the largest, all of them are counted


def counted_groups(x: Array, low: int) -> tuple[Array, Array, Array]:
    """`sorted_groups` of integers that are close to each other, of which none is below `low`."""
    flat = x.reshape(-1).astype(np.int64)
    flat -= low
    counts = occurrences(flat, 0)
    found = np.flatnonzero(counts)
    ranks = np.empty(counts.size, np.int64)
    ranks[found] = np.arange(found.size)
    return (found + low).astype(x.dtype), taken(ranks, flat, 0).reshape(x.shape), counts[found]


class Distinct(Family, family=True):
    """The first of equal elements, which of them each element is equal to, and how many there are."""

    options = ("dim",)
    results = 3
    public_name = ""
    method = False
    exempt = {"vmap": "dynamic shape"}

    def vmap(batch: Any, x: Any, dim: Any) -> Any:
        raise batch.dynamic_shape()

    samples: Any = staticmethod(
        lambda t: [S(t(3, 4, dtype="int64"), None), S(t(4, 2, dtype="int64"), 0), S(t(dtype="int64"), None)]
    )


def refuse_derivative(name: str) -> Any:
    raise errors.mistake(NotImplementedError, f"the derivative for '{name}' is not implemented.")


@op
class sorted_groups(Distinct):
    """sorted_groups(input, dim): the distinct elements in order, the place of each element among them, and counts."""

    meta = "refused"

    node_name = "Unique2Backward0"
    node_names = ("UniqueDimBackward0",)
    aten = {"Unique2Backward0": "_unique2", "UniqueDimBackward0": "unique_dim"}
    aten_function = "_unique2"
    reference = lambda torch, x, dim: torch.unique(x, return_inverse=True, return_counts=True, dim=dim)

    def vjp(g: A, dim: A) -> A:
        refuse_derivative("_unique2" if dim is None else "unique_dim")

    def kernel(x: A, dim: int | None) -> Any:
        if dim is None and x.__class__ is np.ndarray and x.size and x.dtype.kind in "iu":
            low, high = int(x.min()), int(x.max())
            if high - low < CLOSE * x.size:
                return counted_groups(x, low)
        rows = rows_of(comparable(x), dim)
        order = sorted_along(rows[:, 0], 0, False)[1] if rows.shape[1] == 1 else np.lexsort(rows.T[::-1])
        starts = begins(rows[order])
        inverse = np.empty(len(rows), np.int64)
        inverse[order] = np.cumsum(starts) - 1
        shape = x.shape if dim is None else (len(rows),)
        return chosen(x, order[starts], dim), inverse.reshape(shape), counts_of(starts, len(rows))


@op
class consecutive_groups(Distinct):
    """consecutive_groups(input, dim): the same for equal elements that follow each other, in the order they have."""

    meta = "refused"
    node_name = "UniqueConsecutiveBackward0"
    aten = "unique_consecutive"
    reference = lambda torch, x, dim: torch.unique_consecutive(x, return_inverse=True, return_counts=True, dim=dim)

    def vjp(g: A) -> A:
        refuse_derivative("unique_consecutive")

    def kernel(x: A, dim: int | None) -> Any:
        rows = rows_of(x, dim)
        starts = begins(rows)
        shape = x.shape if dim is None else (len(rows),)
        inverse = (np.cumsum(starts) - 1).astype(np.int64).reshape(shape)
        return chosen(x, np.flatnonzero(starts), dim), inverse, counts_of(starts, len(rows))


def checked_dim(input: Any, dim: int | None) -> int | None:
    array = input.array
    if array.dtype.kind == "c":
        alias = from_numpy_dtype(array.dtype).alias
        raise errors.mistake(NotImplementedError, f"\"unique\" not implemented for '{alias}'")
    if dim is None:
        return None
    dim = wrap_dim(dim, array.ndim)
    if array.ndim == 0:
        raise errors.mistake(IndexError, "Dimension specified as 0 but tensor has no dimensions")
    if 0 in (*array.shape[:dim], *array.shape[dim + 1 :]):
        first = "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        raise errors.mistake(RuntimeError, first)
    return dim


def wanted_parts(parts: Any, return_inverse: bool, return_counts: bool) -> Any:
    found = (parts[0], *([parts[1]] if return_inverse else []), *([parts[2]] if return_counts else []))
    return found if len(found) > 1 else found[0]


@composite(
    lambda t: [
        S(t(3, 4, dtype="int64")),
        S(t(5, dtype="int64"), return_inverse=True, return_counts=True),
        S(t(3, 2, dtype="int64"), True, False, True, 0),
        S(t(0, dtype="int64"), return_counts=True),
    ],
    exempt=Distinct.exempt,
)
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: Dim | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None): the distinct elements (or the
    distinct slices along a dimension), in order; where each element is among them; how often each of them occurs."""
    dim = checked_dim(input, dim)
    core = sorted_groups.core if dim is None else sorted_groups.named["UniqueDimBackward0"]
    return wanted_parts(bind_many(core, (input,), (dim,)), return_inverse, return_counts)


@composite(
    lambda t: [
        S(t(3, 4, dtype="int64")),
        S(t(5, dtype="int64"), return_inverse=True, return_counts=True),
        S(t(3, 2, dtype="int64"), return_counts=True, dim=0),
    ],
    exempt=Distinct.exempt,
)
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: Dim | None = None
) -> Tensor | tuple[Tensor, ...]:
    """unique_consecutive(input, return_inverse=False, return_counts=False, dim=None): the first of equal elements (or
    slices along a dimension) that follow each other; which of them each element belongs to; how many there are."""
    parts = consecutive_groups.record(input, checked_dim(input, dim))
    return wanted_parts(parts, return_inverse, return_counts)


# -- elements of a set ------------------------------------------------------------------------------------------------


FEW = 16  # test elements that all others are compared with, one after the other


@op
class isin(Family):
    """isin(elements, test_elements, *, assume_unique=False, invert=False): which elements are among the test elements
    (with `invert`: are not)."""

    inputs = ("elements", "test_elements")
    options = ("invert",)
    differentiable = False
    method = False
    out = "Expected out tensor to have dtype {wanted.cpp}, but got {given.cpp} instead"
    signatures = tuple(
        [
            f"(elements: {one}, test_elements: {other}, *, assume_unique: bool = False, invert: bool = False) -> Tensor"
            for one, other in (("Tensor", "Tensor"), ("Tensor", "Number"), ("Number", "Tensor"))
        ]
    )

    def kernel(x: A, y: A, invert: bool) -> A:
        x, y = comparable(x), comparable(y)
        if not 0 < y.size <= FEW or x.__class__ is not np.ndarray or y.__class__ is not np.ndarray:
            return np.isin(x, y, invert=invert)
        combine: Any = np.logical_and if invert else np.logical_or
        compare: Any = np.not_equal if invert else np.equal
        flat, (first, *others) = x.reshape(-1), y.reshape(-1, 1)
        found = compare(flat, first)
        for other in others:
            combine(found, compare(flat, other), found)
        return found.reshape(x.shape)

    def vmap(batch: A, x: A, y: A, invert: bool) -> A:
        return batch.by_sample()

    def call(
        elements: Tensor | Number,
        test_elements: Tensor | Number,
        *,
        assume_unique: bool = False,  # which is no more than advice
        invert: bool = False,
    ) -> Tensor:
        given = (elements, test_elements)
        if not isinstance(elements, TensorBase) and not isinstance(test_elements, TensorBase):
            matched(isin.function, given, {})  # which raises
        found: list[Any] = [operand(value) for value in given]
        for _, _, (kind, _) in found:
            if kind.category in (BOOL, COMPLEX):
                raise errors.mistake(RuntimeError, f"Unsupported input type encountered for isin(): {kind.alias}")
        common = result_dtype([found[0][2], found[1][2]])
        return isin.record(cast(found[0][1], common), cast(found[1][1], common), invert)

    samples = lambda t: [
        S(t(3, 4, dtype="int64"), t(2, dtype="int64")),
        S(t(3, dtype="int64"), t(2, 2, dtype="int64"), invert=True),
        S(t(3), 1),
        S(2, t(3, dtype="int64"), assume_unique=True),
        S(t(0), t(2)),
    ]


# -- a number for many elements ---------------------------------------------------------------------------------------


@op
class hash_tensor(Family):
    """hash_tensor(input, dim=(), *, keepdim=False, mode=0): the bits of all elements (as float64 or int64), or of those
    along dimensions, combined by exclusive or: a number of 64 bits, which most changes of an element change."""

    options = ("dims", "keepdim")
    differentiable = False
    out = True

    def kernel(x: Array, dims: tuple[int, ...], keepdim: bool) -> Array:
        wide = x.astype(np.float64 if x.dtype.kind not in "biu" else np.int64)
        combine: Any = np.bitwise_xor.reduce
        return np.asarray(combine(wide.view(np.uint64), axis=dims, keepdims=keepdim))

    def vmap(batch: A, x: A, dims: Any, keepdim: bool) -> A:
        return batch.by_sample()

    def call(input: Tensor, dim: DimOrDims = (), *, keepdim: bool = False, mode: int = 0) -> Tensor:
        x, kind = input.array, from_numpy_dtype(input.array.dtype)
        if mode != 0:
            raise errors.mistake(RuntimeError, f"Unknown hash_tensor mode: {mode}")
        if not x.size and dim == ():
            first = "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction "
            raise errors.mistake(RuntimeError, f"{first}dim with the 'dim' argument.")
        dims = dims_of(dim, x.ndim)
        for d in dims:
            if x.ndim and not x.shape[d]:
                raise errors.mistake(IndexError, f"hash_tensor: Expected reduction dim {d} to have non-zero size.")
        if kind.category == COMPLEX or (x.dtype.kind == "u" and x.itemsize > 1):
            raise errors.mistake(NotImplementedError, f"\"xor_sum_cpu\" not implemented for '{kind.alias}'")
        return hash_tensor.record(input, dims, keepdim)

    samples = ValuesOnly(
        "returns uint64, whose bits are stored as int64",
        lambda t: [S(t(3, 4)), S(t(3, 4), 1), S(t(2, 3, 2), (0, 2), keepdim=True), S(t())],
        lambda torch, x, *args, **options: torch.hash_tensor(x.detach(), *args, **options).view(torch.int64),
    )
