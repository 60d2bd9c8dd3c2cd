"""The first elements of an order, found natively, against sorting all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import leafgrad
from leafgrad.ops.reduce.ordering import _few_of_rows, order_of


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
