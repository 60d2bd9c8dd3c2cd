"""Native padding, triangles and sums of diagonals compute what NumPy computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from leafgrad._layouts import restrided
from leafgrad.ops.conv.padding import with_zeros
from leafgrad.ops.creation.ranges import triangle_places
from leafgrad.ops.index.masks import tril, triu
from leafgrad.ops.shape.diagonals import sum_of_diagonal
from leafgrad.ops.shape.split import pieces, unbound


def same(native: Any, *args: Any) -> None:
    one, other = native(*args), getattr(native, "otherwise", native)(*args)
    assert one.dtype == other.dtype and one.shape == other.shape and one.strides == other.strides
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int8, np.complex128])
@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4), (2, 3, 4, 5), (0, 3), (200, 300)])
def test_zeros_around(shape: tuple[int, ...], kind: Any) -> None:
    x = np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(kind)
    for pad in [(), (1, 2), (0, 3), (2, 0, 1, 1)]:
        if len(pad) <= 2 * len(shape):
            same(with_zeros, x, pad)
            same(with_zeros, np.swapaxes(x, 0, -1), pad)


@pytest.mark.parametrize("lower", [True, False])
def test_triangles(lower: bool) -> None:
    for rows in (0, 1, 3, 5):
        for columns in (0, 1, 4, 6):
            for offset in range(-7, 8):
                same(triangle_places, rows, columns, offset, lower)


@pytest.mark.parametrize("kind", [np.float32, np.bool_, np.complex128])
@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (2, 3, 3), (0, 3), (3, 0), (1, 1)])
def test_parts_of_matrices(shape: tuple[int, ...], kind: Any) -> None:
    x = np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(kind)
    for offset in range(-5, 6):
        same(tril.kernel, x, offset)
        same(triu.kernel, x, offset)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int32])
def test_sums_of_diagonals(kind: Any) -> None:
    x = np.random.default_rng(0).integers(-99, 99, (30, 20)).astype(kind) / kind(1 if kind is np.int32 else 8)
    for matrix in (x, x.T, x[::2, ::-1], x[:0]):
        same(sum_of_diagonal, matrix.astype(kind, copy=False))


@pytest.mark.parametrize("x", [np.zeros((6, 4)), np.zeros((5, 6, 3), np.float32)[::-2, 1:, ::2], np.zeros((0, 6, 2))])
def test_several_views(x: Any) -> None:
    for dim in range(x.ndim):
        size = x.shape[dim]
        for sizes in [(size,), (0, size, 0), (1,) * size, (size // 3, size - size // 3)]:
            views = [pieces(x, dim, sizes), getattr(pieces, "otherwise", pieces)(x, dim, sizes)]
            assert_same_views(x, *views)
        assert_same_views(x, unbound(x, dim), getattr(unbound, "otherwise", unbound)(x, dim))
    frozen = np.zeros(4)
    frozen.flags.writeable = False
    assert not any([view.flags.writeable for view in [*pieces(frozen, 0, (2, 2)), *unbound(frozen, 0)]])


def assert_same_views(x: Any, found: list[Any], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert one.shape == other.shape and one.dtype == other.dtype and one.flags.aligned and one.flags.writeable
        assert not one.size or (one.strides == other.strides and one.ctypes.data == other.ctypes.data)
        assert one.flags.c_contiguous == other.flags.c_contiguous


@pytest.mark.parametrize("kind", [np.float32, np.complex128, np.dtype("O")])
def test_memory_under_another_shape(kind: Any) -> None:
    x = np.arange(24).astype(kind)
    item = x.itemsize
    for shape, steps in [((6, 3), (2, 1)), ((), ()), ((0, 3), (1, 1)), ((4, 5), (0, 4)), ((2, 3, 4), (12, 4, 1))]:
        same(restrided, x, shape, tuple([step * item for step in steps]))
    same(restrided, x[::-1], (3, 2), (-item, -2 * item))
    view = restrided(x, (3,), (item,))
    view[...] = 5
    assert list(x[:4]) == [5, 5, 5, 3]
    x.flags.writeable = False
    assert not restrided(x, (3,), (item,)).flags.writeable
    same(restrided, x, [2, 2], [item, item])  # no tuples
