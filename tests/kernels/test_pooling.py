"""Pools in C against the same on plain NumPy: all windows, what is not finite, several threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leafgrad as lg
from leafgrad import kernels
from leafgrad.kernels import pooling
from leafgrad.kernels.convolution import Geometry
from leafgrad.ops.conv.avg_pooling import adaptive_avg_pool
from leafgrad.ops.conv.pool_checks import pool_sizes

if pooling.NATIVE:
    from leafgrad.kernels import _images

Ints = tuple[int, ...]
F = lg.nn.functional


def if_native(test: Any) -> Any:
    """For tests of what there is only where the extension is built."""
    return test if pooling.NATIVE else None


def on_numpy(function: Callable[..., Any], *args: Any) -> Any:
    """What a function computes without the extension."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pooling, "NATIVE", False)
        return function(*args)


def numbers(shape: Ints, kind: Any, special: bool = False) -> Any:
    """Numbers of which many are equal; also such as are none."""
    rng = np.random.default_rng(len(shape))
    found = rng.integers(-4, 5, shape).astype(kind)
    if special:
        found[rng.random(shape) < 0.3] = -np.inf
        found[rng.random(shape) < 0.1] = np.nan
        found[rng.random(shape) < 0.1] = np.inf
    return found


@st.composite
def pools(draw: st.DrawFn) -> Any:
    """The shape of an array, window, stride, padding, dilation, ceil_mode."""
    dims = draw(st.integers(1, 3))

    def each(low: int, high: int) -> Ints:
        return tuple([draw(st.integers(low, high)) for _ in range(dims)])

    window, stride, dilation = each(1, 5), each(1, 4), each(1, 3)
    padding = tuple([draw(st.integers(0, k // 2)) for k in window])
    more = each(0, [80, 18, 7][dims - 1])
    reach = [d * (k - 1) + 1 for k, d in zip(window, dilation, strict=True)]
    sizes = tuple([r + m for r, m in zip(reach, more, strict=True)])
    lead = draw(st.sampled_from([(), (3,), (2, 5)]))
    return (*lead, *sizes), window, stride, padding, dilation, draw(st.booleans())


@settings(max_examples=120, deadline=None)
@given(pools(), st.sampled_from([np.float32, np.float64]), st.booleans())
def test_the_largest(pool: Any, kind: Any, special: bool) -> None:
    shape, window, stride, padding, dilation, ceil_mode = pool
    x = numbers(shape, kind, special)
    positions = pool_sizes(shape[-len(window) :], window, stride, padding, dilation, ceil_mode)
    arguments = x, window, Geometry(stride, padding, dilation, 1), positions
    best, indices = pooling.max_windows(*arguments)
    right, right_indices = on_numpy(pooling.max_windows, *arguments)
    assert best.dtype == kind and indices.dtype == np.int64 and best.shape == indices.shape == right.shape
    np.testing.assert_array_equal(best, right)
    np.testing.assert_array_equal(indices, right_indices)
    np.testing.assert_array_equal(pooling.max_values(*arguments), right)


@settings(max_examples=120, deadline=None)
@given(pools(), st.sampled_from([np.float32, np.float64]), st.booleans(), st.sampled_from([None, 3, -2]))
def test_means(pool: Any, kind: Any, include_pad: bool, override: int | None) -> None:
    shape, window, stride, padding, _, ceil_mode = pool
    sizes = shape[-len(window) :]
    x = numbers(shape, kind)
    positions = pool_sizes(sizes, window, stride, padding, (1,) * len(window), ceil_mode)
    options = window, stride, padding
    arguments = x, *options, positions, include_pad, override
    found = pooling.means(*arguments)
    np.testing.assert_allclose(found, on_numpy(pooling.means, *arguments), 1e-6)
    back = found, sizes, *options, include_pad, override
    np.testing.assert_allclose(pooling.means_back(*back), on_numpy(pooling.means_back, *back), 1e-5, 1e-6)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_adaptive_windows(data: Any) -> None:
    dims = data.draw(st.integers(1, 3))
    sizes = tuple([data.draw(st.integers(1, 12)) for _ in range(dims)])
    counts = tuple([data.draw(st.integers(1, 8)) for _ in range(dims)])
    kind = data.draw(st.sampled_from([np.float32, np.float64]))
    x = numbers((2, 3, *sizes), kind, data.draw(st.booleans()))
    for found, right in zip(pooling.max_adaptive(x, counts), on_numpy(pooling.max_adaptive, x, counts), strict=True):
        assert found.dtype == right.dtype
        np.testing.assert_array_equal(found, right)
    finite = numbers(x.shape, kind)
    found = adaptive_avg_pool.kernel(finite, counts)
    np.testing.assert_allclose(found, on_numpy(adaptive_avg_pool.kernel, finite, counts), 1e-5, 1e-5)


@pytest.mark.parametrize("size", [(3, 5), (2, 2), 1, (9, 4)])
def test_gradients_of_adaptive_means_are_those_of_their_graph(size: Any) -> None:
    x = lg.tensor(numbers((2, 3, 6, 7), np.float64), requires_grad=True)
    total = (F.adaptive_avg_pool2d(x, size) ** 2).sum()
    (first,) = lg.autograd.grad(total, x, retain_graph=True)
    (again,) = lg.autograd.grad(total, x, create_graph=True)  # which computes on tensors
    assert lg.allclose(first, again)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_gradients_go_back_to_the_largest(kind: Any) -> None:
    x = lg.tensor(numbers((2, 3, 9, 10), kind), requires_grad=True)
    best = F.max_pool2d(x, 3, 1, 1)  # windows that overlap
    (first,) = lg.autograd.grad((best * best).sum(), x, retain_graph=True)
    (again,) = lg.autograd.grad((best * best).sum(), x, create_graph=True)
    assert (first == again).all() and first.dtype == x.dtype


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_many_planes(threads: int) -> None:
    x = numbers((40, 8, 33, 34), np.float32, True)
    arguments = x, (3, 3), Geometry((2, 2), (1, 1), (1, 1), 1), (17, 17)
    right = on_numpy(pooling.max_windows, *arguments)
    kernels.use_threads(threads)
    found = pooling.max_windows(*arguments)
    kernels.use_threads(kernels.available_cores())
    for each, other in zip(found, right, strict=True):
        np.testing.assert_array_equal(each, other)


def test_arrays_that_are_not_contiguous_or_empty() -> None:
    x = numbers((3, 4, 6, 8), np.float32)
    arguments = (2, 2), Geometry((2, 2), (0, 0), (1, 1), 1), (3, 4)
    turned = x.T.copy().T
    assert not turned.flags.c_contiguous
    np.testing.assert_array_equal(pooling.max_values(turned, *arguments), pooling.max_values(x, *arguments))
    assert pooling.max_windows(x[:0], *arguments)[1].shape == (0, 4, 3, 4)
    assert pooling.means(x[:, :0], (2, 2), (2, 2), (0, 0), (3, 4), True, None).shape == (3, 0, 3, 4)


X = np.ones((2, 3, 6, 6), np.float32)
WINDOWS: Any = (2, 2), (2, 2), (0, 0), (1, 1)
WRONG: list[Any] = [
    lambda: _images.pool_max(X, (3, 3), WINDOWS),
    lambda: _images.pool_max(X.astype(np.int64), (3, 3), WINDOWS, True),
    lambda: _images.pool_max(X[:, :, ::2], (3, 3), WINDOWS, True),
    lambda: _images.pool_max(X, (3, 0), WINDOWS, True),
    lambda: _images.pool_max(X, (1, 1, 1, 1), None, True),
    lambda: _images.pool_max(X[0, 0, 0], (3, 3), None, True),
    lambda: _images.pool_max(X, (3, 3), ((2, 2), (0, 1), (0, 0), (1, 1)), True),
    lambda: _images.pool_max(X, (3, 3), ((2, 2), (1, 1), (0, 0), (1,)), True),
    lambda: _images.pool_max(X, (3, 3), 1, True),
    lambda: _images.pool_mean(X, (3, 3), WINDOWS, True),
    lambda: _images.pool_mean(X, (3, 3), WINDOWS, True, 1.5),
    lambda: _images.pool_spread(X, 3, WINDOWS, True, 0),
    lambda: _images.pool_put(X.reshape(6, 36), np.zeros((6, 36)), 3),
    lambda: _images.pool_put(X.reshape(6, 36), np.zeros((6, 35), np.int64), 3),
    lambda: _images.pool_put(X.reshape(6, 36), np.full((6, 36), 3), 3),
    lambda: _images.pool_put(X.reshape(6, 36), np.full((6, 36), -1), 3),
    lambda: _images.pool_put(),
]


@if_native
@pytest.mark.parametrize("call", WRONG)
def test_wrong_calls_are_refused(call: Any) -> None:
    with pytest.raises((TypeError, ValueError, IndexError)):
        call()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_windows_one_by_one_and_all_at_once(data: Any) -> None:
    """Plain NumPy loops over the windows or over the elements of one, whichever are fewer."""
    dims = data.draw(st.integers(1, 3))
    sizes = tuple([data.draw(st.integers(1, 9)) for _ in range(dims)])
    edges = [pooling.bins(size, data.draw(st.integers(1, 4))) for size in sizes]
    kind = data.draw(st.sampled_from([np.float16, np.float64]))
    x = numbers((2, 3, *sizes), kind, data.draw(st.booleans()))
    taps = [
        [np.minimum(first + t, last - 1) for t in range(int((last - first).max()))] for first, last in edges
    ]  # fmt: skip
    for found, right in zip(pooling.max_of_each(x, edges), pooling.max_at(x, taps), strict=True):
        assert found.dtype == right.dtype
        np.testing.assert_array_equal(found, right)


def test_one_window_of_many_elements() -> None:
    x = np.zeros((1, 1, 1, 300_000), np.float16)  # which only NumPy takes: a loop over its elements takes seconds
    x[..., -1] = 1
    best, indices = pooling.max_adaptive(x, (1, 1))
    assert best.item() == 1 and indices.item() == 299_999
