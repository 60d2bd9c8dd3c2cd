"""Reading elements that an index array points to: index, index_select, gather, take.

Every form of x[array, ...] comes down to one: some neighbouring dimensions of x, taken as one, indexed by one array.
`dim` is the first of them, `count` their number and `at` the array, so that `index(x, dim, count, at)` is

    x.reshape(..., -1, ...).take(at, axis=dim)

Its gradient adds up what came from equal indices (`index_sum`), and the gradient of that is `index` again.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.tensor import wrap
from leafgrad._layouts import copy_in_order_of
from leafgrad._missing import part
from leafgrad.kernels import NATIVE
from leafgrad.kernels.moving import in_rows, native_move, taken
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.index.checks import (
    INT64,
    LONG,
    LONG_OR_INT,
    check_flat_range,
    check_index,
    check_range,
    check_sizes_along,
    outside,
)
from leafgrad.ops.out import EXACT_AND_APART, Apart
from leafgrad.ops.reduce.common import F32, F64, raw
from leafgrad.ops.registry import Family, composite, op
from leafgrad.ops.samples import S, transposed
from leafgrad.ops.signature import Dim, Tensor

A = Any  # an array, or a tensor under create_graph
Array = Any

# -- arrays -----------------------------------------------------------------------------------------------------------


def take_at(x: Array, dim: int, count: int, at: Array) -> Array:
    """Elements of x, where dimensions dim to dim + count - 1 are indexed as one. Always a copy, the dimensions that are
    not indexed in the order in memory that they have in x."""
    if x.flags.c_contiguous:
        return taken(merged(x, dim, count), at, dim)
    # taking from other layouts copies all of x first; NumPy's own indexing does not
    found = x[places(x.shape, dim, count, at)]
    if found.size == 0 or found.__class__ is not np.ndarray:
        return np.array(found, order="C")
    # for the layout of the result PyTorch has x expanded in the indexed dimensions, and the index in all others
    strides = (*x.strides[:dim], *(0,) * at.ndim, *x.strides[dim + count :])
    spread = np.lib.stride_tricks.as_strided(x, found.shape, strides)
    index = at.reshape((1,) * dim + at.shape + (1,) * (x.ndim - dim - count))
    return copy_in_order_of((spread, index), found)


def put_at(x: Array, dim: int, count: int, at: Array, values: Array) -> None:
    """Write `values` to where `at` points; of several for one place the last one stays."""
    if np.may_share_memory(x, values):
        values = values.copy()
    if x.flags.c_contiguous:
        merged(x, dim, count)[(slice(None),) * dim + (at,)] = values
    else:
        x[places(x.shape, dim, count, at)] = values


def add_at(x: Array, dim: int, count: int, at: Array, values: Array) -> None:
    """Add `values` to where `at` points, all of them if several point to one place."""
    own_memory = x.base is None and values.base is None and x is not values  # to ask NumPy takes longer
    if not own_memory and np.may_share_memory(x, values):
        values = values.copy()
    shape = x.shape[:dim] + at.shape + x.shape[dim + count :]
    if values.shape != shape:
        values = np.broadcast_to(values, shape)
    if x.flags.c_contiguous:
        indices = at if at.dtype is INT64 else at.astype(INT64)
        slices_added(x if count == 1 else merged(x, dim, count), in_rows(indices), in_rows(values), dim)
        return
    if 0 in x.strides:  # expanded: a copy of it would be written back several times, the last time as it was
        np.add.at(x, places(x.shape, dim, count, at), values)
        return
    own = indexed_first(x, dim, count)
    into = own if own.flags.c_contiguous else own.copy()
    length, width = prod(own.shape[:count]), prod(own.shape[count:])
    rows = indexed_first(values, dim, at.ndim).reshape(at.size, width)
    add_rows(into.reshape(length, width), at.reshape(-1), rows)
    if into is not own:
        own[...] = into


@native_move("slices_added")
def slices_added(x: Array, at: Array, values: Array, dim: int) -> None:
    """The slices of `values` along a dimension added to those of x that `at` names. All lie row by row, and `at` and
    the dimension of `values` may be several."""
    at, values = at.reshape(-1), values.reshape(x.shape[:dim] + (at.size,) + x.shape[dim + 1 :])
    own = indexed_first(x, dim, 1)
    into = np.ascontiguousarray(own)
    rows = indexed_first(values, dim, 1).reshape(at.size, -1) if values.size else values.reshape(at.size, 0)
    add_rows(into.reshape(len(own), prod(own.shape[1:])), at, rows)
    if into is not own:
        own[...] = into


def sum_at(g: Array, shape: tuple[int, ...], dim: int, count: int, at: Array) -> Array:
    """Zeros of `shape` with g added to where `at` points: the gradient of `take_at`."""
    # half precision sums in single precision, as everywhere else
    kind = np.float32 if g.dtype.itemsize == 2 and g.dtype.kind not in "iu" else g.dtype
    if NATIVE and (kind is F32 or kind is F64):
        if not dim and g.flags.c_contiguous and at.dtype is INT64 and at.flags.c_contiguous and at.size:
            return rows_summed(shape, at.reshape(-1), g.reshape(at.size, prod(shape[count:])))
        total = np.zeros(shape, kind)
        add_at(total, dim, count, at, g)
        return total
    total = np.zeros(shape[dim : dim + count] + shape[:dim] + shape[dim + count :], kind)
    if dim:
        total = total.transpose((*range(count, count + dim), *range(count), *range(count + dim, len(shape))))
    # with no index twice there is nothing to add: masks, sorted indices
    (put_at if increasing(at.reshape(-1)) else add_at)(total, dim, count, at, g)
    return total.astype(g.dtype, copy=False)


@native_move("rows_summed")
def rows_summed(shape: tuple[int, ...], at: Array, source: Array) -> Array:
    """Zeros of a shape, with the rows of source added to those of it that `at` names."""
    total = np.zeros(shape, source.dtype)
    slices_added(total.reshape(total.size // max(1, source.shape[1]), source.shape[1]), at, source, 0)
    return total


def indexed_first(x: Array, dim: int, count: int) -> Array:
    """The same with the indexed dimensions before the others, so that each index stands for one row."""
    return x.transpose((*range(dim, dim + count), *range(dim), *range(dim + count, x.ndim))) if dim else x


def add_rows(total: Array, at: Array, rows: Array) -> None:
    """total[at[i]] += rows[i] for each i, one after the other. `total` is row-major, `at` flat.

    np.add.at has a fast loop for flat arrays alone, so narrow rows are added element by element, in blocks whose
    indices stay in the cache; with wide rows a Python loop over them is faster than computing all those indices.
    """
    width = total.shape[1]
    if width == 0 or at.size == 0:
        return
    if width > 512:
        for i, row in zip(at.tolist(), rows):
            into = total[i]
            np.add(into, row, into)
        return
    flat, columns, step = total.reshape(-1), np.arange(width), max(1, 32768 // width)
    starts = at.astype(INT64, copy=False) * width
    for i in range(0, at.size, step):
        elements = (starts[i : i + step, None] + columns).reshape(-1)
        np.add.at(flat, elements, rows[i : i + step].reshape(-1).astype(total.dtype, copy=False))


def merged(x: Array, dim: int, count: int) -> Array:
    """A row-major array with `count` dimensions made one."""
    if count == 1:
        return x
    shape = x.shape
    if count == len(shape):
        return x.reshape(-1)
    return x.reshape(shape[:dim] + (prod(shape[dim : dim + count]),) + shape[dim + count :])


def places(shape: tuple[int, ...], dim: int, count: int, at: Array) -> tuple[Any, ...]:
    """NumPy's own index for what `dim`, `count` and `at` describe."""
    lead = (slice(None),) * dim
    return (*lead, at) if count == 1 else (*lead, *np.unravel_index(at, shape[dim : dim + count]))


def increasing(at: Array) -> bool:
    """Does each index come after the one before it, counted from the front?"""
    return not at.size or bool(at[0] >= 0 and (at[1:] > at[:-1]).all())


def elements_along(shape: tuple[int, ...], dim: int, index: Array) -> Array:
    """For `gather` and its relatives: which elements of a row-major array of `shape` the index array selects, as
    positions in the flat array. Element [i, j, k] is at [index[i, j, k], j, k] if dim is 0."""
    if not shape or not index.ndim or not index.size:
        return index
    after = prod(shape[dim + 1 :])
    at = index if after == 1 and index.dtype == INT64 else index * np.int64(after)
    step = 1
    for d in range(len(shape) - 1, -1, -1):
        if d != dim and index.shape[d] > 1:  # the first of each has nothing before it
            at = at + np.arange(0, index.shape[d] * step, step).reshape((-1,) + (1,) * (len(shape) - 1 - d))
        step *= shape[d]
    return at


# -- x[array] ---------------------------------------------------------------------------------------------------------


def indices_of(node: Any) -> tuple[Any, ...]:
    """What PyTorch's node says that x[...] was indexed with: a tensor for each dimension, None for those in front that
    were not."""
    saved = node.saved if node.hooks is None else node.hooks.unpacked(node, node.saved)
    shape, dim, count, at = saved
    parts = (at,) if count == 1 else np.unravel_index(at, shape[dim : dim + count])
    return (*(None,) * dim, *[wrap(part) for part in parts])


@op
class index(Family):
    """index(input, dim, count, at): the elements that the array `at` points to in `count` dimensions from `dim` on."""

    options = ("dim", "count", "at")
    saved_as = {"dim": "", "count": "", "at": ""}
    shows = {"indices": lambda node: indices_of(node)}
    kernel = take_at
    holomorphic = False  # the gradient of a choice is a choice, and needs no conjugation
    jvp = "linear"
    public_name = ""

    def vjp(g: A, input_shape: A, dim: A, count: A, at: A) -> A:
        return index_sum(g, input_shape, dim, count, at)

    def vmap(batch: A, x: A, dim: int, count: int, at: Array) -> A:
        if not batch.holds(at):
            return batch.apply((batch.value(x),), (dim + 1, count, at))
        if not batch.holds(x):  # all samples look into the same: theirs are just more indices
            return batch.wrap(np.moveaxis(batch.run((x,), (dim, count, at.value)), dim, 0))
        # the samples and the indexed dimensions, side by side, are indexed as one
        values = np.moveaxis(x.value, range(dim + 1, dim + count + 1), range(1, count + 1))
        all_at = batch.flat_index(at, prod(x.shape[dim : dim + count]))
        return np.moveaxis(batch.apply((values,), (0, count + 1, all_at)), range(at.ndim), range(dim, dim + at.ndim))

    samples = lambda t: [
        S(t(4, 3), 0, 1, np.array([0, 2, 2, -1])),
        S(t(2, 3, 4), 1, 2, np.array([[0, 11], [5, 5]])),
        S(t(3), 0, 1, np.array(1)),
        S(t(3, 2), 0, 1, np.zeros(0, np.int64)),
        S(t(0, 2), 0, 1, np.zeros((2, 0), np.int64)),
    ]

    def reference(torch: Any, x: Any, dim: int, count: int, at: Any) -> Any:
        return x.flatten(dim, dim + count - 1)[(*(slice(None),) * dim, torch.as_tensor(at))]


@op
class index_sum(Family):
    """index_sum(input, shape, dim, count, at): zeros of `shape` with input added to where `at` points."""

    options = ("shape", "dim", "count", "at")
    kernel = sum_at
    holomorphic = False
    jvp = "linear"
    public_name = ""
    reference = lambda torch, x, shape, *where: transposed(torch, lambda y: index.reference(torch, y, *where), shape, x)
    aten = "index_put"
    node_name = "IndexPutBackward0"

    def vjp(g: A, dim: A, count: A, at: A) -> A:
        return index(g, dim, count, at)

    def vmap(batch: A, g: A, shape: Any, dim: int, count: int, at: Array) -> A:
        size, indexed = batch.size, tuple(shape[dim : dim + count])
        if not batch.holds(at):
            return batch.apply((batch.value(g),), ((size, *shape), dim + 1, count, at))
        values = np.moveaxis(batch.value(g), range(dim + 1, dim + at.ndim + 1), range(1, at.ndim + 1))
        whole = (size, *indexed, *shape[:dim], *shape[dim + count :])
        out = batch.apply((values,), (whole, 0, count + 1, batch.flat_index(at, prod(indexed))))
        return np.moveaxis(out, range(count), range(dim, dim + count))

    samples = lambda t: [
        S(t(4, 3), (3, 3), 0, 1, np.array([0, 2, 2, -1])),
        S(t(2, 2, 2, 4), (2, 3, 2, 4), 1, 2, np.array([[0, 5], [3, 3]])),
        S(t(0, 2), (3, 2), 0, 1, np.zeros(0, np.int64)),
    ]


@op
class index_select(Family):
    """index_select(input, dim, index): the slices of input along `dim` that the vector `index` names."""

    inputs = ("input", "index")
    options = ("dim",)
    vmap = "rows"
    out = Apart("index_select(): self and result must have the same scalar type")

    def kernel(x: A, index: A, dim: Any) -> A:
        if x.ndim == 0:
            return x.copy()
        index = index if index.ndim == 1 else index.reshape(-1)
        return taken(x, index, dim) if x.flags.c_contiguous else in_rows(take_at(x, dim, 1, index))

    def call(input: Tensor, dim: Dim, index: Tensor) -> Tensor:
        check_index(index, LONG_OR_INT, "index_select(): Expected dtype int32 or int64 for index")
        if index.array.ndim > 1:
            raise errors.mistake(IndexError, "index_select(): Index is supposed to be a vector")
        shape = input.array.shape
        dim = wrap_dim(dim, len(shape))
        if not shape and index.array.size != 1:
            raise RuntimeError(
                f"index_select(): Index to scalar can have only 1 value, got {index.array.size} value(s)"
            )
        if len(shape) > 1 and not shape[dim] and index.array.size:
            raise errors.mistake(RuntimeError, "index_select(): self indexing axis dim should be positive")
        if (wrong := outside(index.array, 0, shape[dim] if shape else 1)) is not None:
            what = f"{wrong}, for dimension {dim} of shape {errors.size(shape)}"
            raise errors.mistake(IndexError, "index out of range in self", ("index", what))
        return bind(index_select.core, (input, index), (dim,))

    def vjp_input(g: A, index: A, input_shape: A, dim: A) -> A:
        return index_sum(g, input_shape, dim, 1, raw(index).reshape(-1)) if input_shape else g

    samples = lambda t: [
        S(t(4, 3), 0, t(5, dtype="int64", low=0, high=4)),
        S(t(2, 3, 4), -1, t(2, dtype="int64", low=0, high=4)),
        S(t(3), 0, t(dtype="int64", low=0, high=3)),
        S(t(), 0, t(1, dtype="int64", low=0, high=1)),
        S(t(2, 3), 1, t(0, dtype="int64", low=0, high=3)),
    ]


# -- gather -----------------------------------------------------------------------------------------------------------


@native_move("gathered")
def gather_array(x: Array, index: Array, dim: int) -> Array:
    """Elements along a dimension; an IndexError, if an index is not between 0 and its size."""
    if outside(index, 0, (x.shape or (1,))[dim]) is not None:
        raise IndexError
    return x.reshape(-1).take(elements_along(x.shape, dim, index))


def gather_sum(g: A, index: A, input_shape: A, dim: A) -> A:
    """Zeros of a shape with g added to where `gather` would have read it."""
    return index_sum(g, input_shape, 0, len(input_shape), elements_along(input_shape, dim, raw(index)))


@op
class gather(Family):
    """gather(input, dim, index): out[i][j] = input[index[i][j]][j] for dim 0, and likewise for the others."""

    shows = {"sparse_grad": False}
    saved_as = {"input_shape": ""}
    inputs = ("input", "index")
    options = ("dim",)
    vmap = "gather"
    out = EXACT_AND_APART
    kernel = gather_array
    holomorphic = False

    def call(input: Tensor, dim: Dim, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
        check_index(index, LONG_OR_INT, "gather(): Expected dtype int32/int64 for index")
        dim = wrap_dim(dim, input.array.ndim)
        shape = input.array.shape
        if index.array.shape != shape:
            check_sizes_along(index.array, dim, input.array, "input")
        operation = part("ops.sparse.rows").sparse_gather if sparse_grad else gather
        try:
            return operation.record(input, index, dim)
        except IndexError:  # the kernel looks at the indices when it uses them
            check_range(index.array, 0, (shape or (1,))[dim], dim, shape)
            raise

    vjp_input = gather_sum

    samples = lambda t: [
        S(t(3, 4), 0, t(2, 4, dtype="int64", low=0, high=3)),
        S(t(3, 4), -1, t(2, 6, dtype="int64", low=0, high=4)),
        S(t(2, 3, 4), 1, t(2, 1, 3, dtype="int64", low=0, high=3)),
        S(t(), 0, t(dtype="int64", low=0, high=1)),
        S(t(3), 0, t(0, dtype="int64", low=0, high=3)),
    ]


@composite(
    lambda t: [
        S(t(3, 4), t(1, 4, dtype="int64", low=0, high=3), 0),
        S(t(3, 4), t(3, 2, dtype="int64", low=0, high=4), 1),
        S(t(3, 4), t(5, dtype="int64", low=0, high=12)),
    ],
    out=True,
)
def take_along_dim(input: Tensor, indices: Tensor, dim: Dim | None = None) -> Tensor:
    """take_along_dim(input, indices, dim=None): gather with broadcasting; of the flat input if dim is None."""
    check_index(indices, LONG, "torch.take_along_dim(): dtype of indices should be Long but got {}")
    x: Any = input
    at: Any = indices
    if dim is None:
        return gather.function(x.reshape(-1), 0, at.reshape(-1))
    if x.ndim != at.ndim:
        raise errors.mistake(
            RuntimeError,
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{x.ndim} dimensions for input, and {at.ndim} dimensions for indices",
        )
    dim = wrap_dim(dim, x.ndim)
    size, wanted = x.array.shape[dim], at.array.shape[dim]
    check_range(at.array, -size, size, dim, x.array.shape, IndexError)
    along = [(*a.shape[:dim], 1, *a.shape[dim + 1 :]) for a in (x.array, at.array)]
    try:
        common = np.broadcast_shapes(*along)
    except ValueError:
        raise errors.broadcast_mismatch("take_along_dim", (x.array, at.array)) from None
    at = wrap(np.where(at.array < 0, at.array + size, at.array))
    wide = [(*common[:dim], n, *common[dim + 1 :]) for n in (size, wanted)]
    return gather.function(x.expand(wide[0]), dim, at.expand(wide[1]))


# -- take -------------------------------------------------------------------------------------------------------------


@op
class take(Family):
    """take(input, index): elements of the flat input, in the shape of index."""

    saved_as = {"input_shape": ""}
    inputs = ("input", "index")
    out = Apart(
        "take(): self and out expected to have the same dtype, but got self.dtype = {wanted.alias} and out.dtype = "
        "{given.alias}"
    )

    def kernel(x: A, index: A) -> A:
        return x.reshape(-1).take(index)

    def call(input: Tensor, index: Tensor) -> Tensor:
        check_index(index, LONG, "take(): Expected a long tensor for index, but got {}")
        if input.array.size == 0 and index.array.size:
            raise IndexError("take(): tried to take from an empty tensor")
        check_flat_range(index.array, input.array.size)
        return take.record(input, index)

    def vjp_input(g: A, index: A, input_shape: A) -> A:
        return index_sum(g, input_shape, 0, len(input_shape), counted_from_front(index, input_shape))

    def vmap(batch: A, x: A, index: A) -> A:
        return batch.apply((batch.value(x), batch.flat_index(index, x.size)), ())

    samples = lambda t: [
        S(t(3, 4), t(2, 3, dtype="int64", low=-12, high=12)),
        S(t(5), t(dtype="int64", low=0, high=5)),
        S(t(), t(2, dtype="int64", low=0, high=1)),
        S(t(2, 2), t(0, dtype="int64", low=0, high=4)),
    ]


def counted_from_front(index: A, shape: tuple[int, ...]) -> Array:
    at = raw(index)
    return np.where(at < 0, at + prod(shape), at)
