"""The kernels that are written in C beside a form for NumPy: both agree, on special values too."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from leafgrad.kernels import error_functions, language
from leafgrad.kernels.fused import elements, special
from leafgrad.kernels.halves import converted

SPECIAL = [
    0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 2.5, -2.5, math.inf, -math.inf, math.nan, 1e-30, -1e-30, 1e30, -1e30,
    3e38, 1e-40, 7.0, 3.0, -3.0, 0.1, -0.1, 16777216.0, 1.0000001, 0.99999994,
]  # fmt: skip
OF_TWO = [elements.fmod, elements.remainder, elements.floor_quotient]


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with np.errstate(all="ignore"):
        yield


def as_written(kernel: Any, *args: Any) -> Any:
    return language.as_written(kernel)(*args)


def pairs(dtype: Any) -> tuple[Any, Any]:
    """Special values beside each other, numbers of all sizes, and ordinary ones."""
    generator = np.random.default_rng(0)
    wide = generator.normal(size=(2, 20000)) * 10 ** generator.uniform(-18, 18, (2, 20000))
    near = generator.normal(size=(2, 20000)) * [[10], [1]]
    x, y = [v.ravel() for v in np.meshgrid(SPECIAL, SPECIAL)]
    return tuple(np.concatenate([a, b, c]).astype(dtype) for a, b, c in ((x, wide[0], near[0]), (y, wide[1], near[1])))  # type: ignore[return-value]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", OF_TWO, ids=lambda kernel: kernel.__name__)
def test_remainders_are_exact(kernel: Any, dtype: Any) -> None:
    x, y = pairs(dtype)
    found, expected = kernel(x, y), as_written(kernel, x, y)
    np.testing.assert_array_equal(found, expected)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found)[known], np.signbit(expected)[known])


@pytest.mark.parametrize("kernel", OF_TWO, ids=lambda kernel: kernel.__name__)
def test_remainders_in_place(kernel: Any) -> None:
    x, y = pairs(np.float32)
    expected = kernel(x, y)
    assert kernel(x, y, y) is y
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hypot(dtype: Any) -> None:
    x, y = pairs(dtype)
    np.testing.assert_allclose(elements.hypot(x, y), np.hypot(x, y), rtol=2 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["lgamma", "digamma"])
def test_gamma_functions(name: str, dtype: Any) -> None:
    generator = np.random.default_rng(0)
    many = [generator.uniform(-20, 20, 5000), generator.uniform(0, 3, 5000), 10 ** generator.uniform(-30, 30, 1000)]
    x = np.concatenate([SPECIAL, *many]).astype(dtype)
    kernel = getattr(special, name)
    found, expected = kernel(x), as_written(kernel, x.astype(np.float64))
    tolerance = 3e-7 if dtype is np.float32 else 1e-11
    near_a_pole = (x < 0) & (np.abs(x - np.rint(x)) < 1e-3)  # where the form for NumPy loses digits
    np.testing.assert_allclose(
        found[~near_a_pole], expected[~near_a_pole].astype(dtype), rtol=tolerance, atol=tolerance
    )
    whole = np.array([1, 2], dtype)
    assert name == "digamma" or (special.lgamma(whole) == 0).all()


def test_erfinv() -> None:
    generator = np.random.default_rng(0)
    many = [
        generator.uniform(-1, 1, 20000),
        1 - 10 ** generator.uniform(-7, 0, 5000),
        10 ** generator.uniform(-30, 0, 99),
    ]
    x = np.concatenate([SPECIAL, *many]).astype(np.float32)
    expected = error_functions.erfinv(x.astype(np.float64))
    np.testing.assert_allclose(special.erfinv(x), expected.astype(np.float32), rtol=1.3e-7)
    assert np.signbit(special.erfinv(np.array([-0.0], np.float32))).all()


DTYPES = [np.bool_, np.int32, np.int64, np.float32, np.float64]


@pytest.mark.parametrize("wanted", DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_conversions(dtype: Any, wanted: Any) -> None:
    generator = np.random.default_rng(0)
    for shape in [(), (0,), (7,), (300, 257), (3, 1, 5)]:
        x = np.asarray(generator.normal(0, 100, shape)).astype(dtype)
        for each in (x, x.T, x[..., ::2] if shape else x):
            found = converted(each, np.dtype(wanted))
            assert found.dtype == wanted and not np.shares_memory(found, each)
            np.testing.assert_array_equal(found, each.astype(wanted))
    special = np.array([0.0, -0.0, np.nan, np.inf, 0.3, -0.9]).astype(dtype)
    if wanted in (np.bool_, np.float32, np.float64):
        np.testing.assert_array_equal(converted(special, np.dtype(wanted)), special.astype(wanted))
