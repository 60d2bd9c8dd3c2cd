"""Look-ups in tables of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import is_meta, wrap
from leafgrad.nn._functional.overridable import overridable
from leafgrad.ops.index import embedding as tables
from leafgrad.ops.signature import Tensor, declared

__all__ = ["embedding", "embedding_bag"]

embedding = overridable(tables.embedding.function)


@overridable
@declared()
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode='mean',
    sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None): the sum, mean or maximum of the
    rows of weight that each bag of indices names: a row of a matrix, or a piece of a vector from an offset on."""
    if input.is_floating_point() and not weight.is_floating_point():
        errors.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is "
            "deprecated, and should now be `embedding_bag(input, weight, ...)`."
        )
        input, weight = weight, input
    _check_bags(input, weight, offsets, mode, scale_grad_by_freq, sparse, per_sample_weights)
    if input.ndim == 2:
        starts = np.arange(input.shape[0] + 1) * input.shape[1]
    else:
        starts = _starts(offsets, input.numel(), include_last_offset)
    indices = input.reshape(-1)
    rows_given = weight.shape[0]
    if padding_idx is not None and not -rows_given <= padding_idx < rows_given:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, -{rows_given} through {rows_given - 1}, but got "
            f"{padding_idx}"
        )
    own = tables.shown_padding(padding_idx, weight)
    rows = embedding(indices, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1, 1)
    counted = indices.detach() != own if own is not None and not is_meta(indices.array) else None
    return _in_bags(rows, starts, counted, mode)


def _in_bags(rows: Any, starts: Any, counted: Any, mode: str) -> Any:
    """What becomes of the rows of each bag; `counted` tells which of them are no padding, if not all."""
    bags = len(starts) - 1
    place = wrap(np.repeat(np.arange(bags), np.diff(starts)))
    if counted is not None:
        rows, place = rows[counted], place[counted]
    empty = rows.new_zeros((bags, rows.shape[1]))
    if mode == "max":
        return empty.scatter_reduce(0, place[:, None].expand_as(rows), rows, "amax", include_self=False)
    total = empty.index_add(0, place, rows)
    if mode == "sum":
        return total
    sizes = np.bincount(place.numpy(), minlength=bags).clip(1)
    return total / wrap(sizes.astype(total.array.dtype)[:, None])


def _starts(offsets: Any, length: int, include_last: bool) -> Any:
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


def _check_bags(
    input: Any, weight: Any, offsets: Any, mode: str, by_frequency: bool, sparse: bool, weights: Any
) -> None:
    if weights is not None and input.shape != weights.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({weights.shape}) is not None, then it must have the same shape as "
            f"the input ({input.shape})"
        )
    if weight.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    if input.ndim == 2 and offsets is not None:
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
            "sequences. However, found offsets of type <class 'torch.Tensor'>"
        )
    if input.ndim == 1 and (offsets is None or offsets.ndim != 1):
        raise ValueError(f"offsets has to be a 1D Tensor{' but got None' * (offsets is None)}")
    if input.ndim not in (1, 2):
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}")
    for t in (input, offsets):
        if t is not None:
            tables.check_indices(t, "embedding_bag")
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and (by_frequency or sparse):
        what = "scaling the gradient by the frequency" if by_frequency else "sparse weights"
        raise ValueError(f"max mode does not support {what}")
    if weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
            f"(got mode='{mode}'). Please open a feature request on GitHub."
        )
