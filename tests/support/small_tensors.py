"""Small double precision leaves, their gradients and second derivatives, and comparing them with numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

import leafgrad as torch


def values(t: Any) -> Any:
    array = t.detach().numpy()
    return array.astype(np.float32) if array.dtype == ml_dtypes.bfloat16 else array


def close(t: Any, expected: Any, within: float = 1e-6) -> None:
    found = values(t)
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=within, atol=within)


def leaf(data: Any, dtype: Any = None) -> Any:
    return torch.tensor(data, dtype=dtype or torch.float64, requires_grad=True)


def gradient(f: Callable[[Any], Any], data: Any) -> Any:
    """The gradient of the sum of f."""
    x = leaf(data)
    f(x).sum().backward()
    return x.grad


def second_gradient(f: Callable[[Any], Any], data: Any) -> Any:
    """The gradient of the weighted sum of f's gradient: a row of second derivatives for each weight."""
    x = leaf(data)
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    weights = torch.arange(1.0, first.numel() + 1, dtype=torch.float64).reshape(first.shape)
    (second,) = torch.autograd.grad((first * weights).sum(), x)
    return second


def numeric_second_gradient(f: Callable[[Any], Any], data: Any) -> Any:
    """The same by central differences of the first gradient."""
    at = np.asarray(data, np.float64)
    weights = np.arange(1.0, at.size + 1).reshape(at.shape)
    found = np.zeros_like(at)
    for place in np.ndindex(at.shape):
        ends = []
        for step in (1e-5, -1e-5):
            moved = at.copy()
            moved[place] += step
            ends.append((values(gradient(f, moved.tolist())) * weights).sum())
        found[place] = (ends[0] - ends[1]) / 2e-5
    return found
