"""leafgrad.optim.swa_utils: averages of a model's parameters over the steps of its training."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from itertools import chain
from typing import Any

from leafgrad._core.fused import change_together
from leafgrad._tensor.tensor import Tensor
from leafgrad.autograd.grad_mode import no_grad
from leafgrad.kernels.fused.in_place import averaged, moved_towards, replaced
from leafgrad.nn.modules.module import Module
from leafgrad.optim.lr_scheduler.base import Rates, Schedule, for_each_group
from leafgrad.optim.optimizer import Optimizer
from leafgrad.optim.states import step_counter

Average = Callable[[Tensor, Tensor, Any], Tensor]
Averages = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """get_ema_avg_fn(decay=0.999): a function for the exponential average: decay p + (1 - decay) new."""
    check_decay(decay)

    @no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Average:
    """get_swa_avg_fn(): a function for the mean of all parameters so far."""

    @no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        change: Tensor = (current_param - averaged_param) / (num_averaged + 1)
        return averaged_param + change

    return swa_update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Averages:
    """get_ema_multi_avg_fn(decay=0.999): the exponential average, in place, of several parameters of one dtype."""
    average = get_ema_avg_fn(decay)

    @no_grad()
    def ema_update(ema_params: Sequence[Tensor], current_params: Sequence[Tensor], num_averaged: Any) -> None:
        update_all(ema_params, current_params, 1 - decay, num_averaged, average)

    return ema_update


def get_swa_multi_avg_fn() -> Averages:
    """get_swa_multi_avg_fn(): the mean so far, in place, of several parameters of one dtype."""
    average = get_swa_avg_fn()

    @no_grad()
    def swa_update(averaged_params: Sequence[Tensor], current_params: Sequence[Tensor], num_averaged: Any) -> None:
        update_all(averaged_params, current_params, float(1 / (num_averaged + 1)), num_averaged, average)

    return swa_update


def update_all(averages: Any, currents: Any, weight: float, num_averaged: Any, otherwise: Average) -> None:
    """Go from each average towards the current value; integers, of which a part of the way is none, are rounded."""
    pairs = list(zip(averages, currents, strict=True))
    for average, current in change_together(moved_towards, pairs, weight, abs(weight) >= 0.5):
        if average.is_floating_point() or average.is_complex():
            average.lerp_(current, weight)
        else:
            average.copy_(otherwise(average, current, num_averaged))


def check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


class AveragedModel(Module):
    """AveragedModel(model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False): a copy of a model whose
    parameters are averages, by default the mean, of those that the model has had at each `update_parameters(model)`.
    With `use_buffers` buffers are averaged as well; otherwise they are copied."""

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: Averages | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module: Any = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", step_counter().long())
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """forward(*args, **kwargs): what the averaged model computes."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """update_parameters(model): take the present parameters into the averages."""
        mine, theirs = [
            [t.detach() for t in (chain(m.parameters(), m.buffers()) if self.use_buffers else m.parameters())]
            for m in (self.module, model)
        ]
        if self.n_averaged == 0:
            for average, current in zip(mine, theirs):
                average.copy_(current)
        elif self.multi_avg_fn is None:
            function = self.avg_fn
            pairs: Sequence[Any] = list(zip(mine, theirs, strict=True))
            if function is None:
                function = get_swa_avg_fn()
                pairs = change_together(averaged, pairs, float(self.n_averaged + 1))
            for average, current in pairs:
                average.copy_(function(average.detach(), current, self.n_averaged))
        else:
            kinds: dict[Any, tuple[list[Tensor], list[Tensor]]] = {}
            for average, current in zip(mine, theirs):
                averages, currents = kinds.setdefault(average.dtype, ([], []))
                averages.append(average)
                currents.append(current)
            for averages, currents in kinds.values():
                self.multi_avg_fn(averages, currents, self.n_averaged)
        if not self.use_buffers:
            buffers = list(zip(self.module.buffers(), model.buffers(), strict=True))
            for average, current in change_together(replaced, buffers):
                average.detach().copy_(current.detach())
        self.n_averaged += 1


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """update_bn(loader, model, device=None): the running statistics of all batch normalisations of a model, computed
    anew from the batches of a loader, each of which counts as much as any other. A batch is the input of the model, or
    a list or tuple that begins with it."""
    layers: list[Any] = [module for module in model.modules() if is_batch_norm(module)]
    for layer in layers:
        layer.reset_running_stats()
    if not layers:
        return
    was_training, momenta = model.training, [layer.momentum for layer in layers]
    model.train()
    for layer in layers:
        layer.momentum = None  # a plain mean
    for batch in loader:
        inputs = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(inputs if device is None else inputs.to(device))
    for layer, momentum in zip(layers, momenta, strict=True):
        layer.momentum = momentum
    model.train(was_training)


def is_batch_norm(module: Module) -> bool:
    """By the name that the base class of all of them has, because other layers have running statistics as well."""
    return any([base.__name__ == "_BatchNorm" for base in type(module).__mro__])


class SWALR(Schedule):
    """SWALR(optimizer, swa_lr, anneal_epochs=10, anneal_strategy='cos'): from the present rates to `swa_lr`, along a
    cosine or a line, and constant from then on."""

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: Any,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for group, rate in zip(optimizer.param_groups, for_each_group("swa_lr", optimizer, swa_lr), strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t: float) -> float:
        """anneal_func(t): how much of the way is behind us after the part `t` of the time."""
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def _next(self) -> Rates:
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = [self.anneal_func(max(0, min(1, k / max(1, self.anneal_epochs)))) for k in (step - 1, step)]
        found = []
        for group in self.optimizer.param_groups:
            target = group["swa_lr"]
            start = target if before == 1 else (group["lr"] - before * target) / (1 - before)
            found.append(target * now + start * (1 - now))
        return found
