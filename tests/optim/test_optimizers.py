"""All optimisers with all of their options, without PyTorch: parameters against stored ones, states, errors."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
import leafgrad.nn as nn
import leafgrad.optim as optim
from optim_cases import CASES, twenty_steps

STORED = json.loads(gzip.decompress((Path(__file__).parents[1] / "data" / "optimizers.json.gz").read_bytes()))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", CASES)
def test_parameters_after_twenty_steps_are_pytorchs(case: str, dtype: str) -> None:
    precision = 1e-5 if dtype == "float32" else 1e-11
    np.testing.assert_allclose(twenty_steps(lg, case, dtype), STORED[case][dtype], rtol=precision, atol=precision)


def trained(optimizer: Any, p: Any, steps: int) -> Any:
    def closure() -> Any:
        optimizer.zero_grad()
        loss = ((p - 0.3) ** 2 * 0.4).sum()
        loss.backward()
        return loss

    for _ in range(steps):
        optimizer.step(closure)
    return p.detach().clone()


@pytest.mark.parametrize("case", CASES)
def test_training_goes_on_from_a_saved_state(case: str) -> None:
    name, options = CASES[case]
    p, q = (nn.Parameter(lg.tensor([[1.0, -2.0], [0.5, 0.1]])) for _ in range(2))
    first = getattr(optim, name)([p], **options)
    q.data.copy_(trained(first, p, 4))
    second = getattr(optim, name)([q])  # with other options, which the state replaces
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    assert trained(second, q, 4).tolist() == trained(first, p, 4).tolist()
    assert repr(second) == repr(first)


OPTIONS = [
    (name, option)
    for name in sorted({name for name, _ in CASES.values()})
    for option in ("foreach", "fused")
    if option in getattr(optim, name).__init__.__code__.co_varnames
]


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_options_that_choose_between_equal_forms(name: str, option: str) -> None:
    p, q = (nn.Parameter(lg.tensor([[1.0, -2.0], [0.5, 0.1]])) for _ in range(2))
    chosen = trained(getattr(optim, name)([p], **{option: True}), p, 3)
    assert chosen.tolist() == trained(getattr(optim, name)([q]), q, 3).tolist()


@pytest.mark.parametrize("name", [name for name, option in OPTIONS if option == "foreach"])
def test_capturable_is_refused(name: str) -> None:
    if "capturable" in getattr(optim, name).__init__.__code__.co_varnames:
        with pytest.raises(NotImplementedError, match="capturable=True is about CUDA graphs"):
            getattr(optim, name)([nn.Parameter(lg.ones(1))], capturable=True)


ERRORS: list[tuple[str, Callable[[Any], Any]]] = [
    ("Invalid learning rate: -1", lambda p: optim.Adamax(p, lr=-1)),
    ("Invalid beta parameter at index 1: 1.0", lambda p: optim.Adamax(p, betas=(0.9, 1.0))),
    ("Invalid epsilon value: -1", lambda p: optim.NAdam(p, eps=-1)),
    ("Invalid momentum_decay value: -1", lambda p: optim.NAdam(p, momentum_decay=-1)),
    ("Invalid beta parameter at index 0: -0.1", lambda p: optim.RAdam(p, betas=(-0.1, 0.9))),
    ("Invalid weight_decay value: -1", lambda p: optim.RAdam(p, weight_decay=-1)),
    ("Invalid lr_decay value: -1", lambda p: optim.Adagrad(p, lr_decay=-1)),
    ("Invalid initial_accumulator_value value: -1", lambda p: optim.Adagrad(p, initial_accumulator_value=-1)),
    ("Invalid rho value: 1.1", lambda p: optim.Adadelta(p, rho=1.1)),
    ("Invalid eta values: 0.5, 0.9", lambda p: optim.Rprop(p, etas=(0.5, 0.9))),
    ("Invalid weight_decay value: -1", lambda p: optim.ASGD(p, weight_decay=-1)),
    ("Tensor lr must be 1-element", lambda p: optim.ASGD(p, lr=lg.ones(2))),
]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors(number: int) -> None:
    message, make = ERRORS[number]
    with pytest.raises(ValueError, match=message):
        make([nn.Parameter(lg.ones(2, 2))])


def test_rprop_survives_infinite_gradients() -> None:
    p = nn.Parameter(lg.zeros(2))
    optimizer = optim.Rprop([p], lr=1.0)
    for p.grad in (lg.ones(2), lg.tensor([float("-inf"), float("inf")])):
        optimizer.step()
    assert p.tolist() == pytest.approx([-1.0, -2.2]) and optimizer.state[p]["prev"][0] == 0
