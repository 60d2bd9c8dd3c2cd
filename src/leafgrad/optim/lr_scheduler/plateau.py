"""ReduceLROnPlateau: lower rates when training no longer gets anywhere."""

from __future__ import annotations

import math
from typing import Any

from leafgrad import errors
from leafgrad.optim.lr_scheduler.base import EPOCH_DEPRECATION_WARNING, LRScheduler, checked, rates, set_rate
from leafgrad.optim.optimizer import Optimizer


class ReduceLROnPlateau(LRScheduler):
    """ReduceLROnPlateau(optimizer, mode='min', factor=0.1, patience=10, threshold=0.0001, threshold_mode='rel',
    cooldown=0, min_lr=0, eps=1e-08): lr *= factor when a quantity has not improved for more than `patience` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.factor = factor
        self.optimizer = checked(optimizer)
        groups = len(optimizer.param_groups)
        several = isinstance(min_lr, (list, tuple))
        if several and len(min_lr) != groups:
            raise ValueError(f"expected {groups} min_lrs, got {len(min_lr)}")
        self.default_min_lr = None if several else min_lr
        self.min_lrs = list(min_lr) if several else [min_lr] * groups
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = rates(optimizer)
        self._init_is_better(mode, threshold, threshold_mode)
        self._reset()

    def _init_is_better(self, mode: str, threshold: float, threshold_mode: str) -> None:
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode

    def _reset(self) -> None:
        """Start counting anew."""
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        """in_cooldown: are epochs not counted, because the rates were reduced a moment ago?"""
        return self.cooldown_counter > 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """step(metrics): take note of the quantity after an epoch, and reduce the rates if it is time."""
        current = float(metrics)
        if epoch is not None:
            errors.warn(EPOCH_DEPRECATION_WARNING)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = rates(self.optimizer)

    def _is_better(self, current: float, best: float) -> bool:
        sign = -1 if self.mode == "min" else 1
        if self.threshold_mode == "rel":
            limit = best * (1 + sign * self.threshold)
        else:
            limit = best + sign * self.threshold
        return current < limit if self.mode == "min" else current > limit

    def _reduce_lr(self) -> None:
        before, now = len(self.min_lrs), len(self.optimizer.param_groups)
        if before != now and self.default_min_lr is None:
            raise RuntimeError(
                f"The number of param groups in the `optimizer` ({now}) differs from when `ReduceLROnPlateau` was "
                f"initialized ({before}), usually due to a new param group being added to the optimizer. Please modify "
                "the `min_lrs` field to match the length of the `optimizer` param groups."
            )
        if before != now:
            self.min_lrs = [self.default_min_lr] * now
        for group, lowest in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
            present = float(group["lr"])
            reduced = max(present * self.factor, lowest)
            if present - reduced > self.eps:
                set_rate(group, reduced)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """load_state_dict(state_dict): go on where another schedule was."""
        super().load_state_dict(state_dict)
        self._init_is_better(self.mode, self.threshold, self.threshold_mode)
