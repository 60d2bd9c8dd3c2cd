"""Losses: how far predictions are from targets. They belong to `nn.functional`, not to the top level."""

from __future__ import annotations

from typing import Any

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.tensor import TensorBase
from leafgrad._core.thread_state import silence_numpy
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.kernels.fused import losses as fused
from leafgrad.ops.loss.options import (
    REDUCTIONS,
    Loss,
    checked_reduction,
    laid_as_input,
    legacy_reduction,
    loss_kernel,
    of_one_shape,
    per_element,
)
from leafgrad.ops.promotion import cast, common_dtype
from leafgrad.ops.reduce.common import F32, F64, refused
from leafgrad.ops.registry import op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Tensor

A = Any  # an array, or a tensor under create_graph


# -- distances --------------------------------------------------------------------------------------------------------


@op
class mse_loss(Loss):
    """mse_loss(input, target, size_average=None, reduce=None, reduction='mean', weight=None): (input - target)**2,
    its mean, its sum, or itself."""

    kernel = loss_kernel(fused.squared_error, fused.sum_of_squared_errors)

    def call(
        input: Tensor,
        target: Tensor,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
    ) -> Tensor:
        if input.array.shape != target.array.shape:
            input, target = of_one_shape("mse_loss", input, target)
        x, y = input.array, target.array
        if size_average is not None or reduce is not None:
            reduction = legacy_reduction(size_average, reduce)
        if weight is not None:
            return weighted((input - target) ** 2, weight, input, reduction)
        if reduction != "mean":
            reduction = checked_reduction(reduction)
        kind = x.dtype
        if kind is not y.dtype or not (kind is F32 or kind is F64):
            x, y = _in_common(input, target, "mse_cpu")
        try:
            return bind(mse_loss.core, (input, target), (reduction,), (x, y))
        except ValueError:
            raise errors.broadcast_mismatch("mse_loss", (x, y)) from None

    def vjp_input(g: A, input: A, target: A, reduction: A) -> A:
        return fused.scaled_difference(g, input, target, 2 * per_element(reduction, input))

    def vjp_target(g: A, input: A, target: A, reduction: A) -> A:
        return fused.scaled_difference(g, target, input, 2 * per_element(reduction, input))

    samples = lambda t: [
        *[S(t(3, 4), t(3, 4)), S(t(5), t(5), reduction="sum"), S(t(2, 3), t(2, 3), reduction="none")],
        *[S(t(), t()), S(t(2, 3), t(2, 3), weight=t(2, 3, low=0.1))],
    ]


def _in_common(input: TensorBase, target: TensorBase, kernel: str) -> tuple[Any, Any]:
    """Both arrays in the dtype that promotion gives them; losses are for real floating point numbers."""
    silence_numpy()
    kind = common_dtype(input, target)
    if not kind.is_floating_point:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{kind.alias}'\n  at {errors.here()}")
    return cast(input.array, kind), cast(target.array, kind)


def weighted(losses: Any, weight: Any, input: TensorBase, reduction: str) -> Any:
    """Losses times their weights; the mean is weighted too."""
    if weight.array.shape != input.array.shape:
        raise ValueError("Weights and input must have the same size.")
    if reduction not in REDUCTIONS:
        raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")
    losses = losses * weight
    return losses.sum() / weight.sum() if reduction == "mean" else in_total(losses, reduction)


def in_total(losses: Any, reduction: str) -> Any:
    return losses if reduction == "none" else getattr(losses, reduction)()


@op
class smooth_l1_loss(Loss):
    """smooth_l1_loss(input, target, size_average=None, reduce=None, reduction='mean', beta=1.0): |input - target|, with
    the corner below beta replaced by a parabola; its mean, its sum, or itself."""

    options = ("reduction", "beta")
    node_name = "SmoothL1LossBackward0"

    kernel = loss_kernel(fused.smooth_l1, fused.sum_of_smooth_l1)

    def call(
        input: Tensor,
        target: Tensor,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> Tensor:
        input, target = of_one_shape("smooth_l1_loss", input, target)
        reduction = checked_reduction(reduction, size_average, reduce)
        if beta == 0:
            return in_total((input - target).abs(), reduction)
        if beta < 0:
            raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
        return _distance(smooth_l1_loss, input, target, _in_common(input, target, "smooth_l1_cpu"), reduction, beta)

    def vjp_input(g: A, input: A, target: A, reduction: A, beta: A) -> A:
        return fused.parabola_then_line(g, input, target, per_element(reduction, input), beta, 1 / beta)

    def vjp_target(g: A, input: A, target: A, reduction: A, beta: A) -> A:
        return fused.parabola_then_line(g, target, input, per_element(reduction, input), beta, 1 / beta)

    samples = lambda t: [
        S(t(3, 4), t(3, 4)),
        S(t(5), t(5), reduction="sum", beta=0.5),
        S(t(2, 3), t(2, 3), reduction="none", beta=2.0),
    ]


@op
class huber_loss(Loss):
    """huber_loss(input, target, reduction='mean', delta=1.0, weight=None): (input - target)**2 / 2, continued as
    straight lines beyond delta; its mean, its sum, or itself."""

    options = ("reduction", "delta")

    kernel = loss_kernel(fused.huber, fused.sum_of_huber, laid_as_input)

    def call(
        input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
    ) -> Tensor:
        input, target = of_one_shape("huber_loss", input, target)
        kind = from_numpy_dtype(input.array.dtype)
        if not kind.is_floating_point:
            raise refused("huber_cpu", input)
        if delta <= 0:
            raise RuntimeError("huber_loss does not support non-positive values for delta.")
        silence_numpy()
        arrays = input.array, cast(target.array, kind)
        if weight is not None:
            losses = _distance(huber_loss, input, target, arrays, "none", delta)
            losses = weighted(losses, weight, input, "none" if reduction == "mean" else reduction)
            return losses.mean() if reduction == "mean" else losses
        return _distance(huber_loss, input, target, arrays, checked_reduction(reduction), delta)

    def vjp_input(g: A, input: A, target: A, reduction: A, delta: A) -> A:
        return fused.parabola_then_line(g, input, target, per_element(reduction, input), delta, 1)

    def vjp_target(g: A, input: A, target: A, reduction: A, delta: A) -> A:
        return fused.parabola_then_line(g, target, input, per_element(reduction, input), delta, 1)

    samples = lambda t: [
        S(t(3, 4), t(3, 4)),
        S(t(5), t(5), reduction="sum", delta=0.5),
        S(t(2, 3), t(2, 3), reduction="none", delta=2.0),
    ]


def _distance(operation: Any, input: Any, target: Any, arrays: tuple[Any, Any], *options: Any) -> Any:
    try:
        return bind(operation.core, (input, target), options, arrays)
    except ValueError as error:
        raise errors.broadcast_mismatch(operation.core.name, arrays) from error
