"""Loops that are used instead of NumPy's, and operands of which each row is one number, compute what ufuncs compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from leafgrad import bfloat16, kernels
from leafgrad.kernels import SPLIT_CHEAP, native, one_over

FLOATS: list[Any] = [np.float32, np.float64]
INTEGERS: list[Any] = [np.int32, np.int64]
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 1e-310, 3e38, 1.0, -3.0, 0.1]
is_zero: Any = native(np.logical_not)


pytestmark = pytest.mark.usefixtures("two_threads", "silent_numpy")


def same_bits(found: Any, expected: Any) -> None:
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)
    if found.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def layouts(x: Any) -> list[Any]:
    square = np.resize(x, (7, 9))
    return [x, x[::2], x[::-1], x[:0], x[:1].reshape(()), square.T, square[1:, ::3], np.broadcast_to(x[:1], (5, 3))]


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize(("loop", "ufunc"), [(one_over, np.reciprocal), (is_zero, np.logical_not)])
def test_special_values_and_layouts(loop: Any, ufunc: Any, kind: Any) -> None:
    for size in (len(SPECIAL), 100, SPLIT_CHEAP + 5):
        for x in layouts(np.resize(np.array(SPECIAL), size).astype(kind)):
            same_bits(loop(x), np.asarray(ufunc(x)))


@pytest.mark.parametrize("kind", INTEGERS)
def test_zeros_among_integers(kind: Any) -> None:
    for size in (3, 100, SPLIT_CHEAP + 5):
        for x in layouts(np.resize(np.array([0, 1, -1, 0, np.iinfo(kind).min, np.iinfo(kind).max]), size).astype(kind)):
            same_bits(is_zero(x), np.asarray(np.logical_not(x)))


@pytest.mark.parametrize("kind", FLOATS)
def test_inverses_in_place(kind: Any) -> None:
    for size in (5, 1000, SPLIT_CHEAP + 5):
        x = np.resize(np.array(SPECIAL), size).astype(kind)
        expected = np.reciprocal(x)
        assert one_over(x, x) is x
        same_bits(x, expected)
        wide = np.resize(np.array(SPECIAL), (4, size)).astype(kind)
        expected = np.reciprocal(wide)
        part = wide[:, ::2]
        one_over(part, part)
        same_bits(part, expected[:, ::2])


@pytest.mark.parametrize("kind", [np.float16, bfloat16.np])
def test_numbers_of_16_bits(kind: Any) -> None:
    x = np.resize(np.array(SPECIAL, np.float32), 5000).astype(kind)
    wide = x.astype(np.float32)
    np.testing.assert_array_equal(one_over(x).astype(np.float32), np.reciprocal(wide).astype(kind).astype(np.float32))
    np.testing.assert_array_equal(is_zero(x), wide == 0)


@pytest.mark.parametrize("kind", FLOATS)
def test_divisions_by_zero_are_reported(kind: Any) -> None:
    for size in (1, 1000, 500_000):
        x = np.ones(size, kind)
        with np.errstate(all="raise"):
            one_over(x)
            is_zero(np.zeros(size, kind))
            x[size // 2] = 0
            with pytest.raises(FloatingPointError, match="divide by zero encountered in reciprocal"):
                one_over(x)


# -- columns ----------------------------------------------------------------------------------------------------------

LOOPS: list[Any] = [
    kernels.multiply,
    kernels.subtract,
    native(np.fmax, fills=True),
    native(np.less),
    native(np.logical_or),
]


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64, np.bool_])
@pytest.mark.parametrize("columns", [1, 2, 255, 256, 257, 5000])
def test_a_matrix_and_a_column(columns: int, kind: Any, loop: Any) -> None:
    ufunc = getattr(loop, "ufunc", loop)
    generator = np.random.default_rng(columns)
    for rows in (1, 3, 70_000 // columns if columns > 2 else 50):
        x = generator.integers(-3, 4, (2, rows, columns)).astype(kind)
        row, column = x[0, :1], x[0, :, :1]
        both = [(x[0], column), (column, x[1]), (row, column), (column, row), (x, column), (x[:, :, ::-1], x[:, :, :1])]
        both += [(x[:, :1], x[:, :, :1]), (x[:, :, :1], x[:1]), (x[0].T, x[1, :, :1].T), (x[:0], column)]
        for a, b in both:
            try:
                expected = ufunc(a, b)
            except TypeError:  # bools are not subtracted
                continue
            same_bits(loop(a, b), expected)
            out = np.zeros(expected.shape, expected.dtype)
            assert loop(a, b, out) is out
            same_bits(out, expected)


def test_a_column_times_its_matrix_in_place() -> None:
    x = np.random.default_rng(0).normal(size=(40, 700)).astype(np.float32)
    expected = np.multiply(x, x[:, :1])
    same_bits(kernels.multiply(x, x[:, :1].copy(), x), expected)
    expected = np.multiply(x, x[:, 3:4])
    same_bits(kernels.multiply(x, x[:, 3:4], x), expected)  # which is overwritten on the way
