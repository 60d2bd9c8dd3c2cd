"""OneCycleLR: once up and down, over the whole training."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from leafgrad.optim.lr_scheduler.base import Rates, checked, for_each_group
from leafgrad.optim.lr_scheduler.momentum import MomentumSchedule
from leafgrad.optim.optimizer import Optimizer


class OneCycleLR(MomentumSchedule):
    """OneCycleLR(optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3,
    anneal_strategy='cos', cycle_momentum=True, base_momentum=0.85, max_momentum=0.95, div_factor=25.0,
    final_div_factor=10000.0, three_phase=False): from max_lr / div_factor up to max_lr in the part `pct_start` of the
    steps, then down to max_lr / div_factor / final_div_factor; in three phases, down as long as up, and then on."""

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Any,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.85,
        max_momentum: Any = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = checked(optimizer)
        if total_steps is not None:
            self.total_steps = positive("total_steps", total_steps)
        elif epochs is not None and steps_per_epoch is not None:
            self.total_steps = positive("epochs", epochs) * positive("steps_per_epoch", steps_per_epoch)
        else:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        self._schedule_phases = phases(self.total_steps, pct_start, three_phase)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        max_lrs = for_each_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, highest in zip(optimizer.param_groups, max_lrs, strict=True):
                group["initial_lr"] = highest / div_factor
                group["max_lr"] = highest
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._start_momentum(max_momentum, base_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _strategy(self) -> Callable[[Any, Any, float], Any]:
        if not hasattr(self, "_anneal_func_type"):
            return self.anneal_func  # type: ignore[attr-defined, no-any-return] # which PyTorch 1 saved
        return self._annealing_cos if self._anneal_func_type == "cos" else self._annealing_linear

    @staticmethod
    def _annealing_cos(start: Any, end: Any, pct: float) -> Any:
        return end + (start - end) / 2.0 * (math.cos(math.pi * pct) + 1)

    @staticmethod
    def _annealing_linear(start: Any, end: Any, pct: float) -> Any:
        return (end - start) * pct + start

    def _next(self) -> Rates:
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        begin = 0.0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if step <= end or phase is self._schedule_phases[-1]:
                break
            begin = end
        part = (step - begin) / (end - begin)
        anneal = self._strategy()
        if self.cycle_momentum:
            for group in self.optimizer.param_groups:
                momentum = anneal(group[phase["start_momentum"]], group[phase["end_momentum"]], part)
                self._set_momentum(group, momentum)
        return [anneal(g[phase["start_lr"]], g[phase["end_lr"]], part) for g in self.optimizer.param_groups]


def positive(name: str, value: Any) -> int:
    if not isinstance(value, int) or value <= 0:
        raise ValueError(f"Expected positive integer {name}, but got {value}")
    return value


def phases(steps: int, part: float, three: bool) -> list[dict[str, Any]]:
    """The phases: until which step, between which rates and which momentums of a group."""
    up = float(part * steps) - 1
    found = [phase(up, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
    if not three:
        return [*found, phase(steps - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")]
    return [
        *found,
        phase(float(2 * part * steps) - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
        phase(steps - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
    ]


def phase(end: float, start_lr: str, end_lr: str, start_momentum: str, end_momentum: str) -> dict[str, Any]:
    return {
        "end_step": end, "start_lr": start_lr, "end_lr": end_lr, "start_momentum": start_momentum,
        "end_momentum": end_momentum,
    }  # fmt: skip
