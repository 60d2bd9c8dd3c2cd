"""What all schedules have in common: the first rates, the epoch, the step, and what is saved."""

from __future__ import annotations

import types
from typing import Any

from leafgrad import errors
from leafgrad._core.tensor import TensorBase
from leafgrad.optim.optimizer import Optimizer

Rate = Any  # a number, or a tensor of one element
Rates = list[Any]

EPOCH_DEPRECATION_WARNING = (
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
OTHER_STEP = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, make sure "
    "to call `optimizer.step()` before `lr_scheduler.step()`. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)


class LRScheduler:
    """LRScheduler(optimizer, last_epoch=-1): the base class. A subclass defines `get_lr`: the next rates, from
    `self.last_epoch`, the rates in the groups and the first ones, `self.base_lrs`. If it also defines
    `_get_closed_form_lr`, that gives the rates of an epoch that is no successor of the last one."""

    _get_lr_called_within_step = False
    _is_initial = False  # is this the step that the constructor makes?
    _last_lr: Rates

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = checked(optimizer)
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch "
                    ">= 0.\nThis typically happens when:\n1. You're trying to resume training from a checkpoint but "
                    "haven't properly loaded the optimizer state\n2. You're using last_epoch >= 0 for a fresh training "
                    "run (not recommended)"
                )
        self.base_lrs = rates(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        optimizer._watch_order()
        self._initial_step()

    def _initial_step(self) -> None:
        """The step of the constructor, to the first epoch."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def get_lr(self) -> Rates:
        """get_lr(): the rates of the epoch `self.last_epoch`, one for each group."""
        raise NotImplementedError

    def get_last_lr(self) -> Rates:
        """get_last_lr(): the rates that are in use now."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """step(): go on to the next epoch. Called after `optimizer.step()`."""
        if self._step_count == 1:
            if self.optimizer._step_was_replaced():
                errors.warn(OTHER_STEP)
            elif not self.optimizer._stepped:
                errors.warn(WRONG_ORDER)
        self._step_count += 1
        if epoch is not None:
            errors.warn(EPOCH_DEPRECATION_WARNING)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        closed_form = getattr(self, "_get_closed_form_lr", None)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self._set_rates(self.get_lr if epoch is None or closed_form is None else closed_form)

    def _set_rates(self, compute: Any) -> None:
        """Give each group its rate."""
        self._get_lr_called_within_step = True
        try:
            values = compute()
        finally:
            self._get_lr_called_within_step = False
        for group, rate in zip(self.optimizer.param_groups, values, strict=True):
            set_rate(group, rate)
        self._last_lr = rates(self.optimizer)

    def state_dict(self) -> dict[str, Any]:
        """state_dict(): everything but the optimiser."""
        return {name: value for name, value in vars(self).items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """load_state_dict(state_dict): go on where another schedule was."""
        vars(self).update(state_dict)


class _LRScheduler(LRScheduler):
    """The name that the base class had in PyTorch 1."""


class Schedule(LRScheduler):
    """A schedule that says what the next rates are: `_next`."""

    def get_lr(self) -> Rates:
        """get_lr(): the rates of the epoch `self.last_epoch`, for `step`. Others want `get_last_lr()`."""
        if not self._get_lr_called_within_step:
            errors.warn("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.")
        return self._next()

    def _next(self) -> Rates:
        raise NotImplementedError

    def _present(self) -> Rates:
        return rates(self.optimizer)

    def _scaled(self, factor: float) -> Rates:
        return [rate * factor for rate in self._present()]


def checked(optimizer: Any) -> Any:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


def copied(value: Any) -> Any:
    """A tensor of one's own, because rates that are tensors change in place."""
    return value.clone() if isinstance(value, TensorBase) else value  # type: ignore[attr-defined]


def rates(optimizer: Optimizer, name: str = "lr") -> Rates:
    """The learning rates of all groups; of those that are tensors, copies."""
    return [copied(group[name]) for group in optimizer.param_groups]


def set_rate(group: dict[str, Any], rate: Rate) -> None:
    """Change the learning rate of a group; one that is a tensor stays the same tensor."""
    if isinstance(group["lr"], TensorBase):
        group["lr"].fill_(float(rate))  # type: ignore[attr-defined]
    else:
        group["lr"] = rate


def for_each_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """A list with an entry for each group, from such a list or from one value for all of them."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        value = [value] * groups
    elif len(value) != groups:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, param_groups "
            f"has {groups}."
        )
    return [copied(entry) for entry in value]


def saved_function(function: Any) -> dict[str, Any] | None:
    """What is saved of somebody's function: the attributes of a callable object, and nothing of a plain function."""
    return None if function is None or isinstance(function, types.FunctionType) else dict(vars(function))


def load_function(function: Any, attributes: dict[str, Any] | None) -> None:
    if attributes is not None:
        vars(function).update(attributes)
