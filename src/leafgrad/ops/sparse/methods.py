"""Methods of Tensor that are about layouts: conversions, and the parts of a sparse tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.inplace import count_change
from leafgrad._core.tensor import wrap
from leafgrad._device import layout as layout_class
from leafgrad._device import sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr, strided
from leafgrad.ops.public_forms import checked_methods
from leafgrad.ops.signature import Dtype, Layout, Shape, Tensor
from leafgrad.ops.sparse import elementwise, products, shapes  # noqa: F401  the forms of other functions
from leafgrad.ops.sparse.arrays import SparseArray, nothing, strided_refusal
from leafgrad.ops.sparse.blocks import (
    apply,
    is_sparse,
    record,
    sparse_coalesced,
    sparse_layout,
    sparse_masked,
    sparse_to_dense,
    sparse_values,
)
from leafgrad.ops.sparse.forms import passes, sparse_form
from leafgrad.ops.sparse.layouts import IN_BLOCKS, CompressedArray, Form

# What PyTorch's messages call the layouts.
NAMES = {
    strided: "Strided", sparse_coo: "Sparse", sparse_csr: "SparseCsr", sparse_csc: "SparseCsc", sparse_bsr: "SparseBsr",
    sparse_bsc: "SparseBsc",
}  # fmt: skip


def layout_of(t: Any) -> layout_class:
    found: layout_class = t.array.layout if is_sparse(t) else strided
    return found


def expected(name: str, what: str, t: Any) -> Exception:
    return errors.mistake(RuntimeError, f"{name} expected {what} tensor layout but got {NAMES[layout_of(t)]}")


def must_be_coo(name: str, t: Any) -> SparseArray:
    if layout_of(t) is not sparse_coo:
        raise expected(name, "sparse coordinate", t)
    found: SparseArray = t.array
    return found


# -- conversions -------------------------------------------------------------------------------------------------------


def to_sparse(
    self: Tensor,
    sparse_dim: int | None = None,
    *,
    layout: Layout | None = None,
    blocksize: Shape | int | None = None,
    dense_dim: int | None = None,
) -> Tensor:
    """to_sparse(sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None): what is not zero, as a sparse tensor;
    the dimensions after the first `sparse_dim` are dense."""
    if sparse_dim is not None:
        if layout is not None or blocksize is not None or dense_dim is not None:
            raise TypeError("to_sparse() received an invalid combination of arguments")
        return with_sparse_dims(self, sparse_dim)
    wanted = sparse_coo if layout is None else layout
    if wanted is strided:
        raise RuntimeError("to_sparse: unexpected conversion from Strided to Strided layout")
    ndim, own = self.array.ndim, layout_of(self)
    blocksize = (blocksize, blocksize) if isinstance(blocksize, int) else blocksize
    if own is wanted and (blocksize is None or tuple(blocksize) == self.array.block):
        return self
    if wanted is sparse_coo:
        if blocksize is not None:
            raise RuntimeError("to_sparse: conversion to Sparse layout does not use the blocksize argument")
        count = self.array.ndim - len(self.array.dense_shape) if own is not strided else ndim - (dense_dim or 0)
        return record(sparse_layout, "ToSparseBackward1", self, Form(sparse_coo, count))
    return compressed(self, wanted, blocksize, dense_dim)


def with_sparse_dims(t: Any, sparse_dim: int) -> Any:
    ndim = t.array.ndim
    if layout_of(t) is sparse_coo:
        if t.array.sparse_dim != sparse_dim:
            first = "to_sparse: conversion from Sparse to Sparse with sparse_dim argument !=self.sparse_dim()"
            raise RuntimeError(f"{first} is not supported")
        return t
    if ndim > 0 and sparse_dim == 0:
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")
    if not 0 <= sparse_dim <= ndim:
        raise RuntimeError(
            f"dense_to_sparse: sparse_dim argument must be in [0,{ndim}] range, but {sparse_dim} is given"
        )
    return record(sparse_layout, "ToSparseBackward0", t, Form(sparse_coo, sparse_dim))


def compressed(t: Any, wanted: layout_class, blocksize: Any, dense_dim: int | None) -> Any:
    """A tensor in one of the compressed layouts."""
    shape = t.array.shape
    dense = len(t.array.dense_shape) if is_sparse(t) else dense_dim or 0
    count = len(shape) - dense
    if count < 2:
        raise RuntimeError(
            f"to_sparse: conversion to {NAMES[wanted]} for input tensors with shape [{', '.join(map(str, shape))}] "
            "is not "
            "supported: there must be at least two sparse dimensions"
        )
    block = (1, 1)
    if wanted in IN_BLOCKS:
        if blocksize is None:
            raise RuntimeError(
                f"to_sparse: conversion from {NAMES[layout_of(t)]} to {NAMES[wanted]} requires blocksize"
            )
        block = (int(blocksize[0]), int(blocksize[1]))
        sides = shape[count - 2 : count]
        if sides[0] % block[0] or sides[1] % block[1]:
            raise RuntimeError(
                f"tensor sparse size ({sides[0]},{sides[1]}) must be divisible by given blocksize "
                f"({block[0]},{block[1]})"
            )
    elif blocksize is not None:
        raise RuntimeError(f"to_sparse: conversion to {NAMES[wanted]} layout does not use the blocksize argument")
    integer = t.array.plain.dtype if isinstance(t.array, CompressedArray) else None
    node = f"ToSparse{NAMES[wanted][6:]}Backward0"
    return record(sparse_layout, node, t, Form(wanted, count, block, integer))


def to_sparse_coo(self: Tensor) -> Tensor:
    """to_sparse_coo(): what is not zero, as a sparse tensor of coordinates and values."""
    return to_sparse(self)


def to_sparse_csr(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """to_sparse_csr(dense_dim=None): as a sparse tensor of compressed rows."""
    return to_sparse(self, layout=sparse_csr, dense_dim=dense_dim)


def to_sparse_csc(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """to_sparse_csc(dense_dim=None): as a sparse tensor of compressed columns."""
    return to_sparse(self, layout=sparse_csc, dense_dim=dense_dim)


def to_sparse_bsr(self: Tensor, blocksize: Shape | int, dense_dim: int | None = None) -> Tensor:
    """to_sparse_bsr(blocksize, dense_dim=None): as a sparse tensor of compressed rows of blocks."""
    return to_sparse(self, layout=sparse_bsr, blocksize=blocksize, dense_dim=dense_dim)


def to_sparse_bsc(self: Tensor, blocksize: Shape | int, dense_dim: int | None = None) -> Tensor:
    """to_sparse_bsc(blocksize, dense_dim=None): as a sparse tensor of compressed columns of blocks."""
    return to_sparse(self, layout=sparse_bsc, blocksize=blocksize, dense_dim=dense_dim)


def to_dense(self: Tensor, dtype: Dtype | None = None, *, masked_grad: bool | None = None) -> Tensor:
    """to_dense(dtype=None, *, masked_grad=True): as a dense tensor, in another dtype if one is given. The gradient is
    one of the elements that the sparse tensor holds, unless masked_grad is False."""
    t = self
    if is_sparse(t):
        t = apply(sparse_to_dense, t, masked_grad is not False)
    return t if dtype is None else t.to(dtype)


# -- the parts of a sparse tensor --------------------------------------------------------------------------------------


def coalesce(self: Tensor) -> Tensor:
    """coalesce(): in order, with one value for each place."""
    return self if must_be_coo("coalesce", self).coalesced else apply(sparse_coalesced, self)


def is_coalesced(self: Tensor) -> bool:
    """is_coalesced(): is there one value for each place, in order?"""
    return must_be_coo("is_coalesced", self).coalesced


def indices(self: Tensor) -> Tensor:
    """indices(): the places of the values, a column for each."""
    array = must_be_coo("indices", self)
    if not array.coalesced:
        first = "Cannot get indices on an uncoalesced tensor, please call .coalesce() first"
        raise errors.mistake(RuntimeError, first, fix="x.coalesce().indices()")
    return wrap(array.indices)


def values(self: Tensor) -> Tensor:
    """values(): the values of a sparse tensor, through which gradients flow."""
    if not is_sparse(self):
        raise expected("values", "sparse", self)
    if layout_of(self) is sparse_coo and not self.array.coalesced:
        first = "Cannot get values on an uncoalesced tensor, please call .coalesce() first"
        raise errors.mistake(RuntimeError, first, fix="x.coalesce().values()")
    return apply(sparse_values, self)


def coo_part(t: Any, name: str) -> SparseArray:
    if not is_sparse(t):
        raise strided_refusal(name)
    return must_be_coo(name, t)


def _indices(self: Tensor) -> Tensor:
    """_indices(): the places of the values, coalesced or not."""
    return wrap(coo_part(self, "_indices").indices)


def _values(self: Tensor) -> Tensor:
    """_values(): the values on the same memory, without their history."""
    return wrap(coo_part(self, "_values").values)


def _nnz(self: Tensor) -> int:
    """_nnz(): how many values a sparse tensor holds."""
    if not is_sparse(self):
        raise strided_refusal("_nnz")
    return int(self.array.nnz)


def sparse_dim(self: Tensor) -> int:
    """sparse_dim(): how many dimensions are sparse; none of a dense tensor."""
    return int(self.array.sparse_dim) if is_sparse(self) else 0


def dense_dim(self: Tensor) -> int:
    """dense_dim(): how many dimensions are dense."""
    return len(self.array.dense_shape) if is_sparse(self) else int(self.array.ndim)


def _dimI(self: Tensor) -> int:
    """_dimI(): sparse_dim()"""
    return coo_part(self, "_dimI").sparse_dim


def _dimV(self: Tensor) -> int:
    """_dimV(): dense_dim()"""
    return len(coo_part(self, "_dimV").dense_shape)


def _coalesced_(self: Tensor, coalesced: bool) -> Tensor:
    """_coalesced_(coalesced): say that it is coalesced, or that it is not."""
    array = coo_part(self, "_coalesced_")
    self.array = SparseArray(array.indices, array.values, array.shape, coalesced)
    return self


def part(name: str, kinds: tuple[layout_class, ...], what: str, attribute: str) -> Callable[..., Any]:
    """One of the two lists of indices of the compressed layouts."""

    def method(self: Tensor) -> Tensor:
        if layout_of(self) not in kinds:
            raise expected(name, f"sparse {what} compressed", self)
        return wrap(getattr(self.array, attribute))

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"{name}(): where {what}s begin, or what is in them, in a compressed layout."
    return method


crow_indices = part("crow_indices", (sparse_csr, sparse_bsr), "row", "compressed")
col_indices = part("col_indices", (sparse_csr, sparse_bsr), "row", "plain")
ccol_indices = part("ccol_indices", (sparse_csc, sparse_bsc), "column", "compressed")
row_indices = part("row_indices", (sparse_csc, sparse_bsc), "column", "plain")


def sparse_mask(self: Tensor, mask: Tensor) -> Tensor:
    """sparse_mask(mask): the elements at the places of a sparse tensor, as one."""
    if not is_sparse(mask):
        raise strided_refusal("sparse_mask")
    if self.array.shape != mask.array.shape:
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {errors.size(self.array.shape)} but "
            "mask has "
            f"size {errors.size(mask.array.shape)}"
        )
    return apply(sparse_masked, self, mask.array, not is_sparse(self))


# -- sizes -------------------------------------------------------------------------------------------------------------


def sparse_resize_(self: Tensor, size: Shape, sparse_dim: int, dense_dim: int) -> Tensor:
    """sparse_resize_(size, sparse_dim, dense_dim): give a sparse tensor another size, in place."""
    array = coo_part(self, "sparse_resize_")
    shape = tuple(size)
    if sparse_dim + dense_dim != len(shape):
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(shape)}, sparse_dim = "
            f"{sparse_dim}, dense_dim = {dense_dim}"
        )
    if array.nnz and (sparse_dim != array.sparse_dim or dense_dim != len(array.dense_shape)):
        which = "sparse" if sparse_dim != array.sparse_dim else "dense"
        raise RuntimeError(
            f"changing the number of {which} dimensions (from {array.sparse_dim} to {sparse_dim}) on a non-empty "
            "sparse "
            "tensor is not supported."
        )
    if array.nnz and any([new < old for new, old in zip(shape, array.shape)]):
        raise RuntimeError(
            f"shrinking the size of sparse dimensions (from {list(array.sparse_shape)} to "
            f"{list(shape[:sparse_dim])}) on "
            "a non-empty sparse tensor is not supported."
        )
    values = np.zeros((array.nnz, *shape[sparse_dim:]), array.dtype)
    values[tuple([slice(0, n) for n in array.values.shape])] = array.values
    kept = array.indices if array.nnz else np.zeros((sparse_dim, 0), np.int64)
    self.array = SparseArray(kept, values, shape, array.coalesced)
    count_change(self)
    return self


def sparse_resize_and_clear_(self: Tensor, size: Shape, sparse_dim: int, dense_dim: int) -> Tensor:
    """sparse_resize_and_clear_(size, sparse_dim, dense_dim): make it zeros of another size, in place."""
    self.array = nothing(tuple(size), coo_part(self, "sparse_resize_and_clear_").dtype, sparse_dim)
    count_change(self)
    return self


def resize_as_sparse_(self: Tensor, the_template: Tensor) -> Tensor:
    """resize_as_sparse_(the_template): sparse_resize_ to the size of another."""
    other = the_template.array
    return sparse_resize_(self, other.shape, other.sparse_dim, len(other.dense_shape))


@sparse_form("resize_as_", any_layout=True)
def resize_as_(input: Any, the_template: Any, *, memory_format: Any = None) -> Any:
    return resize_as_sparse_(input, the_template)


METHODS: dict[str, Callable[..., Any]] = checked_methods(
    to_sparse, to_sparse_coo, to_sparse_csr, to_sparse_csc, to_sparse_bsr, to_sparse_bsc, to_dense, coalesce,
    is_coalesced, indices, values, _indices, _values, _nnz, sparse_dim, dense_dim, _dimI, _dimV, _coalesced_,
    crow_indices, col_indices, ccol_indices, row_indices, sparse_mask, sparse_resize_, sparse_resize_and_clear_,
    resize_as_sparse_,
)  # fmt: skip
passes(*METHODS)
