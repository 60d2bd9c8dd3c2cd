"""The functions of vector_math.h: their errors in units in the last place, and special values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from leafgrad.kernels import language
from leafgrad.kernels.fused import basic, functions, softmax


def exp_to_one(x: Any) -> Any:
    return softmax.exp_below(x, np.zeros((), x.dtype))


# name: (kernel, the function itself, where it is tried, largest error of float and of double)
NEAR_ZERO = [(-1.5, 1.5), (-1e-3, 1e-3), (-1e-30, 1e-30)]
FUNCTIONS: dict[str, tuple[Any, Callable[[float], float], list[tuple[float, float]], tuple[int, int]]] = {
    "exp": (functions.exp, math.exp, [*NEAR_ZERO, (-87, 88)], (1, 2)),
    "exp_to_one": (exp_to_one, math.exp, [(-1e-3, 0), (-87, 0), (-1, 1)], (1, 2)),
    "expm1": (functions.expm1, math.expm1, [*NEAR_ZERO, (-30, 88)], (2, 3)),
    "log": (functions.log, math.log, [(1e-37, 1e-30), (1e-3, 0.5), (0.5, 2), (2, 1e30)], (1, 2)),
    "log1p": (functions.log1p, math.log1p, [(-0.999, 1.5), (-1e-3, 1e-3), (-1e-30, 1e-30), (1, 1e30)], (2, 3)),
    "tanh": (functions.tanh, math.tanh, [*NEAR_ZERO, (-20, 20)], (3, 3)),
    "sigmoid": (basic.sigmoid, lambda x: 1 / (1 + math.exp(-x)), [*NEAR_ZERO, (-80, 40)], (3, 4)),
    "erf": (functions.erf, math.erf, [*NEAR_ZERO, (-6, 6)], (3, 4)),
}  # the bounds of double have one unit more than the header states: the reference is a double as well


def samples(ranges: list[tuple[float, float]], dtype: Any) -> Any:
    generator = np.random.default_rng(0)
    return np.concatenate([generator.uniform(low, high, 4000) for low, high in ranges]).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_are_as_small_as_stated(name: str, dtype: Any) -> None:
    kernel, exact, ranges, bounds = FUNCTIONS[name]
    x = samples(ranges, dtype)
    expected = np.array([exact(float(v)) for v in x])
    unit = np.spacing(np.abs(expected).astype(dtype)).astype(np.float64)
    error = np.abs(kernel(x).astype(np.float64) - expected) / unit
    bound = bounds[0 if dtype is np.float32 else 1] if language.NATIVE else 4  # which is what NumPy promises
    assert error.max() <= bound + 0.5, f"at {x[error.argmax()]!r}"


# What is as exact as a sum with numbers near one needs it: name: (kernel, the function itself, largest errors)
ABSOLUTE: dict[str, tuple[Any, Callable[[float], float], tuple[float, float]]] = {
    "normal_cdf": (functions.normal_cdf, lambda x: math.erfc(-x * math.sqrt(0.5)) / 2, (1.5e-7, 3e-16)),
    "normal_density": (
        functions.normal_density,
        lambda x: math.exp(-x * x / 2) / math.sqrt(2 * math.pi),
        (6e-8, 3e-16),
    ),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ABSOLUTE)
def test_errors_beside_numbers_near_one(name: str, dtype: Any) -> None:
    kernel, exact, bounds = ABSOLUTE[name]
    x = samples([*NEAR_ZERO, (-4, 4), (-7, 7), (-20, 20)], dtype)
    error = np.abs(kernel(x).astype(np.float64) - [exact(float(v)) for v in x])
    bound = bounds[dtype is np.float64] if language.NATIVE else 2 * np.finfo(dtype).eps  # NumPy promises four units
    assert error.max() <= bound, f"at {x[error.argmax()]!r}"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_normal_distribution_far_from_zero(dtype: Any) -> None:
    """Nothing is left there that a large number could be multiplied with."""
    far = np.array([np.inf, 1e30, 100, 15, 39], dtype)
    with np.errstate(over="ignore"):
        assert (functions.normal_cdf(far) == 1).all() and (functions.normal_cdf(-far) == 0).all()
        assert (functions.normal_density(np.append(far, -far)) < 1e-37).all()
        assert (functions.normal_density(np.array([np.inf, -np.inf, 1e30, -1e30], dtype)) == 0).all()
    nothing = np.array([0.0, -0.0, np.nan], dtype)
    assert functions.normal_cdf(nothing)[:2].tolist() == [0.5, 0.5]
    assert np.isnan(functions.normal_cdf(nothing)[2]) and np.isnan(functions.normal_density(nothing)[2])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values(name: str, dtype: Any) -> None:
    kernel = FUNCTIONS[name][0]
    small = float(np.finfo(dtype).smallest_subnormal) * 100
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, -2.0, 1e30, -1e30, small, -small], dtype)
    if name == "exp_to_one":
        x = x[~(x > 0)]
    with np.errstate(all="ignore"):
        expected = np.asarray(kernel.python(x) if hasattr(kernel, "python") else kernel(x))
        found = kernel(x)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    numbers = ~np.isnan(expected)
    assert np.array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exponentials_too_small_to_be_normal(dtype: Any) -> None:
    lowest = math.log(float(np.finfo(dtype).smallest_subnormal))
    x = np.linspace(lowest + 1, math.log(float(np.finfo(dtype).tiny)), 200).astype(dtype)
    expected = np.exp(x.astype(np.longdouble)).astype(dtype)
    for kernel in (functions.exp, exp_to_one):
        assert np.abs(kernel(x).view(f"i{x.itemsize}") - expected.view(f"i{x.itemsize}")).max() <= 1
