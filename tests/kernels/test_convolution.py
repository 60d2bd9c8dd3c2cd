"""The three products of convolution against their definition, in all the ways in which they are computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from leafgrad.kernels.convolution import (
    FEW,
    Geometry,
    correlate,
    correlate_numpy,
    spread,
    spread_numpy,
    weights,
    weights_numpy,
)

# samples, channels, sizes, results, window, stride, padding, dilation, groups
CASES = {
    "few positions": (5, 3, (4, 5), 2, (3, 2), (1, 1), (1, 0), (1, 1), 1),
    "many positions": (2, 2, (13, 12), 3, (3, 3), (1, 1), (1, 1), (1, 1), 1),
    "many results": (1, 1, (12, 14), 5, (3, 3), (1, 1), (0, 1), (1, 1), 1),
    "strided": (2, 3, (9, 8), 4, (3, 3), (2, 3), (1, 2), (1, 1), 1),
    "something left over": (2, 2, (30, 31), 2, (2, 3), (2, 2), (0, 1), (1, 1), 1),
    "dilated": (1, 2, (9, 9), 3, (3, 2), (1, 2), (2, 1), (2, 3), 1),
    "groups": (2, 4, (5, 5), 6, (3, 3), (1, 1), (1, 1), (1, 1), 2),
    "depthwise": (2, 3, (5, 6), 3, (3, 2), (2, 1), (1, 1), (1, 2), 3),
    "one element": (3, 4, (12, 12), 2, (1, 1), (1, 1), (0, 0), (1, 1), 2),
    "one element, strided": (3, 4, (5, 4), 2, (1, 1), (2, 1), (0, 0), (1, 1), 1),
    "more padding than window": (1, 2, (3, 3), 2, (2, 2), (1, 1), (3, 2), (1, 1), 1),
    "one dimension": (2, 2, (200,), 3, (5,), (1,), (2,), (1,), 1),
    "three dimensions": (2, 2, (3, 4, 5), 2, (2, 2, 3), (1, 2, 1), (1, 0, 1), (1, 1, 2), 1),
}


def definition(x: Any, w: Any, y: Any, g: Geometry) -> Any:
    """What each of x, w, y has to be, of the other two: a loop over windows and their elements."""
    dims = len(g.stride)
    window, positions = w.shape[2:], y.shape[2:]
    x_grad, w_grad, y_grad = np.zeros_like(x), np.zeros_like(w), np.zeros_like(y)
    per_group = w.shape[0] // g.groups
    for o in range(w.shape[0]):
        first = o // per_group * w.shape[1]
        channels = slice(first, first + w.shape[1])
        for q in np.ndindex(*positions):
            for k in np.ndindex(*window):
                at = tuple([q[i] * g.stride[i] - g.padding[i] + k[i] * g.dilation[i] for i in range(dims)])
                if all([0 <= a < n for a, n in zip(at, x.shape[2:], strict=True)]):
                    here, there, tap = (slice(None), channels, *at), (slice(None), o, *q), (o, slice(None), *k)
                    y_grad[there] += x[here] @ w[tap]
                    x_grad[here] += np.outer(y[there], w[tap])
                    w_grad[tap] += y[there] @ x[here]
    return x_grad, w_grad, y_grad


@pytest.mark.parametrize(
    "products",
    [(correlate, spread, weights), (correlate_numpy, spread_numpy, weights_numpy)],
    ids=["as they are called", "on plain NumPy"],
)
@pytest.mark.parametrize("name", CASES)
def test_products(name: str, products: Any) -> None:
    forward, backward, by_weights = products
    n, c, sizes, o, window, *rest = CASES[name]
    geometry = Geometry(*rest)
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((n, c, *sizes)), rng.standard_normal((o, c // geometry.groups, *window))
    y = rng.standard_normal((n, o, *geometry.positions(sizes, window)))
    by_x, by_w, by_y = definition(x, w, y, geometry)
    np.testing.assert_allclose(forward(x, w, geometry), by_y, 1e-12, 1e-12)
    np.testing.assert_allclose(backward(y, w, geometry, sizes), by_x, 1e-12, 1e-12)
    np.testing.assert_allclose(by_weights(x, y, geometry, window), by_w, 1e-12, 1e-12)


def test_cases_are_on_both_sides_of_the_limit() -> None:
    counts = [np.prod(Geometry(*rest).positions(sizes, window)) for _, _, sizes, _, window, *rest in CASES.values()]
    assert min(counts) < FEW <= max(counts)
