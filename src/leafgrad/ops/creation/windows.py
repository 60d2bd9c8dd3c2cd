"""Windows for spectra: hann, hamming, blackman, bartlett and kaiser."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad.ops.arguments import declared_and_checked
from leafgrad.ops.creation.factories import create
from leafgrad.ops.signature import Options, Tensor, by_name


def made(name: str, length: int, periodic: bool, shape: Any, options: dict[str, Any]) -> Any:
    """A window of so many points, of which `shape` computes the values at fractions from zero to one. A periodic one is
    the beginning of one that is a point longer."""
    kind = options.get("dtype")
    if kind is not None and not (kind.is_floating_point or kind.is_complex):
        first = f"{name}(): expects floating point dtypes, got: {kind.alias}"
        raise errors.mistake(RuntimeError, first)
    if length < 0:
        raise errors.mistake(RuntimeError, f"{name} requires non-negative window_length, got window_length={length}")

    def make(dtype: Any) -> Any:
        if length <= 1:
            return np.ones(length, dtype)
        return shape(np.arange(length) / (length if periodic else length - 1)).astype(dtype)

    return create(name, options, make)


def cosines(*weights: float) -> Any:
    """A sum of cosines with alternating signs."""

    def shape(x: Any) -> Any:
        return sum([(-1) ** k * weight * np.cos(2 * np.pi * k * x) for k, weight in enumerate(weights)])

    return shape


@declared_and_checked
def hann_window(window_length: int, periodic: bool = True, **options: Options) -> Tensor:
    """hann_window(window_length, periodic=True, **options): (1 - cos(2 pi x)) / 2."""
    return made("hann_window", window_length, periodic, cosines(0.5, 0.5), options)


@declared_and_checked
def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, **options: Options
) -> Tensor:
    """hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, **options): alpha - beta cos(2 pi x)."""
    return made("hamming_window", window_length, periodic, cosines(alpha, beta), options)


@declared_and_checked
def blackman_window(window_length: int, periodic: bool = True, **options: Options) -> Tensor:
    """blackman_window(window_length, periodic=True, **options): 0.42 - 0.5 cos(2 pi x) + 0.08 cos(4 pi x)."""
    return made("blackman_window", window_length, periodic, cosines(0.42, 0.5, 0.08), options)


@declared_and_checked
def bartlett_window(window_length: int, periodic: bool = True, **options: Options) -> Tensor:
    """bartlett_window(window_length, periodic=True, **options): a triangle."""
    return made("bartlett_window", window_length, periodic, lambda x: 1 - np.abs(2 * x - 1), options)


@declared_and_checked
def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, **options: Options) -> Tensor:
    """kaiser_window(window_length, periodic=True, beta=12.0, **options): a Bessel function of a half circle."""
    shape = lambda x: np.i0(beta * np.sqrt(np.maximum(1 - (2 * x - 1) ** 2, 0))) / np.i0(beta)
    return made("kaiser_window", window_length, periodic, shape, options)


FUNCTIONS = by_name(bartlett_window, blackman_window, hamming_window, hann_window, kaiser_window)
