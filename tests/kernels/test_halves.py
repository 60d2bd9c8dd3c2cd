"""float16 and bfloat16: conversions give NumPy's bits, and products those of float32, rounded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from leafgrad.kernels.halves import converted
from leafgrad.kernels.products import half_product, in_single, product

DTYPES = [lg.float16, lg.bfloat16]
SHAPES = [(1, 1, 1), (5, 3, 7), (13, 33, 2), (100, 47, 333), (12, 32, 64), (200, 90, 1)]


def every_kind_of_number() -> Any:
    """Signs, exponents, and what lies on, just below and just above the middle between two 16-bit floats."""
    high = np.arange(1 << 16, dtype=np.uint32) << 16
    low = np.array([0, 1, 0x0FFF, 0x1000, 0x1001, 0x2000, 0x3000, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
    return (high[:, None] | low).view(np.float32)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_conversions_have_the_bits_of_numpy(dtype: Any) -> None:
    x = every_kind_of_number()
    with np.errstate(all="ignore"):
        narrow = x.astype(dtype.np)
        assert converted(x, dtype.np).tobytes() == narrow.tobytes()
        assert converted(x.T, dtype.np).tobytes("A") == narrow.tobytes()
        assert converted(x[::3, 1:4], dtype.np).tobytes() == narrow[::3, 1:4].tobytes()
    all_halves = np.arange(1 << 16, dtype=np.uint16).view(dtype.np)
    assert converted(all_halves, np.dtype("f")).tobytes() == all_halves.astype(np.float32).tobytes()
    assert converted(np.float32(1) + np.zeros(()), dtype.np) == 1


@pytest.mark.parametrize("size", [0, 1, 40, 300_000])
def test_conversions_of_every_size(size: int) -> None:
    x = np.linspace(-3, 3, size, dtype=np.float32)
    for dtype in DTYPES:
        assert np.array_equal(converted(converted(x, dtype.np), np.dtype("f")), x.astype(dtype.np).astype("f"))


def turned(x: Any) -> Any:
    """The same matrices with their columns side by side."""
    return np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2)


@pytest.mark.parametrize("stack", [(), (3,), (2, 2)], ids=str)
@pytest.mark.parametrize("n, m, k", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_products_of_halves(dtype: Any, n: int, m: int, k: int, stack: tuple[int, ...]) -> None:
    generator = np.random.default_rng(0)
    a = generator.standard_normal((*stack, n, k)).astype(dtype.np)
    b = generator.standard_normal((*stack, k, m)).astype(dtype.np)
    expected = np.matmul(a.astype(np.float64), b.astype(np.float64))
    for x in (a, turned(a)):
        for y in (b, turned(b)):
            for compute in (half_product, in_single):
                out = compute(x, y)
                assert out.dtype == np.float32
                assert np.abs(out - expected).max() < 1e-5 * k**0.5


@pytest.mark.parametrize("stack", [(), (3,)], ids=str)
@pytest.mark.parametrize("n, k", [(1, 1), (50, 7), (333, 90), (90, 333)])
def test_product_of_a_matrix_with_its_transpose(n: int, k: int, stack: tuple[int, ...]) -> None:
    """Computed on one side of the diagonal only."""
    x = np.random.default_rng(0).standard_normal((*stack, n, k))
    for a in (x, x.astype(np.float32), x.astype(lg.bfloat16.np), turned(x)):
        for out in ((product if a.dtype.kind == "f" else half_product)(a, a.swapaxes(-1, -2)),):
            wide = a.astype(np.float64)
            expected = np.matmul(wide, wide.swapaxes(-1, -2).copy())
            assert np.abs(out - expected).max() < (1e-12 if a.dtype == np.float64 else 3e-6) * np.abs(expected).max()


@pytest.mark.parametrize("n, m, k", [(13, 33, 8), (25, 7, 31), (5, 40, 2)])
def test_what_lies_around_a_matrix_is_not_read(n: int, m: int, k: int) -> None:
    around = [
        np.full((rows + 2, columns + 2), np.nan, np.float32).astype(lg.bfloat16.np)
        for rows, columns in ((n, k), (k, m))
    ]
    inner = [x[1:-1, 1:-1] for x in around]
    for x in inner:
        x[...] = np.random.default_rng(0).standard_normal(x.shape)
    assert np.array_equal(half_product(*inner), half_product(*[x.copy() for x in inner]))


REDUCTIONS = ["sum", "mean", "norm", "amax", "amin", "std", "var", "prod", "count_nonzero", "any", "all"]


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reductions_of_halves(dtype: Any, name: str) -> None:
    """They are those of float32, rounded: of few numbers and of many, side by side, with gaps and turned around."""
    choices: list[dict[str, Any]] = [{}, {"dim": 0}, {"dim": 1}] + [{"dim": (0, 2)}] * (name != "prod")
    for shape in [(3, 4, 5), (70, 300, 4), (2, 5000, 3), (300, 2, 300)]:
        x = (lg.rand(shape) + 0.5).to(dtype)
        x[1, 1] = 0
        for each in (x, x[:, :, ::2], x.transpose(0, 2).contiguous().transpose(0, 2), x[:1].expand(shape)):
            for dims in choices:
                got, wanted = [getattr(v, name)(**dims) for v in (each, each.float())]
                assert got.dtype == (dtype if wanted.dtype == lg.float32 else wanted.dtype)
                assert lg.allclose(got.float(), wanted.to(got.dtype).float(), rtol=2.0**-7, atol=0), (shape, dims)
