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
