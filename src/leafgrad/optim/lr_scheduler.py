"""leafgrad.optim.lr_scheduler: learning rates that change from epoch to epoch.

A schedule computes the next rate from the present one, not from the first, so that several of them can be used on one
optimiser, and a rate that the user changed in between stays changed.
"""

from __future__ import annotations

import math
import types
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from leafgrad import _missing, errors
from leafgrad._core.tensor import TensorBase
from leafgrad.optim.optimizer import Optimizer

EPOCH_ARGUMENT = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed "
    "form is used instead of the new chainable form, where available. Please open an issue if you are unable to "
    "replicate your use case: https://github.com/pytorch/pytorch/issues/new/choose."
)
WRONG_ORDER = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call "
    "them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in "
    "PyTorch skipping the first value of the learning rate schedule. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)


def set_rate(group: dict[str, Any], rate: Any) -> None:
    """Change the learning rate of a group; one that is a tensor stays the same tensor."""
    if isinstance(group["lr"], TensorBase):
        group["lr"].array[...] = float(rate)
    else:
        group["lr"] = rate


def rates(optimizer: Optimizer, name: str = "lr") -> list[Any]:
    """The learning rates of all groups; of those that are tensors, copies."""
    values = [group[name] for group in optimizer.param_groups]
    return [v.clone() if isinstance(v, TensorBase) else v for v in values]  # type: ignore[attr-defined]


class LRScheduler:
    """LRScheduler(optimizer, last_epoch=-1): the base class. A subclass defines `get_lr`: the next rates, from
    `self.last_epoch`, the rates in the groups and the first ones, `self.base_lrs`."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", rates(optimizer)[i])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch "
                    ">= 0.\nThis typically happens when:\n1. You're trying to resume training from a checkpoint but "
                    "haven't properly loaded the optimizer state\n2. You're using last_epoch >= 0 for a fresh training "
                    "run (not recommended)"
                )
        self.base_lrs = rates(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        self._step_count = 0
        self.step()

    def get_lr(self) -> list[Any]:
        """get_lr(): the rates of the epoch `self.last_epoch`, one for each group."""
        raise NotImplementedError

    def get_last_lr(self) -> list[Any]:
        """get_last_lr(): the rates that are in use now."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """step(): go on to the next epoch. Called after `optimizer.step()`."""
        if self._step_count == 1 and not self.optimizer._has_stepped():
            errors.warn(WRONG_ORDER)
        self._step_count += 1
        if epoch is None:
            self.last_epoch += 1
            values = self.get_lr()
        else:
            errors.warn(EPOCH_ARGUMENT)
            self.last_epoch = epoch
            values = self._get_closed_form_lr()
        for group, rate in zip(self.optimizer.param_groups, values, strict=True):
            set_rate(group, rate)
        self._last_lr = rates(self.optimizer)

    def _get_closed_form_lr(self) -> list[Any]:
        """The rates of an epoch that is no successor of the last one, where a formula gives them."""
        return self.get_lr()

    def _scaled(self, factor: float) -> list[Any]:
        return [rate * factor for rate in rates(self.optimizer)]

    def state_dict(self) -> dict[str, Any]:
        """state_dict(): everything but the optimiser."""
        return {name: value for name, value in vars(self).items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """load_state_dict(state_dict): go on where another schedule was."""
        vars(self).update(state_dict)


class StepLR(LRScheduler):
    """StepLR(optimizer, step_size, gamma=0.1): lr = base gamma^(epoch // step_size)."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        due = self.last_epoch > 0 and self.last_epoch % self.step_size == 0
        return self._scaled(self.gamma) if due else rates(self.optimizer)

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """MultiStepLR(optimizer, milestones, gamma=0.1): lr is multiplied by gamma at each milestone."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        if self.last_epoch not in self.milestones:
            return rates(self.optimizer)
        return self._scaled(self.gamma ** self.milestones[self.last_epoch])

    def _get_closed_form_lr(self) -> list[Any]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class LambdaLR(LRScheduler):
    """LambdaLR(optimizer, lr_lambda): lr = base lr_lambda(epoch), with one function or one for each group."""

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        if isinstance(lr_lambda, (list, tuple)):
            if len(lr_lambda) != len(optimizer.param_groups):
                raise ValueError(f"Expected {len(optimizer.param_groups)} lr_lambdas, but got {len(lr_lambda)}")
            self.lr_lambdas: list[Any] = list(lr_lambda)
        else:
            self.lr_lambdas = [lr_lambda] * len(optimizer.param_groups)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        return [base * function(self.last_epoch) for base, function in zip(self.base_lrs, self.lr_lambdas, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """state_dict(): everything but the optimiser. Of callable objects the attributes; functions are not saved."""
        saved = super().state_dict()
        saved["lr_lambdas"] = [
            None if isinstance(function, types.FunctionType) else dict(vars(function)) for function in self.lr_lambdas
        ]
        return saved

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """load_state_dict(state_dict): go on where another schedule was, with one's own functions."""
        vars(self).update({name: value for name, value in state_dict.items() if name != "lr_lambdas"})
        for function, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if attributes is not None:
                vars(function).update(attributes)


class ExponentialLR(LRScheduler):
    """ExponentialLR(optimizer, gamma): lr = base gamma^epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        return self._scaled(self.gamma) if self.last_epoch > 0 else rates(self.optimizer)

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """CosineAnnealingLR(optimizer, T_max, eta_min=0.0): from base down to eta_min in T_max epochs, and up again:
    lr = eta_min + (base - eta_min) (1 + cos(π epoch / T_max)) / 2."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def _height(self, epoch: int) -> float:
        return 1 + math.cos(math.pi * epoch / self.T_max)

    def get_lr(self) -> list[Any]:
        epoch, low, present = self.last_epoch, self.eta_min, rates(self.optimizer)
        if epoch == 0:
            return present
        if self._step_count == 1:  # started at a later epoch
            return [low + (base - low) * self._height(epoch) / 2 for base in self.base_lrs]
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # up again from the lowest point, where a ratio fails
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [rate + (base - low) * rise for base, rate in zip(self.base_lrs, present)]
        return [self._height(epoch) / self._height(epoch - 1) * (rate - low) + low for rate in present]

    def _get_closed_form_lr(self) -> list[Any]:
        return [self.eta_min + (base - self.eta_min) * self._height(self.last_epoch) / 2 for base in self.base_lrs]


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
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        groups = len(optimizer.param_groups)
        if isinstance(min_lr, (list, tuple)) and len(min_lr) != groups:
            raise ValueError(f"expected {groups} min_lrs, got {len(min_lr)}")
        self.optimizer = optimizer
        self.mode = mode
        self.factor = factor
        self.patience = patience
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.cooldown = cooldown
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.min_lrs = list(min_lr) if isinstance(min_lr, (list, tuple)) else [min_lr] * groups
        self.eps = eps
        self.last_epoch = 0
        self.best = self.mode_worse = math.inf if mode == "min" else -math.inf
        self.cooldown_counter = 0
        self.num_bad_epochs = 0
        self._last_lr = rates(optimizer)

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """step(metrics): take note of the quantity after an epoch, and reduce the rates if it is time."""
        current = float(metrics)
        if epoch is not None:
            errors.warn(EPOCH_ARGUMENT)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = rates(self.optimizer)

    def _is_better(self, current: float) -> bool:
        sign = -1 if self.mode == "min" else 1
        if self.threshold_mode == "rel":
            limit = self.best * (1 + sign * self.threshold)
        else:
            limit = self.best + sign * self.threshold
        return current < limit if self.mode == "min" else current > limit

    def _reduce(self) -> None:
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


if not TYPE_CHECKING:  # for which what is not there is a mistake
    __getattr__ = _missing.attributes_of(__name__)
