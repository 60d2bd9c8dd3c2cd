"""The native stream of random numbers against the one on NumPy, bit for bit, with and without the processor's FMA."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from leafgrad.kernels import _random as native
from leafgrad.kernels._random_numpy import WORDS, Stream, box_muller

Array = np.ndarray[Any, Any]
SIZES = [0, 1, 2, 3, 15, 16, 17, 31, 32, 100, 511, 512, 513, 623, 624, 625, 1024, 1040, 2500, 8192, 8200, 20001, 70001]


# with the processor's fused multiply-add, if it has one, and as on any processor
@pytest.fixture(params=[True, False] if native.use_fma(True) else [False], autouse=True)
def _processor(request: pytest.FixtureRequest) -> Iterator[None]:
    assert native.use_fma(request.param) is request.param
    yield
    native.use_fma(True)


def both(seed: int) -> tuple[Any, Stream]:
    return native.Stream(seed), Stream(seed)


def check_same(fast: Any, plain: Stream) -> None:
    assert fast.state() == plain.state()
    assert fast.fresh == plain.fresh


def fill(stream: Any, method: str, size: int, dtype: Any, *parameters: Any) -> Array:
    out = np.full(size + 2, 1, dtype)
    getattr(stream, method)(out[1:-1], *parameters)
    assert out[0] == out[-1] == 1, "wrote beyond the array"
    return out[1:-1]


@pytest.mark.parametrize(
    ("method", "dtype", "parameters"),
    [
        ("uniform", "float32", ()),
        ("uniform", "float64", ()),
        *[("exponential", dtype, (scale,)) for dtype in ("float32", "float64") for scale in (-1.0, -0.3)],
        *[
            ("uniform", dtype, bounds)
            for dtype in ("float32", "float64")
            for bounds in ((-0.1, 0.1), (3.0, 3.0), (5.0, 5.000001), (-1e-40, 1e-40), (-1e30, 2.5e30), (0.0, 7.0))
        ],
        *[
            ("normal_blocks", dtype, (*around, narrow))
            for dtype in ("float32", "float64")
            for around in ((0.0, 1.0), (-1.7, 2.9), (0.0, 0.02), (3.0, 1.0), (2.0, 0.0))
            for narrow in (False, True)
        ],
        ("integers", "int64", (0, 10, False)),
        ("integers", "int64", (-5, 1, False)),
        ("integers", "int64", (-5, 2, False)),
        ("integers", "int64", (7, 2**30 - 1, False)),
        ("integers", "int64", (7, 2**30, False)),
        ("integers", "int64", (-(2**31), 2**32 - 1, False)),
        ("integers", "int64", (0, 2**64, False)),
        ("integers", "int64", (-(2**63), 2**64, True)),
        ("integers", "int64", (2**63 - 3, 2**40 + 1, True)),
        *[
            ("bernoulli", dtype, (0.3,))
            for dtype in ("bool", "uint8", "int8", "int64", "float16", "float32", "float64")
        ],
        ("bernoulli", ml_dtypes.bfloat16, (0.3,)),
        *[("bernoulli", "float32", (p,)) for p in (0.0, 1.0, 5e-324, 1 - 2.0**-53)],
        ("permutation", "int64", ()),
    ],
    ids=str,
)
def test_same_numbers(method: str, dtype: Any, parameters: tuple[Any, ...]) -> None:
    fast, plain = both(11)
    for size in SIZES:
        if method == "normal_blocks" and size < 16:
            continue
        got, want = fill(fast, method, size, dtype, *parameters), fill(plain, method, size, dtype, *parameters)
        assert got.tobytes() == want.tobytes(), f"size {size}"
        check_same(fast, plain)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("mean", "std"), [(0.0, 1.0), (1.5, 0.1), (0.0, 3.0)])
def test_pairs(dtype: str, mean: float, std: float) -> None:
    fast, plain = both(12)
    waiting: list[float | None] = [None, None]
    for size in [*range(20), 1, 0, 1, 700]:
        arrays = [np.empty(size, dtype), np.empty(size, dtype)]
        for i, stream in enumerate((fast, plain)):
            waiting[i] = stream.normal_pairs(arrays[i], mean, std, waiting[i])
        assert arrays[0].tobytes() == arrays[1].tobytes()
        assert waiting[0] == waiting[1]
        check_same(fast, plain)


SHAPES = {
    "below one": (0.01, 0.9),
    "above one": (1.0, 3.0),
    "around one": (0.5, 1.5),
    "tiny": (1e-30, 1e-20),
    "large": (10.0, 1e6),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("between", SHAPES.values(), ids=SHAPES)
def test_gammas(dtype: str, between: tuple[float, float]) -> None:
    fast, plain = both(21)
    waiting: list[float | None] = [None, None]
    for size in [*range(20), 1, 0, 1, 700, 3001]:
        shapes = np.geomspace(*between, size).astype(dtype)
        arrays = [np.empty(size, dtype), np.empty(size, dtype)]
        for i, stream in enumerate((fast, plain)):
            waiting[i] = stream.gammas(arrays[i], shapes, waiting[i])
        assert arrays[0].tobytes() == arrays[1].tobytes()
        assert waiting[0] == waiting[1]
        check_same(fast, plain)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gammas_of_what_is_no_shape(dtype: str) -> None:
    """Zero, negative numbers and nan give the smallest number; they draw as much in both forms."""
    odd = [0.0, -0.0, -0.5, -0.7, -1.0, -3.0, np.nan, -np.inf, np.inf, 1e-38, 1e-45, 1e38, 1.0, 0.3]
    shapes = np.array(odd * 5).astype(dtype).reshape(5, 14)
    (fast, plain), arrays = both(22), [np.empty((5, 14), dtype), np.empty((5, 14), dtype)]
    waiting = [stream.gammas(out, shapes, 0.25) for stream, out in zip((fast, plain), arrays)]
    assert arrays[0].tobytes() == arrays[1].tobytes()
    assert waiting[0] == waiting[1]
    assert np.all(arrays[0][:, :8] == np.finfo(dtype).tiny)
    assert np.all(arrays[0][:, 8] == np.inf)
    check_same(fast, plain)
    fresh = native.Stream(1)
    assert fresh.gammas(np.empty(2), np.array([0.0, np.nan]), None) is None
    assert fresh.gammas(np.empty(2), np.array([0.0, np.nan]), 0.5) == 0.5
    assert fresh.fresh and fresh.changes == native.Stream(1).changes


def trials(size: int) -> Array:
    """What Stream.binomials takes, for few and many expected successes; every seventh time nothing is tried."""
    p = np.resize([0.5, 0.2, 0.01, 1e-9, 0.37], size)
    count = np.resize([1.0, 20.0, 3.0, 100.0, 5000.0, 1e6, 0.0], size)
    rows = [count, p, count * p, np.sqrt(count * p * (1 - p)), p / (1 - p), np.floor((count + 1) * p), np.log1p(-p)]
    return np.stack(rows)


def test_numbers_of_events() -> None:
    fast, plain = both(23)
    for size in [*range(8), 100, 3001]:
        rates = np.resize([0.0, 1e-40, 0.3, 3.0, 9.99, 10.0, 30.0, 1e4, 1e20, np.inf], size)
        for method, parameters in (("poissons", rates), ("binomials", trials(size))):
            got, want = (fill(stream, method, size, "float64", parameters) for stream in (fast, plain))
            assert got.tobytes() == want.tobytes(), (method, size)
            check_same(fast, plain)


def test_parameters_that_do_not_fit_are_refused() -> None:
    fast = native.Stream(0)
    wrong: list[Any] = [np.ones(3), np.ones(4, np.float32), np.ones(8)[::2], np.ones((2, 4)), [1.0] * 4]
    for parameters in wrong:
        for method, rest in (("gammas", (None,)), ("poissons", ()), ("binomials", ())):
            with pytest.raises(TypeError, match="a dense array of parameters is needed"):
                getattr(fast, method)(np.empty(4), parameters, *rest)
    for method, rest in (("gammas", (None,)), ("poissons", ()), ("binomials", ())):
        with pytest.raises(TypeError, match=r"cannot fill an array of dtype\('int64'\)"):
            getattr(fast, method)(np.empty(4, np.int64), np.ones(4), *rest)
        with pytest.raises(TypeError):
            getattr(fast, method)(np.empty(4))
    with pytest.raises(TypeError):
        fast.gammas(np.empty(4), np.ones(4), "a")
    assert fast.fresh


def untempered(words: Array) -> Array:
    """The state whose outputs are these words."""
    y = words ^ (words >> 18)
    y ^= (y << 15) & np.uint32(0xEFC60000)
    part = y.copy()
    for _ in range(4):
        part = y ^ ((part << 7) & np.uint32(0x9D2C5680))
    y = part ^ (part >> 11)
    result: Array = part ^ (y >> 11)
    return result


def test_every_uniform_gives_the_same_normal() -> None:
    """All 2**24 uniforms, each once as radius and once as angle."""
    fast = native.Stream(0)
    half = WORDS // 2
    for start in range(0, 2**24, half * 2048):
        counted = np.arange(start, start + half * 2048, dtype=np.uint32) & np.uint32(2**24 - 1)
        blocks = np.stack([counted.reshape(-1, 8), (np.uint32(2**24 - 1) - counted).reshape(-1, 8)], axis=1)
        words = np.ascontiguousarray(blocks.reshape(-1, WORDS))
        got = np.empty(words.shape, np.float32)
        for key, numbers in zip(untempered(words), got):
            fast.load(key.tobytes(), 0, False)
            fast.normal_blocks(numbers, 0.0, 1.0, False)
        want = (words.astype(np.float32) * np.float32(2.0**-24)).reshape(-1)
        box_muller(want)
        want += np.float32(0)  # as 0 + x * 1 does
        assert got.tobytes() == want.tobytes()


def test_any_number_of_dimensions() -> None:
    for shape in ((), (0, 3), (2, 3, 5), (40, 20)):
        for method, dtype, parameters in (
            ("uniform", "float32", ()),
            ("uniform", "float64", (-1.0, 3.0)),
            ("normal_pairs", "float32", (0.0, 1.0, None)),
            ("integers", "int64", (0, 9, False)),
            ("bernoulli", "float64", (0.4,)),
        ):
            fast, plain = both(5)
            arrays = [np.ones(shape, dtype), np.ones(shape, dtype)]
            for stream, array in zip((fast, plain), arrays):
                getattr(stream, method)(array, *parameters)
            assert arrays[0].tobytes() == arrays[1].tobytes(), (shape, method)
    for dtype in ("float32", "float64"):
        arrays = [np.ones((9, 7), dtype), np.ones((9, 7), dtype)]
        for stream, array in zip(both(6), arrays):
            stream.normal_blocks(array, 1.0, 2.0, False)
        assert arrays[0].tobytes() == arrays[1].tobytes()


def test_states_go_both_ways() -> None:
    fast, plain = both(2**32 - 1)
    check_same(fast, plain)
    assert fast.fresh
    for size in (1, 5, 618, 3, 2000):
        fill(fast, "uniform", size, "float32")
        plain.load(*fast.state(), fast.fresh)
        assert fill(fast, "uniform", 7, "float32").tobytes() == fill(plain, "uniform", 7, "float32").tobytes()
        fast.load(*plain.state(), plain.fresh)
        check_same(fast, plain)


def test_changes_are_counted() -> None:
    for stream in both(1):
        seen = [stream.changes]
        for step in (
            lambda s=stream: s.uniform(np.empty(3)),
            lambda s=stream: s.normal_pairs(np.empty(1), 0.0, 1.0, None),
            lambda s=stream: s.permutation(np.empty(3, np.int64)),
            lambda s=stream: s.reseed(1),
            lambda s=stream: s.load(*s.state(), False),
        ):
            step()
            seen.append(stream.changes)
        assert len(set(seen)) == len(seen)
        stream.permutation(np.empty(1, np.int64))
        stream.uniform(np.empty(0))
        assert stream.changes == seen[-1]


def test_other_arrays_are_refused() -> None:
    fast = native.Stream(0)
    read_only = np.empty(4)
    read_only.flags.writeable = False
    wrong: list[Any] = [np.empty((4, 2)).T, np.empty(8)[::2], read_only, [1.0], np.empty(4, ">f8")]
    for out in wrong:
        with pytest.raises(TypeError, match="a dense array is needed"):
            fast.uniform(out)
    for method, parameters in (
        ("uniform", ()),
        ("normal_blocks", (0.0, 1.0, False)),
        ("normal_pairs", (0.0, 1.0, None)),
    ):
        with pytest.raises(TypeError, match=r"cannot fill an array of dtype\('int64'\)"):
            getattr(fast, method)(np.zeros(16, np.int64), *parameters)
    for method, parameters in (("integers", (0, 5, False)), ("permutation", ())):
        with pytest.raises(TypeError, match=r"cannot fill an array of dtype\('float64'\)"):
            getattr(fast, method)(np.zeros(16), *parameters)
    with pytest.raises(ValueError, match="fewer than 16"):
        fast.normal_blocks(np.empty(15), 0.0, 1.0, False)
    with pytest.raises(ValueError, match="no probability"):
        fast.bernoulli(np.empty(3), 1.5)
    with pytest.raises(ValueError, match="no state of MT19937"):
        fast.load(b"", 0, False)
    with pytest.raises(ValueError, match="no state of MT19937"):
        fast.load(bytes(4 * WORDS), WORDS + 1, False)
    for arguments in ((), (np.empty(3), 1.0), (np.empty(3), 1.0, 2.0, 3.0), (np.empty(3), "a", 2.0)):
        with pytest.raises(TypeError):
            fast.uniform(*arguments)
    assert fast.fresh


def test_large_draws_in_threads() -> None:
    """The interpreter lock is let go meanwhile; each thread has a stream of its own."""
    results: dict[int, bytes] = {}

    def work(seed: int) -> None:
        results[seed] = fill(native.Stream(seed), "normal_blocks", 100_000, "float32", 0.0, 1.0, False).tobytes()

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in range(4):
        assert results[seed] == fill(Stream(seed), "normal_blocks", 100_000, "float32", 0.0, 1.0, False).tobytes()


def test_a_long_permutation_hears_signals() -> None:
    """Ctrl-C, or an alarm, ends it on the way: most of the last numbers are still where they were."""

    def stop(*unused: object) -> None:
        raise InterruptedError

    order, stream = np.empty(36_000_000, np.int64), native.Stream(0)
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 1e-4)
    try:
        with pytest.raises(InterruptedError):
            stream.permutation(order)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    last = order[-1000:]
    assert np.count_nonzero(last == np.arange(order.size - 1000, order.size)) > 300
