"""Sparse forms of functions that move elements, choose some of them or add them up along dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import TensorBase, links
from leafgrad._dtypes import from_numpy_dtype, int64
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.sparse.arrays import SparseArray, groups, linear, not_for_sparse
from leafgrad.ops.sparse.blocks import (
    apply,
    is_sparse,
    record,
    sparse_coalesced,
    sparse_fill,
    sparse_permuted,
    sparse_total,
    sparse_values,
)
from leafgrad.ops.sparse.elementwise import in_dtype
from leafgrad.ops.sparse.forms import passes, sparse_form

passes("detach", "detach_", "requires_grad_", "is_floating_point", "is_complex", "numel", "is_same_size", "is_signed")


def rearranged(indices: Any, values: Any, shape: Any, node: str, in_order: bool = False) -> Any:
    """A sparse tensor of values at other places."""
    return record(
        sparse_fill, node, values, SparseArray(np.asarray(indices, np.int64), values.array, tuple(shape), in_order)
    )


# -- complex numbers as pairs -----------------------------------------------------------------------------------------


def values_seen_as(name: str, input: Any, shape: tuple[int, ...], node: str) -> Any:
    values = links.functions[name](apply(sparse_values, input))
    return rearranged(input.array.indices, values, shape, node, input.array.coalesced)


@sparse_form("view_as_real")
def view_as_real(input: Any) -> Any:
    if input.array.dtype.kind != "c":
        raise RuntimeError("view_as_real_sparse is only supported for complex sparse tensors")
    return values_seen_as("view_as_real", input, (*input.array.shape, 2), "ViewAsRealBackward0")


@sparse_form("view_as_complex")
def view_as_complex(input: Any) -> Any:
    shape = input.array.shape
    if not input.array.dense_shape or shape[-1] != 2:
        raise RuntimeError(
            "view_as_complex_sparse is only supported for sparse tensors with the last dim == 2 and dense_dim > 0."
        )
    return values_seen_as("view_as_complex", input, shape[:-1], "ViewAsComplexBackward0")


# -- order of dimensions -----------------------------------------------------------------------------------------------


def reordered(input: Any, dims: Any, node: str) -> Any:
    count = input.array.sparse_dim
    if any([(d < count) != (place < count) for place, d in enumerate(dims)]):
        raise errors.mistake(
            RuntimeError, "transpose(sparse): transposing sparse and dense dimensions is not supported"
        )
    return record(sparse_permuted, node, input, tuple(dims))


@sparse_form("t")
def t(input: Any) -> Any:
    if input.array.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {input.array.sparse_dim} sparse "
            "and "
            f"{len(input.array.dense_shape)} dense dimensions"
        )
    return reordered(input, tuple(reversed(range(input.array.ndim))), "TBackward0")


@sparse_form("T", "H", "mT", "mH", "adjoint")
def reversed_dims(input: Any) -> Any:
    return reordered(input, tuple(reversed(range(input.array.ndim))), "PermuteBackward0")


@sparse_form("transpose", "swapaxes", "swapdims")
def transpose(input: Any, dim0: int, dim1: int) -> Any:
    ndim = input.array.ndim
    dims = list(range(ndim))
    first, second = wrap_dim(dim0, ndim), wrap_dim(dim1, ndim)
    dims[first], dims[second] = second, first
    return reordered(input, dims, "TransposeBackward0")


@sparse_form("permute")
def permute(input: Any, *dims: Any) -> Any:
    order = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
    ndim = input.array.ndim
    if len(order) != ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {len(order)}"
        )
    return reordered(input, [wrap_dim(d, ndim) for d in order], "PermuteBackward0")


@sparse_form("unsqueeze")
def unsqueeze(input: Any, dim: int) -> Any:
    own = input.array
    at = wrap_dim(dim, own.ndim + 1)
    shape = (*own.shape[:at], 1, *own.shape[at:])
    values = apply(sparse_values, input)
    if at <= own.sparse_dim:
        indices = np.insert(own.indices, at, 0, axis=0)
        return rearranged(indices, values, shape, "UnsqueezeBackward0")
    return rearranged(own.indices, values.unsqueeze(at - own.sparse_dim + 1), shape, "UnsqueezeBackward0")


# -- parts -------------------------------------------------------------------------------------------------------------


@sparse_form("select")
def select(input: Any, dim: int, index: int) -> Any:
    own = input.array
    if own.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    at = wrap_dim(dim, own.ndim)
    size = own.shape[at]
    if not -size <= index < size:
        sizes = f"[{', '.join(map(str, own.shape))}]"
        raise IndexError(f"select(): index {index} out of range for tensor of size {sizes} at dimension {dim}")
    index %= size
    shape = (*own.shape[:at], *own.shape[at + 1 :])
    values = apply(sparse_values, input)
    if at >= own.sparse_dim:
        return rearranged(
            own.indices, values.select(at - own.sparse_dim + 1, index), shape, "SelectBackward0", own.coalesced
        )
    kept = np.flatnonzero(own.indices[at] == index)
    chosen = values.index_select(0, links.functions["from_numpy"](kept))
    if own.sparse_dim == 1:
        return chosen.sum(0, dtype=input.dtype)
    indices = np.delete(own.indices, at, axis=0)[:, kept]
    return rearranged(indices, chosen, shape, "SelectBackward0", own.coalesced and at == 0)


@sparse_form("unbind")
def unbind(input: Any, dim: int = 0) -> tuple[Any, ...]:
    return tuple([select(input, dim, i) for i in range(input.array.shape[wrap_dim(dim, input.array.ndim)])])


@sparse_form("__getitem__")
def getitem(input: Any, index: Any) -> Any:
    parts = index if isinstance(index, tuple) else (index,)
    result, dim = input, 0
    for part in parts:
        if isinstance(part, (int, np.integer)) and not isinstance(part, bool):
            result = result.select(dim, int(part))
        elif part is Ellipsis:
            dim = result.dim() - (len(parts) - parts.index(part) - 1)
        elif isinstance(part, slice) and part == slice(None):
            dim += 1
        else:
            raise not_for_sparse("index.Tensor" if isinstance(part, TensorBase) else "as_strided", input.array.layout)
    return result


@sparse_form("index_select")
def index_select(input: Any, dim: int, index: Any) -> Any:
    own = input.array
    at = wrap_dim(dim, own.ndim)
    wanted = index.array.reshape(-1)
    size = own.shape[at]
    if wanted.size and (wanted.min() < -size or wanted.max() >= size):
        wrong = next(i for i in wanted.tolist() if not -size <= i < size)
        raise IndexError(
            f"index_select(): index contains {wrong} that is out of range for tensor of size "
            f"{errors.size(own.shape)} at "
            f"dimension {at}"
        )
    wanted = wanted % size if size else wanted
    shape = (*own.shape[:at], len(wanted), *own.shape[at + 1 :])
    values = apply(sparse_values, input)
    if at >= own.sparse_dim:
        chosen = values.index_select(at - own.sparse_dim + 1, links.functions["from_numpy"](wanted))
        return rearranged(own.indices, chosen, shape, "IndexSelectBackward0")
    # the places of each value in the index, one after the other
    order = np.argsort(wanted, kind="stable")
    first = np.searchsorted(wanted[order], own.indices[at], "left")
    counts = np.searchsorted(wanted[order], own.indices[at], "right") - first
    ours = np.repeat(np.arange(own.nnz), counts)
    within = np.arange(len(ours)) - np.repeat(np.cumsum(counts) - counts, counts)
    places = order[first[ours] + within]
    sorting = np.argsort(places, kind="stable")
    ours = ours[sorting]
    indices = own.indices[:, ours]
    indices[at] = places[sorting]
    return rearranged(
        indices, values.index_select(0, links.functions["from_numpy"](ours)), shape, "IndexSelectBackward0"
    )


# -- several -----------------------------------------------------------------------------------------------------------


@sparse_form("cat", "concat", "concatenate")
def cat(tensors: Any, dim: int = 0) -> Any:
    if not all([isinstance(each, TensorBase) and is_sparse(each) for each in tensors]):
        raise errors.mistake(RuntimeError, "Concatenating sparse tensors, but a dense tensor was found at position 1.")
    first = tensors[0].array
    at = wrap_dim(dim, first.ndim)
    for place, each in enumerate(tensors):
        other = each.array
        if other.sparse_dim != first.sparse_dim or other.ndim != first.ndim:
            raise errors.mistake(
                RuntimeError,
                "All tensors must have the same shape: they differ in their numbers of sparse or dense dimensions",
                ("position", str(place)),
            )
        if any([n != m for d, (n, m) in enumerate(zip(other.shape, first.shape)) if d != at]):
            raise errors.mistake(
                RuntimeError,
                f"All tensors must have the same shape: {errors.size(first.shape)} (except in the concatenating "
                "dimension), "
                f"but found shape: {errors.size(other.shape)} at position {place}",
            )
    sizes = [each.array.shape[at] for each in tensors]
    shape = (*first.shape[:at], sum(sizes), *first.shape[at + 1 :])
    before = np.cumsum([0, *sizes[:-1]])
    indices = [each.array.indices.copy() for each in tensors]
    parts = [apply(sparse_values, each) for each in tensors]
    if at < first.sparse_dim:
        for own, offset in zip(indices, before):
            own[at] += offset
    else:
        inner = at - first.sparse_dim + 1
        parts = [padded(part, inner, int(offset), sum(sizes)) for part, offset in zip(parts, before)]
    return rearranged(np.concatenate(indices, axis=1), links.functions["cat"](parts), shape, "CatBackward0")


def padded(values: Any, dim: int, before: int, size: int) -> Any:
    """Values with zeros before and after them along a dimension."""
    shape = list(values.shape)
    made = []
    for count in (before, size - before - shape[dim]):
        shape[dim] = count
        made.append(values.new_zeros(shape))
    return links.functions["cat"]([made[0], values, made[1]], dim)


@sparse_form("stack")
def stack(tensors: Any, dim: int = 0) -> Any:
    return cat([unsqueeze(each, dim) for each in tensors], dim)


# -- sums --------------------------------------------------------------------------------------------------------------


@sparse_form("sum")
def sum_of(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    kind = dtype or (int64 if input.array.dtype.kind in "biu" else from_numpy_dtype(input.array.dtype))
    input = in_dtype(input, kind)
    dims = () if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if not dims:
        return apply(sparse_total, input)
    return summed(input, dims, keepdim, "SumBackward1")


def summed(input: Any, dims: Any, keepdim: bool, node: str) -> Any:
    """The sum along some dimensions: sparse, unless no sparse dimension is left."""
    own = input.array
    gone = sorted({wrap_dim(d, own.ndim) for d in dims})
    values = apply(sparse_values, input)
    if dense := [d - own.sparse_dim + 1 for d in gone if d >= own.sparse_dim]:
        values = values.sum(dense, keepdim)
    rest = [d for d in range(own.sparse_dim) if d not in gone]
    if not rest and not keepdim:
        return values.sum(0)
    shape = [1 if d in gone else n for d, n in enumerate(own.shape) if keepdim or d not in gone]
    indices = own.indices.copy()
    if keepdim:
        indices[[d for d in gone if d < own.sparse_dim]] = 0
    else:
        indices = indices[rest]
    made = rearranged(indices, values, shape, node)
    return made if len(rest) == own.sparse_dim and not own.coalesced else record(sparse_coalesced, node, made)


# -- softmax -----------------------------------------------------------------------------------------------------------


def softmax_of(input: Any, dim: int, logarithm: bool, kind: Any) -> Any:
    """The softmax of what a sparse tensor holds: elsewhere it is as if there were minus infinity."""
    name = "log_softmax" if logarithm else "softmax"
    node = "SparseLogSoftmaxBackward0" if logarithm else "SparseSoftmaxBackward0"
    if kind is not None:
        input = in_dtype(input, kind)
    own = apply(sparse_coalesced, input)
    array: SparseArray = own.array
    at = wrap_dim(dim, array.ndim)
    values = apply(sparse_values, own)
    if at >= array.sparse_dim:
        result = getattr(values, name)(at - array.sparse_dim + 1)
        return rearranged(array.indices, result, array.shape, node, True)
    others = np.delete(array.indices, at, axis=0)
    keys = linear(others, (*array.shape[:at], *array.shape[at + 1 : array.sparse_dim]))
    order, first, group = groups(keys)
    member = np.empty(array.nnz, np.int64)
    member[order] = group
    where = links.functions["from_numpy"](member)
    if array.nnz:
        largest = np.maximum.reduceat(array.values[order], first, axis=0)[member]
        values = values - links.functions["from_numpy"](largest)
    powers = values.exp()
    sums = powers.new_zeros((len(first), *powers.shape[1:])).index_add(0, where, powers).index_select(0, where)
    result = values - sums.log() if logarithm else powers / sums
    return rearranged(array.indices, result, array.shape, node, True)
