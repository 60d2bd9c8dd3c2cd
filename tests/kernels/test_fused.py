"""Every fused kernel: in machine code it computes what it computes in Python, for all kinds of arrays."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.extra.numpy as numpy_strategies
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leafgrad
from leafgrad.kernels import available_cores, fused, language, use_threads
from leafgrad.kernels.fused import activations, basic, losses, normalization, recurrent, softmax
from leafgrad.kernels.translator import Kernel, kernels_of

FOLDER = Path(fused.__file__).parent
KERNELS = {f"{path.stem}.{kernel.name}": kernel for path in sorted(FOLDER.glob("*.py")) for kernel in kernels_of(path)}
SHAPES = [(1,), (5,), (3, 4), (2, 3, 33), (70, 1), (2, 1100), (300, 257)]


def function_of(name: str) -> Any:
    module, function = name.split(".")
    return getattr(importlib.import_module(f"leafgrad.kernels.fused.{module}"), function)


def python_of(kernel: Any) -> Callable[..., Any]:
    return kernel.python if hasattr(kernel, "python") else kernel  # type: ignore[no-any-return]


def arguments(kernel: Kernel, shape: tuple[int, ...], dtype: Any, seed: int = 0) -> list[Any]:
    """Positive numbers below one, so that every kernel takes them."""
    generator = np.random.default_rng(seed)
    make: dict[str, Callable[[], Any]] = {
        "v": lambda: generator.uniform(0.1, 0.9, shape).astype(dtype),
        "m": lambda: generator.uniform(size=shape) < 0.5,
        "n": lambda: float(generator.uniform(0.3, 0.9)),
        "p": lambda: generator.uniform(0.1, 0.9, (*shape[:-1], 1)).astype(dtype),
        "i": lambda: generator.integers(0, shape[-1], (*shape[:-1], 1)),
        "s": lambda: generator.uniform(0.1, 0.9, shape[-1:]).astype(dtype),
    }
    return [make["v" if letter == "u" else letter]() for _, letter in kernel.arguments]


def assert_close(found: Any, expected: Any, dtype: Any) -> None:
    found, expected = [x if isinstance(x, tuple) else (x,) for x in (found, expected)]
    assert len(found) == len(expected)
    tolerance = 2e-5 if dtype == np.float32 else 1e-12
    for one, other in zip(found, expected):
        assert one.shape == other.shape
        assert one.dtype == (dtype if other.dtype.kind == "f" else other.dtype)
        # sums of columns: the error of a sum is measured by the sum
        scale = max(1.0, float(np.abs(other).max(initial=0)))
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * scale)


def test_every_kernel_is_native_where_any_is() -> None:
    native = {name for name in KERNELS if hasattr(function_of(name), "python")}
    assert native == (set(KERNELS) if language.NATIVE else set())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", KERNELS)
def test_native_and_python_agree(name: str, dtype: Any) -> None:
    kernel, function = KERNELS[name], function_of(name)
    for shape in SHAPES:
        given = arguments(kernel, shape, dtype)
        wide = [x.astype(np.float64) if isinstance(x, np.ndarray) and x.dtype == dtype else x for x in given]
        assert_close(function(*given), python_of(function)(*wide), dtype)


@pytest.mark.parametrize("name", KERNELS)
def test_arrays_of_any_layout(name: str) -> None:
    kernel, function = KERNELS[name], function_of(name)
    for shape in [(4, 6), (3, 2, 5)]:
        given = arguments(kernel, shape, np.float64)
        expected = function(*given)
        apart = [np.repeat(x, 2, -1)[..., ::2] if isinstance(x, np.ndarray) else x for x in given]
        turned = [np.asfortranarray(x) if isinstance(x, np.ndarray) else x for x in given]
        for other in (apart, turned):
            assert_close(function(*other), expected, np.float64)


@pytest.mark.parametrize("name", KERNELS)
def test_results_are_written_where_they_are_wanted(name: str) -> None:
    kernel, function = KERNELS[name], function_of(name)
    given = arguments(kernel, (3, 5), np.float32)
    expected = function(*given)
    several = isinstance(expected, tuple)
    places = [np.full_like(x, 7) for x in (expected if several else (expected,))]
    found = function(*given, tuple(places) if several else places[0])
    for place, one, other in zip(places, found if several else (found,), expected if several else (expected,)):
        assert one is place
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", [name for name, kernel in KERNELS.items() if kernel.kind == "elementwise"])
def test_elementwise_results_may_take_the_place_of_an_argument(name: str) -> None:
    kernel, function = KERNELS[name], function_of(name)
    if kernel.results != ["v"]:
        return
    given = arguments(kernel, (3, 5), np.float32)
    expected = function(*given)
    for i, (_, letter) in enumerate(kernel.arguments):
        if letter in "vu":
            copies = [x.copy() if isinstance(x, np.ndarray) else x for x in given]
            assert function(*copies, copies[i]) is copies[i]
            np.testing.assert_allclose(copies[i], expected, rtol=1e-6)


@pytest.mark.parametrize("name", KERNELS)
def test_half_precision_is_computed_in_single(name: str) -> None:
    kernel, function = KERNELS[name], function_of(name)
    given = arguments(kernel, (3, 5), np.float16)
    single = [x.astype(np.float32) if isinstance(x, np.ndarray) and x.dtype == np.float16 else x for x in given]
    found, expected = [x if isinstance(x, tuple) else (x,) for x in (function(*given), function(*single))]
    for one, other in zip(found, expected):
        np.testing.assert_array_equal(one, other.astype(one.dtype))


SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e30, -1e30, 100.0, -100.0, 1e-40]
OF_ONE = [name for name, kernel in KERNELS.items() if [letter for _, letter in kernel.arguments] == ["v"]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", OF_ONE)
def test_special_values(name: str, dtype: Any) -> None:
    function = function_of(name)
    x = np.array(SPECIAL, dtype).reshape(-1, 1)
    x = np.concatenate([x, np.full_like(x, 0.5)], 1)
    with np.errstate(all="ignore"):
        expected = python_of(function)(x)
    found, expected = [x if isinstance(x, tuple) else (x,) for x in (function(x), expected)]
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@settings(max_examples=200, deadline=None)
@given(
    shapes=numpy_strategies.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=6, min_side=0),
    order=st.randoms(use_true_random=False),
)
def test_broadcasting_is_numpys(shapes: Any, order: Any) -> None:
    arrays = []
    for shape in shapes.input_shapes:
        array = np.random.default_rng(len(arrays)).uniform(0.1, 0.9, shape)
        axes = list(range(array.ndim))
        order.shuffle(axes)
        arrays.append(np.ascontiguousarray(array.transpose(axes)).transpose(np.argsort(axes)) if axes else array)
    found, expected = basic.sigmoid_backward(*arrays), np.asarray(arrays[0] * (arrays[1] * (1 - arrays[1])))
    assert found.shape == shapes.result_shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    if (
        all([array.shape == shapes.result_shape for array in arrays])
        and found.size > 1
        and arrays[0].strides == arrays[1].strides
    ):
        lengths = [stride for stride, size in zip(found.strides, found.shape) if size > 1]
        assert lengths == [stride for stride, size in zip(expected.strides, expected.shape) if size > 1]


def test_threads_do_not_change_results() -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(size=(3000, 257)).astype(np.float32)
    weight = generator.normal(size=257).astype(np.float32)
    calls: list[Callable[[], Any]] = [
        lambda: softmax.softmax(x),
        lambda: normalization.layer_norm_backward(x, x, weight, x[:, :1].copy(), x[:, :1].copy()),
        lambda: losses.sum_of_huber(x, -x, 0.7),
        lambda: activations.gelu(x.T),
    ]
    try:
        for call in calls:
            results = []
            for threads in (1, 2, 4):
                use_threads(threads)
                results += [call() for _ in range(5)]
            first = results[0] if isinstance(results[0], tuple) else (results[0],)
            for other in results[1:]:
                for one, another in zip(first, other if isinstance(other, tuple) else (other,)):
                    np.testing.assert_array_equal(one, another)
    finally:
        use_threads(available_cores())


def test_results_do_not_depend_on_where_memory_begins() -> None:
    generator = np.random.default_rng(0)
    for columns in (3, 17, 100, 1000):
        x = generator.normal(size=(4, columns))
        memory = np.empty(x.size + 16)
        results = []
        for start in range(9):
            there = memory[start : start + x.size].reshape(x.shape)
            there[...] = x
            results.append(
                (softmax.softmax(there), *normalization.moments(there), losses.sum_of_squared_errors(there, x * 2))
            )
        for other in results[1:]:
            for one, another in zip(results[0], other):
                np.testing.assert_array_equal(one, another)


def test_several_threads_call_kernels_at_once() -> None:
    x = np.random.default_rng(0).normal(size=(400, 500))
    expected = softmax.softmax(x)
    wrong: list[int] = []

    def work() -> None:
        for i in range(20):
            if not np.array_equal(softmax.softmax(x), expected):
                wrong.append(i)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_long_rows_lose_no_digits() -> None:
    x = np.full((1, 10_000_000), 0.1, np.float32)
    total, _ = normalization.moments(x)
    # equal numbers are all rounded the same way, and without vector instructions a thousand are added one by one
    assert abs(float(total[0, 0]) - 1_000_000) < 20
    assert abs(float(losses.sum_of_squared_errors(x, 0 * x)) - 100_000) < 2
    _, _, of_bias = normalization.layer_norm_backward(
        np.full((1_000_000, 3), 0.1, np.float32), np.ones((1_000_000, 3), np.float32), np.ones(3, np.float32),
        np.zeros((1_000_000, 1), np.float32), np.ones((1_000_000, 1), np.float32),
    )  # fmt: skip
    np.testing.assert_allclose(of_bias, 100_000, rtol=3e-6)


@pytest.mark.parametrize("name", [name for name in KERNELS if name.endswith("_backward")])
def test_rules_can_be_recorded_on_tensors(name: str) -> None:
    """What a kernel computes on tensors is what it computes on arrays, and has a gradient."""
    kernel, function = KERNELS[name], function_of(name)
    given = arguments(kernel, (3, 4), np.float64)
    tensors = [
        leafgrad.from_numpy(x).requires_grad_(x.dtype.kind == "f") if isinstance(x, np.ndarray) else x for x in given
    ]
    found, expected = [x if isinstance(x, tuple) else (x,) for x in (function(*tensors), function(*given))]
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one.detach().numpy(), other, rtol=1e-10)
        assert one.requires_grad


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (4, 600)])
def test_results_in_columns_of_the_matrix_that_is_read(shape: tuple[int, int]) -> None:
    """The gates of a cell lie side by side, and are replaced by their values."""
    rows, n = shape
    rng = np.random.default_rng(0)
    gates, before = rng.standard_normal((rows, 4 * n)), rng.standard_normal(shape)
    parts = [gates[:, k * n : (k + 1) * n] for k in range(4)]
    expected = python_of(recurrent.lstm_step)(*[part.copy() for part in parts], before)
    found = recurrent.lstm_step(*parts, before, (*parts, np.empty(shape), np.empty(shape)))
    assert [one is other for one, other in zip(found, parts)] == [True] * 4
    assert_close(tuple(found), expected, np.float64)
    neighbours = gates[:, : 2 * n], gates[:, n : 3 * n]  # which share columns, so that one is copied first
    sums = neighbours[0] + neighbours[1]
    found = recurrent.rnn_tanh_step_backward(*neighbours, np.tanh(sums), neighbours[0])
    np.testing.assert_allclose(found, sums * (1 - np.tanh(sums) ** 2), rtol=1e-12)
