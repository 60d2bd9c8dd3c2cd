"""All optimisers with all of their options, without PyTorch: parameters against stored ones, states, errors."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import leafgrad as lg
import leafgrad.nn as nn
import leafgrad.optim as optim
from leafgrad._core.modes import Observer
from optim_cases import ALL, precision_of, twenty_steps

STORED = json.loads(gzip.decompress((Path(__file__).parents[1] / "data" / "optimizers.json.gz").read_bytes()))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", ALL)
def test_parameters_after_twenty_steps_are_pytorchs(case: str, dtype: str) -> None:
    precision = precision_of(case, dtype)
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


@pytest.mark.parametrize("case", ALL)
def test_training_goes_on_from_a_saved_state(case: str) -> None:
    name, options = ALL[case]
    p, q = (nn.Parameter(lg.tensor([[1.0, -2.0], [0.5, 0.1]])) for _ in range(2))
    first = getattr(optim, name)([p], **options)
    q.data.copy_(trained(first, p, 4))
    second = getattr(optim, name)([q])  # with other options, which the state replaces
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    assert trained(second, q, 4).tolist() == trained(first, p, 4).tolist()
    assert repr(second) == repr(first)


OPTIONS = [
    (name, option)
    for name in sorted({name for name, _ in ALL.values()})
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
        optimizer = getattr(optim, name)([nn.Parameter(lg.ones(1))], capturable=True)
        with pytest.raises(AssertionError, match=r"capturable=True, .* must be on supported devices"):
            optimizer.step()


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
    ("Invalid learning rate: -1", lambda p: optim.LBFGS(p, lr=-1)),
    (
        "LBFGS doesn't support per-parameter options",
        lambda p: optim.LBFGS([{"params": p}, {"params": [nn.Parameter(lg.ones(1))]}]),
    ),
    ("Tensor lr must be 1-element", lambda p: optim.Adafactor(p, lr=lg.ones(2))),
    ("Learning rate should be >= 0 but is: -1", lambda p: optim.Adafactor(p, lr=-1)),
    ("beta2_decay should be <= 0 but is: 1", lambda p: optim.Adafactor(p, beta2_decay=1)),
    ("epsilon1 should be >= 0 but is: -1", lambda p: optim.Adafactor(p, eps=(-1, 0))),
    ("epsilon2 should be >= 0 but is: -1", lambda p: optim.Adafactor(p, eps=(None, -1))),
    ("Clipping threshold d should be >= 1 but is: 0", lambda p: optim.Adafactor(p, d=0)),
    ("weight_decay should be >= 0 but is: -1", lambda p: optim.Adafactor(p, weight_decay=-1)),
    ("momentum should be >= 0 but is: -1", lambda p: optim.Muon(p, momentum=-1)),
    ("weight decay should be >= 0 but is: -1", lambda p: optim.Muon(p, weight_decay=-1)),
    ("Adjust learning rate function x is not supported", lambda p: optim.Muon(p, adjust_lr_fn="x")),
    ("Muon only supports 2D parameters", lambda p: optim.Muon([nn.Parameter(lg.ones(2))])),
    ("Number of steps must be less than 100", lambda p: trained(optim.Muon(p, ns_steps=100), p[0], 1)),
    ("Coefficients must be a tuple of exactly 3", lambda p: trained(optim.Muon(p, ns_coefficients=(1,)), p[0], 1)),  # type: ignore[arg-type]
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


@pytest.mark.parametrize("name", ["Adafactor", "Muon"])
def test_complex_parameters_are_refused(name: str) -> None:
    p = nn.Parameter(lg.ones(2, 2, dtype=lg.complex64))
    p.grad = lg.ones(2, 2, dtype=lg.complex64)
    with pytest.raises(RuntimeError, match=f"{name} does not support complex parameters"):
        getattr(optim, name)([p]).step()


def test_sparse_adam_refuses_dense_gradients() -> None:
    p = nn.Parameter(lg.ones(1))
    optimizer = optim.SparseAdam([p])
    assert optimizer.step(lambda: 3.0) == 3.0  # there is no gradient yet
    p.sum().backward()
    with pytest.raises(RuntimeError, match="SparseAdam does not support dense gradients, please consider Adam instead"):
        optimizer.step()
    with pytest.raises(ValueError, match=r"Invalid learning rate: 0.0"):
        optim.SparseAdam([p], lr=0.0)
    with pytest.raises(ValueError, match=r"Complex params at indices \[\[0, 0\]\]"):
        optim.SparseAdam([nn.Parameter(lg.ones(1, dtype=lg.complex64))])


# -- LBFGS ------------------------------------------------------------------------------------------------------------


def rosenbrock(line_search: str | None, steps: int) -> tuple[Any, list[float], Any]:
    p = nn.Parameter(lg.tensor([-1.2, 1.0], dtype=lg.float64))
    optimizer = optim.LBFGS([p], lr=1 if line_search else 0.1, line_search_fn=line_search)

    def closure() -> Any:
        optimizer.zero_grad()
        assert lg.is_grad_enabled()
        loss = (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2
        loss.backward()
        return loss

    with lg.no_grad():
        losses = [optimizer.step(closure).item() for _ in range(steps)]
    return p, losses, optimizer


def test_lbfgs_finds_the_bottom_of_a_valley() -> None:
    p, losses, optimizer = rosenbrock("strong_wolfe", 6)
    assert p.tolist() == pytest.approx([1.0, 1.0], abs=1e-4) and losses[0] == pytest.approx(24.2)
    state = optimizer.state[p]
    assert state["n_iter"] < 100 and set(state) == {
        "func_evals", "n_iter", "d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss", "al",
    }  # fmt: skip


def test_lbfgs_stops_where_the_gradient_is_small() -> None:
    p, _, optimizer = rosenbrock("strong_wolfe", 1)
    before, calls = p.tolist(), optimizer.state[p]["func_evals"]
    optimizer.param_groups[0]["tolerance_grad"] = 1.0
    optimizer.step(lambda: (p.grad.zero_(), lg.tensor(0.0))[1])
    assert p.tolist() == before and optimizer.state[p]["func_evals"] == calls + 1


def test_lbfgs_knows_one_line_search() -> None:
    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        rosenbrock("golden", 1)


def test_lbfgs_takes_complex_parameters_and_some_without_gradient() -> None:
    p, unused = nn.Parameter(lg.tensor([1 + 2j, -1j])), nn.Parameter(lg.ones(2))
    optimizer = optim.LBFGS([p, unused], line_search_fn="strong_wolfe")

    def closure() -> Any:
        optimizer.zero_grad()
        loss = ((p - 0.5j).abs() ** 2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    np.testing.assert_allclose(p.detach().numpy(), [0.5j, 0.5j], atol=1e-5)
    assert unused.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("how", ["loaded", "changed"])
def test_lbfgs_computes_products_of_its_history_anew_where_that_is_another(how: str) -> None:
    def steps(between: Any) -> Any:
        p = nn.Parameter(lg.linspace(-2, 2, 7, dtype=lg.float64))
        optimizer = optim.LBFGS([p], lr=0.1, max_iter=4, history_size=3)

        def closure() -> Any:
            optimizer.zero_grad()
            loss = (p**4 + p * p.cos()).sum()
            loss.backward()
            return loss

        for _ in range(3):
            optimizer.step(closure)
            between(optimizer)
        return p.detach().numpy(), optimizer

    def change(optimizer: Any) -> None:
        for state in optimizer.state.values():
            state["old_dirs"][1].mul_(1.5)

    def change_and_forget(optimizer: Any) -> None:
        change(optimizer)
        optimizer._known = []

    if how == "loaded":
        expected, found = steps(lambda _: None)[0], steps(lambda o: o.load_state_dict(o.state_dict()))[0]
    else:
        expected, found = steps(change_and_forget)[0], steps(change)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_adafactor_changes_matrices_in_one_operation_and_vectors_in_another() -> None:
    class Heard(Observer):
        names: ClassVar[list[str]] = []

        def observe(self, op: Any, arrays: Any, options: Any, out: Any, below: Any) -> Any:
            self.names.append(op.name)
            return below(op, arrays, options, out)

    params = [nn.Parameter(lg.ones(shape)) for shape in [(3, 4), (4,), (2, 5), (5,)]]
    alike = [nn.Parameter(lg.ones(shape)) for shape in [(3, 4), (4,), (2, 5), (5,)]]
    for p in (*params, *alike):
        p.grad = lg.arange(p.numel(), dtype=lg.float32).reshape(p.shape)
    optimizer, other = optim.Adafactor(params), optim.Adafactor(alike)
    versions = [p._version for p in params]
    for _ in range(2):
        with Heard():
            optimizer.step()
        other.step()
    assert [name for name in Heard.names if "adafactor" in name] == ["adafactor_step"] * 4
    assert [p._version for p in params] == [version + 2 for version in versions]
    for p, q in zip(params, alike, strict=True):
        assert p.tolist() == q.tolist()
