"""Windows along a dimension, and their gradients: added up where they came from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from leafgrad.ops.shape.windows import added_windows


def one_after_the_other(x: Any, shape: tuple[int, ...], dim: int, size: int, step: int) -> Any:
    """The windows added up in their order, as PyTorch does it."""
    whole = np.zeros(shape, x.dtype)
    for at in range(x.shape[dim]):
        place = (slice(None),) * dim + (slice(at * step, at * step + size),)
        whole[place] += np.moveaxis(np.take(x, at, dim), -1, dim)
    return whole


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.complex64])
@pytest.mark.parametrize(
    ("shape", "dim", "size", "step"),
    [
        ((50,), 0, 7, 3), ((50,), 0, 3, 7), ((50,), 0, 10, 5), ((9, 2), 0, 2, 1), ((2, 100, 3), 1, 16, 4),
        ((5, 50), 1, 50, 10**12), ((5, 50), 1, 49, 1), ((3, 4), 1, 0, 2), ((0, 6), 1, 2, 2), ((4, 1), 1, 1, 1),
    ],
)  # fmt: skip
def test_windows_are_added_in_their_order(shape: tuple[int, ...], dim: int, size: int, step: int, kind: Any) -> None:
    count = (shape[dim] - size) // step + 1
    x = np.random.default_rng(0).standard_normal((*shape[:dim], count, *shape[dim + 1 :], size)).astype(kind)
    expected = one_after_the_other(x, shape, dim, size, step)
    for given in (x, x[..., ::-1].copy()[..., ::-1], np.asfortranarray(x)):
        found = added_windows(given, shape, dim, size, step)
        assert found.dtype == x.dtype and found.flags.c_contiguous
        np.testing.assert_array_equal(found, expected)


def test_no_windows_and_no_numbers() -> None:
    assert added_windows(np.zeros((0, 3), np.float32), (2,), 0, 3, 1).tolist() == [0, 0]
    x = np.array([[np.nan, -0.0], [np.inf, -np.inf]], np.float32)
    np.testing.assert_array_equal(added_windows(x, (3,), 0, 2, 1), [np.nan, np.inf, -np.inf])
