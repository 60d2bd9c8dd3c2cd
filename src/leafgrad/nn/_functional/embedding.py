"""Look-ups in tables of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad.nn._functional.overridable import overridable
from leafgrad.ops.index import bags
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
        starts = bags.starts_of(offsets, input.numel(), include_last_offset)
    return bags.summarised(
        input.reshape(-1), weight, starts, mode, max_norm, norm_type, scale_grad_by_freq, sparse, per_sample_weights,
        padding_idx,
    )  # fmt: skip


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
