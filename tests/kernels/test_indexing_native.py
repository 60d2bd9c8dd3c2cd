"""Native reading, writing and adding by index computes what NumPy computes, in the order of the indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafgrad import kernels
from leafgrad.kernels.moving import taken
from leafgrad.ops.index.checks import outside
from leafgrad.ops.index.gather import add_at, gather_array, rows_summed, slices_added, sum_at
from leafgrad.ops.index.parse import flat_index
from leafgrad.ops.index.scatter import scattered

pytestmark = pytest.mark.usefixtures("two_threads")


@st.composite
def cases(draw: Any) -> Any:
    """(x, dim, how many indices, random numbers)"""
    shape = draw(st.lists(st.sampled_from([1, 2, 3, 7, 70]), min_size=1, max_size=4))
    while np.prod(shape) > 20_000:
        shape.pop()
    kind = draw(st.sampled_from(["u1", "f2", "f4", "f8", "i8", "c16"]))
    dim = draw(st.sampled_from(range(len(shape))))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    return rng.integers(0, 50, shape).astype(kind), dim, draw(st.sampled_from([0, 1, 5, 90])), rng


@settings(deadline=None)
@given(cases())
def test_slices(case: Any) -> None:
    x, dim, count, rng = case
    size = x.shape[dim]
    for shape in [(count,), (count, 2), ()]:
        at = np.asarray(rng.integers(-size, size, shape))
        np.testing.assert_array_equal(taken(x, at, dim), np.take(x, at, dim))
    at = rng.integers(-size, size, count)
    source = rng.integers(0, 9, (*x.shape[:dim], count, *x.shape[dim + 1 :])).astype(x.dtype)
    expected = x.copy()
    np.add.at(np.moveaxis(expected, dim, 0), at, np.moveaxis(source, dim, 0))
    found = x.copy()
    slices_added(found, at, source, dim)
    np.testing.assert_array_equal(found, expected)
    strided = np.asfortranarray(x)
    add_at(strided, dim, 1, at, source)
    np.testing.assert_array_equal(strided, expected)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("rows", "count", "width"), [(1, 0, 20), (7, 90, 17), (3000, 500, 64), (40, 9000, 33), (5, 8, 2)]
)
def test_sums_of_rows(rows: int, count: int, width: int, kind: Any) -> None:
    """Zeros and what is added to them are one pass over memory; what several places name is added in their order."""
    rng = np.random.default_rng(0)
    at, source = rng.integers(-rows, rows, count), rng.standard_normal((count, width)).astype(kind)
    expected = np.zeros((rows, width), kind)
    np.add.at(expected, at, source)
    found = rows_summed((rows, width), at, source)
    np.testing.assert_array_equal(found, expected)
    assert found.base is None and not np.signbit(rows_summed((rows, width), at, source * 0 - 0.0)).any()
    assert rows_summed((rows, 1, width), at, source).shape == (rows, 1, width)
    with pytest.raises(IndexError):
        rows_summed(
            (rows, width), np.append(at, rows), np.append(source, source[:1], 0) if count else np.ones((1, width))
        )


@settings(deadline=None)
@given(cases())
def test_elements(case: Any) -> None:
    x, dim, count, rng = case
    index = rng.integers(0, x.shape[dim], (*x.shape[:dim], count, *x.shape[dim + 1 :]))
    np.testing.assert_array_equal(gather_array(x, index, dim), np.take_along_axis(x, index, dim))
    source = rng.integers(0, 9, index.shape).astype(x.dtype)
    for add in (False, True):
        found, expected = x.copy(), x.copy()
        scattered(found, index, source, dim, add)
        for place in np.ndindex(*index.shape):
            target = (*place[:dim], index[place], *place[dim + 1 :])
            expected[target] = expected[target] + source[place] if add else source[place]
        np.testing.assert_array_equal(found, expected)


def test_indices_outside_raise_before_anything_is_written() -> None:
    x = np.zeros((4, 300), np.float32)
    for wrong in (4, -5):
        at = np.array([0, 1, wrong])
        with pytest.raises(IndexError):
            taken(x, at, 0)
        with pytest.raises(IndexError):
            slices_added(x, at, np.ones((3, 300), np.float32), 0)
    assert taken(np.zeros((0, 3)), np.zeros((2, 0), np.int64), 0).shape == (2, 0, 3)


@pytest.mark.parametrize("shape", [(30, 1000), (1000, 30), (20, 40, 50), (1, 100_000), (100_000, 1)])
def test_large_sums_do_not_depend_on_threads(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    for dim in range(len(shape)):
        at = rng.integers(0, shape[dim], 400)
        g = rng.random((*shape[:dim], 400, *shape[dim + 1 :]), np.float32)
        several = sum_at(g, shape, dim, 1, at)
        kernels.use_threads(1)
        np.testing.assert_array_equal(several, sum_at(g, shape, dim, 1, at))
        kernels.use_threads(2)
        expected = np.zeros(shape)
        np.add.at(np.moveaxis(expected, dim, 0), at, np.moveaxis(g, dim, 0))
        np.testing.assert_allclose(several, expected, rtol=1e-5)


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_a_single_number_is_scattered(dim: int, add: bool) -> None:
    rng = np.random.default_rng(0)
    x, at = rng.standard_normal((4, 5, 6)), rng.integers(0, 4, (4, 5, 6))
    one, other, number = x.copy(), x.copy(), np.array(1.5)
    scattered(one, at, number, dim, add)
    getattr(scattered, "otherwise", scattered)(other, at, number, dim, add)
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(one, x)


def test_the_first_index_outside() -> None:
    at = np.arange(-3, 1000)
    assert outside(at, -3, 1000) is None and outside(at[3:], 0, 1000) is None and outside(at[:0], 0, 0) is None
    assert outside(at, -2, 1000) == -3 and outside(at, -3, 900) == 900 and outside(at, 0, 2) == -3
    assert outside(at[::2], -3, 900) == 901 and outside(at.astype(np.int32), -3, 900) == 900


def test_the_first_index_outside_of_many() -> None:
    at = np.arange(200_000)
    assert outside(at, 0, 200_000) is None and outside(at, 0, 150_000) == 150_000 and outside(-at, -5, 9) == -6


@pytest.mark.parametrize("shape", [(3, 4), (5, 2, 3), (7,)])
def test_several_indices_become_one(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    for count in [(), (0,), (4,), (3, 2)]:
        given = [np.asarray(rng.integers(0, size, count)) for size in shape]
        np.testing.assert_array_equal(flat_index(shape, *given), np.ravel_multi_index(given, shape))
    wrong = [np.array([0, 1])] * (len(shape) - 1) + [np.array([0, shape[-1]])]
    with pytest.raises(ValueError):
        flat_index(shape, *wrong)


def test_gathered_and_scattered_indices_count_from_the_front() -> None:
    x = np.zeros((4, 300), np.float32)
    for wrong in (300, -1):
        at = np.array([[0, wrong]] * 4)
        with pytest.raises(IndexError):
            gather_array(x, at, 1)
