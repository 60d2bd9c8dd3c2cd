"""The compressed layouts: rows (CSR, and BSR by blocks) or columns (CSC, BSC) that say where in the values they begin.

They are for keeping and for exchange. What is computed with them is computed with coordinates (`coo`).
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from leafgrad._device import Size, layout, sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr
from leafgrad.ops.sparse.arrays import AnySparse, Array, Shape, SparseArray, found_at, sparsified

BY_ROWS = (sparse_csr, sparse_bsr)
IN_BLOCKS = (sparse_bsr, sparse_bsc)
COMPRESSED = (sparse_csr, sparse_csc, sparse_bsr, sparse_bsc)


class CompressedArray(AnySparse):
    """`compressed[n]` and `compressed[n + 1]` say which part of `plain` and `values` belongs to row (or column) n.
    `plain` are the columns (rows). In BSR and BSC rows and columns are those of blocks. Dimensions before the last two,
    of which there may be any number, are those of batches."""

    def __init__(self, kind: layout, compressed: Array, plain: Array, values: Array, shape: Shape) -> None:
        super().__init__(shape, values)
        self.layout = kind
        self.compressed = compressed
        self.plain = plain

    @property
    def batch(self) -> Shape:
        return tuple(self.compressed.shape[:-1])

    @property
    def nnz(self) -> int:
        return int(self.plain.shape[-1])

    @property
    def sparse_dim(self) -> int:
        return 2

    @property
    def block(self) -> tuple[int, int]:
        at = len(self.batch) + 1
        return tuple(self.values.shape[at : at + 2]) if self.layout in IN_BLOCKS else (1, 1)

    @property
    def dense_shape(self) -> Shape:
        return self.shape[len(self.batch) + 2 :]

    def with_values(self, values: Array) -> CompressedArray:
        return CompressedArray(self.layout, self.compressed, self.plain, values, self.shape)

    def parts(self) -> tuple[Any, ...]:
        return self.compressed, self.plain, self.values, Size(self.shape)

    def copy(self) -> CompressedArray:
        parts = self.compressed.copy(), self.plain.copy(), self.values.copy()
        return CompressedArray(self.layout, *parts, self.shape)

    def indices(self) -> Array:
        """The coordinates of all values, one after the other as they lie in memory: batches, row, column."""
        count, nnz = prod(self.batch), self.nnz
        begins = self.compressed.reshape(count, self.compressed.shape[-1])
        along = [np.repeat(np.arange(begins.shape[1] - 1), np.diff(row)) for row in begins]
        major = np.concatenate(along) if along else np.zeros(0, np.int64)
        rows, columns = major.astype(np.int64), self.plain.reshape(-1).astype(np.int64)
        if self.layout not in BY_ROWS:
            rows, columns = columns, rows
        batch = np.repeat(np.arange(count), nnz)
        if self.layout in IN_BLOCKS:
            height, width = self.block
            inner = np.indices((height, width)).reshape(2, -1)
            rows = (rows[:, None] * height + inner[0]).reshape(-1)
            columns = (columns[:, None] * width + inner[1]).reshape(-1)
            batch = np.repeat(batch, height * width)
        outer = np.unravel_index(batch, self.batch) if self.batch else ()
        return np.stack([*outer, rows, columns]).astype(np.int64)

    def coo(self) -> SparseArray:
        indices = self.indices()
        values = self.values.reshape(indices.shape[1], *self.dense_shape)
        in_order = self.layout is sparse_csr
        return SparseArray(indices, values, self.shape, in_order)

    def pick(self, x: Any) -> Array:
        return found_at(x, self.indices()).reshape(self.values.shape)


class Form:
    """A layout, with what else has to be said to bring elements into it."""

    def __init__(self, kind: layout, sparse_dim: int = 2, block: tuple[int, int] = (1, 1), integer: Any = None) -> None:
        self.kind = kind
        self.sparse_dim = sparse_dim
        self.block = block
        self.integer = np.dtype(np.int64) if integer is None else integer  # of the indices

    @staticmethod
    def of(array: Any) -> Form:
        if isinstance(array, CompressedArray):
            return Form(array.layout, array.ndim - len(array.dense_shape), array.block, array.plain.dtype)
        return Form(sparse_coo, array.sparse_dim)

    def of_array(self, x: Any) -> AnySparse:
        """An array in this layout."""
        if isinstance(x, AnySparse):
            found = x.coo().coalesce() if self.kind is not sparse_coo else x.coo()
        else:
            found = sparsified(x, self.sparse_dim)
        if self.kind is sparse_coo:
            if found.sparse_dim != self.sparse_dim:
                return sparsified(found.dense(), self.sparse_dim)
            return found
        return self.compress(found)

    def compress(self, x: SparseArray) -> CompressedArray:
        batch = x.shape[: x.sparse_dim - 2]
        height, width = self.block
        rows, columns = x.indices[-2], x.indices[-1]
        shape = (x.shape[x.sparse_dim - 2] // height, x.shape[x.sparse_dim - 1] // width)
        major, minor, length = rows // height, columns // width, shape[0]
        if self.kind not in BY_ROWS:
            major, minor, length = minor, major, shape[1]
        sizes = (*batch, length, max(shape))
        keys = np.ravel_multi_index((*x.indices[:-2], major, minor), sizes) if x.nnz else np.zeros(0, np.int64)
        places, at = np.unique(keys, return_inverse=True)
        values = np.zeros((len(places), height, width, *x.dense_shape), x.dtype)
        values[at, rows % height, columns % width] = x.values
        *outer, major, minor = np.unravel_index(places, sizes)
        count = int(np.prod(batch)) if batch else 1
        which = np.ravel_multi_index(outer, batch) if batch else np.zeros(len(places), np.int64)
        filled = np.bincount(which, minlength=count)
        if len({*filled.tolist()}) > 1:
            raise RuntimeError("Expect the same number of specified elements per batch.")
        begins = np.zeros((count, length + 1), self.integer)
        for number in range(count):
            begins[number, 1:] = np.cumsum(np.bincount(major[which == number], minlength=length))
        nnz = int(filled[0]) if count else 0
        if self.kind not in IN_BLOCKS:
            values = values[:, 0, 0]
        return CompressedArray(
            self.kind, begins.reshape(*batch, length + 1), minor.astype(self.integer).reshape(*batch, nnz),
            values.reshape(*batch, nnz, *values.shape[1:]), x.shape,
        )  # fmt: skip
