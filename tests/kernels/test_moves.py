"""Native copies compute what NumPy's do: any shape, strides and size of elements, on one thread or several."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafgrad.kernels.moving import copied, counted, filled, full, spaced, total_of_targets, written
from leafgrad.kernels.select import choose
from leafgrad.ops.shape.arrange import flip
from leafgrad.ops.shape.join import cat

pytestmark = pytest.mark.usefixtures("two_threads")


@st.composite
def arrays(draw: Any) -> Any:
    """Arrays of up to five dimensions, permuted, sliced, reversed and repeated."""
    shape = draw(st.lists(st.sampled_from([0, 1, 1, 2, 3, 5, 16, 17, 40]), max_size=5))
    while np.prod(shape) > 50_000:
        shape.pop()
    kind = draw(st.sampled_from(["u1", "?", "f2", "f4", "f8", "c16", "U3", "O"]))
    x: Any = np.arange(np.prod(shape)).reshape(shape).astype(kind)
    x = x.transpose(draw(st.permutations(range(x.ndim))))
    x = x[tuple([slice(None, None, draw(st.sampled_from([1, 1, -1, 2, -3]))) for _ in range(x.ndim)])]
    x = np.asarray(x)
    return np.broadcast_to(x, (3, *x.shape)) if draw(st.booleans()) else x


def assert_is(found: Any, expected: Any) -> None:
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)


@settings(deadline=None)
@given(arrays(), st.data())
def test_any_array(x: Any, data: Any) -> None:
    found = copied(x)
    assert_is(found, x)
    assert found.flags.c_contiguous and found.flags.owndata and not np.shares_memory(found, x)
    order = data.draw(st.permutations(range(x.ndim)))
    target = np.zeros([x.shape[d] for d in order], x.dtype).transpose(np.argsort(order).tolist())
    assert written(target, x) is target
    assert_is(target, x)
    dims = tuple(sorted(data.draw(st.sets(st.sampled_from(range(x.ndim)))))) if x.ndim else ()
    assert_is(flip.kernel(x, dims), np.flip(x, dims))
    if x.ndim:
        dim = data.draw(st.sampled_from(range(x.ndim)))
        parts = [x, np.ascontiguousarray(x), np.asfortranarray(x)]
        assert_is(cat.kernel(*parts, dim, ()), np.concatenate(parts, dim))


LARGE: list[Any] = [
    lambda x: x.T,
    lambda x: x[:, ::-1],
    lambda x: x.reshape(-1)[::-1],
    lambda x: x.reshape(500, 4, -1).transpose(1, 2, 0),
    lambda x: x.reshape(500, 4, -1).transpose(2, 1, 0)[::2],
    lambda x: np.broadcast_to(x[:, :1], x.shape),
    lambda x: np.lib.stride_tricks.sliding_window_view(x, 3, 1),
]


@pytest.mark.parametrize("view", LARGE)
@pytest.mark.parametrize("kind", ["?", "f2", "f4", "f8", "c16"])
def test_large_arrays(view: Any, kind: str) -> None:
    x = view(np.random.default_rng(0).integers(0, 200, (1000, 1004)).astype(kind))
    assert_is(copied(x), x)
    assert_is(cat.kernel(x, x, 0, ()), np.concatenate([x, x]))


@pytest.mark.parametrize("kind", ["?", "f2", "f4", "f8", "c16"])
@pytest.mark.parametrize("size", [0, 1, 3, 40, 300])
def test_what_is_repeated(size: int, kind: str) -> None:
    x = np.random.default_rng(0).integers(0, 200, (size, size + 1)).astype(kind)
    for part, shape in [
        (x, (3, *x.shape)),
        (x.T, (2, 2, *x.T.shape)),
        (x[:, None], (size, 4, size + 1)),
        (x[:, None, :, None], (size, 2, size + 1, 3)),
        (x[:1], x.shape),
        (x[:, ::-1][:, :1], x.shape),
        (np.array(7, kind), (size, 5)),
    ]:
        for target in (np.zeros(shape, kind), np.zeros(shape[::-1], kind).T):
            assert_is(written(target, part), np.broadcast_to(part, shape))


def test_overlapping_memory() -> None:
    x = np.arange(20.0)
    written(x[1:], x[:-1])
    np.testing.assert_array_equal(x, [0, *range(19)])
    square = np.arange(16.0).reshape(4, 4)
    expected = square.T.copy()
    written(square, square.T)
    np.testing.assert_array_equal(square, expected)


def test_what_does_not_fit_is_refused_as_by_numpy() -> None:
    with pytest.raises(ValueError, match="must match exactly"):
        cat.kernel(np.zeros((2, 3)), np.zeros((2, 4)), 0, ())
    with pytest.raises(ValueError, match="read-only"):
        written(np.broadcast_to(np.zeros(1), (3,)), np.ones(3))
    with pytest.raises(ValueError, match="could not broadcast"):
        written(np.zeros((2, 3)), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="could not broadcast"):
        written(np.zeros(3), np.zeros((2, 3)))
    wide = written(np.zeros((2, 3)), np.arange(3))
    np.testing.assert_array_equal(wide, [[0, 1, 2], [0, 1, 2]])


@pytest.mark.parametrize("size", [1, 7, 1000, 300_000])
@pytest.mark.parametrize("kind", ["f4", "f8", "i8", "f2"])
def test_choice(size: int, kind: str) -> None:
    rng = np.random.default_rng(0)
    condition = rng.random(size) < 0.5
    a, b = [np.where(rng.random(size) < 0.1, special, 3).astype(kind) for special in (0, -1)]
    if kind != "i8":
        a[::3], b[::5] = np.nan, -0.0
    one, other = np.array(2, kind), np.array(0, kind)
    for x in (a, one, a[::-1]):
        for y in (b, other):
            found, expected = choose(condition, x, y), np.where(condition, x, y)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found.view(np.uint8), expected.view(np.uint8))


def test_one_value() -> None:
    for kind in ("f4", "f8", "i8", "?", "u1", "f2", "c8", "c16"):
        for number in (0, 1, 3.5):
            value = np.array(number).astype(kind)
            for x in (np.ones(3), np.ones((500, 600)), np.ones((5, 6))[:, ::2], np.ones(()), np.ones((0, 2))):
                x = x.astype(kind, order="K")
                assert filled(x, value) is x and (x == value).all()
                made = full(x.shape, value)
                assert made.dtype == kind and made.shape == x.shape and (made == value).all()
    with pytest.raises(ValueError, match="read-only"):
        filled(np.broadcast_to(np.ones(1), (3,)), np.array(0.0))


def test_equal_distances() -> None:
    otherwise = getattr(spaced, "otherwise", spaced)
    for kind in ("f4", "f8"):
        for count in (2, 3, 50, 1001, 300_000):
            for first, last in ((0, 1), (-3.7, 1e4), (5, -5)):
                start, end = np.array(first, kind), np.array(last, kind)
                step = np.asarray((end - start) / end.dtype.type(count - 1))
                found, expected = spaced(start, end, step, count), otherwise(start, end, step, count)
                assert found.dtype == kind and found[0] == start and found[-1] == end
                # products of float32 are exact in float64; those of float64 are not in what NumPy has
                allowed = 0 if kind == "f4" else 2**-52 * max(abs(first), abs(last))
                np.testing.assert_allclose(found, expected, rtol=0, atol=allowed)
    for count in (0, 1, 7, 200_000):
        np.testing.assert_array_equal(counted(count), np.arange(count))


def test_one_element_of_each_row() -> None:
    for kind in ("f4", "f8"):
        x = np.random.default_rng(0).standard_normal((50, 7)).astype(kind)
        at = np.arange(50) % 7
        for mean in (False, True):
            found = total_of_targets(x, at, mean)
            if found is not None:  # as where nothing was built
                taken = x[np.arange(50), at].astype("f8")
                np.testing.assert_allclose(found, -(taken.mean() if mean else taken.sum()), rtol=1e-6)
                assert found.dtype == kind and found.shape == ()
        for wrong in (7, -1):
            assert total_of_targets(x, np.where(at == 3, wrong, at), True) is None


@pytest.mark.parametrize("kind", ["u1", "f2", "f4", "f8", "c16"])
@pytest.mark.parametrize(("lines", "count"), [(2, 17), (2, 50_000), (3, 40), (3, 70_001), (4, 9001), (5, 100)])
def test_lines_whose_numbers_alternate(lines: int, count: int, kind: str) -> None:
    x = np.arange(6 * lines * count).reshape(2, lines, 3, count).astype(kind)
    assert_is(copied(x.transpose(0, 2, 3, 1)), x.transpose(0, 2, 3, 1))
    assert_is(copied(x[0, :, 0].T), x[0, :, 0].T)
    assert_is(copied(x[:, ::-1, 1, :-1].transpose(0, 2, 1)), x[:, ::-1, 1, :-1].transpose(0, 2, 1))
