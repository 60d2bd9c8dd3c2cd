"""Learning rates over 50 epochs for every schedule and option, for tests with PyTorch and with stored values."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from typing import Any

EPOCHS = 50


class Growing:
    """A function with a state."""

    def __init__(self, step: float) -> None:
        self.step = step

    def __call__(self, epoch: float) -> float:
        return 1 + epoch * self.step


def chain(s: Any, o: Any) -> Any:
    return s.ChainedScheduler([s.ConstantLR(o, 0.1, total_iters=20), s.ExponentialLR(o, 0.9), s.StepLR(o, 7, 0.5)], o)


def sequence(s: Any, o: Any) -> Any:
    parts = [s.LinearLR(o, 0.1, total_iters=10), s.CosineAnnealingLR(o, 15), s.ExponentialLR(o, 0.8)]
    return s.SequentialLR(o, parts, [10, 27])


def nested(s: Any, o: Any) -> Any:
    inner = s.SequentialLR(o, [s.ConstantLR(o, 0.5), s.PolynomialLR(o, 9, 2.0)], [4])
    with warnings.catch_warnings():  # the inner one makes another step before the optimiser has made any
        warnings.simplefilter("ignore")
        return s.SequentialLR(o, [inner, s.CosineAnnealingWarmRestarts(o, 5, 2)], [15])


# (schedules, optimiser) -> a schedule
SCHEDULES: dict[str, Callable[[Any, Any], Any]] = {
    "step": lambda s, o: s.StepLR(o, 3),
    "step gamma": lambda s, o: s.StepLR(o, step_size=2, gamma=0.5),
    "milestones": lambda s, o: s.MultiStepLR(o, [2, 5, 5, 11, 33], gamma=0.3),
    "lambda": lambda s, o: s.LambdaLR(o, lambda epoch: 0.95**epoch),
    "lambdas": lambda s, o: s.LambdaLR(o, [lambda epoch: 1 / (1 + epoch), Growing(0.5)]),
    "multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda epoch: 0.95 if epoch % 3 else 1.01),
    "multiplicative lambdas": lambda s, o: s.MultiplicativeLR(o, [Growing(-0.01), lambda epoch: 0.9]),
    "constant": lambda s, o: s.ConstantLR(o),
    "constant options": lambda s, o: s.ConstantLR(o, factor=0.7, total_iters=20),
    "linear": lambda s, o: s.LinearLR(o),
    "linear options": lambda s, o: s.LinearLR(o, start_factor=0.9, end_factor=0.2, total_iters=30),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.9),
    "polynomial": lambda s, o: s.PolynomialLR(o),
    "polynomial options": lambda s, o: s.PolynomialLR(o, total_iters=40, power=1.7),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, 7),
    "cosine eta_min": lambda s, o: s.CosineAnnealingLR(o, T_max=4, eta_min=0.01),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 6),
    "restarts options": lambda s, o: s.CosineAnnealingWarmRestarts(o, T_0=3, T_mult=2, eta_min=0.02),
    "chain": chain,
    "sequence": sequence,
    "nested": nested,
    "cyclic": lambda s, o: s.CyclicLR(o, 0.01, 0.1, step_size_up=5),
    "cyclic 2": lambda s, o: s.CyclicLR(o, [0.01, 0.1], [0.2, 0.3], 4, 8, mode="triangular2", base_momentum=0.7),
    "cyclic exp": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 6, mode="exp_range", gamma=0.97, cycle_momentum=False),
    "cyclic function": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 5, scale_fn=Growing(0.1), scale_mode="iterations"),
    "one cycle": lambda s, o: s.OneCycleLR(o, 0.5, total_steps=50),
    "one cycle lines": lambda s, o: s.OneCycleLR(o, [0.5, 0.1], epochs=5, steps_per_epoch=11, anneal_strategy="linear"),
    "one cycle three": lambda s, o: s.OneCycleLR(o, 0.5, 51, pct_start=0.4, three_phase=True, div_factor=10),
    "one cycle rates": lambda s, o: s.OneCycleLR(o, 0.5, 51, cycle_momentum=False, final_div_factor=10),
}  # fmt: skip
PLATEAUS: dict[str, dict[str, Any]] = {
    "plateau": {},
    "plateau max": {"mode": "max", "min_lr": [0.01, 0.02]},
    "plateau absolute": {"threshold_mode": "abs", "threshold": 0.1, "cooldown": 2},
}
AVERAGES: dict[str, dict[str, Any]] = {
    "swa": {"swa_lr": 0.05},
    "swa linear": {"swa_lr": [0.05, 0.2], "anneal_epochs": 20, "anneal_strategy": "linear"},
    "swa at once": {"swa_lr": 0.05, "anneal_epochs": 0},
}
ALL = [*SCHEDULES, *PLATEAUS, *AVERAGES]


def optimizer_of(lib: Any, name: str, tensors: bool = False) -> Any:
    """Two groups with rates of their own."""
    p, q = lib.nn.Parameter(lib.ones(1)), lib.nn.Parameter(lib.ones(1))
    rate = lambda value: lib.tensor(value, dtype=lib.float64) if tensors else value
    groups = [{"params": [p]}, {"params": [q], "lr": rate(0.3)}]
    if name in ("one cycle", "cyclic 2"):
        return lib.optim.Adam(groups, lr=rate(0.1))
    return lib.optim.SGD(groups, lr=rate(0.1), momentum=0.9)


def schedule_of(lib: Any, name: str, optimizer: Any) -> Any:
    if name in PLATEAUS:
        return lib.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=2, factor=0.5, **PLATEAUS[name])
    if name in AVERAGES:
        return lib.optim.swa_utils.SWALR(optimizer, **AVERAGES[name])
    return SCHEDULES[name](lib.optim.lr_scheduler, optimizer)


def numbers(optimizer: Any) -> list[float]:
    """The rates of both groups, and the momentum of the first."""
    group = optimizer.param_groups[0]
    momentum = group["betas"][0] if "betas" in group else group["momentum"]
    return [*[float(g["lr"]) for g in optimizer.param_groups], momentum]


def go_on(name: str, optimizer: Any, schedule: Any, epochs: range) -> list[list[float]]:
    found = []
    for epoch in epochs:
        optimizer.step()
        if name in PLATEAUS:
            schedule.step(1 / (1 + epoch // 4 % 5) + 0.1 * math.sin(epoch))
        else:
            schedule.step()
        assert [float(rate) for rate in schedule.get_last_lr()] == numbers(optimizer)[:2]
        found.append(numbers(optimizer))
    return found


def rates(lib: Any, name: str, tensors: bool = False) -> list[list[float]]:
    """The numbers after each epoch; in the middle schedule and optimiser are saved, and others go on."""
    optimizer = optimizer_of(lib, name, tensors)
    schedule = schedule_of(lib, name, optimizer)
    found = [numbers(optimizer), *go_on(name, optimizer, schedule, range(EPOCHS // 2))]
    saved = copy.deepcopy((optimizer.state_dict(), schedule.state_dict()))
    optimizer = optimizer_of(lib, name, tensors)
    schedule = schedule_of(lib, name, optimizer)
    optimizer.load_state_dict(saved[0])
    schedule.load_state_dict(saved[1])
    return [*found, *go_on(name, optimizer, schedule, range(EPOCHS // 2, EPOCHS))]
