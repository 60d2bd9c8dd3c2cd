"""Elementwise loops: `native(ufunc)` computes what the ufunc computes, natively or not, with one thread or more."""

from __future__ import annotations

import operator
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from leafgrad import kernels
from leafgrad.kernels import CHEAP, NATIVE, SPLIT_CHEAP, SPLIT_COSTLY, native
from leafgrad.kernels.select import BITS_FROM, BITS_FROM_FOR_ZERO, choose
from leafgrad.ops.registry import entries


def if_native(test: Any) -> Any:
    """For tests of what there is only where the native loops are built."""
    return test if NATIVE else None


# the ops that are one ufunc
UNARY = ["neg", "exp", "log", "sqrt", "sin", "cos", "tanh", "abs", "reciprocal", "isnan", "isfinite", "logical_not"]
BINARY = ["add", "sub", "mul", "true_div", "maximum", "minimum", "eq", "gt", "ne"]
MADE_OF_BOOLS = ["isnan", "isfinite", "logical_not", "eq", "gt", "ne"]
UFUNCS = {
    "neg": np.negative, "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tanh": np.tanh,
    "abs": np.abs, "reciprocal": np.reciprocal, "add": np.add, "sub": np.subtract, "mul": np.multiply,
    "true_div": np.true_divide, "maximum": np.maximum, "minimum": np.minimum, "isnan": np.isnan,
    "isfinite": np.isfinite, "logical_not": np.logical_not, "eq": np.equal, "gt": np.greater,
    "ne": np.not_equal,
}  # fmt: skip
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e-40, -1e-40, 1e38, -1e38, 88.0, -104.0]
KINDS = [np.float32, np.float64]


pytestmark = pytest.mark.usefixtures("two_threads", "silent_numpy")


OPERATIONS = {entry.name: entry for entry in entries()}


def kernel(name: str) -> Callable[..., Any]:
    return OPERATIONS[name].kernel  # type: ignore[no-any-return]


def numbers(size: int, kind: Any, seed: int = 0) -> Any:
    """Ordinary numbers, with special ones everywhere between them."""
    found = np.random.default_rng(seed).normal(0, 3, size).astype(kind)
    places = np.arange(seed % 7, size, 7)
    found[places] = np.resize(np.array(SPECIAL, kind), len(places))
    return found


def operands(name: str, size: int, kind: Any) -> list[Any]:
    return [numbers(size, kind, seed) for seed in range(1 if name in UNARY else 2)]


def assert_same(found: Any, expected: Any) -> None:
    """The same class (or an array for a scalar), dtype, shape and bits; any nan is as good as any other."""
    assert type(found) is type(expected) or (type(found) is np.ndarray and isinstance(expected, np.generic))
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)
    if expected.dtype.kind != "f":
        return
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found)[known], np.signbit(expected)[known])


# -- the same numbers -------------------------------------------------------------------------------------------------


@if_native
def test_the_ops_use_the_loops() -> None:
    assert {name for name in UNARY + BINARY if type(kernel(name)).__name__ != "Loop"} == set()
    assert {name: kernel(name).ufunc for name in UFUNCS} == UFUNCS  # type: ignore[attr-defined]


SIZES = [0, 1, 2, 3, 1000, 16_383, 16_384, SPLIT_COSTLY + 1, SPLIT_CHEAP - 1, SPLIT_CHEAP, SPLIT_CHEAP + 1, 300_007]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", UNARY + BINARY)
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_all_sizes(name: str, kind: Any, threads: int) -> None:
    kernels.use_threads(threads)
    for size in SIZES:
        x = operands(name, size, kind)
        assert_same(kernel(name)(*x), UFUNCS[name](*x))


@if_native
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", UNARY + BINARY)
@pytest.mark.parametrize("threads", [2, 5])
def test_all_sizes_with_helpers_awake(name: str, kind: Any, threads: int) -> None:
    """Helpers are woken for work that is many times as long as what may be split; here nearly everything is."""
    from leafgrad.kernels import _loops

    kernels.use_threads(threads)
    loop = _loops.Loop(UFUNCS[name], None, 1024)
    for size in SIZES:
        x = operands(name, size, kind)
        assert_same(loop(*x), UFUNCS[name](*x))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("size", [1, 5, 1000, SPLIT_CHEAP + 3])
def test_a_zero_dimensional_operand(name: str, kind: Any, size: int) -> None:
    x = numbers(size, kind)
    for value in SPECIAL:
        y = np.asarray(value, kind)
        assert_same(kernel(name)(x, y), UFUNCS[name](x, y))
        assert_same(kernel(name)(y, x), UFUNCS[name](y, x))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", UNARY + BINARY)
def test_zero_dimensional_results(name: str, kind: Any) -> None:
    for value in SPECIAL:
        x = [np.asarray(value, kind), np.asarray(0.7, kind)][: 1 if name in UNARY else 2]
        assert_same(kernel(name)(*x), UFUNCS[name](*x))


def layouts(kind: Any) -> dict[str, Any]:
    """Arrays of 3 x 4 that are not all dense, aligned, in native byte order, of a float dtype, or of class ndarray."""

    class Marked(np.ndarray):
        pass

    dense = numbers(12, kind).reshape(3, 4)
    shifted = np.frombuffer(b"\0" + dense.tobytes(), np.uint8)[1:].view(kind).reshape(3, 4)
    assert not shifted.flags.aligned
    return {
        "dense": dense,
        "view": numbers(24, kind, 1)[12:].reshape(3, 4),
        "transposed": numbers(12, kind, 2).reshape(4, 3).T,
        "strided": numbers(24, kind, 3).reshape(3, 8)[:, ::2],
        "reversed": dense[::-1, ::-1],
        "broadcast": np.broadcast_to(numbers(4, kind, 4), (3, 4)),
        "one row": numbers(4, kind, 5),
        "one column": numbers(3, kind, 6).reshape(3, 1),
        "one element": numbers(1, kind, 7),
        "shifted": shifted,
        "swapped": dense.astype(np.dtype(kind).newbyteorder()),
        "subclass": dense.view(Marked),
        "half": dense.astype(np.float16),
        "integers": np.arange(1, 13).reshape(3, 4),
        "complex": dense.astype(np.complex64),
        "other float": dense.astype(np.float64 if kind is np.float32 else np.float32),
        "number": 2,
        "list": [1.0, 2.0, 3.0, 4.0],
        "scalar": np.float32(0.3),
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", UNARY + BINARY)
def test_all_layouts(name: str, kind: Any) -> None:
    forms = layouts(kind)
    for x in forms.values():
        for y in [None] if name in UNARY else forms.values():
            args = (x,) if y is None else (x, y)
            expected = UFUNCS[name](*args)
            found = kernel(name)(*args)
            assert_same(found, expected)
            if expected.ndim == 2 and not expected.flags.c_contiguous:
                assert found.strides == expected.strides


@pytest.mark.parametrize("kind", KINDS)
def test_kernels_made_of_several_loops(kind: Any) -> None:
    inputs = [numbers(size, kind) for size in (0, 1, 999, 1000, 100_003)]
    inputs += [x for x in layouts(kind).values() if isinstance(x, np.ndarray) and x.dtype == np.dtype(kind)]
    inputs += [np.asarray(value, kind) for value in SPECIAL]
    for x in inputs:
        before = x.copy()
        # a fused kernel, whose exponential is not NumPy's to the last bit
        units = 4 * np.finfo(kind).eps
        np.testing.assert_allclose(kernel("sigmoid")(x), 1 / (1 + np.exp(-x)), units, np.finfo(kind).tiny)
        if type(x) is np.ndarray:
            assert_same(kernel("relu")(x), np.where(x < 0, np.zeros((), kind), x)[()])  # -0.0 and nan stay
        np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("kind", KINDS)
def test_clip(kind: Any) -> None:
    """Three operands, each an array or a number; also where bounds are nan, infinite or the wrong way round."""
    for size in (0, 1, 1000, SPLIT_CHEAP + 3, 20 * SPLIT_CHEAP):
        x, low = numbers(size, kind), numbers(size, kind, 1)
        for a, b in [(-1.0, 1.0), (1.0, -1.0), (np.nan, 1.0), (-np.inf, 0.0), (0.0, np.nan), (0.0, -0.0)]:
            minimum, maximum = np.asarray(a, kind), np.asarray(b, kind)
            assert_same(kernels.clip(x, minimum, maximum), np.clip(x, minimum, maximum))
            assert_same(kernels.clip(x, low, maximum), np.clip(x, low, maximum))
    x = layouts(kind)["transposed"]
    assert_same(kernels.clip(x, minimum, maximum), np.clip(x, minimum, maximum))


@pytest.mark.parametrize("kind", [*KINDS, np.int32, np.int64, np.float16, np.uint8])
def test_choose(kind: Any) -> None:
    """Bit for bit what np.where gives, for arrays and numbers in both places and for every size and layout."""
    rng = np.random.default_rng(0)
    zero = np.zeros((), kind)
    for size in (0, 1, BITS_FROM_FOR_ZERO - 1, BITS_FROM_FOR_ZERO, BITS_FROM - 1, BITS_FROM, 100_003):
        condition = rng.random(size) < 0.5
        a, b = [(rng.normal(0, 30, size)).astype(kind) for _ in range(2)]
        if np.dtype(kind).kind == "f":
            a[::3], b[::5], b[1::7] = np.nan, -0.0, np.inf
        one = np.asarray(3, kind)
        same = np.broadcast_to(one, size)
        for x, y in [
            (a, b),
            (a, zero),
            (zero, b),
            (a, one),
            (one, b),
            (a, -zero),
            (a[::-1], b),
            (a, b[::-1]),
            (a, same),
            (same, b),
            (same, zero),
            (zero, same),
            (one, zero),
            (same, np.broadcast_to(zero, size)),
        ]:
            assert_same(choose(condition, x, y), np.where(condition, x, y))
        assert_same(choose(condition[::-1], a, b), np.where(condition[::-1], a, b))
        assert_same(choose(condition, zero, one), np.where(condition, zero, one))
    square = np.arange(40_000).reshape(200, 200).astype(kind)
    for shape in [(200, 200), (200, 1), (200,), ()]:
        condition = rng.random(shape) < 0.5
        assert_same(choose(condition, square, square.T), np.where(condition, square, square.T))
        assert_same(choose(condition, square, zero), np.where(condition, square, zero))
    mixed = np.zeros(200)  # of another dtype, for most
    condition = rng.random((200, 200)) < 0.5
    assert_same(choose(condition, square, mixed), np.where(condition, square, mixed))


def test_the_result_is_a_new_dense_array() -> None:
    x = np.ones((3, 4), np.float32)
    y = kernel("mul")(x, x)
    assert y.base is None and y.flags.owndata and y.flags.c_contiguous and y.flags.writeable
    assert y.dtype is x.dtype
    assert not np.shares_memory(x, y)


# -- writing into an array --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [0, 1, 1000, SPLIT_CHEAP + 3])
@pytest.mark.parametrize(
    "name", [n for n in UNARY + BINARY if n not in ("maximum", "minimum", *MADE_OF_BOOLS)]
)  # NumPy wants out= there
def test_in_place(name: str, kind: Any, size: int) -> None:
    loop = native(UFUNCS[name])
    for place in range(1 if name in UNARY else 2):
        x = operands(name, size, kind)
        expected = UFUNCS[name](*x)
        assert loop(*x, x[place]) is x[place]
        assert_same(x[place], expected)
    x = operands(name, size, kind)
    out = np.empty(size, kind)
    assert loop(*x, out) is out
    assert_same(out, UFUNCS[name](*x))


def test_in_place_with_operands_that_overlap() -> None:
    """The result is that of operands that were read before anything was written."""
    loop = native(np.multiply)
    cases: list[Callable[[Any], tuple[Any, Any, Any]]] = [
        lambda x: (x[:-1], x[:-1], x[1:]),
        lambda x: (x[1:], x[:-1], x[:-1]),
        lambda x: (x[:100], x[50:150], x[25:125]),
        lambda x: (x, x[3].reshape(()), x),  # a number that is one of the results
        lambda x: (x[0].reshape(()), x, x),
        lambda x: (x[:100], x[100:200], x[200:300]),
    ]
    for case in cases:
        x = numbers(1000, np.float32)
        y = x.copy()
        args = case(x)
        assert loop(*args) is args[2]
        np.multiply(*case(y))
        assert_same(x, y)


@pytest.mark.parametrize("kind", KINDS)
def test_bools_in_the_memory_of_an_operand(kind: Any) -> None:
    """They are smaller than what is read, so that none may be written before all is read."""
    for size in (1, 1000, SPLIT_CHEAP + 3):
        x, y = numbers(size, kind), numbers(size, kind, 1)
        expected = np.greater(x, y)
        for start in (0, x.nbytes - size):
            given = x.copy()
            out = given.view(np.bool_)[start : start + size]
            native(np.greater)(given, y, out)
            assert_same(out, expected)


def test_errors_are_those_of_the_ufunc() -> None:
    x, y = np.ones(3, np.float32), np.ones(4, np.float32)
    frozen = np.ones(3, np.float32)
    frozen.flags.writeable = False
    calls: list[tuple[Any, ...]] = [
        (x, y),
        (x, x, y),
        (x, x, frozen),
        (x, x, np.ones((), np.float32)),
        (x, x, np.ones(3, np.int64)),
        (x,),
        (),
        (x, x, x, x),
        (x, "a"),
        (x, None),
    ]
    for args in calls:
        with pytest.raises(Exception) as expected:
            np.multiply(*args)
        with pytest.raises(expected.type) as found:
            native(np.multiply)(*args)
        assert str(found.value) == str(expected.value)


def test_keywords_and_larger_results() -> None:
    x, out = np.arange(4, dtype=np.float32), np.zeros((3, 4), np.float32)
    loop = native(np.multiply)
    assert loop(x, x, dtype=np.float64).dtype == np.float64
    np.testing.assert_array_equal(loop(x, x, where=[True, False] * 2, out=np.zeros(4, np.float32)), [0, 0, 4, 0])
    assert loop(x, x, out) is out  # broadcast into it
    np.testing.assert_array_equal(out, [[0, 1, 4, 9]] * 3)
    double = np.zeros(4)
    assert loop(x, x, double) is double
    np.testing.assert_array_equal(double, [0, 1, 4, 9])


# -- floating point errors --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 1000, 20_000, SPLIT_CHEAP, 500_000])
def test_numpys_error_handling_is_kept(size: int) -> None:
    one = np.ones(size, np.float32)
    for place in {0, size // 2, size - 1}:
        zero = one.copy()
        zero[place] = 0
        for _ in range(5):  # whoever computes that element
            with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match="divide by zero encountered"):
                kernel("true_div")(one, zero)
            with np.errstate(divide="warn"), pytest.warns(RuntimeWarning, match="divide by zero encountered in divide"):
                kernel("true_div")(one, zero)
            with np.errstate(divide="ignore"):
                assert np.isinf(kernel("true_div")(one, zero)).sum() == 1
    with np.errstate(all="raise"):
        assert kernel("true_div")(one, one)[-1] == 1  # what happened before does not count
    big = np.full(size, 3e38, np.float32)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow encountered in multiply"):
        kernel("mul")(big, big)
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError, match="invalid value encountered in sqrt"):
        kernel("sqrt")(-one)
    tiny = np.full(size, 1e-38, np.float32)
    with np.errstate(under="raise"), pytest.raises(FloatingPointError, match="underflow encountered in multiply"):
        kernel("mul")(tiny, tiny)


# -- threads and processes --------------------------------------------------------------------------------------------


def test_several_threads_at_once() -> None:
    wrong: list[Any] = []
    start = threading.Barrier(4)

    def work(seed: int) -> None:
        with np.errstate(all="ignore"):
            x, y = numbers(SPLIT_CHEAP + seed, np.float32, seed), numbers(SPLIT_CHEAP + seed, np.float32, seed + 1)
            expected = np.multiply(x, y), np.tanh(x)
            start.wait()
            for _ in range(100):
                found = kernel("mul")(x, y), kernel("tanh")(x)
                if not all(np.array_equal(f, e, equal_nan=True) for f, e in zip(found, expected)):
                    wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_number_of_threads_may_change_at_any_time() -> None:
    x = numbers(300_000, np.float64)
    expected = np.multiply(x, x)
    for count in [1, 4, 2, 1, 3, 64, 1, 2] * 5:
        kernels.use_threads(count)
        assert_same(kernel("mul")(x, x), expected)


def run(program: str) -> str:
    """What a Python process of its own prints. It is given 60 seconds, should it hang."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@if_native
@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="asks Linux for the threads of a process")
def test_helpers_are_made_when_they_are_needed() -> None:
    program = """
import os
import numpy as np
import leafgrad as lg
def threads():
    return len(os.listdir("/proc/self/task"))
x = lg.from_numpy(np.ones(2_000_000, np.float32))  # made by one thread
before = threads()
lg.set_num_threads(1)
x * x
alone = threads() - before
lg.set_num_threads(3)
lg.ones(100) * 2
small = threads() - before
x * x  # long enough to wake helpers for this alone, however slow the machine is
print(alone, small, threads() - before)
"""
    assert run(program) == "0 0 2"


@if_native
@pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2, reason="wants two cores to choose from"
)
def test_a_helper_leaves_the_core_of_its_caller() -> None:
    program = """
import os, time
import numpy as np
import leafgrad as lg
x = lg.from_numpy(np.ones(5_000_000, np.float32))  # made by one thread
lg.set_num_threads(2)
before = set(os.listdir("/proc/self/task"))
x * x
(helper,) = map(int, set(os.listdir("/proc/self/task")) - before)
end = time.monotonic() + 30
for core in sorted(os.sched_getaffinity(0)):  # wherever the caller is
    os.sched_setaffinity(0, {core})
    os.sched_setaffinity(helper, {core})
    while core in os.sched_getaffinity(helper) and time.monotonic() < end:
        x * x
    print(core in os.sched_getaffinity(helper), len(os.sched_getaffinity(helper)) > 0)
"""
    assert set(run(program).splitlines()) == {"False True"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork() here")
def test_after_fork() -> None:
    """Children compute with threads of their own, also if the parent was in the middle of something."""
    program = """
import os, threading
import numpy as np
import leafgrad as lg
from leafgrad import kernels
lg.set_num_threads(2)
x = np.arange(200_000, dtype=np.float32)
multiply = kernels.native(np.multiply)
expected = np.multiply(x, x)
stop = False
def busy():
    while not stop:
        multiply(x, x)
thread = threading.Thread(target=busy)
thread.start()
good = 0
for _ in range(20):
    child = os.fork()
    if child == 0:
        right = all((multiply(x, x) == expected).all() for _ in range(20))
        grandchild = os.fork()
        if grandchild == 0:
            os._exit(0 if (multiply(x, x) == expected).all() else 1)
        right = right and os.waitpid(grandchild, 0)[1] == 0
        os._exit(0 if right else 1)
    good += os.waitpid(child, 0)[1] == 0
stop = True
thread.join()
print(good, bool((multiply(x, x) == expected).all()))
"""
    assert run(program) == "20 True"


@if_native
def test_set_num_threads_reaches_the_loops() -> None:
    from leafgrad.kernels import _loops

    before = lg.get_num_threads()
    try:
        lg.set_num_threads(3)
        assert _loops.get_threads() == 3
    finally:
        lg.set_num_threads(before)
    with pytest.raises(ValueError, match="at least one thread"):
        _loops.set_threads(0)


# -- the callable itself ----------------------------------------------------------------------------------------------


def test_otherwise_serves_tensors() -> None:
    times = native(np.multiply, operator.mul)
    x = lg.tensor([1.0, 2.0], requires_grad=True)
    (first,) = lg.autograd.grad(times(x, x).sum(), x, create_graph=True)
    (second,) = lg.autograd.grad(times(first, x).sum(), x)
    assert second.tolist() == [4.0, 8.0]
    a = np.ones(3, np.float32)
    assert times(a, 2).tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(TypeError):
        times(object(), 1)


@if_native
def test_what_a_loop_can_be_made_of() -> None:
    from leafgrad.kernels import _loops

    for wrong in (np.divmod, np.matmul, np.frexp, len, None):
        with pytest.raises(TypeError):
            _loops.Loop(wrong)  # type: ignore[arg-type]
    loop = native(np.multiply)
    assert loop.__name__ == "multiply"
    assert repr(loop) == "<loop of <ufunc 'multiply'>>"
    less = native(np.less)  # no loop from floats to floats: the ufunc itself
    assert less(np.ones(3), np.zeros(3)).dtype == np.bool_
    assert np.exp not in CHEAP and np.add in CHEAP


def test_nothing_is_leaked() -> None:
    x, y, kind, other, large = np.ones(10), np.ones(10), np.dtype(np.float64), np.ones((3, 1)), np.full(3, 1e300)
    loop, one = native(np.multiply), np.ones(())
    counts = [sys.getrefcount(o) for o in (x, y, kind, other, large, loop)]
    with np.errstate(over="raise"):
        for _ in range(1000):
            loop(x, y)
            loop(x, y, x)
            loop(x, other)
            loop(x, one)
            for out in ((), (large,)):
                try:
                    loop(large, large, *out)
                except FloatingPointError:
                    large.fill(1e300)
                else:
                    raise AssertionError("an overflow was not noticed")
    del _, out
    assert [sys.getrefcount(o) for o in (x, y, kind, other, large, loop)] == counts


def test_through_tensors() -> None:
    """Large chains, forward and backward, with one thread and with two: the same bits."""
    found = []
    for threads in (1, 2):
        kernels.use_threads(threads)
        x = lg.tensor(np.linspace(0.5, 1.5, 200_000, dtype=np.float32), requires_grad=True)
        w = lg.tensor(np.linspace(1.5, 0.5, 200_000, dtype=np.float32), requires_grad=True)
        y = x
        for _ in range(5):
            y = (y * w).tanh() + x / w - (-x).exp()
        y.backward(lg.ones(200_000))
        found.append((y.detach().numpy().tobytes(), x.grad.numpy().tobytes(), w.grad.numpy().tobytes()))
    assert found[0] == found[1]


# -- broadcasting -----------------------------------------------------------------------------------------------------


def rows(kind: Any) -> list[tuple[Any, Any]]:
    """Two arrays of which one has one row or one number for many rows of the other, or whose rows lie apart."""
    big = numbers(2 * 300 * 40, kind).reshape(300, 80)
    cube = numbers(6 * 50 * 70, kind, 1).reshape(6, 50, 70)
    images = numbers(4 * 3 * 20 * 20, kind, 2).reshape(4, 3, 20, 20)
    return [
        (big, numbers(80, kind, 3)),
        (numbers(80, kind, 3), big),
        (big, numbers(300, kind, 4).reshape(300, 1)),
        (big[:, :1], big),
        (big[:, :30], big[:, 40:70]),
        (big[::2, 10:], numbers(70, kind, 5)),
        (big[10:].T, big[:-10].T),
        (big.T, numbers(300, kind, 4)),
        (big, big[7]),
        (big[:, :3], numbers(3, kind, 3)),
        (numbers(90_000, kind, 3).reshape(30_000, 3), numbers(3, kind, 4)),
        (numbers(90_000, kind, 3).reshape(3, 30_000), numbers(3, kind, 4).reshape(3, 1)),
        (cube, cube[:, :1]),
        (cube, cube[:, :, :1]),
        (cube, cube[2]),
        (cube[:, ::5], cube[1:2, :10, 3:4]),
        (images, numbers(3, kind, 6).reshape(1, 3, 1, 1)),
        (images[:, :, 2:-2, 2:-2], images[:1, :, :1, :1]),
        (numbers(50, kind, 3).reshape(50, 1), numbers(700, kind, 4)),
        (numbers(0, kind).reshape(0, 5), numbers(5, kind)),
        (big, numbers(1, kind, 3)),
    ]


@if_native
def test_no_elements_are_in_nobodys_way() -> None:
    memory = np.arange(20.0)
    nothing, out = memory[5:5].reshape(0, 5), memory[7:7].reshape(0, 5)
    assert kernel("maximum")(nothing, memory[:5], out) is out  # the ufunc would warn of a third argument


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("threads", [1, 2])
def test_broadcasting(name: str, kind: Any, threads: int) -> None:
    kernels.use_threads(threads)
    for x, y in rows(kind):
        expected = UFUNCS[name](x, y)
        found = kernel(name)(x, y)
        assert_same(found, expected)
        assert found.strides == expected.strides or found.size == 0
        if NATIVE or name not in ("maximum", "minimum"):  # to which NumPy wants `out` given by name
            out = np.full_like(expected, 7)
            assert kernel(name)(x, y, out) is out
            assert_same(out, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_broadcasting_into_an_operand(kind: Any) -> None:
    """A row of the result that is also the row for all of them keeps its old values until all have been computed."""
    for row in (0, 5, 299):
        x = numbers(300 * 80, kind).reshape(300, 80)
        expected = x + x[row]
        kernel("add")(x, x[row], x)
        assert_same(x, expected)
    x = numbers(100, kind)
    with pytest.raises(ValueError, match="broadcast"):
        kernel("add")(x[:3], x[:4])
