"""Gradients of tables of which few rows were used: sparse, where a program asks for that."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad._core.tensor import TensorBase
from leafgrad.ops.index.gather import gather_array, index
from leafgrad.ops.reduce.common import raw
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.sparse.arrays import SparseArray
from leafgrad.ops.sparse.blocks import apply, sparse_fill

A = Any  # an array, or a tensor under create_graph


def rows_of_gradient(g: A, at: Any, shape: tuple[int, ...], padding_idx: int | None) -> A:
    """The gradient of the rows `at` of a table, g, as a sparse one of the whole table."""
    places = at.reshape(-1)
    array = g.array if isinstance(g, TensorBase) else g
    rows = g.reshape((places.size, *array.shape[at.ndim :]))
    if padding_idx is not None:
        kept = np.flatnonzero(places != padding_idx)
        places, rows = places[kept], index(rows, 0, 1, kept)
    form = SparseArray(places[None].astype(np.int64), rows, shape)
    return apply(sparse_fill, rows, form)


@op
class sparse_gather(Family):
    """sparse_gather(input, index, dim): gather, with a sparse gradient."""

    inputs = ("input", "index")
    options = ("dim",)
    shows = {"sparse_grad": True}
    saved_as = {"input_shape": ""}
    node_name = "GatherBackward0"
    public_name = ""
    method = False
    holomorphic = False
    derivatives = 1
    kernel = gather_array
    samples = ValuesOnly(
        "has a sparse gradient",
        lambda t: [S(t(3, 4), t(2, 4, dtype="int64", low=0, high=3))],
        lambda torch, x, index: x.to_sparse().to_dense().gather(0, index, sparse_grad=True),
    )

    def vjp_input(g: A, index: A, dim: A, input_shape: A) -> A:
        at = np.atleast_1d(raw(index))  # a single number is one place of a vector
        places = np.indices(at.shape).reshape(at.ndim, at.size)
        places[dim] = at.reshape(-1)
        values = g.reshape((at.size,))
        return apply(sparse_fill, values, SparseArray(places[: len(input_shape)], values, input_shape))
