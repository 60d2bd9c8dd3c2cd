"""Losses of yes-or-no predictions: binary cross entropy, of probabilities and of logits."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.tensor import is_meta
from leafgrad._core.thread_state import silence_numpy
from leafgrad._device import Size
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.kernels.fused import activations
from leafgrad.kernels.fused import losses as fused
from leafgrad.kernels.halves import widened
from leafgrad.ops.loss.options import (
    Loss,
    checked_reduction,
    laid_as_input,
    laid_as_target,
    loss_kernel,
    per_element,
    reduced,
    refuse_gradient,
    share,
)
from leafgrad.ops.pointwise.elementwise import log, sigmoid
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.promotion import cast, common_dtype
from leafgrad.ops.reduce.common import is_half, raw, refused
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S, real
from leafgrad.ops.signature import Tensor

A = Any  # an array, or a tensor under create_graph


@op
class logsigmoid(Family):
    """logsigmoid(input): log(1 / (1 + exp(-x))) of each element, for large negative x as well."""

    node_name = "LogSigmoidBackward0"
    row_major = True
    public_name = ""
    places = ("nn.functional.logsigmoid",)
    out = True
    aten = "log_sigmoid_forward"
    aten_function = "log_sigmoid"
    jvp = "elementwise"
    vmap = "elementwise"
    samples = real()

    def kernel(x: A) -> A:
        return activations.log_sigmoid(x)

    def call(input: Tensor) -> Tensor:
        if input.array.dtype.kind in "biuc":
            raise refused("log_sigmoid_cpu", input)
        return logsigmoid.record(input)

    def vjp(g: A, input: A) -> A:
        return activations.log_sigmoid_backward(g, input)


# -- of probabilities -------------------------------------------------------------------------------------------------

of_probabilities = loss_kernel(fused.binary_cross_entropy, fused.sum_of_binary_cross_entropy, laid_as_input)


@op
class binary_cross_entropy(Loss):
    """binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction='mean'):
    -weight * (target * log(input) + (1 - target) * log(1 - input)), where no logarithm counts less than -100."""

    inputs = ("input", "target", "weight")

    def kernel(x: A, y: A, weight: A, reduction: str) -> A:
        if weight is None:
            return of_probabilities(x, y, reduction)
        return weighted(fused.binary_cross_entropy, laid_as_input, x, y, weight, reduction)

    def call(
        input: Tensor,
        target: Tensor,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> Tensor:
        reduction = checked_reduction(reduction, size_average, reduce)
        x, y = input.array, target.array
        if x.shape != y.shape:
            raise ValueError(
                f"Using a target size ({Size(y.shape)}) that is different to the input size ({Size(x.shape)}) is "
                "deprecated. Please ensure they have the same size."
            )
        if weight is not None:
            _check_weight_shape(weight.array.shape, y.shape)
        refuse_gradient("binary_cross_entropy", weight=weight)
        if x.dtype.kind in "biuc":
            raise refused("binary_cross_entropy", input)
        if x.dtype != y.dtype:
            found, expected = [from_numpy_dtype(v.dtype).alias for v in (y, x)]
            raise RuntimeError(f"Found dtype {found} but expected {expected}\n  at {errors.here()}")
        for name, values in (("input", x), ("target", y)):
            if not is_meta(values) and not ((values >= 0) & (values <= 1)).all():
                raise RuntimeError(
                    f"all elements of {name} should be between 0 and 1\n  at {errors.here()}\n"
                    "  fix: torch.sigmoid() first, or binary_cross_entropy_with_logits"
                )
        return binary_cross_entropy.record(input, target, weight, reduction)

    def vjp_input(g: A, input: A, target: A, weight: A, reduction: A) -> A:
        spread = (1 - input) * input
        least = np.asarray(np.float32(1e-12)).astype(raw(input).dtype)  # so rounded in PyTorch, for doubles too
        slope = (input - target) / where(raw(spread) < least, least, spread)
        return share(g, slope, reduction) * (slope if weight is None else slope * weight)

    def vjp_target(g: A, input: A, weight: A, reduction: A) -> A:
        slope = log(1 - input) - log(input)
        return share(g, slope, reduction) * (slope if weight is None else slope * weight)

    samples = lambda t: [
        S(t(3, 4, low=0.1, high=0.9), t(3, 4, low=0, high=1)),
        S(t(5, low=0.1, high=0.9), t(5, low=0, high=1), reduction="sum"),
        S(t(2, 3, low=0.1, high=0.9), t(2, 3, low=0, high=1), reduction="none"),
    ]


def _check_weight_shape(own: tuple[int, ...], shape: tuple[int, ...]) -> None:
    for back in range(1, min(len(own), len(shape)) + 1):
        if own[-back] != shape[-back] and 1 not in (own[-back], shape[-back]):
            raise RuntimeError(
                f"Attempting to broadcast a dimension of length {own[-back]} at {-back}! Mismatching argument at index "
                f"1 had {Size(own)}; but expected shape should be broadcastable to {errors.size(shape)}"
            )


def weighted(losses: Any, laid: Any, x: Any, y: Any, weight: Any, reduction: str) -> Any:
    """The losses of all elements times their weights, in PyTorch's order in memory; or the sum of that, or its mean."""
    kind = x.dtype
    if is_half(kind):
        x, y = widened(x), widened(y)
    each = losses(x, y)
    if weight is not None:
        each = each * weight
    if reduction == "none":
        return laid(x, y, each.astype(kind))
    return reduced(each, reduction).astype(kind)


# -- of logits --------------------------------------------------------------------------------------------------------

of_logits = loss_kernel(fused.logits_cross_entropy, fused.sum_of_logits_cross_entropy, laid_as_target)


@op
class binary_cross_entropy_with_logits(Loss):
    """binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction='mean',
    pos_weight=None): -weight * (pos_weight * target * log(p) + (1 - target) * log(1 - p)) of p = sigmoid(input)."""

    inputs = ("input", "target", "weight", "pos_weight")

    def kernel(x: A, y: A, weight: A, pos_weight: A, reduction: str) -> A:
        if pos_weight is None and weight is None:
            return of_logits(x, y, reduction)
        if pos_weight is None:
            return weighted(fused.logits_cross_entropy, laid_as_target, x, y, weight, reduction)

        def losses(x: A, y: A) -> A:
            return (1 - y) * x - ((pos_weight - 1) * y + 1) * activations.log_sigmoid(x)

        return weighted(losses, laid_as_target, x, y, weight, reduction)

    def call(
        input: Tensor,
        target: Tensor,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> Tensor:
        reduction = checked_reduction(reduction, size_average, reduce)
        shape, other = input.array.shape, target.array.shape
        if shape != other:
            raise ValueError(f"Target size ({Size(other)}) must be the same as input size ({Size(shape)})")
        kind = common_dtype(input, target)
        if not kind.is_floating_point:
            raise refused("log_sigmoid_cpu", input)
        if target.array.dtype.kind in "biu":
            own = from_numpy_dtype(target.array.dtype)
            raise RuntimeError(
                f"result type {kind.alias} can't be cast to the desired output type {own.alias}\n  at {errors.here()}\n"
                "  fix: target.float()"
            )
        refuse_gradient("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
        silence_numpy()
        x, y = cast(input.array, kind), cast(target.array, kind)
        weights = [None if w is None else w.array for w in (weight, pos_weight)]
        _check_broadcast(x, *weights)
        arrays = (x, y, *weights)
        core, tensors = binary_cross_entropy_with_logits.core, (input, target, weight, pos_weight)
        return bind(core, tensors, (reduction,), arrays)

    def vjp_input(g: A, input: A, target: A, weight: A, pos_weight: A, reduction: A) -> A:
        if pos_weight is None and weight is None:
            return fused.logits_cross_entropy_backward(g, input, target, per_element(reduction, input))
        yes = target if pos_weight is None else pos_weight * target
        slope = (yes + 1 - target) * sigmoid(input) - yes
        return share(g, slope, reduction) * (slope if weight is None else slope * weight)

    def vjp_target(g: A, input: A, weight: A, pos_weight: A, reduction: A) -> A:
        slope = -input if pos_weight is None else -input - (pos_weight - 1) * logsigmoid(input)
        return share(g, slope, reduction) * (slope if weight is None else slope * weight)

    samples = lambda t: [
        S(t(3, 4), t(3, 4, low=0, high=1)),
        S(t(5), t(5, low=0, high=1), reduction="sum"),
        S(t(2, 3), t(2, 3, low=0, high=1), reduction="none"),
    ]


def _check_broadcast(x: Any, weight: Any, pos_weight: Any) -> None:
    """Weights may be smaller than the input, not larger."""
    for pair, small in (((pos_weight, x), pos_weight), ((x, weight), weight)):
        if small is not None:
            try:
                shape = np.broadcast_shapes(x.shape, small.shape)
            except ValueError as error:
                raise errors.broadcast_mismatch("binary_cross_entropy_with_logits", pair) from error
            if shape != x.shape:
                raise errors.in_place_shape("binary_cross_entropy_with_logits", x.shape, shape)
