"""Gradients of first and second order against central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import leafgrad as lg

rng = np.random.default_rng(0)


def numbers(*shape: int, dtype: Any = np.float64) -> Any:
    return np.asarray(rng.standard_normal(shape)).astype(dtype)


def leaf(*shape: int) -> Any:
    return lg.from_numpy(numbers(*shape)).requires_grad_()


def longs(*values: Any) -> Any:
    """An index tensor: longs(0, 1) or longs([[0], [1]])."""
    return lg.tensor(values[0] if len(values) == 1 and isinstance(values[0], list) else values, dtype=lg.long)


def differences(f: Callable[..., Any], arrays: list[Any], g: Any) -> list[Any]:
    """The gradients of sum(g * f(*arrays)), element by element."""
    found = []
    for a in arrays:
        grad = np.zeros_like(a)
        for i in np.ndindex(a.shape):
            kept = a[i]
            sides = []
            for step in (1e-6, -1e-6):
                a[i] = kept + step
                sides.append(np.sum(g * f(*[lg.from_numpy(b.copy()) for b in arrays]).numpy()))
            a[i] = kept
            grad[i] = (sides[0] - sides[1]) / 2e-6
        found.append(grad)
    return found


def check_gradients(f: Callable[..., Any], *shapes: tuple[int, ...], values: list[Any] | None = None) -> None:
    """First order gradients of f against differences, and second order ones against differences of the first. The
    numbers are the same whichever tests ran before, and small: differences of large ones are not precise."""
    source = np.random.default_rng(0)
    arrays = values or [np.asarray(source.uniform(-1.5, 1.5, shape)) for shape in shapes]
    leaves = [lg.from_numpy(a.copy()).requires_grad_() for a in arrays]
    y = f(*leaves)
    g = np.asarray(source.uniform(-1, 1, y.shape))
    first = lg.autograd.grad(y, leaves, lg.from_numpy(g.copy()), retain_graph=True)
    for found, expected in zip(first, differences(f, arrays, g), strict=True):
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6, atol=1e-7)

    cotangent = lg.from_numpy(g.copy()).requires_grad_()

    def gradients(*inputs: Any) -> Any:
        # a square makes the second order something other than zero
        *xs, v = [x if x.requires_grad else x.requires_grad_() for x in inputs]
        out = f(*xs)
        return lg.cat([r.reshape(-1) for r in lg.autograd.grad(out * out, xs, v, create_graph=True)])

    second = gradients(*leaves, cotangent)
    h = np.asarray(source.uniform(-1, 1, second.shape))
    found_second = lg.autograd.grad(second, [*leaves, cotangent], lg.from_numpy(h.copy()), allow_unused=True)
    detached = lambda *inputs: gradients(*inputs).detach()
    for found, expected in zip(found_second, differences(detached, [*arrays, g], h), strict=True):
        np.testing.assert_allclose(0.0 if found is None else found.numpy(), expected, rtol=1e-5, atol=1e-6)
