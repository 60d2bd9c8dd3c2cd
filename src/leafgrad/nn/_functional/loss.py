"""Losses."""

from __future__ import annotations

from typing import Any

from leafgrad.nn._functional.linear import linear
from leafgrad.nn._functional.overridable import overridable
from leafgrad.ops.autocast import autocasting
from leafgrad.ops.loss import binary
from leafgrad.ops.loss import cross_entropy as classification
from leafgrad.ops.loss import elementwise as distances
from leafgrad.ops.loss.elementwise import in_total, weighted
from leafgrad.ops.loss.options import checked_reduction, legacy_reduction, of_one_shape
from leafgrad.ops.signature import Tensor, declared

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "huber_loss", "l1_loss",
    "linear_cross_entropy", "mse_loss", "nll_loss", "smooth_l1_loss",
]  # fmt: skip

mse_loss = overridable(distances.mse_loss.function, refusal=".size")
smooth_l1_loss = overridable(distances.smooth_l1_loss.function, refusal=".size")
huber_loss = overridable(distances.huber_loss.function, refusal=".size")
nll_loss = overridable(classification.nll_loss.function, refusal="nll_loss_nd()")
cross_entropy = overridable(classification.cross_entropy.function, refusal="cross_entropy_loss()")
binary_cross_entropy = overridable(binary.binary_cross_entropy.function, refusal=".size")
binary_cross_entropy_with_logits = overridable(binary.binary_cross_entropy_with_logits.function, refusal=".size")


@overridable(refusal=".size")
@declared()
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """l1_loss(input, target, reduction='mean', weight=None): |input - target|, its mean, its sum, or itself."""
    if size_average is not None or reduce is not None:
        reduction = legacy_reduction(size_average, reduce)
    return autocasting("float32", distance)(input, target, reduction, weight)


def distance(input: Tensor, target: Tensor, reduction: str, weight: Tensor | None) -> Tensor:
    input, target = of_one_shape("l1_loss", input, target)
    losses = (input - target).abs()
    if weight is not None:
        return weighted(losses, weight, input, reduction)
    return in_total(losses, checked_reduction(reduction))


@overridable
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """linear_cross_entropy(input, linear_weight, target, *, linear_bias=None, weight=None, reduction='mean',
    ignore_index=None, label_smoothing=0.0, options=None): cross_entropy(linear(input, linear_weight, linear_bias),
    target, ...); the weight (classes, ..., features) may have further dimensions, which the scores have then."""
    scores = _shape_of_scores(input, linear_weight, linear_bias)
    if tuple(target.shape) == scores and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    bias = None if linear_bias is None else linear_bias.reshape(-1)
    found = linear(input, linear_weight.reshape(-1, linear_weight.shape[-1]), bias).reshape(scores)
    ignored = -100 if ignore_index is None else ignore_index
    return cross_entropy(found, target, weight, None, ignored, None, reduction, label_smoothing)


def _shape_of_scores(input: Any, weight: Any, bias: Any) -> tuple[int, ...]:
    """(samples, classes, ...), if the tensors fit together."""
    if not 1 <= input.ndim <= 2:
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.ndim}")
    if weight.ndim < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {weight.ndim}")
    if input.shape[-1] != weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {weight.shape[-1]}, respectively"
        )
    outputs = tuple(weight.shape[:-1])
    if bias is not None and tuple(bias.shape) != outputs:
        raise RuntimeError(f"expected linear_bias shape {outputs}, got {tuple(bias.shape)}")
    if len(outputs) > 1 and input.ndim == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(weight.shape)} requires batched input, (N, "
            f"{input.shape[-1]}), got unbatched input with shape {tuple(input.shape)}"
        )
    return (*input.shape[:-1], *outputs)
