"""leafgrad.optim.lr_scheduler: learning rates that change from epoch to epoch.

A schedule computes the next rate from the present one, not from the first, where it can, so that several of them can be
used on one optimiser, and a rate that the user changed in between stays changed. May import what `optim` may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafgrad import _missing
from leafgrad.optim.lr_scheduler.base import EPOCH_DEPRECATION_WARNING as EPOCH_DEPRECATION_WARNING
from leafgrad.optim.lr_scheduler.base import LRScheduler
from leafgrad.optim.lr_scheduler.base import _LRScheduler as _LRScheduler
from leafgrad.optim.lr_scheduler.combined import ChainedScheduler, SequentialLR
from leafgrad.optim.lr_scheduler.cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from leafgrad.optim.lr_scheduler.cyclic import CyclicLR
from leafgrad.optim.lr_scheduler.factors import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from leafgrad.optim.lr_scheduler.one_cycle import OneCycleLR
from leafgrad.optim.lr_scheduler.plateau import ReduceLROnPlateau

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR",
    "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR",
    "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip


if not TYPE_CHECKING:  # for which what is not there is a mistake
    __getattr__ = _missing.attributes_of(__name__)
