"""Native reductions compute what the NumPy form computes: any shape, strides, dtype and choice of dimensions,
with special numbers, on one thread or several, and in a forked process."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafgrad import kernels
from leafgrad.ops.reduce import common, extremes, norms, products, reductions, running, scans, statistics

SUMS: dict[str, Any] = {
    "sum": common.total,
    "mean": reductions.mean_of,
    "norm": norms._euclidean_norm,
    "sum_of_sizes": norms._sum_of_sizes,
    "prod": products._prod,
    "max": extremes.amax.kernel,
    "min": extremes.amin.kernel,
    "any": reductions.any.kernel,
    "all": reductions.all.kernel,
    "count_nonzero": lambda x, dims, keepdim: reductions._count_nonzero(x, dims),
    "var": lambda x, dims, keepdim: statistics._var(x, dims, 1, keepdim),
    "std": lambda x, dims, keepdim: statistics._std(x, dims, 0.5, keepdim),
}
FOR_FLOATS = {"mean", "norm", "sum_of_sizes", "var", "std"}
FOR_BOOLS = {"sum", "any", "all", "count_nonzero"}
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 3.0]
NATIVE = hasattr(common.total, "otherwise")


pytestmark = pytest.mark.usefixtures("two_threads", "silent_numpy")


def on_numpy(function: Callable[..., Any], *args: Any) -> Any:
    """The same in NumPy's form, in double precision."""
    kept = kernels_in_double(function, *args)
    return np.asarray(kept)


def kernels_in_double(function: Callable[..., Any], x: Any, dims: Any, keepdim: bool) -> Any:
    x = x.astype(np.float64) if x.dtype.kind == "f" else x
    name = next(name for name, known in SUMS.items() if known is function)
    axes = tuple(range(x.ndim)) if dims is None else dims
    count = np.prod([x.shape[d] for d in axes])
    if name in ("var", "std"):
        squares = ((x - x.mean(axes, keepdims=True)) ** 2).sum(axes, keepdims=keepdim)
        return squares / max(count - 1, 0) if name == "var" else np.sqrt(squares / max(count - 0.5, 0))
    if name == "count_nonzero":
        return np.count_nonzero(x, axis=axes)
    if name == "norm":
        return np.sqrt((x * x).sum(axes, keepdims=keepdim))
    if name == "sum_of_sizes":
        return np.abs(x).sum(axes, keepdims=keepdim)
    return getattr(np, name)(x, axis=axes, keepdims=keepdim)


def assert_near(name: str, found: Any, x: Any, dims: Any, keepdim: bool) -> None:
    expected = on_numpy(SUMS[name], x, dims, keepdim)
    assert found.shape == expected.shape
    if x.dtype.kind != "f" or name in ("max", "min", "any", "all", "count_nonzero"):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == (x.dtype if name in ("max", "min") else expected.dtype)
        return
    near = 1e-5 if x.dtype == np.float32 else 1e-12
    assert found.dtype == x.dtype
    size = np.nanmax(np.abs(np.where(np.isfinite(x), x, 0)), initial=1.0)
    np.testing.assert_allclose(found, expected.astype(x.dtype), rtol=near, atol=near * size * max(1, x.size) ** 0.5)


@st.composite
def arrays(draw: Any) -> Any:
    """Arrays of up to four dimensions, permuted, sliced, reversed and repeated, some with special numbers."""
    shape = draw(st.lists(st.sampled_from([0, 1, 2, 3, 7, 20, 33, 70]), max_size=4))
    while np.prod(shape) > 100_000:
        shape.pop()
    kind = draw(st.sampled_from(["f4", "f8", "i8", "?", "i4"]))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    x: Any = np.asarray(rng.normal(0, 1 if kind[0] == "f" else 3, shape)).astype(kind)
    if kind[0] == "f" and x.size and draw(st.booleans()):
        x.reshape(-1)[:: draw(st.integers(2, 50))] = draw(st.sampled_from(SPECIAL))
    x = x.transpose(draw(st.permutations(range(x.ndim))))
    x = np.asarray(x[tuple([slice(None, None, draw(st.sampled_from([1, 1, -1, 2]))) for _ in range(x.ndim)])])
    if x.ndim < 4 and draw(st.booleans()):
        x = np.broadcast_to(
            np.expand_dims(x, place := draw(st.integers(0, x.ndim))), (*x.shape[:place], 3, *x.shape[place:])
        )
    dims = (
        draw(st.none() | st.lists(st.sampled_from(range(x.ndim)), unique=True).map(sorted).map(tuple))
        if x.ndim
        else None
    )
    return x, dims, draw(st.booleans())


@pytest.mark.parametrize("name", SUMS)
@settings(deadline=None)
@given(arrays())
def test_any_array(name: str, case: Any) -> None:
    x, dims, keepdim = case
    if (x.dtype.kind != "f" and name in FOR_FLOATS) or (x.dtype.kind == "b" and name not in FOR_BOOLS):
        return
    if (not x.size or x.dtype == np.int32) and name not in ("any", "all", "count_nonzero"):
        return  # of integers that are cast before, and of nothing
    if name not in ("max", "min", "any", "all", "count_nonzero") and np.isinf(x).any():
        return  # inf - inf
    dims = tuple(range(x.ndim)) if dims is None else dims
    found = np.asarray(SUMS[name](x, dims, keepdim and name != "count_nonzero"))
    assert_near(name, found, x, dims, keepdim and name != "count_nonzero")


LARGE = [
    ((300_001,), None),
    ((513, 1025), (0,)),
    ((513, 1025), (1,)),
    ((2000, 300), (0,)),
    ((250, 4000), (1,)),
    ((5, 15_000), (1,)),
    ((300, 7, 900), (0, 1)),
    ((70_001, 9), (0,)),
    ((70_001, 9), (1,)),
    ((64, 65, 66), (1,)),
    ((64, 65, 66), (0, 2)),
    ((3, 100_003), (1,)),
    ((100_003, 2), None),
]


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize(("shape", "dims"), LARGE)
def test_large_arrays(name: str, shape: tuple[int, ...], dims: Any) -> None:
    x = np.random.default_rng(0).normal(1, 0.01, shape).astype(np.float32)
    dims = tuple(range(x.ndim)) if dims is None else dims
    one = np.asarray(SUMS[name](x, dims, False))
    if name != "prod":
        assert_near(name, one, x, dims, False)
    kernels.use_threads(1)
    np.testing.assert_array_equal(one, SUMS[name](x, dims, False))  # whoever computed it


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_equal_numbers_have_no_variance(kind: Any) -> None:
    for shape, dims in LARGE:
        x = np.full(shape, 1234.1, kind)
        assert not np.any(statistics._var(x, tuple(range(x.ndim)) if dims is None else dims, 1, False))


def test_variance_far_from_zero() -> None:
    x = (10_000 + np.random.default_rng(0).integers(0, 2, (200_000, 3))).astype(np.float32)
    for layout in (x, np.ascontiguousarray(x.T).T, np.asfortranarray(x)[::2]):
        np.testing.assert_allclose(statistics._var(layout, (0,), 0, False), layout.astype(float).var(0), rtol=1e-5)


def test_nan_is_the_extreme() -> None:
    for count in (1, 5, 100, 3000, 200_000):
        for place in {0, count // 2, count - 1}:
            x = np.zeros(count, np.float32)
            x[place] = np.nan
            assert np.isnan(extremes.amax.kernel(x, (0,), False)) and np.isnan(extremes.amin.kernel(x, (0,), False))
            both = np.stack([x, -x], 1)
            assert np.isnan(extremes.amax.kernel(both, (0,), False)).all()
    rows = np.random.default_rng(0).standard_normal((300, 77))
    rows[3, 5], rows[9, 70], rows[9, 2], rows[200] = np.nan, np.inf, -np.inf, -np.inf  # whose sum is no number either
    for dtype in (np.float32, np.float64):
        x = rows.astype(dtype)
        assert np.array_equal(extremes.amax.kernel(x, (1,), False), x.max(1), equal_nan=True)
        assert np.array_equal(extremes.amin.kernel(x, (1,), False), x.min(1), equal_nan=True)


@settings(deadline=None)
@given(arrays())
def test_places(case: Any) -> None:
    x, dims, keepdim = case
    if not x.size or x.dtype.kind == "b":
        return
    dim = dims[0] if dims else None
    for entry, find in ((extremes.argmax, np.argmax), (extremes.argmin, np.argmin)):
        np.testing.assert_array_equal(entry.kernel(x, dim, keepdim), find(x, dim, keepdims=keepdim))
    if dim is None:
        return
    for along, find, reduce in ((extremes.max_dim, np.argmax, np.max), (extremes.min_dim, np.argmin, np.min)):
        values, places = along.kernel(x, dim, keepdim)
        assert values.dtype == x.dtype and places.dtype == np.int64
        np.testing.assert_array_equal(places, find(x, dim, keepdims=keepdim))
        np.testing.assert_array_equal(values, reduce(x, dim, keepdims=keepdim))


@pytest.mark.parametrize("kind", ["f4", "f8", "i8"])
@pytest.mark.parametrize("shape", [(300_001,), (700, 801), (40, 50, 60), (3, 100_000, 2)])
def test_places_in_large_arrays(shape: tuple[int, ...], kind: str) -> None:
    x = np.random.default_rng(0).integers(0, 1000, shape).astype(kind)
    for dim in (None, *range(len(shape))):
        np.testing.assert_array_equal(extremes.argmax.kernel(x, dim, False), x.argmax(dim))
        np.testing.assert_array_equal(extremes.argmin.kernel(x, dim, False), x.argmin(dim))


SCANS = [
    (reductions.cumsum, (False,)),
    (reductions.cumsum, (True,)),
    (scans.cumprod, ()),
    (running.cummax, ()),
    (running.cummin, ()),
]


@pytest.mark.parametrize(("entry", "options"), SCANS)
@settings(deadline=None)
@given(arrays())
def test_scans(entry: Any, options: Any, case: Any) -> None:
    x, dims, _ = case
    if x.dtype.kind == "b" or not dims:
        return
    found = entry.kernel(x, dims[0], *options)
    expected = getattr(entry.kernel, "otherwise", entry.kernel)(x, dims[0], *options)
    for one, other in zip(*[list(r) if isinstance(r, (tuple, list)) else [r] for r in (found, expected)], strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("entry", "options"), SCANS)
@pytest.mark.parametrize("shape", [(300_001,), (700, 801), (40, 50, 60), (3, 50_000, 2)])
def test_large_scans(entry: Any, options: Any, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).normal(1, 0.01, shape).astype(np.float32)
    for dim in range(len(shape)):
        found = entry.kernel(x, dim, *options)
        expected = getattr(entry.kernel, "otherwise", entry.kernel)(x, dim, *options)
        np.testing.assert_array_equal(found, expected)


def test_many_threads_at_once() -> None:
    x = np.random.default_rng(0).random((1000, 300), np.float32)
    expected = common.total(x, (0,))
    found: list[Any] = []
    workers = [threading.Thread(target=lambda: found.append(common.total(x, (0,)))) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 8
    for result in found:
        np.testing.assert_array_equal(result, expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_after_a_fork() -> None:
    x = np.random.default_rng(0).random(2_000_000, np.float32)
    expected = common.total(x).item()
    child = os.fork()
    if child == 0:
        os._exit(0 if common.total(x).item() == expected else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("name", ["sum", "max", "prod", "any", "count_nonzero"])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
def test_a_few_rows(name: str, kind: Any) -> None:
    generator = np.random.default_rng(0)
    for columns in (1, 5, 300, 1100):
        for rows in (1, 2, 3, 4, 5, 6, 7, 63, 64, 65, 66, 67, 130):
            x = generator.integers(-1, 3, (rows, columns)).astype(kind)
            for part in (x, np.where(x == 0, -0.0, x).astype(kind)):
                found, expected = SUMS[name](part, (0,), False), on_numpy(SUMS[name], part, (0,), False)
                np.testing.assert_array_equal(found, expected)
                np.testing.assert_array_equal(np.signbit(found.astype(float)), np.signbit(expected.astype(float)))


@pytest.mark.parametrize("name", ["sum", "mean", "max", "var"])
def test_windows_that_overlap(name: str) -> None:
    x = np.random.default_rng(0).standard_normal(100_003)
    for length in (2, 3, 50):
        for step in (1, 2):
            windows = np.lib.stride_tricks.sliding_window_view(x, length)[::step]
            found = SUMS[name](windows, (1,), False)
            np.testing.assert_allclose(found, on_numpy(SUMS[name], windows, (1,), False), rtol=1e-9, atol=1e-12)
