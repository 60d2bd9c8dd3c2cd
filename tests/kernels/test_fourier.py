"""Native Fourier transforms compute what NumPy computes, and lay it out the same way."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import leafgrad
from leafgrad.ops.fourier.transforms import fft_c2c, fft_c2r, fft_r2c

KINDS = [np.float32, np.float64]
LENGTHS = [*range(1, 40), 49, 64, 77, 100, 121, 127, 131, 254, 271, 316, 360, 1000, 1024, 2100, 4096, 6000]


def numbers(shape: tuple[int, ...], kind: Any, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(kind)


def complexes(shape: tuple[int, ...], kind: Any) -> Any:
    return numbers(shape, kind) + np.result_type(kind, np.complex64).type(1j) * numbers(shape, kind, 1)


def same(op: Any, *args: Any) -> None:
    native = op.kernel
    one, other = native(*args), getattr(native, "otherwise", native)(*args)
    assert one.dtype == other.dtype and one.shape == other.shape
    steps = [[step for step, size in zip(each.strides, each.shape) if size > 1] for each in (one, other)]
    assert steps[0] == steps[1]
    bound = 32 * np.finfo(one.dtype).eps * max(np.abs(other).max(initial=0), 1)
    np.testing.assert_allclose(one, other, rtol=0, atol=bound)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lines", [1, 3, 21, 40])
def test_lines_of_all_lengths(lines: int, kind: Any) -> None:
    for n in LENGTHS:
        x, z = numbers((lines, n), kind), complexes((lines, n), kind)
        for forward in (True, False):
            same(fft_c2c, z, (1,), 1.0, forward)
            same(fft_c2c, z, (0,), 0.5, forward)
        for onesided in (True, False):
            same(fft_r2c, x, (1,), 1.0, onesided)
            same(fft_r2c, x, (0,), 0.5, onesided)
        same(fft_c2r, z[:, : n // 2 + 1], (1,), 0.5, n)  # the imaginary parts of what has none are not looked at


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(4, 5, 6), (1, 7, 8), (3, 1, 4), (16, 33, 20), (2, 3, 100), (0, 2, 3), (2, 307, 2)])
def test_dimensions_in_any_order_and_layout(shape: tuple[int, ...], kind: Any) -> None:
    x, z = numbers(shape, kind), complexes(shape, kind)
    layouts = [lambda a: a, lambda a: a.transpose(2, 0, 1), lambda a: a[::-1, :, ::2], lambda a: a[:, ::-1].real]
    for layout, count in itertools.product(layouts, (1, 2, 3)):
        for dims in itertools.permutations(range(3), count):
            if 0 in [layout(x).shape[dim] for dim in dims]:
                continue  # PyTorch refuses these, and so does NumPy
            real, half = layout(x), layout(z).shape[dims[-1]]
            same(fft_r2c, real, dims, 2.0, True)
            same(fft_r2c, real, dims, 2.0, False)
            if layout(z).dtype.kind == "c":
                same(fft_c2c, layout(z), dims, 1.0, True)
                same(fft_c2c, layout(z), dims, 1.0, False)
                same(fft_c2r, layout(z), dims, 1.0, 2 * half - 1)
                if half > 1:
                    same(fft_c2r, layout(z), dims, 1.0, 2 * half - 2)


@pytest.mark.parametrize("n", [240, 5000])
def test_what_must_be_real_is_real_exactly(n: int) -> None:
    out = fft_r2c.kernel(numbers((n,), np.float32), (0,), 1.0, True)
    assert out[0].imag == 0 and out[-1].imag == 0


def test_many_plans_are_forgotten_again() -> None:
    for n in range(200_000, 225_000, 1_000):
        same(fft_c2c, complexes((n,), np.float64), (0,), 1.0, True)


def test_lines_in_several_threads_and_nan() -> None:
    same(fft_r2c, numbers((600, 400), np.float32), (0, 1), 1.0, False)
    same(fft_c2c, complexes((1 << 18,), np.float32), (0,), 1.0, False)
    z = complexes((8, 64), np.float32)
    z[3, 5] = np.nan
    out = fft_c2c.kernel(z, (1,), 1.0, True)
    assert np.isnan(out[3]).all() and not np.isnan(out[[0, 1, 2, 4, 5, 6, 7]]).any()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 9, 64])
def test_gradients_of_real_transforms_are_their_transposes(n: int, kind: Any) -> None:
    """<transform of x, z> and <x, gradient of z> are the same number, along one dimension and along two."""
    for shape, dims in (((3, n), (1,)), ((n, 3), (0,)), ((4, n, 5), (0, 1)), ((n, 4, 3), (1, 0))):
        x = leafgrad.tensor(numbers(shape, kind), requires_grad=True)
        out = leafgrad.fft.rfftn(x, dim=dims)
        z = complexes(tuple(out.shape), kind)
        kept = z.copy()
        out.backward(leafgrad.from_numpy(z))
        np.testing.assert_array_equal(z, kept)
        expected = (out.detach().numpy() * z.conj()).real.sum()
        np.testing.assert_allclose((x.detach() * x.grad).sum().item(), expected, rtol=1e-4, atol=1e-3)
        half = leafgrad.tensor(z, requires_grad=True)
        back = leafgrad.fft.irfftn(half, [shape[dim] for dim in dims], dims)
        w = numbers(shape, kind, 2)
        back.backward(leafgrad.from_numpy(w))
        found = (half.detach().numpy() * half.grad.numpy().conj()).real.sum()
        np.testing.assert_allclose(found, (back.detach().numpy() * w).sum(), rtol=1e-4, atol=1e-3)
