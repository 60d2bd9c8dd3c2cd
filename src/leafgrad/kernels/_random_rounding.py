"""Fused multiply-add, which rounds once, of arrays. PyTorch's random kernels are compiled with it; NumPy has none."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

PIECE = 4096  # so many at a time, so that the intermediate results stay in cache


def add_scaled(a: Array, b: float, c: float, exact: bool = False) -> None:
    """a becomes a * b + c, rounded once; b and c are numbers of a's dtype, which is float32 or float64.

    `exact` says of float32 that the sums are known to fit float64.
    """
    if not (math.isfinite(b) and math.isfinite(c)):  # there is nothing to round
        a *= np.array(b, a.dtype)
        a += np.array(c, a.dtype)
        return
    if b in (0, 1):  # then the product is not rounded
        if b == 0:
            a *= np.array(b, a.dtype)
        a += np.array(c, a.dtype)
        return
    if c == 0:  # then the sum is not; the zero comes first, to tell -0.0 from a product that is too small
        a += np.array(c, a.dtype)
        a *= np.array(b, a.dtype)
        return
    fused = _fma_in_float64 if a.dtype == np.float64 else _fma_exact if exact else _fma_by_float64
    for start in range(0, len(a), PIECE):
        piece = a[start : start + PIECE]
        piece[...] = fused(piece, b, c)


def spacing(x: float) -> float:
    """What float32 numbers around x are multiples of; zero is a multiple of anything."""
    return max(math.ldexp(1.0, math.frexp(x)[1] - 24), 2.0**-149) if x else math.inf


def _two_sum(a: Array, b: Array | float) -> tuple[Array, Array]:
    """a + b rounded, and what the rounding lost (Knuth)."""
    total = a + b
    b_part = total - a
    return total, (a - (total - b_part)) + (b - b_part)


def _two_product(a: Array, b: float) -> tuple[Array, Array]:
    """a * b rounded, and what the rounding lost (Dekker, for float64)."""

    def halves(x: Any) -> tuple[Any, Any]:
        scaled = x * 134217729.0  # 2**27 + 1
        high = scaled - (scaled - x)
        return high, x - high

    product = a * b
    (a_high, a_low), (b_high, b_low) = halves(a), halves(b)
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _fma_exact(a: Array, b: float, c: float) -> Array:
    """For float32 whose products and sums are exact in float64."""
    total: Array = a.astype(np.float64)
    total *= b
    total += c
    return total


def _fma_by_float64(a: Array, b: float, c: float) -> Array:
    """For float32, whose products are exact in float64. Only the sum is rounded before it is rounded to float32."""
    product: Array = a.astype(np.float64)
    product *= b
    total: Array = product + c
    # That is once too often where the sum has become a tie between two float32 and was none: a nudge decides it.
    ties = np.flatnonzero(total.view(np.int64) & 0x1FFFFFFF == 0x10000000)
    if len(ties):
        tie, lost = _two_sum(product[ties], c)
        total[ties] = np.where(lost == 0, tie, np.nextafter(tie, np.copysign(np.inf, lost)))
    return total


def _fma_in_float64(a: Array, b: float, c: float) -> Array:
    """For float64, with twice its precision in pairs of numbers; wrong with a probability of about 2**-53."""
    if abs(b) > 2.0**900:  # keep clear of overflow in the intermediate results
        return np.ldexp(_fma_in_float64(a, b * 2.0**-200, c * 2.0**-200), 200)
    if abs(b) < 2.0**-800:  # and of underflow
        return np.array([float(Fraction(x) * Fraction(b) + Fraction(c)) for x in a.tolist()])
    product, product_lost = _two_product(a, b)
    total, total_lost = _two_sum(product, c)
    result: Array = total + (total_lost + product_lost)
    return result
