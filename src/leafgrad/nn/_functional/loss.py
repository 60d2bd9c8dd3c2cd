"""Losses."""

from __future__ import annotations

from leafgrad.nn._functional.overridable import overridable
from leafgrad.ops.autocast import autocasting
from leafgrad.ops.loss import binary
from leafgrad.ops.loss import cross_entropy as classification
from leafgrad.ops.loss import elementwise as distances
from leafgrad.ops.loss.elementwise import in_total, weighted
from leafgrad.ops.loss.options import checked_reduction, legacy_reduction, of_one_shape
from leafgrad.ops.signature import Tensor, declared

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "huber_loss", "l1_loss", "mse_loss",
    "nll_loss", "smooth_l1_loss",
]  # fmt: skip

mse_loss = overridable(distances.mse_loss.function)
smooth_l1_loss = overridable(distances.smooth_l1_loss.function)
huber_loss = overridable(distances.huber_loss.function)
nll_loss = overridable(classification.nll_loss.function)
cross_entropy = overridable(classification.cross_entropy.function)
binary_cross_entropy = overridable(binary.binary_cross_entropy.function)
binary_cross_entropy_with_logits = overridable(binary.binary_cross_entropy_with_logits.function)


@overridable
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
