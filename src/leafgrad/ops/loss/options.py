"""What losses have in common: how the losses of many elements become one number, and complaints about shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.modes import compared_in_modes
from leafgrad._core.recorder import needs_recording
from leafgrad._core.tensor import constant
from leafgrad._core.thread_state import state
from leafgrad._device import Size
from leafgrad._layouts import in_common_order, laid_like
from leafgrad.kernels.halves import converted, widened
from leafgrad.kernels.language import NATIVE, as_written
from leafgrad.ops.pointwise.elementwise import times
from leafgrad.ops.reduce.common import F32, F64, is_half, raw, total, total_of_all
from leafgrad.ops.reduce.reductions import mean
from leafgrad.ops.reduce.reductions import sum as sum_all
from leafgrad.ops.registry import Family
from leafgrad.ops.shape.views import expand

A = Any  # an array, or a tensor under create_graph


REDUCTIONS = ("mean", "sum", "none")


def legacy_reduction(size_average: Any, reduce: Any) -> str:
    """The `reduction` that the two flags of old times stand for."""
    if reduce is not None and not reduce:
        reduction = "none"
    else:
        reduction = "mean" if size_average is None or size_average else "sum"
    errors.warn(f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.")
    return reduction


def checked_reduction(reduction: str, size_average: Any = None, reduce: Any = None) -> str:
    """The `reduction` that the arguments of a loss ask for."""
    if size_average is not None or reduce is not None:
        return legacy_reduction(size_average, reduce)
    if reduction == "elementwise_mean":
        message = "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead."
        errors.warn(message)
        return "mean"
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction\n  fix: 'mean', 'sum' or 'none'")
    return reduction


def of_one_shape(name: str, input: Any, target: Any) -> tuple[Any, Any]:
    """Both, expanded to a common shape if they differ, of which is warned."""
    if input.array.shape == target.array.shape:
        return input, target
    if state.in_modes:
        compared_in_modes(input, target)
    errors.warn(
        f"Using a target size ({Size(target.array.shape)}) that is different to the input size "
        f"({Size(input.array.shape)}). This will likely lead to incorrect results due to broadcasting. Please ensure "
        "they have the same size."
    )
    try:
        shape = np.broadcast_shapes(input.array.shape, target.array.shape)
    except ValueError:
        raise errors.broadcast_mismatch(name, (input.array, target.array)) from None
    input, target = [t if t.array.shape == shape else expand.function(t, shape) for t in (input, target)]
    return input, target


def refuse_gradient(name: str, **constants: Any) -> None:
    """Complain about arguments that ask for a gradient and cannot have one."""
    for argument, tensor in constants.items():
        if tensor is not None and needs_recording((tensor,)):
            raise RuntimeError(
                f"The function '{name}' is not differentiable with respect to argument '{argument}'. This input cannot "
                "have requires_grad True."
            )


def batched_loss(batch: Any, *args: Any) -> Any:
    """The rule for vmap: the losses of all elements at once, then their mean or sum for each sample."""
    ndim = max([x.ndim for x in batch.arrays if x is not None])
    reduction, *rest = batch.options
    losses = batch.apply([batch.aligned(x, ndim) for x in batch.arrays], ("none", *rest))
    return losses if reduction == "none" else (mean if reduction == "mean" else sum_all)(losses, None, False)


class Loss(Family, family=True):
    """How far an input is from a target, element by element: the mean, the sum, or all of it."""

    autocast: str | None = "float32"
    inputs: tuple[str, ...] = ("input", "target")
    options: tuple[str, ...] = ("reduction",)
    vmap = batched_loss
    public_name = ""  # nn.functional has them


def reduced(losses: Any, reduction: str) -> Any:
    """The losses of single elements, or their sum, or their mean."""
    if reduction == "none":
        return losses
    if (losses.dtype is F32 or losses.dtype is F64) and losses.flags.c_contiguous:
        out = total_of_all(losses)
        return out / losses.size if reduction == "mean" else out
    return (mean.kernel if reduction == "mean" else total)(losses, None, False)


def laid_as_both(x: Any, y: Any, losses: Any) -> Any:
    """Losses laid out as PyTorch does it: element by element of an input and a target."""
    return in_common_order((x, y), losses)


def laid_as_input(x: Any, y: Any, losses: Any) -> Any:
    """As the input alone."""
    return laid_like(x, losses)


def laid_as_target(x: Any, y: Any, losses: Any) -> Any:
    """Element by element of the target."""
    return in_common_order((y,), losses)


def loss_kernel(each: Any, sum_of: Any, laid: Any = laid_as_both) -> Any:
    """A kernel made of two: of an input and a target the losses of all elements, which `laid` puts into PyTorch's
    order in memory, or their sum, or their mean. Half precision is rounded at the end."""
    if not NATIVE:  # their look at arguments would come after that of this kernel: a thirtieth of a small training step
        each, sum_of = as_written(each), as_written(sum_of)

    def kernel(x: Any, y: Any, reduction: str, *options: Any) -> Any:
        kind = x.dtype
        if kind is not F32 and kind is not F64 and is_half(kind):
            return converted(kernel(widened(x), widened(y), reduction, *options), kind)
        if reduction == "none":
            return laid(x, y, each(x, y, *options))
        out = sum_of(x, y, *options)
        return out / x.size if reduction == "mean" else out

    return kernel


def per_element(reduction: str, input: A) -> float:
    """What the gradient of a loss is multiplied by for each element."""
    if reduction != "mean":
        return 1.0
    return 1 / ((input if input.__class__ is np.ndarray else raw(input)).size or 1)


def share(g: A, losses: A, reduction: str, factor: float = 1) -> A:
    """The part of the gradient that each element gets (times a factor)."""
    if reduction == "mean":
        factor /= (losses.size if losses.__class__ is np.ndarray else raw(losses).size) or 1
    if factor == 1:
        return g
    return times(g, constant(factor, g.dtype)) if g.__class__ is np.ndarray else g * factor


def check_smoothing(label_smoothing: float) -> None:
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
