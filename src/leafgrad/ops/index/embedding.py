"""Rows of a table: embedding."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.inplace import count_change
from leafgrad._core.tensor import TensorBase, is_meta, wrap
from leafgrad._dtypes import type_name
from leafgrad._missing import part
from leafgrad.ops.creation.fresh import zero_like
from leafgrad.ops.index.checks import LONG_OR_INT, outside
from leafgrad.ops.index.gather import index_sum, take_at
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.reduce.common import raw
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Tensor, declared

A = Any  # an array, or a tensor under create_graph
Array = Any


@op
class embedding(Family):
    """embedding(input, weight, padding_idx=None): the rows of weight that the indices in input name; the row
    `padding_idx` gets no gradient."""

    shows = {"weight_sym_argsize_0": ...}
    saved_as = {"by_frequency": "scale_grad_by_freq", "weight_shape": ""}
    inputs = ("weight", "indices")
    options = ("padding_idx", "by_frequency", "sparse")
    public_name = ""  # nn.functional has it
    row_major = True
    pseudo_gradient = ("padding_idx", "scale_grad_by_freq")  # rows without one, rows scaled by their frequency

    def kernel(weight: A, indices: A, padding_idx: Any, by_frequency: Any, sparse: bool) -> A:
        return take_at(weight, 0, 1, indices)

    def call(
        input: Tensor,
        weight: Tensor,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Tensor:
        check_indices(input, "embedding")
        if weight.array.ndim != 2:
            raise errors.mistake(RuntimeError, "'weight' must be 2-D", ("weight", errors.describe(weight)))
        if sparse and scale_grad_by_freq:
            first = "embedding_backward: scale_grad_by_freq not supported with sparse gradients"
            raise errors.mistake(RuntimeError, first)
        rows = weight.array.shape[0]
        padding_idx = shown_padding(padding_idx, weight)
        if (wrong := outside(input.array, 0, rows)) is not None:
            rows_in = ("index", f"{wrong}, of {rows} rows"), ("weight", errors.describe(weight))
            raise errors.mistake(IndexError, "index out of range in self", *rows_in)
        if max_norm is not None and not is_meta(weight.array):
            shrink_rows(weight, input.array, max_norm, norm_type)
        return embedding.record(weight, input, padding_idx, scale_grad_by_freq, sparse)

    def vjp_weight(g: A, indices: A, weight_shape: A, padding_idx: A, by_frequency: A, sparse: A) -> A:
        at = raw(indices)
        if sparse:
            return part("ops.sparse.rows").rows_of_gradient(g, at, weight_shape, padding_idx)
        if by_frequency:
            factors = np.ones(at.shape, g.array.dtype if isinstance(g, TensorBase) else g.dtype)
            factors /= np.bincount(at.reshape(-1), minlength=weight_shape[0])[at]
            g = g * factors[..., None]
        if padding_idx is not None:  # also if its gradient is nan
            padding = (at == padding_idx)[..., None]
            g = where(wrap(padding) if isinstance(g, TensorBase) else padding, zero_like(g), g)
        return index_sum(g, weight_shape, 0, 1, at)

    def vmap(batch: A, weight: A, indices: A, padding_idx: Any, by_frequency: Any, sparse: bool) -> A:
        if not batch.holds(weight):  # more indices into one table
            return batch.apply((weight, batch.value(indices)), (padding_idx, by_frequency, sparse))
        return batch.take(weight, indices, 0)

    samples = lambda t: [
        S(t(2, 5, dtype="int64", low=0, high=4), t(4, 3)),
        S(t(6, dtype="int64", low=0, high=3), t(3, 2), padding_idx=1),
        S(t(6, dtype="int64", low=0, high=3), t(3, 2), scale_grad_by_freq=True),
        S(t(dtype="int64", low=0, high=3), t(3, 2)),
        S(t(0, dtype="int64", low=0, high=3), t(3, 2)),
    ]


def check_indices(indices: Any, name: str) -> None:
    """The indices of rows must be integers, also if there are none."""
    if indices.array.dtype not in LONG_OR_INT:
        raise errors.mistake(
            RuntimeError,
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{type_name(indices.dtype)} instead (while checking arguments for {name})",
            ("indices", errors.describe(indices)),
        )


def shown_padding(padding_idx: int | None, weight: TensorBase) -> int | None:
    """The row that stands for nothing, counted from the front."""
    rows: int = weight.array.shape[0]
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx % rows


def shrink_rows(weight: TensorBase, indices: Array, max_norm: float, norm_type: float) -> None:
    """Scale down, in place and unrecorded, the rows about to be used whose norm is above max_norm."""
    rows = np.unique(indices)
    norms = np.linalg.norm(weight.array[rows], norm_type, axis=1)
    large = norms > max_norm
    if large.any():
        weight.array[rows[large]] *= (max_norm / (norms[large] + 1e-7))[:, None].astype(weight.array.dtype)
        count_change(weight)


@declared()
def rows_of(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Tensor:
    """embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False): the rows of weight that the
    indices name. nn.functional.embedding is the form for programs."""
    padding = None if padding_idx < 0 else padding_idx
    return embedding.function(indices, weight, padding, None, 2.0, scale_grad_by_freq, sparse)


FUNCTIONS = {"embedding": rows_of}
