"""The arrays of sparse tensors, which stand in the place of an ndarray, and what is computed on them, without history.

`SparseArray` holds coordinates and values (the layout COO): element `values[n]` is at `indices[:, n]`, and where
several are at the same place, they add up. It is coalesced if that does not happen and the places are in order.
"""

from __future__ import annotations

from math import prod
from typing import Any, NoReturn

import numpy as np

from leafgrad import errors
from leafgrad._core.held import HELD_ONCE, holders
from leafgrad._core.tensor import SparseArrayBase, links, wrap
from leafgrad._device import Size, layout, sparse_coo
from leafgrad.ops.index.gather import sum_at

Array = Any
Shape = tuple[int, ...]


def not_for_sparse(name: str, kind: layout) -> Exception:
    """The error for an operation that sparse tensors do not have."""
    backend = "SparseCPU" if kind is sparse_coo else "SparseCsrCPU"
    return errors.mistake(
        NotImplementedError,
        f"Could not run 'aten::{name}' with arguments from the '{backend}' backend. This could be because the operator "
        "doesn't exist for this backend.",
        fix="x.to_dense()",
    )


def strided_refusal(name: str) -> Exception:
    """The error for a question that only sparse tensors answer."""
    return errors.mistake(
        NotImplementedError,
        f"Could not run 'aten::{name}' with arguments from the 'CPU' backend. This could be because the operator "
        "doesn't exist for this backend.",
        fix="x.to_sparse()",
    )


class Flags:
    """What is asked of `array.flags`."""

    c_contiguous = writeable = owndata = forc = True


class AnySparse(SparseArrayBase):
    """What all layouts have in common with an ndarray: shape and dtype, but no memory that holds all elements."""

    flags = Flags()
    layout: layout
    values: Array

    def __init__(self, shape: Shape, values: Array) -> None:
        self.shape = tuple(shape)
        self.values = values

    @property
    def dtype(self) -> Any:
        return self.values.dtype

    @property
    def itemsize(self) -> int:
        return int(self.values.itemsize)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def base(self) -> Array:
        """Not None: its memory is never free to be written to."""
        return self.values

    def __len__(self) -> int:
        return self.shape[0]

    def coo(self) -> SparseArray:
        raise NotImplementedError

    def coalesce(self) -> Any:
        """One value for each place, in order, which the compressed layouts have anyway."""
        return self

    def with_values(self, values: Array) -> Any:
        """Other values at the same places."""
        raise NotImplementedError

    def parts(self) -> tuple[Any, ...]:
        """What it is made of, in the order of PyTorch's files."""
        raise NotImplementedError

    def pick(self, x: Any) -> Array:
        """What another array has at its places, in the order of its values."""
        raise NotImplementedError

    def copy(self) -> Any:
        return self.with_values(self.values.copy())

    def view(self) -> Any:
        return self.with_values(self.values.view())

    def astype(self, kind: Any) -> Any:
        return self.with_values(self.values.astype(kind))

    def conj(self) -> Any:
        return self.with_values(self.values.conj())

    @property
    def real(self) -> Any:
        return self.with_values(self.values.real)

    def dense(self) -> Array:
        return self.coo().dense()

    # what rules of operations on dense tensors do to a gradient, where that may be a sparse one

    def reshape(self, *shape: Any) -> Array:
        return self.dense().reshape(*shape)

    def sum(self, *args: Any, **options: Any) -> Array:
        return self.dense().sum(*args, **options)

    def transpose(self, *dims: Any) -> Array:
        return self.dense().transpose(*dims)

    def __getitem__(self, index: Any) -> Array:
        return self.dense()[index]

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """No ndarray is made of it by accident."""
        raise TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        """NumPy was asked to compute with it: the engine adds gradients up, and rules of operations on dense tensors
        may multiply a sparse gradient by a factor."""
        result: Any = None
        if method == "__call__" and not options:
            if ufunc is np.add:
                result = added(*inputs)
            elif ufunc is np.multiply:
                result = product(*inputs)
            elif ufunc is np.negative:
                result = inputs[0].with_values(-inputs[0].values)
            elif ufunc is np.isnan:  # of what it holds
                return np.isnan(inputs[0].values)
            elif ufunc is np.conjugate:
                result = inputs[0].conj()
            elif ufunc is np.true_divide and np.ndim(inputs[1]) == 0 and not isinstance(inputs[1], AnySparse):
                result = inputs[0].with_values(np.true_divide(inputs[0].values, inputs[1]))
        if result is None:
            raise not_for_sparse(ufunc.__name__, self.layout)
        if out is None:
            return result
        out[0][...] = dense_of(result)
        return out[0]

    def __add__(self, other: Any) -> Any:
        return added(self, other)

    def __radd__(self, other: Any) -> Any:
        return added(other, self)

    def __mul__(self, other: Any) -> Any:
        return product(self, other)

    def __rmul__(self, other: Any) -> Any:
        return product(other, self)

    def __neg__(self) -> Any:
        return self.with_values(-self.values)


class SparseArray(AnySparse):
    """The layout COO: `indices`, of int64, has a row for each sparse dimension and a column for each of the `values`,
    whose further dimensions are the dense ones."""

    layout = sparse_coo

    def __init__(self, indices: Array, values: Array, shape: Shape, coalesced: bool = False) -> None:
        super().__init__(shape, values)
        self.indices = indices
        self.coalesced = coalesced or indices.shape[1] < 2

    @property
    def nnz(self) -> int:
        return int(self.indices.shape[1])

    @property
    def sparse_dim(self) -> int:
        return int(self.indices.shape[0])

    @property
    def sparse_shape(self) -> Shape:
        return self.shape[: self.sparse_dim]

    @property
    def dense_shape(self) -> Shape:
        return self.shape[self.sparse_dim :]

    def coo(self) -> SparseArray:
        return self

    def with_values(self, values: Array) -> SparseArray:
        return SparseArray(self.indices, values, self.shape, self.coalesced)

    def parts(self) -> tuple[Any, ...]:
        return self.indices, self.values, Size(self.shape), self.coalesced

    def pick(self, x: Any) -> Array:
        return found_at(x, self.indices)

    def copy(self) -> SparseArray:
        return SparseArray(self.indices.copy(), self.values.copy(), self.shape, self.coalesced)

    def keys(self) -> Array:
        """The places as single numbers, row by row."""
        return linear(self.indices, self.sparse_shape)

    def coalesce(self) -> SparseArray:
        if self.coalesced:
            return self
        order, first, group = groups(self.keys())
        values = self.values
        if len(first) == self.nnz:
            return SparseArray(self.indices[:, order], values[order], self.shape, True)
        if values.dtype.kind == "b":
            summed = np.logical_or.reduceat(values[order], first, axis=0)
        else:
            summed = sum_at(values[order], (len(first), *values.shape[1:]), 0, 1, group)
        return SparseArray(self.indices[:, order[first]], summed, self.shape, True)

    def dense(self) -> Array:
        if self.values.dtype.kind == "b":
            own = self.coalesce()
            out = np.zeros((prod(self.sparse_shape), *self.dense_shape), np.bool_)
            out[own.keys()] = own.values
        else:
            out = sum_at(self.values, (prod(self.sparse_shape), *self.dense_shape), 0, 1, self.keys())
        return out.reshape(self.shape)

    def transposed(self, dims: Shape) -> SparseArray:
        """Its dimensions in another order; sparse ones stay sparse."""
        sparse = [d for d in dims if d < self.sparse_dim]
        dense = [d - self.sparse_dim + 1 for d in dims if d >= self.sparse_dim]
        shape = tuple([self.shape[d] for d in dims])
        same = sparse == list(range(self.sparse_dim))
        values = self.values.transpose(0, *dense)
        return SparseArray(self.indices[sparse], values, shape, self.coalesced and same)


def linear(indices: Array, shape: Shape) -> Array:
    """Places as single numbers, row by row."""
    keys = np.zeros(indices.shape[1], np.int64)
    for row, size in zip(indices, shape):
        keys = keys * size + row
    return keys


def groups(keys: Array) -> tuple[Array, Array, Array]:
    """An order in which equal keys stand together; where in it each group of them begins; to which group each one
    belongs."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    begins = np.ones(len(ordered), np.bool_)
    begins[1:] = ordered[1:] != ordered[:-1]
    return order, np.flatnonzero(begins), np.cumsum(begins) - 1


def nothing(shape: Shape, kind: Any, sparse_dim: int | None = None) -> SparseArray:
    """Only zeros."""
    count = len(shape) if sparse_dim is None else sparse_dim
    return SparseArray(np.zeros((count, 0), np.int64), np.zeros((0, *shape[count:]), kind), shape, True)


def sparsified(x: Array, sparse_dim: int) -> SparseArray:
    """What is not zero in an ndarray."""
    kept = x != 0
    if sparse_dim < x.ndim:
        kept = kept.any(axis=tuple(range(sparse_dim, x.ndim)))
    if sparse_dim == 0:
        return SparseArray(np.zeros((0, int(bool(kept))), np.int64), x[None][: int(bool(kept))].copy(), x.shape, True)
    places = np.nonzero(kept)
    return SparseArray(np.stack(places).astype(np.int64), x[places], x.shape, True)


def dense_of(x: Any) -> Array:
    return x.dense() if isinstance(x, AnySparse) else x


def own_memory(x: Any) -> Any:
    """An array that is a view (`last_view` in leafgrad/_core/held.py) if nobody else holds its memory; else a copy."""
    values = x.values if isinstance(x, AnySparse) else x
    moved = values.flags.c_contiguous and values.base is not None and holders(values) <= HELD_ONCE
    if not moved:
        return x.copy()
    # which is not known to be coalesced any more, as in PyTorch
    return SparseArray(x.indices, values, x.shape) if isinstance(x, SparseArray) else x


def add_sparse_gradient(leaf: Any, g: Any) -> None:
    """Add a gradient to `.grad` of a leaf, where it is sparse or the leaf is. The sum stays sparse if both are."""
    sofar = leaf._grad
    if sofar is None:
        leaf._grad = wrap(own_memory(g))
    elif isinstance(g, AnySparse) and not isinstance(sofar.array, AnySparse):
        own = g.coo().coalesce()
        sofar.array[tuple(own.indices)] += own.values
        sofar.version[0] += 1
    elif isinstance(g, AnySparse) or not isinstance(sofar.array, AnySparse):
        sofar.array = sofar.array + g
        sofar.version[0] += 1
    else:
        leaf._grad = wrap(g + sofar.array)


links.add_sparse_gradient = add_sparse_gradient


def found_at(x: Any, indices: Array) -> Array:
    """The elements (or dense parts) of an array at these places; zeros where a sparse one has nothing."""
    if not isinstance(x, AnySparse):
        return x[tuple(indices)] if len(indices) else np.repeat(np.asarray(x)[None], indices.shape[1], axis=0)
    own = x.coo().coalesce()
    count = len(indices)
    if own.sparse_dim != count:
        return found_at(own.dense(), indices)
    known = own.keys()
    wanted = linear(indices, own.sparse_shape)
    if not len(known):
        return np.zeros((len(wanted), *own.dense_shape), own.dtype)
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    values = own.values[at]
    values[known[at] != wanted] = 0
    return values


def common(a: Any, b: Any) -> Any:
    """The dtype of a result."""
    return np.result_type(a.dtype, b.dtype) if a.dtype != b.dtype else a.dtype


def added(a: Any, b: Any) -> Any:
    """a + b; dense if one of them is."""
    if not isinstance(a, AnySparse) and not isinstance(b, AnySparse):
        return np.add(a, b)
    if isinstance(a, AnySparse) and isinstance(b, AnySparse):
        return merged(a.coo(), b.coo())
    dense, sparse = (b, a) if isinstance(a, AnySparse) else (a, b)
    out = np.array(np.broadcast_to(dense, sparse.shape), common(dense, sparse))
    own = sparse.coo().coalesce()
    if own.sparse_dim == 0:
        return out + own.dense()
    out[tuple(own.indices)] += own.values
    return out


def merged(a: SparseArray, b: SparseArray) -> SparseArray:
    """The sum of two, as PyTorch adds them: one walk through both, in the order in which they are."""
    kind = common(a, b)
    if a.sparse_dim != b.sparse_dim:
        dims = min(a.sparse_dim, b.sparse_dim)
        return merged(less_sparse(a, dims), less_sparse(b, dims))
    if not a.nnz or not b.nnz:
        own = b if not a.nnz else a
        return SparseArray(own.indices, own.values.astype(kind), own.shape, own.coalesced)
    from_a, from_b, count = pairing(a, b)
    values = np.zeros((count, *a.values.shape[1:]), kind)
    indices = np.empty((a.sparse_dim, count), np.int64)
    values[from_a] = a.values
    values[from_b] += b.values
    indices[:, from_a] = a.indices
    indices[:, from_b] = b.indices
    return SparseArray(indices, values, a.shape, a.coalesced and b.coalesced)


def pairing(a: SparseArray, b: SparseArray) -> tuple[Array, Array, int]:
    """Where the elements of each go in the sum of two, and how many there are."""
    ours, theirs = a.keys(), b.keys()
    if a.coalesced and b.coalesced:
        every = np.union1d(ours, theirs)
        return np.searchsorted(every, ours), np.searchsorted(every, theirs), len(every)
    from_a, from_b = [], []
    i = j = at = 0
    x, y = ours.tolist(), theirs.tolist()
    while i < len(x) or j < len(y):
        take_a = j == len(y) or (i < len(x) and x[i] <= y[j])
        take_b = i == len(x) or (j < len(y) and y[j] <= x[i])
        if take_a:
            from_a.append(at)
            i += 1
        if take_b:
            from_b.append(at)
            j += 1
        at += 1
    return np.array(from_a, np.int64), np.array(from_b, np.int64), at


def less_sparse(x: SparseArray, sparse_dim: int) -> SparseArray:
    """The same with fewer sparse dimensions."""
    if x.sparse_dim == sparse_dim:
        return x
    order, first, group = groups(linear(x.indices[:sparse_dim], x.shape[:sparse_dim]))
    inner = x.shape[sparse_dim : x.sparse_dim]
    values = np.zeros((len(first), *inner, *x.dense_shape), x.dtype)
    np.add.at(values, (group, *x.indices[sparse_dim:, order]), x.values[order])
    return SparseArray(x.indices[:sparse_dim, order[first]], values, x.shape, True)


def product(a: Any, b: Any) -> Any:
    """a * b, element by element: sparse if one of them is."""
    if not isinstance(a, AnySparse) and not isinstance(b, AnySparse):
        return np.multiply(a, b)
    if isinstance(a, AnySparse) and isinstance(b, AnySparse):
        return intersection(a.coo(), b.coo())
    if isinstance(a, AnySparse):
        return scaled(a.coo(), b, lambda x, y: x * y)
    return scaled(b.coo(), a, lambda x, y: y * x)


def scaled(x: SparseArray, other: Any, times: Any) -> SparseArray:
    """A sparse array times a dense one that may be broadcast, or that x may have to be broadcast to."""
    other = np.asarray(other)
    if other.ndim == 0:
        return x.with_values(times(x.values, other.astype(common(x, other), copy=False)))
    shape = np.broadcast_shapes(x.shape, other.shape)
    if shape != x.shape:
        x = expanded(x, shape)
    other = np.broadcast_to(other, shape)
    return x.with_values(times(x.values, found_at(other, x.indices)))


def expanded(x: SparseArray, shape: Shape) -> SparseArray:
    """A sparse array, broadcast: each element is copied to all its places."""
    more = len(shape) - x.ndim
    indices = np.concatenate([np.zeros((more, x.nnz), np.int64), x.indices])
    values, old = x.values, (1,) * more + x.shape
    count = x.sparse_dim + more
    for dim in reversed(range(count)):
        if old[dim] != shape[dim]:
            times = shape[dim]
            indices = np.tile(indices, times)
            indices[dim] = np.repeat(np.arange(times), values.shape[0])
            values = np.concatenate([values] * times) if times else values[:0]
    values = np.array(np.broadcast_to(values, (values.shape[0], *shape[count:])))
    return SparseArray(indices, values, shape).coalesce()


def intersection(a: SparseArray, b: SparseArray) -> SparseArray:
    """What both have, multiplied."""
    shape = np.broadcast_shapes(a.shape, b.shape)
    flags = a.coalesced and b.coalesced
    a = (a if a.shape == shape else expanded(a, shape)).coalesce()
    b = (b if b.shape == shape else expanded(b, shape)).coalesce()
    if a.sparse_dim != b.sparse_dim:
        dims = min(a.sparse_dim, b.sparse_dim)
        a, b = less_sparse(a, dims), less_sparse(b, dims)
    _, ours, theirs = np.intersect1d(a.keys(), b.keys(), assume_unique=True, return_indices=True)
    return SparseArray(a.indices[:, ours], a.values[ours] * b.values[theirs], shape, flags)


# -- products of matrices ----------------------------------------------------------------------------------------------


def matrix_product(a: Any, b: Any) -> Any:
    """a @ b of two matrices, or of one and a vector: dense if one of them is, sparse and coalesced otherwise."""
    if not isinstance(a, AnySparse) and not isinstance(b, AnySparse):
        return a @ b
    if isinstance(a, AnySparse) and isinstance(b, AnySparse):
        return sparse_product(a.coo().coalesce(), b.coo().coalesce())
    if isinstance(a, AnySparse):
        own = a.coo()
        factors = own.values if b.ndim == 1 else own.values[:, None]
        return sum_at(factors * b[own.indices[1]], (a.shape[0], *b.shape[1:]), 0, 1, own.indices[0])
    own = b.coo()
    parts = own.values[:, None] * a.T[own.indices[0]]
    return np.ascontiguousarray(sum_at(parts, (b.shape[1], a.shape[0]), 0, 1, own.indices[1]).T)


def sparse_product(a: SparseArray, b: SparseArray) -> SparseArray:
    """Every element of a meets the row of b that its column names."""
    begins = np.searchsorted(b.indices[0], np.arange(b.shape[0] + 1))
    first = begins[a.indices[1]]
    counts = begins[a.indices[1] + 1] - first
    ours = np.repeat(np.arange(a.nnz), counts)
    within = np.arange(len(ours)) - np.repeat(np.cumsum(counts) - counts, counts)
    theirs = first[ours] + within
    indices = np.stack([a.indices[0][ours], b.indices[1][theirs]])
    return SparseArray(indices, a.values[ours] * b.values[theirs], (a.shape[0], b.shape[1])).coalesce()
