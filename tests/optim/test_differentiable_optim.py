"""differentiable=True: optimiser steps that are part of the graph, checked by numeric differentiation."""

from __future__ import annotations

from typing import Any

import pytest

import leafgrad as lg
from leafgrad.optim import SGD, Adam, AdamW, RMSprop

DATA = lg.tensor([[0.3, -0.8], [1.1, 0.4], [-0.5, 0.9]], dtype=lg.float64)
TARGET = lg.tensor([0.2, -0.6, 1.0], dtype=lg.float64)


def trained(start: Any, make: Any, steps: int = 3) -> Any:
    """The parameters after a few recorded steps from `start`."""
    p = start.clone()
    optimizer = make([p])
    for _ in range(steps):
        loss = ((DATA @ p).tanh() - TARGET).square().sum()
        (p.grad,) = lg.autograd.grad(loss, p, create_graph=True)
        optimizer.step()
    return p


OPTIMISERS = {
    "sgd": lambda params, **more: SGD(params, differentiable=True, **{"lr": 0.1, **more}),
    "sgd with decay": lambda params, **more: SGD(params, weight_decay=0.1, differentiable=True, **{"lr": 0.1, **more}),
    "sgd upward": lambda params, **more: SGD(params, maximize=True, differentiable=True, **{"lr": 0.1, **more}),
    "adam": lambda params, **more: Adam(params, differentiable=True, **{"lr": 0.1, **more}),
    "adam with decay": lambda params, **more: Adam(
        params, weight_decay=0.1, differentiable=True, **{"lr": 0.1, **more}
    ),
    "amsgrad": lambda params, **more: Adam(params, amsgrad=True, differentiable=True, **{"lr": 0.1, **more}),
    "adamw": lambda params, **more: AdamW(params, differentiable=True, **{"lr": 0.1, **more}),
    "rmsprop": lambda params, **more: RMSprop(params, differentiable=True, **{"lr": 0.1, **more}),
    "rmsprop centered": lambda params, **more: RMSprop(
        params, centered=True, momentum=0.5, differentiable=True, **{"lr": 0.1, **more}
    ),
}


@pytest.mark.parametrize("name", list(OPTIMISERS))
def test_gradients_through_steps(name: str) -> None:
    start = lg.tensor([0.7, -0.4], dtype=lg.float64, requires_grad=True)
    rate = lg.tensor(0.1, dtype=lg.float64, requires_grad=True)
    assert lg.autograd.gradcheck(lambda s: trained(s, OPTIMISERS[name]), (start,), atol=1e-4)
    by_rate = lambda s, r: trained(s, lambda params: OPTIMISERS[name](params, lr=r))
    assert lg.autograd.gradcheck(by_rate, (start, rate), atol=1e-4)


@pytest.mark.parametrize("name", list(OPTIMISERS))
def test_values_are_those_of_the_ordinary_steps(name: str) -> None:
    start = lg.tensor([0.7, -0.4], dtype=lg.float64, requires_grad=True)
    expected = start.detach().clone().requires_grad_()
    optimizer = OPTIMISERS[name]([expected])
    ordinary = {k: v for k, v in optimizer.defaults.items() if k not in ("differentiable", "decoupled_weight_decay")}
    optimizer = type(optimizer)([expected], **ordinary)
    for _ in range(3):
        optimizer.zero_grad()
        ((DATA @ expected).tanh() - TARGET).square().sum().backward()
        optimizer.step()
    found = trained(start, OPTIMISERS[name])
    precision = 1e-4 if "a" in name[:2] else 1e-9  # corrections in float32, as in PyTorch
    assert lg.allclose(found, expected, rtol=precision) and found.grad_fn is not None and expected.grad_fn is None


def test_momentum_starts_without_history_as_in_pytorch() -> None:
    start = lg.tensor([1.0, 2.0], requires_grad=True)
    p = start.clone()
    p.grad = start * 3
    SGD([p], lr=0.1, momentum=0.9, differentiable=True).step()
    assert lg.autograd.grad(p.sum(), start)[0].tolist() == [1.0, 1.0]


def test_recording_is_on_during_the_step_whatever_the_mode() -> None:
    start = lg.tensor([1.0, 2.0], requires_grad=True)
    p = start.clone()
    p.grad = start * 2
    optimizer = SGD([p], lr=0.1, differentiable=True)
    with lg.no_grad():
        optimizer.step()
    assert lg.autograd.grad(p.sum(), start)[0].tolist() == pytest.approx([0.8, 0.8])


def test_mistakes() -> None:
    leaf = lg.ones(2, requires_grad=True)
    leaf.grad = lg.ones(2)
    for make in (SGD, Adam, AdamW, RMSprop):
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place"):
            make([leaf], lr=0.1, differentiable=True).step()
    with pytest.raises(RuntimeError, match="`fused` does not support `differentiable`"):
        Adam([leaf], fused=True, differentiable=True)
    with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
        SGD([leaf.clone()], lr=0.1)


def test_parameters_without_a_gradient_and_without_a_graph() -> None:
    still, moving = lg.ones(2), lg.ones(2)
    moving.grad = lg.ones(2)
    SGD([still, moving], lr=0.5, differentiable=True).step()
    assert still.tolist() == [1, 1] and moving.tolist() == [0.5, 0.5] and not moving.requires_grad
