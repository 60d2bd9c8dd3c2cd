"""Losses that PyTorch has under `torch` itself, as its dispatcher knows them: the reduction is a number (0 for none, 1
for the mean, 2 for the sum)."""

from __future__ import annotations

from typing import Any

from leafgrad import errors
from leafgrad._tensor.tensor import Tensor
from leafgrad.nn import functional as F
from leafgrad.ops.loss.elementwise import in_total


def named(reduction: int) -> str:
    if reduction not in (0, 1, 2):
        raise errors.mistake(RuntimeError, f"{reduction} is not a valid value for reduction")
    return ("none", "mean", "sum")[reduction]


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: int = 1
) -> Tensor:
    """binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, reduction=1)"""
    return F.binary_cross_entropy_with_logits(input, target, weight, pos_weight=pos_weight, reduction=named(reduction))


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1
) -> Tensor:
    """cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=1)"""
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=named(reduction))


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = 1,
    zero_infinity: bool = False,
) -> Tensor:
    """ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction=1, zero_infinity=False)"""
    return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, named(reduction), zero_infinity)


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 1) -> Tensor:
    """hinge_embedding_loss(input, target, margin=1.0, reduction=1)"""
    return F.hinge_embedding_loss(input, target, margin, reduction=named(reduction))


def kl_div(input: Tensor, target: Tensor, reduction: int = 1, *, log_target: bool = False) -> Tensor:
    """kl_div(input, target, reduction=1, *, log_target=False)"""
    losses: Any = F.kl_div(input, target, reduction="none", log_target=log_target)
    total: Tensor = in_total(losses, named(reduction))
    return total


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1
) -> Tensor:
    """margin_ranking_loss(input1, input2, target, margin=0.0, reduction=1)"""
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=named(reduction))


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """poisson_nll_loss(input, target, log_input, full, eps, reduction)"""
    return F.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=named(reduction))


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 1,
) -> Tensor:
    """triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, reduction=1)"""
    return F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=named(reduction))
