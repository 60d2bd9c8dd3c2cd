"""Gradients by finite differences, to compare with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import leafgrad as torch

STEP = 1e-6


def outputs_of(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def total(function: Callable[..., Any], tensors: Sequence[Any]) -> Any:
    """One number made of all results of a function, each element with a weight of its own."""
    value = torch.zeros((), dtype=torch.float64)
    for i, out in enumerate(outputs_of(function(*tensors))):
        weights = np.random.RandomState(i).uniform(0.5, 1.5, tuple(out.shape))
        value = value + (out * torch.from_numpy(np.asarray(weights))).sum()
    return value


def differences(function: Callable[..., Any], arrays: Sequence[Any]) -> list[Any]:
    """d total / d arrays, by central differences."""
    gradients = []
    for x in arrays:
        gradient = np.zeros_like(x)
        for index in np.ndindex(*x.shape):
            before = x[index]
            values = []
            for step in (STEP, -STEP):
                x[index] = before + step
                values.append(total(function, [torch.from_numpy(a) for a in arrays]).item())
            x[index] = before
            gradient[index] = (values[0] - values[1]) / (2 * STEP)
        gradients.append(gradient)
    return gradients


def gradients_of(function: Callable[..., Any], arrays: Sequence[Any], create_graph: bool = False) -> Any:
    leaves = [torch.from_numpy(a).requires_grad_() for a in arrays]
    return leaves, torch.autograd.grad(total(function, leaves), leaves, create_graph=create_graph)


def check_gradients(function: Callable[..., Any], *shapes: tuple[int, ...]) -> None:
    """First and second derivatives of a function of float64 tensors of these shapes."""
    numbers = np.random.RandomState(7)
    arrays = [np.asarray(numbers.uniform(-1, 1, shape)) for shape in shapes]
    _, found = gradients_of(function, arrays)
    for got, expected in zip(found, differences(function, arrays), strict=True):
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-5, atol=1e-7)

    def first(*tensors: Any) -> Any:
        leaves = [t if t.requires_grad else t.requires_grad_() for t in tensors]
        # squared, so that there is a second derivative even of a linear function
        value = total(lambda *ts: [out * out for out in outputs_of(function(*ts))], leaves)
        return torch.autograd.grad(value, leaves, create_graph=True)

    leaves = [torch.from_numpy(a).requires_grad_() for a in arrays]
    found = torch.autograd.grad(total(first, leaves), leaves, allow_unused=True, materialize_grads=True)
    expected_second = differences(lambda *ts: [g.detach() for g in first(*ts)], arrays)
    for got, expected in zip(found, expected_second, strict=True):
        np.testing.assert_allclose(got.detach().numpy(), expected, rtol=1e-4, atol=1e-5)
