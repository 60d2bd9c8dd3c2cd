"""The first elements of an order, those of a rank, and all of them in order: natively, and against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import leafgrad
from leafgrad.ops.reduce.binning import bisected, occurrences
from leafgrad.ops.reduce.ordering import _few_of_rows, order_of, ranked_in_rows, sorted_rows


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize(("rows", "n", "k"), [(1, 64, 1), (3, 65, 16), (5, 1000, 7), (300, 700, 100), (2, 70_000, 3)])
def test_the_first_of_an_order(rows: int, n: int, k: int, kind: Any, largest: bool) -> None:
    rng = np.random.default_rng(0)
    x = (9 * rng.standard_normal((rows, n))).astype(kind)
    if kind is not np.int64:
        x[0, :5] = np.nan, np.inf, -np.inf, -np.nan, 0
    expected = np.take_along_axis(x, order_of(x, 1, largest)[:, :k], 1)
    found = _few_of_rows(x, k, largest)
    assert found.dtype == np.int64 and all([len(set(row)) == k for row in found.tolist()])
    np.testing.assert_array_equal(np.take_along_axis(x, found, 1), expected)


@pytest.mark.skipif(
    not hasattr(_few_of_rows, "otherwise"), reason="which of equal numbers NumPy finds is its own affair"
)
def test_of_equal_numbers_the_first_are_found_in_their_order() -> None:
    for largest in (True, False):
        assert _few_of_rows(np.zeros((2, 100), np.float32), 4, largest).tolist() == [[0, 1, 2, 3]] * 2


def test_along_another_dimension_and_of_other_layouts() -> None:
    x = leafgrad.from_numpy(np.random.default_rng(0).standard_normal((3, 200, 4)))
    for tensor, dim in ((x, 1), (x.transpose(1, 2), 2), (x.transpose(0, 1), 0)):
        values, places = tensor.topk(5, dim)
        expected, _ = tensor.sort(dim, descending=True)
        assert values.equal(expected.narrow(dim, 0, 5)) and tensor.gather(dim, places).equal(values)


def rows_in_kinds(rows: int, n: int) -> list[Any]:
    """Numbers without a pattern, few different ones, equal ones, some in order and some that halve again and again."""
    rng = np.random.default_rng(n)
    shape = (rows, n)
    drawn = [9 * rng.standard_normal(shape), rng.integers(-2, 2, shape), np.zeros(shape)]
    return [*drawn, np.sort(drawn[0]), -np.sort(-drawn[0]), np.broadcast_to(2.0 ** -(np.arange(n) % 99), shape)]


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize(("rows", "n"), [(1, 1), (3, 2), (4, 40), (4, 41), (2, 700), (300, 70)])
def test_rows_in_order_and_elements_of_a_rank(rows: int, n: int, kind: Any) -> None:
    for numbers in rows_in_kinds(rows, n):
        x = numbers.astype(kind)
        if kind is not np.int64 and n > 6:
            x[0, :6] = np.nan, -0.0, np.inf, 0.0, -np.inf, -np.nan
        for descending in (False, True):
            order = order_of(x, 1, descending)
            values, places = sorted_rows(x, descending)
            np.testing.assert_array_equal(places, order)
            assert values.tobytes() == np.take_along_axis(x, order, 1).tobytes()
        order = order_of(x, 1, False)
        for k in {0, n // 7, n // 2, n - 1}:
            for nan in ("last", "wins", "skipped"):
                found = ranked_in_rows(x, k, nan, True)
                for one, other in zip(found, getattr(ranked_in_rows, "otherwise", ranked_in_rows)(x, k, nan, True)):
                    assert one.dtype == other.dtype and one.tobytes() == other.tobytes()
                assert ranked_in_rows(x, k, nan, False)[1].shape == (rows,)
            np.testing.assert_array_equal(ranked_in_rows(x, k, "last", True)[1], order[:, k : k + 1])


def test_what_is_no_number_comes_first_in_a_median_or_does_not_count() -> None:
    x = np.array([[3, np.nan, 1, 2, np.nan], [np.nan] * 5], np.float32)
    assert ranked_in_rows(x, 2, "wins", False)[1].tolist() == [1, 0]
    assert ranked_in_rows(x, 2, "skipped", False)[1].tolist() == [3, 0]


def test_a_rank_among_numbers_that_mislead_the_search() -> None:
    # the elements that pivots are taken from are the smallest each time
    n = 4096
    x = np.arange(n, dtype=np.float64)
    for start in range(0, n - 8, 7):
        x[[start + (n - start) // 2, -1 - (n - start) // 6]] = start, start + 1
    for k in (0, 5, n // 2, n - 2, n - 1):
        assert ranked_in_rows(x[None], k, "last", False)[0] == np.sort(x)[k]


@pytest.mark.parametrize(("n", "most"), [(1, 0), (7, 3), (3000, 100), (3001, 1023), (3002, 1024), (5000, 70_000)])
def test_numbers_are_counted(n: int, most: int) -> None:
    x = np.random.default_rng(0).integers(0, most, n, endpoint=True)
    for least in (0, 50, 2000):
        found = occurrences(x, least)
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found, np.bincount(x, None, least))
    with pytest.raises(RuntimeError, match="non-negative"):
        occurrences(x - most - 1, 0)


@pytest.mark.parametrize("kind", ["f4", "f8", "u1", "i1", "i2", "i4", "i8"])
@pytest.mark.parametrize(("n", "count"), [(1, 3), (2, 17), (7, 40), (100, 16), (1000, 1001), (70_000, 30_000)])
def test_places_in_a_sequence(n: int, count: int, kind: str) -> None:
    rng = np.random.default_rng(n)
    sequence, x = [rng.integers(0, 120, size).astype(kind) for size in (n, (count // 3 + 1, 3))]
    plain = getattr(bisected, "otherwise", bisected)
    for right, side in ((False, "left"), (True, "right")):
        for dtype in (np.dtype(np.int32), np.dtype(np.int64)):
            found = bisected(np.sort(sequence), x, right, dtype)
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, np.searchsorted(np.sort(sequence), x, side))
            np.testing.assert_array_equal(bisected(sequence, x, right, dtype), plain(sequence, x, right, dtype))


def test_places_in_a_sequence_for_each_row() -> None:
    rng = np.random.default_rng(0)
    sequences, x = np.sort(rng.standard_normal((2, 3, 50))), rng.standard_normal((2, 3, 35))
    x[0, 0, :3], sequences[1, 1, -4:] = np.nan, np.nan
    for right in (False, True):
        found = bisected(sequences, x, right, np.dtype(np.int64))
        plain = getattr(bisected, "otherwise", bisected)(sequences, x, right, np.dtype(np.int64))
        np.testing.assert_array_equal(found, plain)
        assert found[0, 0, :3].tolist() == [50] * 3
    assert bisected(sequences[:, :, :0], x, False, np.dtype(np.int32)).tolist() == np.zeros((2, 3, 35)).tolist()


def test_nan_in_a_sequence_comes_before_every_number() -> None:
    sequence = leafgrad.tensor([1.0, 2.0, float("nan")])  # as PyTorch has it
    assert leafgrad.searchsorted(sequence, leafgrad.tensor([0.5, 3.0, float("nan")])).tolist() == [0, 3, 3]


@pytest.mark.skipif(not hasattr(_few_of_rows, "otherwise"), reason="see above")
@pytest.mark.parametrize("k", [1, 2, 5, 8, 9, 20])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
def test_few_and_many_of_an_order_are_those_of_a_stable_sort(k: int, kind: Any) -> None:
    for n in (20, 31, 100):
        for numbers in rows_in_kinds(6, n):
            x = numbers.astype(kind)
            if kind is not np.int64:
                x[0, :6] = np.nan, -0.0, np.inf, 0.0, -np.inf, 1
            for largest in (True, False):
                rows = np.ascontiguousarray(np.where(x == 0, 0, x))  # -0.0 comes before 0.0 here
                np.testing.assert_array_equal(_few_of_rows(rows, k, largest), order_of(rows, 1, largest)[:, :k])
