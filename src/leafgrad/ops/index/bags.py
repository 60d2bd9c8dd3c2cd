"""Rows of a table, summed, averaged or compared in bags: embedding_bag."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import is_meta, wrap
from leafgrad._dtypes import bfloat16, float16, float32, type_name
from leafgrad.ops.index.checks import outside
from leafgrad.ops.index.embedding import check_indices, embedding, shown_padding
from leafgrad.ops.signature import Tensor, declared

MODES = ("sum", "mean", "max")


def summarised(
    indices: Any,
    weight: Any,
    starts: Any,
    mode: str,
    max_norm: float | None,
    norm_type: float,
    by_frequency: bool,
    sparse: bool,
    per_sample_weights: Any,
    padding_idx: int | None,
) -> Any:
    """The sum, mean or maximum of the rows of each bag, which is a piece of `indices` between two of the `starts`."""
    _check_rows(indices, weight, per_sample_weights, padding_idx)
    rows = embedding.function(indices, weight, padding_idx, max_norm, norm_type, by_frequency, sparse)
    if weight.dtype in (float16, bfloat16):  # many rows are added before anything is rounded
        rows = rows.to(float32)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1, 1)
    place, counted = _bag_of_each(indices, starts, shown_padding(padding_idx, weight))
    if counted is not None:
        rows, place = rows[counted], place[counted]
    bags = len(starts) - 1
    empty = rows.new_zeros((bags, rows.shape[1]))
    if mode == "max":
        total = empty.scatter_reduce(0, place[:, None].expand_as(rows), rows, "amax", include_self=False)
    else:
        total = empty.index_add(0, place, rows)
    total = total.to(weight.dtype)
    if mode == "mean":  # of the rounded sums, as in PyTorch
        sizes = np.bincount(place.numpy(), minlength=bags).clip(1)
        total = total / wrap(sizes.astype(total.array.dtype)[:, None])
    return total


def _bag_of_each(indices: Any, starts: Any, padding: int | None) -> Any:
    """The bag that each index belongs to, and which indices are no padding (None: all)."""
    place = wrap(np.repeat(np.arange(len(starts) - 1), np.diff(starts)))
    return place, indices.detach() != padding if padding is not None and not is_meta(indices.array) else None


def starts_of(offsets: Any, length: int, include_last: bool) -> Any:
    """Where each bag begins, and where the last one ends."""
    found = np.zeros(offsets.shape, np.int64) if is_meta(offsets.array) else offsets.numpy()
    if include_last and not len(found):
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    if len(found) and found[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, "
            f"got {found[0]}"
        )
    if len(found) and found[-1] > length:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {length} but got offsets[-1] of {found[-1]}"
        )
    return np.append(found[:-1] if include_last else found, length)


def _check_rows(indices: Any, weight: Any, per_sample_weights: Any, padding_idx: int | None) -> None:
    rows = weight.shape[0]
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, -{rows} through {rows - 1}, but got {padding_idx}"
        )
    if per_sample_weights is not None and per_sample_weights.dtype != weight.dtype:
        raise errors.mistake(
            RuntimeError,
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
            f"'per_sample_weights'; but type {type_name(weight.dtype)} does not equal "
            f"{type_name(per_sample_weights.dtype)} (while checking arguments for embedding_bag)",
            ("weight", errors.describe(weight)),
            ("per_sample_weights", errors.describe(per_sample_weights)),
        )
    if (wrong := outside(indices.array, 0, rows)) is not None:
        raise errors.mistake(
            RuntimeError,
            f"embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {wrong}",
            ("index", f"{wrong}, of {rows} rows"),
            ("weight", errors.describe(weight)),
        )


@declared()
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, per_sample_weights=None,
    include_last_offset=False, padding_idx=None): the sums (mode 0), means (1) or maxima (2) of the rows of weight that
    each bag of indices names, the bag of each index, the number of indices in each bag, and for maxima the rows that
    they are from. nn.functional.embedding_bag is the form for programs."""
    _check_forms(weight, indices, offsets, mode, per_sample_weights)
    starts = starts_of(offsets, indices.numel(), include_last_offset)
    result = summarised(
        indices, weight, starts, MODES[mode], None, 2.0, scale_grad_by_freq, sparse, per_sample_weights, padding_idx
    )
    place, counted = _bag_of_each(indices, starts, shown_padding(padding_idx, weight))
    among = place if counted is None else place[counted]
    sizes = wrap(np.bincount(among.numpy(), minlength=len(starts) - 1).astype(indices.array.dtype))
    return result, place.to(indices.dtype), sizes, _rows_of_maxima(weight, indices, starts, counted, mode, sizes)


def _rows_of_maxima(weight: Any, indices: Any, starts: Any, counted: Any, mode: int, sizes: Any) -> Any:
    if MODES[mode] != "max":
        return sizes.clone()
    found = np.zeros((len(starts) - 1, weight.shape[1]), indices.array.dtype)
    for bag, (start, end) in enumerate(pairwise(starts)):
        at = indices.numpy()[start:end]
        at = at if counted is None else at[counted.numpy()[start:end]]
        if len(at):
            found[bag] = at[weight.array[at].argmax(0)]
    return wrap(found)


def _check_forms(weight: Any, indices: Any, offsets: Any, mode: int, per_sample_weights: Any) -> None:
    for name, given, ndim in (("weight", weight, 2), ("input", indices, 1), ("offsets", offsets, 1)):
        if given.ndim != ndim:
            raise RuntimeError(f"{name} has to be a {ndim}D Tensor, but got Tensor of dimension {given.ndim}")
    for t in (indices, offsets):
        check_indices(t, "embedding_bag")
    if mode not in range(len(MODES)):
        raise RuntimeError("`mode` must be sum, mean, or max.")
    if per_sample_weights is not None and MODES[mode] != "sum":
        raise RuntimeError("embedding_bag: per_sample_weights only supported with mode='sum'")
    if per_sample_weights is not None and per_sample_weights.numel() != indices.numel():
        raise RuntimeError("embedding_bag: per_sample_weights must have as many elements as there are indices")


FUNCTIONS = {"embedding_bag": embedding_bag}
