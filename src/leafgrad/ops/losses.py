"""Losses: how far predictions are from targets. They belong to `nn.functional`, not to the top level."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from leafgrad import _core, errors
from leafgrad._core import TensorBase
from leafgrad.device import Size
from leafgrad.dtypes import from_numpy_dtype
from leafgrad.ops.extremes import place
from leafgrad.ops.promotion import cast, common_dtype
from leafgrad.ops.reducing import F32, F64, Dims, add_reduce, is_half, raw, refused, sum_of_squares
from leafgrad.ops.registry import Family, Operation, op, registry
from leafgrad.ops.samples import S
from leafgrad.ops.select import where, zero_like
from leafgrad.ops.softmax import log_softmax, max_reduce, softmax

A = Any  # an array, or a tensor under create_graph


# -- how the losses of many elements become one -----------------------------------------------------------------------


def legacy_reduction(size_average: Any, reduce: Any, stacklevel: int = 3) -> str:
    """The `reduction` that the two flags of old times stand for."""
    reduction = "none" if reduce is not None and not reduce else "sum" if size_average is not None and not size_average else "mean"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
        UserWarning,
        stacklevel=stacklevel,
    )
    return reduction


def checked_reduction(reduction: str, size_average: Any, reduce: Any) -> str:
    if size_average is not None or reduce is not None:
        return legacy_reduction(size_average, reduce, 4)
    if reduction == "elementwise_mean":
        warnings.warn(
            "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", UserWarning, stacklevel=3
        )
        return "mean"
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction\n  fix: 'mean', 'sum' or 'none'")
    return reduction


def warn_of_broadcasting(input: TensorBase, target: TensorBase) -> None:
    warnings.warn(
        f"Using a target size ({Size(target.array.shape)}) that is different to the input size "
        f"({Size(input.array.shape)}). This will likely lead to incorrect results due to broadcasting. Please ensure "
        "they have the same size.",
        UserWarning,
        stacklevel=3,
    )


# -- mse_loss ---------------------------------------------------------------------------------------------------------


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
        kind = off.dtype
        if kind is F32 or kind is F64:
            out = sum_of_squares(off)
        else:
            out = add_reduce(off * off, None, F32)
        return (out / off.size if reduction == "mean" else out).astype(kind)

    def call(
        input: TensorBase,
        target: TensorBase,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
        weight: TensorBase | None = None,
    ) -> Any:
        x, y = input.array, target.array
        if x.shape != y.shape:
            warn_of_broadcasting(input, target)
        if reduction != "mean" or size_average is not None or reduce is not None:
            if weight is None or reduction == "mean":
                reduction = checked_reduction(reduction, size_average, reduce)
        if weight is not None:
            return _weighted((input - target) ** 2, weight, input, reduction)
        kind = x.dtype
        if kind is not y.dtype or not (kind is F32 or kind is F64):
            x, y = _in_common(input, target, "mse_cpu")
        try:
            out = mse_loss_.core.forward(x, y, reduction)
        except ValueError as error:
            raise errors.broadcast_mismatch("mse_loss", (x, y)) from error
        return _core.finish(mse_loss_.core, (input, target), (x, y), (reduction,), np.asarray(out))

    def vjp_input(g: A, input: A, target: A, reduction: A) -> A:
        off = input - target
        return (g * (2 / off.size if reduction == "mean" and off.size else 2)) * off

    def vjp_target(g: A, input: A, target: A, reduction: A) -> A:
        off = target - input
        return (g * (2 / off.size if reduction == "mean" and off.size else 2)) * off

    samples = staticmethod(
        lambda t: [
            *[S(t(3, 4), t(3, 4)), S(t(5), t(5), reduction="sum"), S(t(2, 3), t(2, 3), reduction="none")],
            *[S(t(), t()), S(t(2, 3), t(2, 3), weight=t(2, 3, low=0.1))],
        ]
    )


def _in_common(input: TensorBase, target: TensorBase, kernel: str) -> tuple[Any, Any]:
    """Both arrays in the dtype that promotion gives them; losses are for real floating point numbers."""
    kind = common_dtype(input, target)
    if not kind.is_floating_point:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{kind.alias}'\n  at {errors.here()}")
    return cast(input.array, kind), cast(target.array, kind)


def _weighted(losses: Any, weight: TensorBase, input: TensorBase, reduction: str) -> Any:
    """Losses times their weights; the mean is weighted too."""
    if weight.array.shape != input.array.shape:
        raise ValueError("Weights and input must have the same size.")
    losses = losses * weight
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    if reduction == "mean":
        return losses.sum() / weight.sum()  # type: ignore[attr-defined]
    raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")
