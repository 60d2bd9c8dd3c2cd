"""CyclicLR: up and down in straight lines."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from leafgrad.optim.lr_scheduler.base import (
    Rates,
    checked,
    for_each_group,
    load_function,
    saved_function,
    set_rate,
)
from leafgrad.optim.lr_scheduler.momentum import MomentumSchedule
from leafgrad.optim.optimizer import Optimizer


def constant_height(cycle: float) -> float:
    return 1.0


def halved_height(cycle: float) -> float:
    height: float = 1 / 2.0 ** (cycle - 1)
    return height


def decaying_height(gamma: float, epoch: float) -> float:
    height: float = gamma**epoch
    return height


class CyclicLR(MomentumSchedule):
    """CyclicLR(optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode='triangular', gamma=1.0,
    scale_fn=None, scale_mode='cycle', cycle_momentum=True, base_momentum=0.8, max_momentum=0.9): up from base_lr to
    max_lr and down again. The height of a cycle is scaled by `scale_fn`, or as `mode` says: not at all, by a half from
    one cycle to the next ('triangular2'), by gamma in each step ('exp_range')."""

    _scale_fn_ref: Callable[[float], float]

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.8,
        max_momentum: Any = 0.9,
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = checked(optimizer)
        base_lrs = for_each_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, base_lrs, strict=True):
                set_rate(group, lr)
        self.max_lrs = for_each_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._start_momentum(max_momentum, base_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _init_scale_fn(self) -> None:
        if self._scale_fn_custom is not None:
            return
        if self.mode == "exp_range":
            self._scale_fn_ref, self.scale_mode = partial(decaying_height, self.gamma), "iterations"
        else:
            self._scale_fn_ref = constant_height if self.mode == "triangular" else halved_height
            self.scale_mode = "cycle"

    def scale_fn(self, x: float) -> float:
        """scale_fn(x): how high a cycle is, the x-th one or the one in step x."""
        return (self._scale_fn_custom or self._scale_fn_ref)(x)

    def _next(self) -> Rates:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            momentums = zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True)
            for group, low, high in momentums:
                self._set_momentum(group, high - (high - low) * height * scale)
        return [low + (high - low) * height * scale for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """state_dict(): everything but the optimiser. Of a callable object for `scale_fn` the attributes; a function is
        not saved."""
        saved = {name: value for name, value in super().state_dict().items() if name != "_scale_fn_ref"}
        return {**saved, "_scale_fn_custom": saved_function(self._scale_fn_custom)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """load_state_dict(state_dict): go on where another schedule was, with one's own `scale_fn`."""
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "_scale_fn_custom"})
        load_function(self._scale_fn_custom, state_dict["_scale_fn_custom"])
        self._init_scale_fn()
