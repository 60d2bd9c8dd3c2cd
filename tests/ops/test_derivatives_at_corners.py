"""Second derivatives where a formula changes from one form to another."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import leafgrad as torch
from leafgrad.nn import functional as F

AT_ZERO: dict[str, tuple[Callable[[Any], Any], float]] = {
    "mish": (F.mish, 0.64),
    "elu": (F.elu, 0.0),  # that from above, as in PyTorch
    "selu": (F.selu, 0.0),
    "celu": (F.celu, 0.0),
    "silu": (F.silu, 0.5),
    "gelu": (F.gelu, 2 / math.sqrt(2 * math.pi)),
    "softplus": (F.softplus, 0.25),
    "logsigmoid": (F.logsigmoid, -0.25),
    "sinc": (torch.sinc, -(math.pi**2) / 3),
}


@pytest.mark.parametrize("name", AT_ZERO)
def test_at_zero(name: str) -> None:
    function, expected = AT_ZERO[name]
    x = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert second.tolist() == pytest.approx([expected] * 2)


def test_where_the_first_is_infinite_the_second_is_not_zero() -> None:
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    (first,) = torch.autograd.grad(torch.logit(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert first.tolist() == [math.inf, math.inf] and not second.isfinite().any()


PIECEWISE_LINEAR: dict[str, Callable[[Any], Any]] = {
    "leaky_relu": F.leaky_relu,
    "relu6": F.relu6,
    "threshold": lambda x: F.threshold(x, 0.1, 0.2),
    "softshrink": F.softshrink,
    "hardshrink": F.hardshrink,
    "prelu": lambda x: F.prelu(x, torch.tensor([0.2])),
    "rrelu": F.rrelu,
    "max_pool1d": lambda x: F.max_pool1d(x.flatten(1, 2), 2),
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, 3),
    "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(x, 3),
    "reflection": lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"),
    "replication": lambda x: F.pad(x, (1, 1, 1, 1), mode="replicate"),
    "grid_sample": lambda x: F.grid_sample(x, torch.zeros(1, 2, 2, 2), align_corners=True),
}


@pytest.mark.parametrize("name", PIECEWISE_LINEAR)
@pytest.mark.parametrize("is_leaf", [True, False])
def test_gradients_of_what_is_linear_in_pieces_have_the_derivative_zero(name: str, is_leaf: bool) -> None:
    leaf = torch.linspace(-2, 2, 64).reshape(1, 2, 4, 8).requires_grad_()
    x = leaf if is_leaf else leaf * 2
    (first,) = torch.autograd.grad(PIECEWISE_LINEAR[name](x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), leaf)
    assert first.any() and not second.any()
    (plain,) = torch.autograd.grad(PIECEWISE_LINEAR[name](x).sum(), x)
    assert plain.equal(first) and not plain.requires_grad


def test_what_only_moves_elements_has_a_constant_gradient() -> None:
    x = torch.ones(1, 2, 4, requires_grad=True)
    for function in (lambda x: F.pad(x, (1, 1), mode="circular"), lambda x: F.pad(x, (1, 1)), lambda x: x.amax(2)):
        assert not torch.autograd.grad(function(x).sum(), x, create_graph=True)[0].requires_grad


@pytest.mark.parametrize(
    "layer",
    [
        lambda x: F.conv2d(x, torch.ones(1, 2, 1, 1)),
        lambda x: F.batch_norm(x, torch.zeros(2), torch.ones(2)),
    ],
)
def test_second_derivatives_of_linear_layers_are_none_as_in_pytorch(layer: Callable[[Any], Any]) -> None:
    x = torch.ones(1, 2, 3, 3, requires_grad=True)
    (first,) = torch.autograd.grad(layer(x).sum(), x, create_graph=True)
    assert first.requires_grad
    assert torch.autograd.grad(first.sum(), x, retain_graph=True, allow_unused=True) == (None,)
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        torch.autograd.grad(first.sum(), x)


@pytest.mark.parametrize("at", [-12.0, -6.0, -0.5, 0.5, 6.0, 12.0])
def test_second_derivatives_of_logsigmoid_are_exact_on_both_sides(at: float) -> None:
    """1 - sigmoid(x) has few digits where a sigmoid is nearly 1."""
    found = []
    for dtype in (torch.float32, torch.float64):
        x = torch.tensor(at, dtype=dtype, requires_grad=True)
        (slope,) = torch.autograd.grad(F.logsigmoid(x), x, create_graph=True)
        found.append(torch.autograd.grad(slope, x)[0].item())
    assert found[0] == pytest.approx(found[1], rel=1e-6)
