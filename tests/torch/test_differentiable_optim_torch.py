"""differentiable=True, compared with PyTorch: values after a few steps, and gradients through them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import leafgrad
import leafgrad.optim

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("SGD", {}),
    "sgd decay": ("SGD", {"weight_decay": 0.1}),
    "sgd maximize": ("SGD", {"maximize": True}),
    "sgd momentum": ("SGD", {"momentum": 0.9}),
    "sgd dampening": ("SGD", {"momentum": 0.9, "dampening": 0.3, "weight_decay": 0.01}),
    "sgd nesterov": ("SGD", {"momentum": 0.9, "nesterov": True}),
    "adam": ("Adam", {}),
    "adam decay": ("Adam", {"weight_decay": 0.1, "betas": (0.8, 0.9), "eps": 1e-4}),
    "adam maximize": ("Adam", {"maximize": True}),
    "amsgrad": ("Adam", {"amsgrad": True}),
    "adamw": ("AdamW", {"weight_decay": 0.1}),
    "adamax": ("Adamax", {"weight_decay": 0.1}),
    "nadam": ("NAdam", {"weight_decay": 0.1}),
    "nadam decoupled": ("NAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    "radam": ("RAdam", {"weight_decay": 0.1, "betas": (0.8, 0.9)}),
    "radam decoupled": ("RAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    "adagrad": ("Adagrad", {"weight_decay": 0.1, "lr_decay": 0.1}),
    "adadelta": ("Adadelta", {"weight_decay": 0.1}),
    "rprop": ("Rprop", {"step_sizes": (0.01, 1.0)}),
    "asgd": ("ASGD", {"weight_decay": 0.1, "t0": 1.0, "lambd": 0.1}),
    "rmsprop": ("RMSprop", {}),
    "rmsprop centered": ("RMSprop", {"centered": True, "alpha": 0.9}),
    "rmsprop momentum": ("RMSprop", {"momentum": 0.9, "weight_decay": 0.1}),
}


def run(lib: Any, name: str, options: dict[str, Any], rate: bool, steps: int = 4) -> list[Any]:
    tensor = lambda values, **more: lib.tensor(values, dtype=lib.float64, **more)
    data, target = tensor([[0.3, -0.8], [1.1, 0.4], [-0.5, 0.9]], requires_grad=True), tensor([0.2, -0.6, 1.0])
    start, lr = tensor([0.7, -0.4], requires_grad=True), tensor(0.05, requires_grad=True)
    p = start.clone()
    optimizer = getattr(lib.optim, name)([p], lr=lr if rate else 0.05, differentiable=True, **options)
    for _ in range(steps):
        current = p.clone()  # which the step does not change
        loss = ((data @ current).tanh() - target).square().sum()
        (p.grad,) = lib.autograd.grad(loss, current, create_graph=True)
        optimizer.step()
    outer = ((data @ p) - target).square().sum()
    wanted = [start, data, lr] if rate else [start, data]
    state = optimizer.state[p]
    return [p, *lib.autograd.grad(outer, wanted), *[state[key] for key in sorted(state)]]


# Where PyTorch changes in place what it needs for the gradient, or takes no tensor for a number.
PYTORCH_FAILS = {
    ("sgd momentum", True), ("sgd dampening", True), ("amsgrad", False), ("amsgrad", True),
    ("rmsprop centered", False), ("rmsprop", True), ("rmsprop centered", True), ("rmsprop momentum", True),
    ("adamax", False), ("adamax", True), ("nadam", True), ("nadam decoupled", True), ("adagrad", True),
    ("adadelta", True), ("rprop", False),
}  # fmt: skip
NUMBERS = {("rprop", True), ("asgd", True)}  # the state has the rate as a number, in either library
ALL = [(name, rate) for name in CASES for rate in (False, True) if (name, rate) not in PYTORCH_FAILS | NUMBERS]


@pytest.mark.parametrize("name, rate", sorted(PYTORCH_FAILS))
def test_steps_that_work_here_only(name: str, rate: bool) -> None:
    with pytest.raises((RuntimeError, TypeError)):
        run(torch, *CASES[name], rate)
    assert all(np.isfinite(value.detach().numpy()).all() for value in run(leafgrad, *CASES[name], rate))


@pytest.mark.parametrize("name, rate", ALL)
def test_steps(name: str, rate: bool) -> None:
    precision = 1e-6 if "adam" in name else 1e-9  # PyTorch's corrections for the first steps are in float32
    mine, theirs = run(leafgrad, *CASES[name], rate), run(torch, *CASES[name], rate)
    assert len(mine) == len(theirs)
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=precision, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in CASES if (name, False) not in PYTORCH_FAILS])
def test_complex_parameters_are_pairs(name: str) -> None:
    def run_complex(lib: Any) -> list[Any]:
        start = lib.tensor([0.7 + 0.2j, -0.4 + 1j], dtype=lib.complex128, requires_grad=True)
        p = start.clone()
        optimizer = getattr(lib.optim, CASES[name][0])([p], lr=0.05, differentiable=True, **CASES[name][1])
        for _ in range(3):
            current = p.clone()
            (p.grad,) = lib.autograd.grad((current.abs() ** 3).sum(), current, create_graph=True)
            optimizer.step()
        return [p.detach(), lib.autograd.grad((p.real**2 * p.imag).sum(), start)[0]]

    for a, b in zip(run_complex(leafgrad), run_complex(torch), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6 if "adam" in name else 1e-9)


def test_betas_that_require_grad() -> None:
    def run_betas(lib: Any) -> Any:
        betas = tuple([lib.tensor(b, dtype=lib.float64, requires_grad=True) for b in (0.9, 0.99)])
        start = lib.tensor([0.7, -0.4], dtype=lib.float64, requires_grad=True)
        p = start.clone()
        optimizer = lib.optim.Adam([p], lr=0.1, betas=betas, differentiable=True)
        for _ in range(3):
            current = p.clone()
            (p.grad,) = lib.autograd.grad((current**4).sum(), current, create_graph=True)
            optimizer.step()
        return lib.autograd.grad(p.sum(), [start, *betas])

    for a, b in zip(run_betas(leafgrad), run_betas(torch), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-7, atol=1e-12)
