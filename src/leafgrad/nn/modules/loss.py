"""Losses as modules: what the functions take as options, the constructors take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafgrad._tensor.tensor import Tensor
from leafgrad.nn import functional as F
from leafgrad.nn.modules.module import Module
from leafgrad.ops.loss.options import legacy_reduction

__all__ = ["CrossEntropyLoss", "L1Loss", "MSELoss", "NLLLoss"]


class _Loss(Module):
    """A loss with a `reduction`: 'mean', 'sum' or 'none'."""

    reduction: str

    if TYPE_CHECKING:

        def __call__(self, input: Tensor, target: Tensor) -> Tensor: ...

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__()
        if size_average is not None or reduce is not None:
            reduction = legacy_reduction(size_average, reduce)
        self.reduction = reduction


class MSELoss(_Loss):
    """MSELoss(reduction='mean'): (input - target)², element by element, then the mean."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """L1Loss(reduction='mean'): |input - target|, element by element, then the mean."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class _ClassLoss(_Loss):
    """A loss whose targets are classes, which may have weights."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index


class NLLLoss(_ClassLoss):
    """NLLLoss(weight=None, ignore_index=-100, reduction='mean'): -input[target] for log-probabilities `input`."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class CrossEntropyLoss(_ClassLoss):
    """CrossEntropyLoss(weight=None, ignore_index=-100, reduction='mean', label_smoothing=0.0):
    -log_softmax(input)[target], for targets that are class numbers or probabilities."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, ignore_index, reduce, reduction)
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )
