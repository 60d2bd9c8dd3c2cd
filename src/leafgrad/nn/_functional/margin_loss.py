"""Losses that ask for a margin between what is right and what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import is_meta, wrap
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.nn._functional.overridable import overridable
from leafgrad.ops.loss.binary import logsigmoid
from leafgrad.ops.loss.elementwise import in_total
from leafgrad.ops.loss.options import checked_reduction, refuse_gradient
from leafgrad.ops.reduce.distances import pairwise_distance
from leafgrad.ops.signature import Tensor, declared

__all__ = [
    "cosine_embedding_loss", "hinge_embedding_loss", "margin_ranking_loss", "multi_margin_loss",
    "multilabel_margin_loss", "multilabel_soft_margin_loss", "soft_margin_loss", "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]  # fmt: skip


@overridable
@declared()
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """hinge_embedding_loss(input, target, margin=1.0, reduction='mean'): the input where the target is 1,
    max(0, margin - input) where it is -1."""
    reduction = checked_reduction(reduction, size_average, reduce)
    apart = (margin - input).clamp_min(0)
    return in_total(apart.masked_fill(target == 1, 0) + input.masked_fill(target == -1, 0), reduction)


@overridable(refusal=".dim")
@declared()
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """margin_ranking_loss(input1, input2, target, margin=0, reduction='mean'): max(0, margin - target * (input1 -
    input2)): for a target of 1 the first shall be larger by the margin, for -1 the second."""
    reduction = checked_reduction(reduction, size_average, reduce)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            f"margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return in_total((-target * (input1 - input2) + margin).clamp_min(0), reduction)


@overridable
@declared()
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """soft_margin_loss(input, target, reduction='mean'): log(1 + exp(-target * input)) for targets 1 and -1."""
    reduction = checked_reduction(reduction, size_average, reduce)
    refuse_gradient("soft_margin_loss", target=target)
    factors = input * -target.to(input.dtype)
    sizes = [errors.size(t.array.shape) for t in (input, factors)]
    if sizes[0] != sizes[1]:
        first = f"output with shape {sizes[0]} doesn't match the broadcast shape {sizes[1]}"
        raise errors.mistake(RuntimeError, first)
    return in_total(factors.exp().log1p(), reduction)


@overridable
@declared()
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """cosine_embedding_loss(input1, input2, target, margin=0, reduction='mean'): 1 - cos of two vectors for a target of
    1, max(0, cos - margin) for -1."""
    reduction = checked_reduction(reduction, size_average, reduce)
    _check_vectors(input1, input2, target)
    dim = target.ndim
    cosine = (input1 * input2).sum(dim) / (
        ((input1 * input1).sum(dim) + 1e-12) * ((input2 * input2).sum(dim) + 1e-12)
    ).sqrt()
    alike, unlike = 1 - cosine, (cosine - margin).clamp_min(0)
    return in_total(alike.masked_fill(target != 1, 0) + unlike.masked_fill(target != -1, 0), reduction)


def _check_vectors(input1: Any, input2: Any, target: Any) -> None:
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input1.ndim != target.ndim + 1 or input2.ndim != target.ndim + 1:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found inputs with sizes "
            f"{errors.size(input1.shape)} and {errors.size(input2.shape)}."
        )


# -- of several classes -----------------------------------------------------------------------------------------------


def refuse_empty(input: Any) -> None:
    """Refuse more than two dimensions, and samples without classes."""
    if input.ndim > 2 or (input.ndim and input.shape[-1] == 0):
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {errors.size(input.shape)}"
        )


def check_long(target: Any) -> None:
    """Refuse targets that are not integers of 64 bits."""
    if target.array.dtype != np.int64:
        alias = from_numpy_dtype(target.array.dtype).alias
        raise errors.mistake(RuntimeError, f"expected scalar type Long but found {alias}")


@overridable
@declared()
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """multi_margin_loss(input, target, p=1, margin=1.0, weight=None, reduction='mean'): the mean over all classes i but
    the right one, y, of weight[y] * max(0, margin - input[y] + input[i])**p."""
    reduction = checked_reduction(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    refuse_empty(input)
    scores = input.reshape(-1, input.shape[-1] if input.ndim else 1)
    right = target.reshape(-1, 1)
    if len(right) != len(scores) or target.ndim > 1:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch "
            f"size). Expected target size [{len(scores)}], but got {errors.size(target.shape)}. Input has shape "
            f"{errors.size(input.shape)}."
        )
    if weight is not None and weight.numel() != scores.shape[1]:
        words = f"inconsistent weight size, expected {scores.shape[1]} but got {errors.size(weight.shape)}"
        raise errors.mistake(RuntimeError, words)
    check_long(target)
    if weight is not None and weight.dtype != input.dtype:
        raise errors.mistake(RuntimeError, f"expected scalar type {input.dtype.alias} but found {weight.dtype.alias}")
    if right.numel() and not is_meta(right.array) and not (right.min() >= 0 and right.max() < scores.shape[1]):
        raise errors.mistake(RuntimeError, "target out of range", ("target", errors.describe(target)))
    apart = (margin - scores.gather(1, right) + scores).clamp_min(0)
    apart = apart if p == 1 else apart * apart
    if weight is not None:
        apart = apart * weight[right]
    losses = apart.scatter(1, right, 0.0).sum(1) / scores.shape[1]
    return in_total(losses if target.ndim else losses[0], reduction)


@overridable
@declared()
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """multilabel_margin_loss(input, target, reduction='mean'): the sum over all classes j in the target, which ends
    with the first -1, and all others, i, of max(0, 1 - input[j] + input[i]), divided by the number of classes."""
    reduction = checked_reduction(reduction, size_average, reduce)
    refuse_empty(input)
    if input.shape != target.shape:
        raise RuntimeError(
            f"inconsistent target size: {errors.size(target.shape)} for input of size: {errors.size(input.shape)}"
        )
    check_long(target)
    classes = input.shape[-1] if input.ndim else 1
    known = np.zeros(target.shape, np.int64) if is_meta(target.array) else target.numpy()
    scores, named = input.reshape(-1, classes), known.reshape(-1, classes)
    listed = np.cumprod(named >= 0, axis=1).astype(bool)  # up to the first -1
    among = np.zeros(named.shape, bool)
    rows, places = listed.nonzero()
    among[rows, named[rows, places]] = True
    right = scores.gather(1, wrap(np.where(listed, named, 0)))
    apart = (1 - right.unsqueeze(2) + scores.unsqueeze(1)).clamp_min(0)
    counted = wrap(listed[:, :, None] & ~among[:, None, :])
    losses = apart.masked_fill(~counted, 0).sum((1, 2)) / classes
    return in_total(losses if input.ndim == 2 else losses[0], reduction)


@overridable(refusal="anything")
@declared()
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """multilabel_soft_margin_loss(input, target, weight=None, reduction='mean'): the binary cross entropy of each
    class, and the mean over the classes."""
    losses = -(target * logsigmoid.function(input) + (1 - target) * logsigmoid.function(-input))
    if weight is not None:
        losses = losses * weight
    losses = losses.sum(-1) / input.shape[-1]
    return in_total(losses, checked_reduction(reduction, size_average, reduce))


# -- of three --------------------------------------------------------------------------------------------------------


@overridable
@declared()
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, reduction='mean'):
    max(0, margin + |anchor - positive| - |anchor - negative|) in the p-norm; with `swap` the negative may be nearer to
    the positive."""
    reduction = checked_reduction(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    distance = lambda a, b: pairwise_distance(a, b, p, eps)
    return in_total(_triplet(anchor, positive, negative, distance, margin, swap), reduction)


def _triplet(anchor: Any, positive: Any, negative: Any, distance: Callable[..., Any], margin: float, swap: bool) -> Any:
    dims = [t.ndim for t in (anchor, positive, negative)]
    if len(set(dims)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {dims[0]}D, positive {dims[1]}D, and negative {dims[2]}D inputs"
        )
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return (margin + near - far).clamp_min(0)


@overridable(refusal=".ndim")
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Any = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False,
    reduction='mean'): triplet_margin_loss with any distance."""
    reduction = checked_reduction(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    distance = pairwise_distance if distance_function is None else distance_function
    return in_total(_triplet(anchor, positive, negative, distance, margin, swap), reduction)
