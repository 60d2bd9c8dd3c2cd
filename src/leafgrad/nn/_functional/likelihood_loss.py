"""Losses of predicted distributions: how unlikely the targets are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import TensorBase, is_meta
from leafgrad.autograd.grad_mode import no_grad
from leafgrad.nn._functional.overridable import overridable
from leafgrad.ops.loss.ctc import ctc_losses
from leafgrad.ops.loss.elementwise import in_total
from leafgrad.ops.loss.options import REDUCTIONS, checked_reduction, legacy_reduction
from leafgrad.ops.signature import Tensor, declared

__all__ = ["ctc_loss", "gaussian_nll_loss", "kl_div", "poisson_nll_loss"]


@overridable
@declared()
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """kl_div(input, target, reduction='mean', log_target=False): target * (log(target) - input) of log-probabilities
    `input`; its mean, its sum, itself, or its sum divided by the number of samples ('batchmean')."""
    if size_average is not None or reduce is not None:
        reduction = legacy_reduction(size_average, reduce)
    elif reduction == "mean":
        errors.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides "
            "only by the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the "
            "same as 'batchmean' in the next major release."
        )
    by_sample = reduction == "batchmean"
    reduction = checked_reduction("sum" if by_sample else reduction)
    kinds = input.array.dtype.kind + target.array.dtype.kind
    if "c" in kinds:
        raise errors.mistake(RuntimeError, "kl_div: Complex inputs not supported.")
    if not {*"biu"}.isdisjoint(kinds):
        raise errors.mistake(RuntimeError, "kl_div: Integral inputs not supported.")
    losses = target.exp() * (target - input) if log_target else target.xlogy(target) - target * input
    total = in_total(losses, reduction)
    return total / input.shape[0] if by_sample and input.ndim != 0 else total


@overridable
@declared()
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """poisson_nll_loss(input, target, log_input=True, full=False, eps=1e-08, reduction='mean'): exp(input) - target *
    input or, of a rate that is not a logarithm, input - target * log(input + eps); `full` adds Stirling's formula."""
    reduction = checked_reduction(reduction, size_average, reduce)
    losses = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        losses = losses + stirling.masked_fill(target <= 1, 0)
    return in_total(losses, reduction)


@overridable(refusal="anything")
def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Tensor | float, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """gaussian_nll_loss(input, target, var, full=False, eps=1e-06, reduction='mean'): (log(var) + (input - target)**2 /
    var) / 2, for variances of at least eps; `full` adds log(2 pi) / 2."""
    var = _variances(input, var)
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not valid")
    var = var.clone()
    with no_grad():
        var.clamp_(min=eps)
    losses = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        losses = losses + 0.5 * math.log(2 * math.pi)
    return in_total(losses, reduction)


def _variances(input: Any, var: Any) -> Any:
    """The variances of all elements, if they may be that."""
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        return var * input.new_ones(input.shape)
    if not is_meta(var.array) and (var.detach() < 0).any():
        raise ValueError("var has negative entry/entries")
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            return var.unsqueeze(-1)
        differing = [b for a, b in zip(input.shape, var.shape) if a != b]
        if var.ndim != input.ndim or differing != [1]:  # the same variance along one dimension
            raise ValueError("var is of incorrect size")
    return var


# -- of sequences -----------------------------------------------------------------------------------------------------


@overridable
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction='mean', zero_infinity=False):
    minus the logarithm of the probability that the labels of the target, with blanks between them and each repeated at
    will, come out of log-probabilities (time, sample, label). The mean is one over the labels of each sample first."""
    reduction = checked_reduction(reduction)
    if log_probs.ndim == 2:  # a single sample
        losses = ctc_loss(
            log_probs.unsqueeze(1), targets, lengths_of(input_lengths, "input_lengths"),
            lengths_of(target_lengths, "target_lengths"), blank, "none", zero_infinity,
        )  # fmt: skip
        sizes = losses.new_tensor([max(lengths_of(target_lengths, "target_lengths")[0], 1)])
        return (losses / sizes).mean() if reduction == "mean" else losses.sum() if reduction == "sum" else losses[0]
    inputs, sizes = lengths_of(input_lengths, "input_lengths"), lengths_of(target_lengths, "target_lengths")
    _check_ctc(log_probs.shape, targets.shape, inputs, sizes, blank)
    found = targets.numpy()
    ends = np.cumsum([0, *sizes])
    rows = found if found.ndim == 2 else [found[start:end] for start, end in itertools.pairwise(ends)]
    named = tuple([tuple(row[:size].tolist()) for row, size in zip(rows, sizes, strict=True)])
    losses = ctc_losses.function(log_probs, named, tuple(inputs), blank, zero_infinity)
    if reduction == "mean":
        return (losses / losses.new_tensor([max(size, 1) for size in sizes])).mean()
    return in_total(losses, reduction)


def lengths_of(given: Any, name: str) -> list[int]:
    """The lengths of sequences as numbers."""
    if not isinstance(given, TensorBase):
        return [int(n) for n in given]
    if given.array.dtype.kind not in "iu":
        raise RuntimeError(f"{name} must be integral")
    return given.reshape(-1).tolist()  # type: ignore[attr-defined, no-any-return]


def _check_ctc(scores: Any, targets: Any, inputs: list[int], sizes: list[int], blank: int) -> None:
    """PyTorch's words about shapes and lengths that do not fit."""
    if 0 in scores:
        raise RuntimeError("log_probs tensor must not be empty")
    where = "(while checking arguments for ctc_loss_allocate_outputs)"
    if len(scores) != 3:  # PyTorch counts the dimension of samples that it has added
        first = (
            f"Expected 3-dimensional tensor, but got {len(scores) + 1}-dimensional tensor for argument #1 'log_probs'"
        )
        raise RuntimeError(f"{first} {where}")
    if not 1 <= len(targets) <= 2:
        first = f"Expected 1 to 2 dimensions, but got {len(targets)}-dimensional tensor for argument #2 'targets'"
        raise RuntimeError(f"{first} {where}")
    times, samples, labels = scores
    if not 0 <= blank < labels:
        raise RuntimeError("blank must be in label range")
    for name, lengths in (("input_lengths", inputs), ("target_lengths", sizes)):
        if len(lengths) != samples:
            raise RuntimeError(f"{name} must be of size batch_size")
    for size in sizes:
        if size < 0:
            raise RuntimeError(f"Expected target_lengths to have value at least 0, but got value {size} {where}")
    expected = sum(sizes) if len(targets) == 1 else samples
    if targets[0] != expected:
        first = f"Expected tensor to have size {expected} at dimension 0, but got size {targets[0]}"
        raise RuntimeError(f"{first} for argument #2 'targets' {where}")
    longest = max(sizes, default=0)
    if len(targets) == 2 and targets[1] < longest:
        first = f"Expected tensor to have size at least {longest} at dimension 1, but got size {targets[1]}"
        raise RuntimeError(f"{first} for argument #2 'targets' {where}")
    for length in inputs:
        if not 0 <= length <= times:
            bound = "at least 0" if length < 0 else f"at most {times}"
            raise RuntimeError(f"Expected input_lengths to have value {bound}, but got value {length} {where}")
