"""Convolution in C against the same on plain NumPy: all geometries, instruction sets, numbers of threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafgrad import kernels
from leafgrad.kernels import convolution
from leafgrad.kernels.convolution import Geometry, correlate_numpy, spread_numpy, weights_numpy

if convolution.NATIVE:
    from leafgrad.kernels import _images

Ints = tuple[int, ...]


def if_native(test: Any) -> Any:
    """For tests of what there is only where the extension is built."""
    return test if convolution.NATIVE else None


class Case(NamedTuple):
    n: int
    c: int
    o: int
    sizes: Ints
    window: Ints
    geometry: Geometry
    kind: Any = np.float32

    def arrays(self, seed: int = 0) -> tuple[Any, Any, Any, Any]:
        """x, w, y and a bias."""
        rng = np.random.default_rng(seed)
        groups = self.geometry.groups
        positions = self.geometry.positions(self.sizes, self.window)
        shapes: list[Ints] = [
            (self.n, self.c * groups, *self.sizes),
            (self.o * groups, self.c, *self.window),
            (self.n, self.o * groups, *positions),
            (self.o * groups,),
        ]
        x, w, y, bias = [rng.standard_normal(shape).astype(self.kind) for shape in shapes]
        return x, w, y, bias

    def computed(self, *arrays: Any) -> tuple[Any, Any, Any]:
        x, w, y, bias = arrays or self.arrays()
        forward = convolution.correlate(x, w, self.geometry, bias)
        backward = convolution.spread(y, w, self.geometry, self.sizes)
        return forward, backward, convolution.weights(x, y, self.geometry, self.window)

    def expected(self, *arrays: Any) -> tuple[Any, Any, Any]:
        """In double precision."""
        x, w, y, bias = [each.astype(np.float64) for each in arrays or self.arrays()]
        forward = correlate_numpy(x, w, self.geometry) + bias.reshape((-1,) + (1,) * len(self.sizes))
        backward = spread_numpy(y, w, self.geometry, self.sizes)
        return forward, backward, weights_numpy(x, y, self.geometry, self.window)

    def check(self, *arrays: Any) -> None:
        found, expected = self.computed(*arrays), self.expected(*arrays)
        positions = self.geometry.positions(self.sizes, self.window)
        terms = self.c * prod(self.window), self.o * prod(self.window), self.n * prod(positions)
        for result, right, count in zip(found, expected, terms, strict=True):
            assert result.dtype == self.kind and result.shape == right.shape and result.flags.c_contiguous
            tolerance = np.finfo(self.kind).eps * (16 * np.sqrt(count) + count / 4)  # as sums grow, so do errors
            np.testing.assert_allclose(result, right, tolerance, tolerance)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    dims = draw(st.integers(1, 3))
    many = draw(st.booleans())

    def each(low: int, high: int) -> Ints:
        return tuple([draw(st.integers(low, high)) for _ in range(dims)])

    window, stride, padding, dilation = each(1, 5), each(1, 4), each(0, 3), each(1, 3)
    reach = [d * (k - 1) + 1 - 2 * p for k, p, d in zip(window, padding, dilation, strict=True)]
    more = each(0, [120, 24, 9][dims - 1] if many else 6)
    sizes = tuple([max(1, r) + m for r, m in zip(reach, more, strict=True)])
    channels = st.integers(1, 20)
    c, o = (1, 1) if draw(st.booleans()) else (draw(channels), draw(channels))
    geometry = Geometry(stride, padding, dilation, draw(st.integers(1, 4)))
    return Case(draw(st.integers(1, 9)), c, o, sizes, window, geometry, draw(st.sampled_from([np.float32, np.float64])))


@pytest.fixture(params=[16, 32, 64] if convolution.NATIVE else [0], ids=lambda most: f"{most} bytes")
def vectors(request: Any) -> Iterator[None]:
    """Vectors of so many bytes; if the processor has no such ones, of the longest that it has."""
    if convolution.NATIVE:
        _images.use_vectors(request.param)
    yield
    if convolution.NATIVE:
        _images.use_vectors(64)


def geometry(dims: int, stride: int = 1, padding: int = 0, dilation: int = 1, groups: int = 1) -> Geometry:
    return Geometry((stride,) * dims, (padding,) * dims, (dilation,) * dims, groups)


# each is computed in its own way: in place, in bands, several samples together, in many passes, by results or not
CASES = {
    "plain, in place": Case(3, 9, 7, (7, 11), (1, 1), geometry(2)),
    "plain, copied": Case(3, 9, 7, (32, 32), (1, 1), geometry(2)),
    "plain, in bands": Case(1, 40, 5, (150, 97), (1, 1), geometry(2)),
    "plain, few positions": Case(5, 3, 17, (1, 3), (1, 1), geometry(2)),
    "plain, padded": Case(2, 3, 4, (5, 5), (1, 1), geometry(2, padding=1)),
    "bands of rows": Case(1, 33, 9, (120, 64), (3, 3), geometry(2, padding=1)),
    "bands of a row": Case(2, 20, 18, (9000,), (5,), geometry(1, padding=2)),
    "bands of planes": Case(1, 20, 6, (20, 20, 20), (3, 3, 3), geometry(3, padding=1)),
    "small samples": Case(33, 5, 12, (4, 4), (3, 3), geometry(2, padding=1)),
    "many terms": Case(2, 70, 13, (7, 7), (3, 3), geometry(2, padding=1)),
    "many weights": Case(4, 260, 280, (3, 3), (3, 3), geometry(2, padding=1)),
    "one result": Case(3, 4, 1, (12, 12), (5, 5), geometry(2, padding=2)),
    "depthwise": Case(3, 1, 1, (19, 33), (3, 3), geometry(2, padding=1, groups=30)),
    "depthwise, strided": Case(3, 1, 2, (19, 33), (5, 5), geometry(2, 2, 2, groups=7)),
    "stride beyond the window": Case(2, 3, 4, (21, 23), (2, 2), geometry(2, 5)),
    "patches": Case(2, 3, 20, (32, 48), (16, 16), geometry(2, 16)),
    "dilation and stride": Case(2, 5, 6, (30, 31), (3, 4), Geometry((2, 3), (4, 1), (3, 2), 1)),
    "more padding than window": Case(2, 3, 2, (3, 4), (2, 2), geometry(2, padding=3)),
}


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("name", CASES)
def test_ways(name: str, kind: Any, vectors: None) -> None:
    CASES[name]._replace(kind=kind).check()


@settings(max_examples=150, deadline=None)
@given(cases())
def test_geometries(case: Case) -> None:
    case.check()


@pytest.mark.parametrize("name", CASES)
def test_the_number_of_threads_does_not_change_a_bit(name: str) -> None:
    results = []
    for threads in (1, 2, 5):
        kernels.use_threads(threads)
        results.append([each.tobytes() for each in CASES[name].computed()])
    kernels.use_threads(kernels.available_cores())
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("o", [2, 20])  # by lanes of positions, and of results
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_stays_where_it_belongs(special: float, o: int) -> None:
    case = Case(2, 3, o, (6, 7), (3, 3), geometry(2, padding=1))
    x, w, y, bias = case.arrays()
    x[1, 2, 0, 0] = y[0, 1, 5, 6] = special
    with np.errstate(all="ignore"):
        for result, right in zip(case.computed(x, w, y, bias), case.expected(x, w, y, bias), strict=True):
            assert (np.isfinite(result) == np.isfinite(right)).all()
            assert np.isfinite(result).any() and not np.isfinite(result).all()
            np.testing.assert_allclose(result, right, 1e-5, 1e-5)


def test_arrays_that_are_not_contiguous() -> None:
    case = CASES["dilation and stride"]
    x, w, y, bias = case.arrays()
    turned = [each.T.copy().T for each in (x, w, y)]
    assert not any([each.flags.c_contiguous for each in turned])
    for found, right in zip(case.computed(*turned, np.repeat(bias, 2)[::2]), case.computed(), strict=True):
        assert (found == right).all()


def test_what_it_leaves_to_numpy() -> None:
    case = Case(2, 3, 4, (6, 7), (3, 3), geometry(2, padding=1))
    x, w, _, _ = case.arrays()
    whole = np.arange(x.size).reshape(x.shape)
    assert convolution.correlate(whole, w.astype(np.int64), case.geometry).dtype == np.int64
    assert convolution.correlate(x[:0], w, case.geometry).shape == (0, 4, 6, 7)
    assert convolution.weights(x[:0], x[:0], case.geometry, (3, 3)).tolist() == np.zeros((3, 3, 3, 3)).tolist()
    assert convolution.spread(x, w[:3], case.geometry._replace(padding=(4, 1)), (0, 7)).shape == (2, 3, 0, 7)


WRONG: list[Any] = [
    lambda x, w, g: _images.convolve(x.astype(np.int64), w, None, *g),
    lambda x, w, g: _images.convolve(x, w.astype(np.float64), None, *g),
    lambda x, w, g: _images.convolve(x, w[:, 1:].copy(), None, *g),
    lambda x, w, g: _images.convolve(x, w, np.ones(5, np.float32), *g),
    lambda x, w, g: _images.convolve(x, w, None, *g._replace(groups=0)),
    lambda x, w, g: _images.convolve(x, w, None, *g._replace(groups=2)),
    lambda x, w, g: _images.convolve(x, w, None, *g._replace(stride=(0, 1))),
    lambda x, w, g: _images.convolve(x, w, None, *g._replace(padding=(1,))),
    lambda x, w, g: _images.convolve(x[..., ::2], w, None, *g),
    lambda x, w, g: _images.convolve(x[:, :, :2, :2].copy(), w, None, *g),
    lambda x, w, g: _images.convolve(x, w, None, *g, (3, 3)),
    lambda x, w, g: _images.convolve(x[:0], w, None, *g),
    lambda x, w, g: _images.convolve(x[None], w, None, *g),
    lambda x, w, g: _images.convolve(x, w),
    lambda x, w, g: _images.convolve(1, w, None, *g),
    lambda x, w, g: _images.weights(x, x[:1], (3, 3), *g),
    lambda x, w, g: _images.weights(x, x, (0, 3), *g),
    lambda x, w, g: _images.weights(x, x),
]


@if_native
@pytest.mark.parametrize("call", WRONG)
def test_wrong_calls_are_refused(call: Any) -> None:
    x, w = np.ones((2, 3, 6, 6), np.float32), np.ones((4, 3, 3, 3), np.float32)
    with pytest.raises((TypeError, ValueError)):
        call(x, w, geometry(2))


def test_several_threads_at_once() -> None:
    case = Case(4, 16, 16, (20, 20), (3, 3), geometry(2, padding=1))
    right = [each.tobytes() for each in case.computed()]
    good: list[bool] = []

    def work() -> None:
        good.extend([right == [each.tobytes() for each in case.computed()] for _ in range(10)])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert good == [True] * 40


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork() here")
def test_after_fork() -> None:
    program = """
import os
import numpy as np
import leafgrad as lg
lg.set_num_threads(2)
x, w = lg.randn(4, 32, 32, 32), lg.randn(32, 32, 3, 3)
expected = lg.conv2d(x, w, padding=1)
good = 0
for _ in range(5):
    child = os.fork()
    if child == 0:
        os._exit(0 if (lg.conv2d(x, w, padding=1) == expected).all() else 1)
    good += os.waitpid(child, 0)[1] == 0
print(good)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "5", done.stderr
