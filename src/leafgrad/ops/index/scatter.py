"""Writing elements that an index array points to: index_put, scatter, index_add and their relatives."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.kernels.moving import in_rows, native_move
from leafgrad.ops.creation.fresh import zero_like
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.index.checks import (
    LONG,
    LONG_OR_INT,
    alias,
    check_along,
    check_flat_range,
    check_index,
    check_range,
    outside,
)
from leafgrad.ops.index.gather import add_at, add_rows, counted_from_front, elements_along, gather, index_select, put_at
from leafgrad.ops.index.gather import index as index_op
from leafgrad.ops.index.overwrite import (
    Overwriting,
    expanded_warning,
    number_as,
    on_a_clone,
    on_a_copy,
    same_dtype,
    value_tensor,
    zero,
)
from leafgrad.ops.index.slices import around
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.promotion import cast
from leafgrad.ops.reduce.common import raw
from leafgrad.ops.registry import op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Dim, Number, Prepared, Tensor

A = Any  # an array, or a tensor under create_graph
Array = Any

# -- x[array] = values ------------------------------------------------------------------------------------------------


@op
class index_write(Overwriting):
    """index_write(input, values, dim, count, at, accumulate): input with the elements that `index` would read
    replaced by values, or with values added to them."""

    inputs = ("input", "values")
    options = ("dim", "count", "at", "accumulate")
    jvp = "linear"
    public_name = ""
    aten = "index_put"
    node_name = "IndexPutBackward0"

    @on_a_clone
    def kernel(x: Array, values: Array, dim: int, count: int, at: Array, accumulate: bool) -> None:
        (add_at if accumulate else put_at)(x, dim, count, at, values)

    def prepare(input: A, values: Any, dim: int, count: int, at: Array, accumulate: bool) -> Any:
        return (input, values), (dim, count, at, accumulate)

    def vjp_input(g: A, dim: A, count: A, at: A, accumulate: A) -> A:
        return g if accumulate else index_write(g, zero(g), dim, count, at, False)

    def vjp_values(g: A, dim: A, count: A, at: A) -> A:
        return index_op(g, dim, count, at)

    def vmap(batch: A, x: A, values: A, dim: int, count: int, at: Array, accumulate: bool) -> A:
        arrays = batch.value(x), batch.aligned(values, x.ndim - count + at.ndim)
        if not batch.holds(at):
            return batch.apply(arrays, (dim + 1, count, at, accumulate))
        if dim:
            return NotImplemented
        return batch.apply(arrays, (0, count + 1, batch.flat_index(at, prod(x.shape[:count])), accumulate))

    samples = lambda t: [
        S(t(4, 3), t(2, 3), 0, 1, np.array([0, 2]), False),
        S(t(4, 3), t(3), 0, 1, np.array([1, 1, -1]), True),
        S(t(2, 3, 4), t(2, 2), 1, 2, np.array([3, 11]), False),
        S(t(3, 4), t(3, 2), 1, 1, np.array([3, 3]), True),
        S(t(3), t(0), 0, 1, np.zeros(0, np.int64), False),
    ]

    def reference(torch: Any, x: Any, values: Any, dim: int, count: int, at: Any, accumulate: bool) -> Any:
        flat = x.flatten(dim, dim + count - 1)
        write = flat.index_add if accumulate else flat.index_copy
        places = torch.as_tensor(at) % flat.shape[dim]
        return write(dim, places, values.expand(*flat.shape[:dim], len(at), *flat.shape[dim + 1 :])).view(x.shape)


# -- along one dimension ----------------------------------------------------------------------------------------------


def vector(x: Array) -> Array:
    """Tensors without dimensions are indexed as if they had one element in one dimension."""
    return x.reshape(1) if x.ndim == 0 else x


def same_slices(x: Array, source: Array, dim: int) -> bool:
    """index_add and index_copy take one slice of source for each index."""
    own, given = vector(x).shape, vector(source).shape
    return bool(own[:dim] + own[dim + 1 :] == given[:dim] + given[dim + 1 :])


@op
class index_add(Overwriting):
    """index_add(input, dim, index, source, *, alpha=1): input with alpha times the slices of source added to those
    that the vector `index` names."""

    shows = {"dim": ..., "alpha": ..., "source_dim": ...}
    saved_as = {"source_shape": ""}
    inputs = ("input", "index", "source")
    options = ("dim", "alpha")
    vmap = "rows"
    holomorphic = True  # alpha may be complex
    out = True

    @on_a_copy
    def kernel(x: Array, at: Array, source: Array, dim: int, alpha: Any) -> None:
        scaled = source if alpha == 1 else source * np.asarray(alpha).astype(source.dtype)
        add_at(vector(x), dim, 1, at.reshape(-1), vector(scaled))

    def prepare(input: Tensor, dim: Dim, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Prepared:
        x = input.array
        dim = wrap_dim(dim, x.ndim)
        check_index(index, LONG_OR_INT, "index_add_(): Expected dtype int32/int64 for index but got: {}")
        if index.array.ndim > 1:
            raise errors.mistake(
                IndexError,
                f"index_add_(): Index is supposed to be a vector, but got dim: {index.array.ndim} with type: "
                f"{alias(index.array)} and size: {errors.size(index.array.shape)}",
            )
        same_dtype(x, source.array, "index_add_(): self ({}) and source ({}) must have the same scalar type")
        length = vector(source.array).shape[dim] if dim < max(source.array.ndim, 1) else -1
        if index.array.size != length:
            raise errors.mistake(
                RuntimeError,
                f"index_add_(): Number of indices ({index.array.size}) should be equal to source.size(dim): "
                f"({length}), for dim: {dim}",
            )
        if not same_slices(x, source.array, dim) or x.ndim != source.array.ndim:
            raise errors.mistake(
                RuntimeError,
                "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
                f"{errors.size(x.shape)} source.shape = {errors.size(source.array.shape)}",
            )
        check_range(index.array, 0, vector(x).shape[dim], dim, x.shape)
        return (input, index, source), (dim, alpha)

    def vjp_input(g: A) -> A:
        return g

    def vjp_source(g: A, index: A, source_shape: A, dim: A, alpha: A) -> A:
        return index_select(g, index, dim).reshape(source_shape) * alpha

    samples = lambda t: [
        S(t(3, 4), 0, t(2, dtype="int64", low=0, high=3), t(2, 4)),
        S(t(3, 4), 1, t(6, dtype="int64", low=0, high=4), t(3, 6), alpha=2),
        S(t(3), 0, t(dtype="int64", low=0, high=3), t(1)),
        S(t(), 0, t(1, dtype="int64", low=0, high=1), t()),
    ]


@op
class index_copy(Overwriting):
    """index_copy(input, dim, index, source): input with the slices that the vector `index` names replaced by source."""

    shows = {"dim": ..., "source_dim": ...}
    autocast = "promote"
    saved_as = {"source_shape": ""}
    inputs = ("input", "index", "source")
    options = ("dim",)
    vmap = "rows"
    out = True

    @on_a_copy
    def kernel(x: Array, at: Array, source: Array, dim: int) -> None:
        put_at(vector(x), dim, 1, at.reshape(-1), vector(source))

    def prepare(input: Tensor, dim: Dim, index: Tensor, source: Tensor) -> Prepared:
        x = input.array
        dim = wrap_dim(dim, x.ndim)
        check_index(index, LONG, "index_copy_(): Expected a long tensor for index, but got {}")
        if index.array.ndim > 1:
            raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.array.ndim})")
        message = "index_copy_(): self and source expected to have the same dtype, but got (self) {} and (source) {}"
        same_dtype(x, source.array, message)
        if not same_slices(x, source.array, dim):
            slices = [" ".join(map(str, a.shape[:dim] + a.shape[dim + 1 :])) for a in (x, source.array)]
            raise errors.mistake(
                RuntimeError,
                "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
                f"{slices[0]} at dimension {dim} and source slice shape: {slices[1]} at dimension 0.",
            )
        length = vector(source.array).shape[dim]
        if index.array.size != length:
            raise errors.mistake(
                IndexError,
                f"index_copy_(): Number of indices ({index.array.size}) should be equal to source.size(dim) ({length})",
            )
        size = vector(x).shape[dim]
        if (wrong := outside(index.array, 0, size)) is not None:
            raise errors.mistake(
                IndexError, f"index_copy_(): index {wrong} is out of bounds for dimension {dim} with size {size}"
            )
        return (input, index, source), (dim,)

    def vjp_input(g: A, index: A, dim: A) -> A:
        return index_fill(g, index, zero(g), dim)

    def vjp_source(g: A, index: A, source_shape: A, dim: A) -> A:
        return index_select(g, index, dim).reshape(source_shape)

    samples = lambda t: [
        S(t(3, 4), 0, t(1, dtype="int64", low=0, high=3), t(1, 4)),
        S(t(3, 4), -1, t(1, dtype="int64", low=0, high=4), t(3, 1)),
        S(t(), 0, t(1, dtype="int64", low=0, high=1), t(1)),
    ]


@op
class index_fill(Overwriting):
    """index_fill(input, dim, index, value): input with the slices that the vector `index` names filled with value."""

    inputs = ("input", "index", "value")
    options = ("dim",)
    vmap = "rows"
    node_names = ("IndexFillBackward1",)  # with a tensor
    warns_of_expanded = expanded_warning("index_fill_", "tensor[mask] = scalar")
    hides = {"IndexFillBackward0": ("value",)}

    @on_a_clone
    def kernel(x: Array, at: Array, value: Array, dim: int) -> None:
        put_at(vector(x), dim, 1, at.reshape(-1), cast(value, from_numpy_dtype(x.dtype)))

    def prepare(input: Tensor, dim: Dim, index: Tensor, value: Tensor | Number) -> Prepared:
        x = input.array
        if index.array.dtype not in LONG:
            raise errors.mistake(IndexError, "index_fill_(): Expected dtype int64 for index.")
        dim = wrap_dim(dim, x.ndim)
        if index.array.ndim > 1:
            raise errors.mistake(RuntimeError, "Index has to be a vector/scalar")
        if isinstance(value, complex) and x.dtype.kind != "c":
            raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
        size = vector(x).shape[dim]
        check_range(index.array, -size, size, dim, x.shape, IndexError)
        name = ("IndexFillBackward1",) if isinstance(value, TensorBase) else ()
        return (input, index, value_tensor("index_fill", input, value)), (dim,), *name

    def vjp_input(g: A, index: A, dim: A) -> A:
        return index_fill(g, index, zero(g), dim)

    def vjp_value(g: A, index: A, dim: A) -> A:
        filled = index_fill(np.zeros(tuple(g.shape), bool), raw(index), np.array(True), dim)
        return where(filled, g, zero_like(g))

    samples = lambda t: [
        S(t(3, 4), 0, t(2, dtype="int64", low=0, high=3), 1.5),
        S(t(3, 4), 1, t(2, dtype="int64", low=-4, high=4), t()),
        S(t(), 0, t(1, dtype="int64", low=0, high=1), t()),
    ]


# -- scatter ----------------------------------------------------------------------------------------------------------


def scatter_at(x: Array, at: Array, src: Array, dim: int, ufunc: Any) -> None:
    """Write the elements of src along a dimension of x to where `at` points, or bring them together by a ufunc with
    what is there."""
    if not at.size:
        return
    x, at = vector(x), vector(at)
    if src.ndim and src.shape != at.shape:
        src = src[used_part(at)]
    if np.may_share_memory(x, src):
        src = src.copy()
    whole = x if x.flags.c_contiguous else x.copy()
    if ufunc is None or ufunc is np.add:
        scattered(whole, in_rows(at), in_rows(src), dim, ufunc is np.add)
    else:
        values = src.reshape(-1) if src.ndim else src
        ufunc.at(whole.reshape(-1), elements_along(x.shape, dim, at).reshape(-1), values)
    if whole is not x:
        x[...] = whole


@native_move("scattered")
def scattered(x: Array, at: Array, src: Array, dim: int, add: bool) -> None:
    """The elements of src, or src if it is a single number, written along a dimension of x to where `at` points, or
    added to what is there. All of them lie row by row."""
    into, where_to = x.reshape(-1), elements_along(x.shape, dim, at).reshape(-1)
    values = np.broadcast_to(src, at.shape).reshape(-1)
    if add:
        add_rows(into[:, None], where_to, values[:, None])
    else:
        into[where_to] = values


def used_part(at: Array) -> tuple[slice, ...]:
    """The part of src that an index has places for."""
    return tuple([slice(0, n) for n in vector(at).shape])


def read_back(g: A, index: A, src_shape: A, dim: A) -> A:
    """The gradient of src: what was written is read again."""
    return with_unused(gather(g, index, dim), index, src_shape)


def with_unused(g: A, index: A, src_shape: tuple[int, ...]) -> A:
    """The gradient of the part of src that was used, with zeros for the rest."""
    at = raw(index)
    return g if at.shape == src_shape or not src_shape else around(g, src_shape, used_part(at))


def _no_gradient() -> RuntimeError:
    first = "derivative for aten::scatter is not implemented"
    return errors.mistake(RuntimeError, first, fix="x.scatter_reduce(dim, index, src, reduce='prod')")


@op
class scatter(Overwriting):
    """scatter(input, dim, index, src, *, reduce=None): out[index[i][j]][j] = src[i][j] for dim 0, and likewise for the
    others. In the place of src may stand a number. With reduce="add" or "multiply" it adds to what is there, or
    multiplies it."""

    saved_as = {"reduce": "", "src_shape": ""}
    inputs = ("input", "index", "src")
    options = ("dim", "reduce")
    vmap = "gather"
    node_names = ("ScatterBackward1",)  # with a number
    hides = {"ScatterBackward1": ("src",)}
    out = True
    signatures = (
        "(input: Tensor, dim: Dim, index: Tensor, src: Tensor, *, reduce: str | None = None) -> Tensor",
        "(input: Tensor, dim: Dim, index: Tensor, value: Number, *, reduce: str | None = None) -> Tensor",
    )

    @on_a_copy
    def kernel(x: Array, at: Array, src: Array, dim: int, reduce: str) -> None:
        scatter_at(x, at, src, dim, {"": None, "add": np.add, "multiply": np.multiply}[reduce])

    def prepare(
        input: Tensor,
        dim: Dim,
        index: Tensor,
        src: Tensor | Number | None = None,
        value: Number | None = None,
        *,
        reduce: str | None = None,
    ) -> Prepared:
        check_index(index, LONG_OR_INT, "scatter(): Expected dtype int32/int64 for index")
        if reduce not in (None, "add", "multiply"):
            raise errors.mistake(RuntimeError, "reduce argument must be either add or multiply.")
        dim = wrap_dim(dim, input.array.ndim)
        src = value if src is None else src
        if not isinstance(src, TensorBase):
            check_along(index.array, dim, input.array, "self")
            return ((input, index, wrap(number_as(src, input.array))), (dim, reduce or ""), "ScatterBackward1")
        if reduce is not None:
            errors.warn(
                "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future "
                "PyTorch release. Use torch.scatter_reduce instead for more reduction options."
            )
        check_along(index.array, dim, input.array, "self", src.array)
        same_dtype(input.array, src.array, "scatter(): Expected self.dtype to be equal to src.dtype")
        return (input, index, src), (dim, reduce or "")

    def vjp_input(g: A, index: A, dim: A, reduce: A) -> A:
        if reduce == "multiply":
            raise _no_gradient()
        return g if reduce else scatter(g, index, zero(g), dim, "")

    def vjp_src(g: A, index: A, src_shape: A, dim: A, reduce: A) -> A:
        if reduce == "multiply":
            raise _no_gradient()
        return read_back(g, index, src_shape, dim)

    samples = lambda t: [
        S(t(3, 4), 0, t(1, 4, dtype="int64", low=0, high=3), t(1, 4)),
        S(t(3, 4), 1, t(2, 1, dtype="int64", low=0, high=4), t(3, 4)),
        S(t(3, 4), 1, t(3, 2, dtype="int64", low=0, high=4), 1.5),
        S(t(), 0, t(dtype="int64", low=0, high=1), t()),
        S(t(3), 0, t(0, dtype="int64", low=0, high=3), t(0)),
    ]


@op
class scatter_add(Overwriting):
    """scatter_add(input, dim, index, src): out[index[i][j]][j] += src[i][j] for dim 0, and likewise for the others."""

    shows = {"dim": ...}
    saved_as = {"src_shape": ""}
    inputs = ("input", "index", "src")
    options = ("dim",)
    vmap = "gather"
    out = True

    @on_a_copy
    def kernel(x: Array, at: Array, src: Array, dim: int) -> None:
        scatter_at(x, at, src, dim, np.add)

    def prepare(input: Tensor, dim: Dim, index: Tensor, src: Tensor) -> Prepared:
        check_index(index, LONG_OR_INT, "scatter(): Expected dtype int32/int64 for index")
        dim = wrap_dim(dim, input.array.ndim)
        check_along(index.array, dim, input.array, "self", src.array)
        same_dtype(input.array, src.array, "scatter(): Expected self.dtype to be equal to src.dtype")
        return (input, index, src), (dim,)

    def vjp_input(g: A) -> A:
        return g

    vjp_src = read_back

    samples = lambda t: [
        S(t(3, 4), 0, t(5, 4, dtype="int64", low=0, high=3), t(5, 4)),
        S(t(3, 4), 1, t(2, 6, dtype="int64", low=0, high=4), t(3, 7)),
        S(t(), 0, t(dtype="int64", low=0, high=1), t()),
    ]


@op
class put(Overwriting):
    """put(input, index, source, accumulate=False): elements of the flat input replaced by source, or added to."""

    shows = {"accumulate": ...}
    saved_as = {"source_shape": ""}
    inputs = ("input", "index", "source")
    options = ("accumulate",)

    @on_a_clone
    def kernel(x: Array, at: Array, source: Array, accumulate: bool) -> None:
        at = counted_from_front(at, x.shape).reshape(-1)
        (add_at if accumulate else put_at)(x, 0, x.ndim, at, source.reshape(-1))

    def prepare(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Prepared:
        x = input.array
        check_index(index, LONG, "put_(): Expected a long tensor for index, but got {}")
        message = (
            "put_(): self and source expected to have the same dtype, but got self.dtype = {} and source.dtype = {}"
        )
        same_dtype(x, source.array, message)
        if index.array.size != source.array.size:
            raise errors.mistake(
                IndexError,
                "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
                f"{source.array.size}, index.numel() = {index.array.size}",
            )
        check_flat_range(index.array, x.size)
        return (input, index, source), (accumulate,)

    def vjp_input(g: A, index: A, accumulate: A) -> A:
        if accumulate:
            return g
        return put(g, index, zero(g), False)

    def vjp_source(g: A, index: A, source_shape: A) -> A:
        return index_op(g, 0, len(g.shape), counted_from_front(index, g.shape)).reshape(source_shape)

    def vmap(batch: A, x: A, index: A, source: A, accumulate: bool) -> A:
        return batch.apply((batch.value(x), batch.flat_index(index, x.size), batch.value(source)), (accumulate,))

    samples = lambda t: [
        S(t(3, 4), t(2, dtype="int64", low=-12, high=12), t(2), True),
        S(t(3, 4), t(1, dtype="int64", low=-12, high=12), t(1)),
        S(t(), t(1, dtype="int64", low=0, high=1), t(1)),
    ]
