"""leafgrad.optim.lr_scheduler and swa_utils without PyTorch: rates against stored ones, warnings, errors, averages."""

from __future__ import annotations

import copy
import gc
import gzip
import json
import types
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
import leafgrad.nn as nn
import leafgrad.optim as optim
from leafgrad.optim import lr_scheduler, swa_utils
from schedule_cases import ALL, optimizer_of, rates, schedule_of

STORED = json.loads(gzip.decompress((Path(__file__).parents[1] / "data" / "schedules.json.gz").read_bytes()))


def sgd(lr: Any = 1.0, **options: Any) -> Any:
    return optim.SGD([nn.Parameter(lg.ones(1))], lr=lr, **options)


@pytest.mark.parametrize("name", ALL)
def test_rates(name: str) -> None:
    np.testing.assert_allclose(rates(lg, name), STORED[name], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", ALL)
def test_rates_that_are_tensors_change_in_place(name: str) -> None:
    np.testing.assert_allclose(rates(lg, name, tensors=True), STORED[name], rtol=1e-12, atol=1e-15)
    optimizer = optimizer_of(lg, name, tensors=True)
    before = optimizer.param_groups[1]["lr"]
    schedule_of(lg, name, optimizer)
    assert optimizer.param_groups[1]["lr"] is before


def test_a_rate_that_was_changed_stays_changed() -> None:
    optimizer = sgd()
    schedule = lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.param_groups[0]["lr"] = 8.0
    optimizer.step()
    schedule.step()
    assert schedule.get_last_lr() == [4.0]


class Wrapper(optim.Optimizer):
    """Passes on what it is asked to do, and leaves out `Optimizer.__init__`, as libraries do."""

    def __init__(self, optimizer: Any) -> None:
        self.optimizer = optimizer

    @property
    def param_groups(self) -> Any:  # type: ignore[override]
        return self.optimizer.param_groups

    def step(self, closure: Any = None) -> Any:
        return self.optimizer.step(closure)


def test_schedules_of_an_optimizer_that_wraps_another() -> None:
    optimizer = Wrapper(sgd())
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # "lr_scheduler.step() before optimizer.step()"
        schedule = lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
        optimizer.step()
        schedule.step()
    assert optimizer.param_groups[0]["lr"] == 0.5


def test_any_epoch_by_the_closed_form() -> None:
    optimizer = sgd()
    lr_scheduler.ConstantLR(optimizer)
    optimizer.step()
    for make, expected in [
        (lambda: lr_scheduler.StepLR(optimizer, 2, 0.5), 0.5**3),
        (lambda: lr_scheduler.MultiStepLR(optimizer, [1, 6, 6, 8], 0.5), 0.5**3),
        (lambda: lr_scheduler.ConstantLR(optimizer, 0.5, 9), 0.5),
        (lambda: lr_scheduler.LinearLR(optimizer, 0.5, 1.0, 14), 0.75),
        (lambda: lr_scheduler.ExponentialLR(optimizer, 0.5), 0.5**7),
        (lambda: lr_scheduler.PolynomialLR(optimizer, 14, 2.0), 0.25),
        (lambda: lr_scheduler.CosineAnnealingLR(optimizer, 14), 0.5),
    ]:
        schedule = make()
        with pytest.warns(UserWarning, match="The epoch parameter in `scheduler.step"):
            schedule.step(7)
        assert schedule.get_last_lr() == pytest.approx([expected])
    restarts = lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 2, 2)
    restarts.step(2 + 4 + 4)  # type: ignore[arg-type]
    assert restarts.get_last_lr() == pytest.approx([0.5])
    restarts.step(0.5)
    assert restarts.get_last_lr() == pytest.approx([(1 + np.cos(np.pi / 4)) / 2]) and restarts.last_epoch == 0


def test_a_schedule_goes_on_from_a_later_epoch() -> None:
    with pytest.raises(KeyError, match="param 'initial_lr' is not specified in param_groups"):
        lr_scheduler.StepLR(sgd(), 2, last_epoch=3)
    optimizer = sgd(0.25)
    optimizer.param_groups[0]["initial_lr"] = 1.0
    schedule = lr_scheduler.StepLR(optimizer, 2, 0.5, last_epoch=4)
    optimizer.step()
    schedule.step()
    assert schedule.last_epoch == 6 and schedule.get_last_lr() == [0.125] and schedule.base_lrs == [1.0]


# -- the order of the steps -------------------------------------------------------------------------------------------


def warned(function: Callable[[], Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        function()
    return [str(warning.message).partition(".")[0] for warning in found]


ORDER = "Detected call of `lr_scheduler"
REPLACED = "Seems like `optimizer"


class Own(optim.Optimizer):
    def __init__(self) -> None:
        super().__init__([nn.Parameter(lg.ones(1))], {"lr": 1.0})

    def step(self, closure: Any = None) -> None:
        pass


@pytest.mark.parametrize("make", [sgd, Own])
def test_a_step_of_the_optimizer_comes_first(make: Callable[[], Any]) -> None:
    optimizer = make()
    optimizer.step()  # which counts only if the schedule was there
    schedule = lr_scheduler.ExponentialLR(optimizer, 0.5)
    assert warned(schedule.step) == [ORDER] and warned(schedule.step) == []
    optimizer = make()
    schedule = lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    assert warned(schedule.step) == []
    assert warned(lr_scheduler.ExponentialLR(optimizer, 0.5).step) == []


def test_hooks_do_not_hide_the_order() -> None:
    for early in (True, False):
        for step in (True, False):
            optimizer = sgd()
            if early:
                optimizer.register_step_post_hook(lambda *args: None)
            schedule = lr_scheduler.ExponentialLR(optimizer, 0.5)
            if not early:
                optimizer.register_step_post_hook(lambda *args: None)
            if step:
                optimizer.step()
            assert warned(schedule.step) == ([] if step else [ORDER])


def test_a_step_that_was_replaced() -> None:
    def replace(optimizer: Any) -> None:
        step = optimizer.step
        optimizer.step = types.MethodType(lambda self: step(), optimizer)

    optimizer = sgd()
    schedule = lr_scheduler.ExponentialLR(optimizer, 0.5)
    replace(optimizer)
    optimizer.step()
    assert warned(schedule.step) == [REPLACED]
    optimizer = sgd()
    replace(optimizer)
    schedule = lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    assert warned(schedule.step) == []


def test_get_lr_is_for_step() -> None:
    schedule = lr_scheduler.ExponentialLR(sgd(), 0.5)
    with pytest.warns(UserWarning, match="please use `get_last_lr"):
        schedule.get_lr()


def test_a_schedule_of_ones_own() -> None:
    class Halving(lr_scheduler.LRScheduler):
        def get_lr(self) -> list[float]:
            assert self._get_lr_called_within_step
            return [base / 2**self.last_epoch for base in self.base_lrs]

    optimizer = sgd()
    schedule = Halving(optimizer)
    optimizer.step()
    schedule.step()
    assert schedule.get_last_lr() == [0.5]
    with pytest.warns(UserWarning, match="The epoch parameter"):
        schedule.step(3)  # without a closed form
    assert schedule.get_last_lr() == [0.125]


def test_nothing_is_left_behind() -> None:
    def run() -> Any:
        optimizer = sgd()
        schedule = lr_scheduler.CyclicLR(optimizer, 0.1, 1.0, cycle_momentum=False)
        optimizer.step()
        schedule.step()
        return weakref.ref(schedule), weakref.ref(optimizer)

    gc.disable()
    try:
        assert [reference() for reference in run()] == [None, None]
    finally:
        gc.enable()


# -- errors -----------------------------------------------------------------------------------------------------------

s = lr_scheduler
ERRORS: list[tuple[type[Exception], str, Callable[[Any], Any]]] = [
    (TypeError, "int is not an Optimizer", lambda o: s.ExponentialLR(3, 0.5)),  # type: ignore[arg-type]
    (TypeError, "int is not an Optimizer", lambda o: s.ReduceLROnPlateau(3)),  # type: ignore[arg-type]
    (ValueError, "Factor should be < 1.0.", lambda o: s.ReduceLROnPlateau(o, factor=1.0)),
    (ValueError, "mode best is unknown!", lambda o: s.ReduceLROnPlateau(o, "best")),
    (ValueError, "expected 1 min_lrs, got 2", lambda o: s.ReduceLROnPlateau(o, min_lr=[0, 0])),
    (ValueError, "Expected 1 lr_lambdas, but got 2", lambda o: s.LambdaLR(o, [lambda e: 1.0] * 2)),
    (TypeError, "lr_lambda should be a function, but got int", lambda o: s.MultiplicativeLR(o, 3)),  # type: ignore[arg-type]
    (ValueError, "Constant multiplicative factor expected to be", lambda o: s.ConstantLR(o, 2.0)),
    (ValueError, "Starting multiplicative factor expected", lambda o: s.LinearLR(o, 0.0)),
    (ValueError, "Ending multiplicative factor expected", lambda o: s.LinearLR(o, end_factor=2.0)),
    (ValueError, "Expected positive integer T_0, but got 0", lambda o: s.CosineAnnealingWarmRestarts(o, 0)),
    (ValueError, "Expected integer T_mult >= 1, but got 0", lambda o: s.CosineAnnealingWarmRestarts(o, 1, 0)),
    (ValueError, "Expected float or int eta_min", lambda o: s.CosineAnnealingWarmRestarts(o, 1, eta_min=None)),  # type: ignore[arg-type]
    (ValueError, "Expected non-negative epoch", lambda o: s.CosineAnnealingWarmRestarts(o, 1).step(-1)),
    (ValueError, "mode is invalid and scale_fn is None", lambda o: s.CyclicLR(o, 0.1, 1, mode="x")),
    (ValueError, "max_lr must have the same length as optimizer.param_groups", lambda o: s.CyclicLR(o, 0.1, [1, 2])),
    (ValueError, "You must define either total_steps OR", lambda o: s.OneCycleLR(o, 1.0)),
    (ValueError, "Expected positive integer total_steps, but got 0", lambda o: s.OneCycleLR(o, 1.0, 0)),
    (ValueError, "Expected float between 0 and 1 pct_start", lambda o: s.OneCycleLR(o, 1.0, 5, pct_start=2)),
    (ValueError, "anneal_strategy must be one of", lambda o: s.OneCycleLR(o, 1.0, 5, anneal_strategy="x")),
    (ValueError, "SequentialLR expects at least one scheduler", lambda o: s.SequentialLR(o, [], [])),
    (ValueError, "Sequential Schedulers expects number", lambda o: s.SequentialLR(o, [s.ConstantLR(o)], [1])),
    (ValueError, "ChainedScheduler expects at least one", lambda o: s.ChainedScheduler([])),
    (ValueError, "does not support `ReduceLROnPlateau`", lambda o: s.ChainedScheduler([s.ReduceLROnPlateau(o)])),
    (ValueError, "belong to the same optimizer", lambda o: s.ChainedScheduler([s.ConstantLR(o)], sgd())),
    (TypeError, "should have `optimizer` as its attribute", lambda o: s.ChainedScheduler([3], o)),  # type: ignore[list-item]
    (NotImplementedError, "^$", lambda o: s.LRScheduler(o)),
    (ValueError, "anneal_epochs must be equal or greater than 0", lambda o: swa_utils.SWALR(o, 0.1, -1)),
    (ValueError, "anneal_strategy must be one of", lambda o: swa_utils.SWALR(o, 0.1, anneal_strategy="x")),
]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors(number: int) -> None:
    error, message, make = ERRORS[number]
    with pytest.raises(error, match=message):
        make(sgd(momentum=0.9))


def test_errors_that_come_later() -> None:
    class Bare(optim.Optimizer):
        def __init__(self) -> None:
            super().__init__([nn.Parameter(lg.ones(1))], {"lr": 1.0})

    with pytest.raises(ValueError, match="optimizer must support momentum or beta1"):
        lr_scheduler.CyclicLR(Bare(), 0.1, 1.0)
    optimizer = sgd(momentum=0.5)
    schedule = lr_scheduler.OneCycleLR(optimizer, 1.0, 2)
    optimizer.step()
    schedule.step()
    schedule.step()
    with pytest.raises(ValueError, match=r"Tried to step 3 times. The specified number of total steps is 2"):
        schedule.step()


def test_a_new_group_on_a_plateau() -> None:
    optimizer = sgd()
    one, each = (
        lr_scheduler.ReduceLROnPlateau(optimizer, patience=0),
        lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, min_lr=[0.5]),
    )
    optimizer.add_param_group({"params": [nn.Parameter(lg.ones(1))], "lr": 4.0})
    one.step(1.0)
    one.step(2.0)
    assert one.get_last_lr() == pytest.approx([0.1, 0.4])
    each.step(1.0)
    with pytest.raises(RuntimeError, match="The number of param groups in the `optimizer` "):
        each.step(2.0)


# -- averages ---------------------------------------------------------------------------------------------------------


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(lg.zeros(2, dtype=lg.float64))
        self.register_buffer("count", lg.tensor(0))
        self.register_buffer("scale", lg.tensor(0.0))

    def forward(self, x: Any) -> Any:
        return self.w * x


def averaged(values: list[float], **options: Any) -> tuple[list[float], int, float]:
    model = Model()
    average = swa_utils.AveragedModel(model, **options)
    for value in values:
        for t in (*model.parameters(), *model.buffers()):
            t.data.fill_(value)
        average.update_parameters(model)
    assert average.n_averaged.item() == len(values) and average.n_averaged.dtype == lg.int64
    assert average(lg.ones(2, dtype=lg.float64)).tolist() == average.module.w.tolist()
    inner: Any = average.module
    return inner.w.tolist(), inner.count.item(), inner.scale.item()


@pytest.mark.parametrize(
    "function", [{}, {"avg_fn": swa_utils.get_swa_avg_fn()}, {"multi_avg_fn": swa_utils.get_swa_multi_avg_fn()}]
)
def test_means(function: dict[str, Any]) -> None:
    values = [3.0, 8.0, 16.0, 5.0]
    w, count, scale = averaged(values, **function)
    assert w == pytest.approx([8.0, 8.0]) and (count, scale) == (5, 5.0)  # buffers are copied
    w, count, scale = averaged(values, use_buffers=True, **function)
    # integers are rounded towards zero each time: 3, 5.5, 8.67, 7.25
    assert w == pytest.approx([8.0, 8.0]) and count == 7 and scale == pytest.approx(8.0)


@pytest.mark.parametrize(
    "function", [{"avg_fn": swa_utils.get_ema_avg_fn(0.75)}, {"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.75)}]
)
def test_exponential_averages(function: dict[str, Any]) -> None:
    w, count, scale = averaged([4.0, 8.0, 16.0], use_buffers=True, **function)
    assert w == [7.75, 7.75] and count == 7 and scale == 7.75


def test_averages_take_no_part_in_training() -> None:
    model = Model()
    average = swa_utils.AveragedModel(model, device="cpu")
    average.update_parameters(model)
    average.update_parameters(model)
    assert all(p.is_leaf and p.requires_grad and p.grad is None for p in average.parameters())
    assert list(average.state_dict()) == ["n_averaged", "module.w", "module.count", "module.scale"]
    other = swa_utils.AveragedModel(Model())
    other.load_state_dict(average.state_dict())
    assert other.n_averaged.item() == 2
    with pytest.raises(AssertionError, match="Only one of avg_fn and multi_avg_fn"):
        swa_utils.AveragedModel(model, avg_fn=swa_utils.get_swa_avg_fn(), multi_avg_fn=swa_utils.get_swa_multi_avg_fn())
    for make in (swa_utils.get_ema_avg_fn, swa_utils.get_ema_multi_avg_fn):
        with pytest.raises(ValueError, match=r"Invalid decay value 2.0 provided"):
            make(2.0)


class _BatchNorm(nn.Module):
    """As far as `update_bn` knows it."""

    def __init__(self) -> None:
        super().__init__()
        self.momentum: float | None = 0.1
        self.running_mean: Any = lg.ones(1)
        self.batches = 7

    def reset_running_stats(self) -> None:
        self.running_mean, self.batches = lg.zeros(1), 0

    def forward(self, x: Any) -> Any:
        assert self.training and self.momentum is None and not lg.is_grad_enabled()
        self.batches += 1
        self.running_mean = self.running_mean + (x.mean() - self.running_mean) / self.batches
        return x


class BatchNorm(_BatchNorm):
    pass


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: (x, 0), lambda x: [x, 0]])
def test_update_bn(wrap: Callable[[Any], Any]) -> None:
    model = nn.Sequential(BatchNorm(), nn.Identity()).eval()
    layer: Any = model[0]
    swa_utils.update_bn([wrap(lg.full((2,), value)) for value in (1.0, 2.0, 6.0)], model, device="cpu")
    assert layer.running_mean.item() == 3.0 and layer.batches == 3 and layer.momentum == 0.1 and not model.training


def test_update_bn_without_layers_reads_nothing() -> None:
    swa_utils.update_bn(iter(lambda: pytest.fail("not to be read"), None), nn.Linear(2, 2))


def test_schedules_are_copied_with_their_optimizer() -> None:
    optimizer = sgd(momentum=0.5)
    schedule = lr_scheduler.CyclicLR(optimizer, 0.1, 1.0, 4)
    other = copy.deepcopy(schedule)
    for each in (schedule, other):
        each.optimizer.step()
        with warnings.catch_warnings():  # the copy knows nothing of the order of steps, as in PyTorch
            warnings.simplefilter("ignore")
            each.step()
    assert other.optimizer is not optimizer and other.get_last_lr() == schedule.get_last_lr()
