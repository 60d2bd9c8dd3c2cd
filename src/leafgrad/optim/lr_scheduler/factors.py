"""Schedules that multiply the rates by a factor, which depends on the epoch."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from leafgrad.optim.lr_scheduler.base import Rates, Schedule, load_function, saved_function
from leafgrad.optim.optimizer import Optimizer

Factor = Callable[[int], float]


class _Factors(Schedule):
    """Schedules with one function of the epoch, or one for each group."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Factor | list[Factor], last_epoch: int = -1) -> None:
        groups = len(optimizer.param_groups)
        if not isinstance(lr_lambda, (list, tuple)):
            self.lr_lambdas: list[Any] = [lr_lambda] * groups
        elif len(lr_lambda) == groups:
            self.lr_lambdas = list(lr_lambda)
        else:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(lr_lambda)}")
        super().__init__(optimizer, last_epoch)

    def _multiplied(self, values: Rates) -> Rates:
        return [value * factor(self.last_epoch) for value, factor in zip(values, self.lr_lambdas, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """state_dict(): everything but the optimiser. Of callable objects the attributes; functions are not saved."""
        return {**super().state_dict(), "lr_lambdas": [saved_function(function) for function in self.lr_lambdas]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """load_state_dict(state_dict): go on where another schedule was, with one's own functions."""
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "lr_lambdas"})
        for function, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            load_function(function, attributes)


class LambdaLR(_Factors):
    """LambdaLR(optimizer, lr_lambda): lr = base lr_lambda(epoch), with one function or one for each group."""

    def _next(self) -> Rates:
        return self._multiplied(self.base_lrs)


class MultiplicativeLR(_Factors):
    """MultiplicativeLR(optimizer, lr_lambda): lr is multiplied by lr_lambda(epoch) in each epoch."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Factor | list[Factor], last_epoch: int = -1) -> None:
        functions = lr_lambda if isinstance(lr_lambda, (list, tuple)) else [lr_lambda]
        fits = functions is not lr_lambda or len(functions) == len(optimizer.param_groups)
        for function in functions if fits else ():
            if not callable(function):
                raise TypeError(f"lr_lambda should be a function, but got {type(function).__name__}")
        super().__init__(optimizer, lr_lambda, last_epoch)

    def _next(self) -> Rates:
        return self._present() if self._is_initial else self._multiplied(self._present())


class StepLR(Schedule):
    """StepLR(optimizer, step_size, gamma=0.1): lr = base gamma^(epoch // step_size)."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _next(self) -> Rates:
        due = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return self._scaled(self.gamma) if due else self._present()

    def _get_closed_form_lr(self) -> Rates:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(Schedule):
    """MultiStepLR(optimizer, milestones, gamma=0.1): lr is multiplied by gamma at each milestone."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _next(self) -> Rates:
        if self.last_epoch not in self.milestones:
            return self._present()
        return self._scaled(self.gamma ** self.milestones[self.last_epoch])

    def _get_closed_form_lr(self) -> Rates:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(Schedule):
    """ConstantLR(optimizer, factor=1/3, total_iters=5): lr = base factor before epoch `total_iters`, then base."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _next(self) -> Rates:
        if self.last_epoch == 0:
            return self._scaled(self.factor)
        return self._scaled(1.0 / self.factor) if self.last_epoch == self.total_iters else self._present()

    def _get_closed_form_lr(self) -> Rates:
        factor = self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)
        return [base * factor for base in self.base_lrs]


class LinearLR(Schedule):
    """LinearLR(optimizer, start_factor=1/3, end_factor=1.0, total_iters=5): from base start_factor to base end_factor
    in `total_iters` epochs, in equal steps."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if not 0 <= end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _next(self) -> Rates:
        if self.last_epoch == 0:
            return self._scaled(self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._present()
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return self._scaled(1.0 + rise / before)

    def _get_closed_form_lr(self) -> Rates:
        rise = self.end_factor - self.start_factor
        factor = self.start_factor + rise * min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * factor for base in self.base_lrs]


class ExponentialLR(Schedule):
    """ExponentialLR(optimizer, gamma): lr = base gamma^epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _next(self) -> Rates:
        return self._present() if self._is_initial else self._scaled(self.gamma)

    def _get_closed_form_lr(self) -> Rates:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(Schedule):
    """PolynomialLR(optimizer, total_iters=5, power=1.0): lr = base (1 - epoch / total_iters)^power, at last zero."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _left(self, epoch: int) -> float:
        return 1.0 - epoch / self.total_iters

    def _next(self) -> Rates:
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._present()
        return self._scaled((self._left(self.last_epoch) / self._left(self.last_epoch - 1)) ** self.power)

    def _get_closed_form_lr(self) -> Rates:
        factor = self._left(min(self.total_iters, self.last_epoch)) ** self.power
        return [base * factor for base in self.base_lrs]
