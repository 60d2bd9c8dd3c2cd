"""`native(ufunc)` for other dtypes than floats of 32 and 64 bits, and for operands whose elements lie apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from leafgrad import bfloat16, kernels
from leafgrad.kernels import SPLIT_CHEAP, native

SIZES = [0, 1, 5, 1000, 1025, SPLIT_CHEAP + 3]
UFUNCS = [np.add, np.multiply, np.bitwise_xor, np.left_shift, np.less, np.logical_and, np.negative, np.invert]
DTYPES = [np.bool_, np.int32, np.int64, np.complex64, np.complex128, np.uint8]


def numbers(dtype: Any, *shape: int, seed: int = 0) -> Any:
    generator = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "c":
        return (generator.normal(size=shape) + 1j * generator.normal(size=shape)).astype(dtype)
    return generator.integers(-(2**62), 2**62, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)
def test_the_same_as_the_ufunc(ufunc: Any, dtype: Any) -> None:
    kernels.use_threads(2)
    loop = native(ufunc)
    for size in SIZES:
        given = [numbers(dtype, size, seed=seed) for seed in range(ufunc.nin)]
        for operands in (given, [*given[:-1], given[-1][:1].reshape(())] if size else given):
            try:
                expected = ufunc(*operands)
            except TypeError:  # not for this dtype
                with pytest.raises(TypeError):
                    loop(*operands)
                continue
            found = loop(*operands)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [np.bool_, np.int32, np.int64, np.float32, np.float64, np.complex64, np.complex128])
def test_operands_with_steps(dtype: Any) -> None:
    kernels.use_threads(2)
    add = native(np.add)
    for n in (3, 40, 700):
        x, y = numbers(np.int32, n, n).astype(dtype), numbers(np.int32, n, 2 * n, seed=1).astype(dtype)
        for a, b in [
            (x, x.T),
            (x.T, x),
            (x[::2], x[1::2][: (n + 1) // 2]),
            (x, y[:, ::2]),
            (y[0, ::2], x),
            (x[::-1], x),
        ]:
            if np.broadcast(a, b).shape[0]:
                expected = np.add(a, b)
                found = add(a, b)
                np.testing.assert_array_equal(found, expected)
                out = np.empty_like(expected)
                assert add(a, b, out) is out
                np.testing.assert_array_equal(out, expected)


def test_results_in_memory_with_steps() -> None:
    memory = np.arange(400.0)
    np.testing.assert_array_equal(native(np.negative)(memory[::4].copy(), memory[::4]), -np.arange(0.0, 400, 4))


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.less, np.exp, np.sqrt])
@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_sixteen_bits_are_computed_in_single(ufunc: Any, half: str) -> None:
    kernels.use_threads(2)
    dtype = np.dtype(np.float16) if half == "float16" else bfloat16.np
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-6, 60000.0], np.float32).astype(dtype)
    with np.errstate(all="ignore"):
        for size in SIZES:
            given = [np.random.default_rng(seed).normal(0, 3, size).astype(dtype) for seed in range(ufunc.nin)]
            for seed, x in enumerate(given):
                x[seed : seed + 7] = special[: len(x[seed : seed + 7])]
            found = native(ufunc)(*given)
            single = ufunc(*[x.astype(np.float32) for x in given])
            expected = single if single.dtype == np.bool_ else single.astype(dtype)
            assert found.dtype == expected.dtype or kernels.NATIVE is False
            if kernels.NATIVE:  # NumPy may compute functions of 16 bits in other ways
                np.testing.assert_array_equal(found.astype(np.float32), expected.astype(np.float32))
