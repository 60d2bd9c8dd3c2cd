"""Losses: how far predictions are from targets. They belong to `nn.functional`, not to the top level."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import _core, errors
from leafgrad._core import TensorBase
from leafgrad.ops.cross_entropy import cross_entropy, nll_loss
from leafgrad.ops.loss_options import checked_reduction, legacy_reduction, warn_of_broadcasting
from leafgrad.ops.promotion import cast, common_dtype
from leafgrad.ops.reducing import F32, F64, add_reduce, is_half, raw, sum_of_squares
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S

A = Any  # an array, or a tensor under create_graph


@op
class mse_loss_(Family):
    """mse_loss(input, target, size_average=None, reduce=None, reduction='mean', weight=None): (input - target)**2,
    its mean, its sum, or itself."""

    inputs = ("input", "target")
    options = ("reduction",)
    public_name = ""
    method = False

    def forward(x: A, y: A, reduction: str) -> A:
        off = x - y
        if reduction == "none":
            return off * off
        if is_half(off.dtype):
            out = add_reduce(off * off, None, F32)
            return (out / off.size if reduction == "mean" else out).astype(off.dtype)
        out = sum_of_squares(off)
        return out / off.size if reduction == "mean" else out

    def call(
        input: Any,
        target: TensorBase,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
        weight: TensorBase | None = None,
    ) -> Any:
        x, y = input.array, target.array
        if x.shape != y.shape:
            warn_of_broadcasting(input, target)
        if size_average is not None or reduce is not None:
            reduction = legacy_reduction(size_average, reduce)
        if weight is not None:
            return _weighted((input - target) ** 2, weight, input, reduction)
        if reduction != "mean":
            reduction = checked_reduction(reduction)
        kind = x.dtype
        if kind is not y.dtype or not (kind is F32 or kind is F64):
            x, y = _in_common(input, target, "mse_cpu")
        try:
            out = mse_loss_.core.forward(x, y, reduction)
        except ValueError:
            raise errors.broadcast_mismatch("mse_loss", (x, y)) from None
        return _core.finish(mse_loss_.core, (input, target), (x, y), (reduction,), np.asarray(out))

    def vjp_input(g: A, input: A, target: A, reduction: A) -> A:
        return _twice(g, input - target, reduction)

    def vjp_target(g: A, input: A, target: A, reduction: A) -> A:
        return _twice(g, target - input, reduction)

    samples = staticmethod(
        lambda t: [
            *[S(t(3, 4), t(3, 4)), S(t(5), t(5), reduction="sum"), S(t(2, 3), t(2, 3), reduction="none")],
            *[S(t(), t()), S(t(2, 3), t(2, 3), weight=t(2, 3, low=0.1))],
        ]
    )


mse_loss = mse_loss_.function


def _twice(g: A, off: A, reduction: str) -> A:
    count = raw(off).size if reduction == "mean" else 1
    return (g * (2 / (count or 1))) * off


def _in_common(input: TensorBase, target: TensorBase, kernel: str) -> tuple[Any, Any]:
    """Both arrays in the dtype that promotion gives them; losses are for real floating point numbers."""
    kind = common_dtype(input, target)
    if not kind.is_floating_point:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{kind.alias}'\n  at {errors.here()}")
    return cast(input.array, kind), cast(target.array, kind)


def _weighted(losses: Any, weight: Any, input: TensorBase, reduction: str) -> Any:
    """Losses times their weights; the mean is weighted too."""
    if weight.array.shape != input.array.shape:
        raise ValueError("Weights and input must have the same size.")
    losses = losses * weight
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    if reduction == "mean":
        return losses.sum() / weight.sum()
    raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")


__all__ = ["cross_entropy", "mse_loss", "nll_loss"]
