"""Bessel functions of order 0 and 1 in double precision, without tables: series near zero, asymptotic series far away,
recurrences and integrals in between. `n` is the order, 0 or 1."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from leafgrad.kernels.approximation import by_cases, in_double, polynomial

A = Any  # an array
EULER = 0.5772156649015329


def _asymptotic(n: int, count: int) -> list[float]:
    """The coefficients of Hankel's series in 1 / x: (4n**2 - 1) (4n**2 - 9) ... / (k! 8**k), without signs."""
    found = [1.0]
    for k in range(1, count):
        found.append(found[-1] * (4 * n * n - (2 * k - 1) ** 2) / (8 * k))
    return found


def _power_series(n: int, count: int) -> list[float]:
    """Those of I_n(x) / (x/2)**n in (x/2)**2."""
    return [1 / (math.factorial(k) * math.factorial(k + n)) for k in range(count)]


# -- modified ---------------------------------------------------------------------------------------------------------


def _i_scaled(n: int, x: A) -> A:
    """exp(-|x|) I_n(x)."""
    size = np.abs(x)

    def near(x: A) -> A:
        return np.exp(-np.abs(x)) * (x / 2) ** n * polynomial(_power_series(n, 55), x * x / 4)

    def far(x: A) -> A:
        signs = [c * (-1) ** k for k, c in enumerate(_asymptotic(n, 28))]
        size = np.abs(x)
        value = polynomial(signs, 1 / size) / np.sqrt(2 * math.pi * size)
        return np.copysign(value, x) if n else value

    return by_cases(x, (size <= 20, near), (size > 20, far))


def _i(n: int, x: A) -> A:
    return np.exp(np.abs(x)) * _i_scaled(n, x)


def _k_scaled(n: int, x: A) -> A:
    """exp(x) K_n(x)."""

    def near(x: A) -> A:
        """The series with a logarithm, which is K_n without exp(x)."""
        square, half = x * x / 4, x / 2
        harmonic = [-EULER + sum([1 / j for j in range(1, k + 1)]) for k in range(20)]
        regular = polynomial(_power_series(n, 20), square) * half**n
        if n == 0:
            weights = [h * c for h, c in zip(harmonic, _power_series(0, 20), strict=True)]
            return np.exp(x) * (polynomial(weights, square) - np.log(half) * regular)
        weights = [(harmonic[k] + harmonic[k] + 1 / (k + 1)) / 2 * c for k, c in enumerate(_power_series(1, 20))]
        return np.exp(x) * (1 / x + np.log(half) * regular - half * polynomial(weights, square))

    def far(x: A) -> A:
        """The integral of 2 exp(-u**2) (1 + u**2 / x)**n / sqrt(2x + u**2), by the trapezoidal rule, which for such
        functions has errors like exp(-2 pi sqrt(2x) / step)."""
        step = 0.25
        total = 1 / np.sqrt(2 * x)
        for k in range(1, 27):
            square = (k * step) ** 2
            total = total + 2 * math.exp(-square) * (1 + square / x) ** n / np.sqrt(2 * x + square)
        return step * total

    return by_cases(x, (x == 0, lambda x: x + np.inf), ((x > 0) & (x <= 2), near), (x > 2, far))


def _k(n: int, x: A) -> A:
    return np.exp(-x) * _k_scaled(n, x)


# -- oscillating ------------------------------------------------------------------------------------------------------

TINY = 1e-16  # up to where the first term of each series is all there is
FAR = 25.0  # from where on Hankel's series has all digits


def _by_recurrence(x: A) -> tuple[A, A, A, A]:
    """J_0, J_1, Y_0 and Y_1 for TINY < x <= FAR. The recurrence downward from an order where all is zero gives all J_k
    but for a factor, and that is known from J_0 + 2 J_2 + 2 J_4 + ... = 1; the Y are sums of the J (Neumann)."""
    above, here = np.zeros_like(x), np.full_like(x, 1e-300)
    norm, even, odd = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    first = here
    for k in range(80, 0, -1):  # `here` is J_k
        half, is_odd = divmod(k, 2)
        if not is_odd:
            norm = norm + 2 * here
            even = even + (-1) ** half * here / half
        elif half:
            odd = odd + (-1) ** half * k / (half * (half + 1)) * here
        else:
            first = here
        above, here = here, 2 * k / x * here - above
        large = np.abs(here) > 1e200
        if large.any():
            known = (above, here, norm, even, odd, first)
            above, here, norm, even, odd, first = [np.where(large, v * 1e-200, v) for v in known]
    norm = norm + here
    j0, j1 = here / norm, first / norm
    logarithm = np.log(x / 2) + EULER
    y0 = 2 / math.pi * (logarithm * j0 - 2 * even / norm)
    y1 = 2 / math.pi * ((logarithm - 1) * j1 - j0 / x - odd / norm)
    return j0, j1, y0, y1


def _hankel(n: int, x: A) -> tuple[A, A]:
    """J_n and Y_n for large x."""
    series = _asymptotic(n, 26)
    square = 1 / (x * x)
    p = polynomial([c * (-1) ** k for k, c in enumerate(series[0::2])], square)
    q = polynomial([c * (-1) ** k for k, c in enumerate(series[1::2])], square) / x
    # the phase x - (2n + 1) pi / 4 by the formula for sums, because a difference of large numbers would lose digits
    sine, cosine = np.sin(x), np.cos(x)
    c, s = (cosine + sine, sine - cosine) if n == 0 else (sine - cosine, -(sine + cosine))
    size = 1 / np.sqrt(math.pi * x)
    return size * (p * c - q * s), size * (p * s + q * c)


def _j(n: int, x: A) -> A:
    size = np.abs(x)
    value = by_cases(
        size,
        (size <= TINY, lambda x: x / 2 if n else np.ones_like(x)),
        ((size > TINY) & (size <= FAR), lambda x: _by_recurrence(x)[n]),
        ((size > FAR) & (size < np.inf), lambda x: _hankel(n, x)[0]),
    )
    return np.copysign(1, x) * value if n else value


def _y(n: int, x: A) -> A:
    near_pole = lambda x: -2 / (math.pi * x) if n else 2 / math.pi * (np.log(x / 2) + EULER)
    return by_cases(
        x,
        ((x > 0) & (x <= TINY), near_pole),
        ((x > TINY) & (x <= FAR), lambda x: _by_recurrence(x)[2 + n]),
        ((x > FAR) & (x < np.inf), lambda x: _hankel(n, x)[1]),
        (x == 0, lambda x: x - np.inf),
    )


def _spherical_j0(x: A) -> A:
    near = lambda x: polynomial([(-1) ** k / math.factorial(2 * k + 1) for k in range(7)], x * x)
    return by_cases(
        x, (np.abs(x) < 0.5, near), (np.abs(x) >= 0.5, lambda x: np.sin(x) / x), (np.isinf(x), np.zeros_like)
    )


# -- Airy's function --------------------------------------------------------------------------------------------------


def _airy_series(x: A) -> A:
    """Ai(x) for small x as a power series, with as many digits as NumPy has: there is cancellation."""
    wide = x.astype(np.longdouble)
    cube = wide * wide * wide
    first = term = np.ones_like(wide)
    second = other = wide
    for k in range(1, 60):
        term = term * cube / ((3 * k - 1) * (3 * k))
        other = other * cube / ((3 * k) * (3 * k + 1))
        first, second = first + term, second + other
    at_zero = np.longdouble("0.35502805388781723926")
    slope = np.longdouble("0.25881940379280679840")
    return (at_zero * first - slope * second).astype(np.float64)


def _airy_right(x: A) -> A:
    """Ai(x) for x > 2 by K of the order 1/3 at z = 2/3 x**(3/2), which is an integral as above."""
    z, step = 2 / 3 * x * np.sqrt(x), 0.25
    total = 1 / np.sqrt(2 * z)
    for k in range(1, 27):
        u = k * step
        total = total + 2 * math.exp(-u * u) * np.cosh(2 / 3 * np.arcsinh(u / np.sqrt(2 * z))) / np.sqrt(2 * z + u * u)
    return np.sqrt(x / 3) / math.pi * np.exp(-z) * step * total


def _airy_left(x: A) -> A:
    """Ai(x) for x < -8 by its asymptotic series."""
    z = 2 / 3 * -x * np.sqrt(-x)
    series = [1.0]
    for k in range(1, 20):
        series.append(series[-1] * (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216 * k * (2 * k - 1)))
    square = 1 / (z * z)
    even = polynomial([c * (-1) ** k for k, c in enumerate(series[0::2])], square)
    odd = polynomial([c * (-1) ** k for k, c in enumerate(series[1::2])], square) / z
    phase = z + math.pi / 4
    return (np.sin(phase) * even - np.cos(phase) * odd) / (math.sqrt(math.pi) * np.sqrt(np.sqrt(-x)))


def _airy(x: A) -> A:
    return by_cases(
        x, ((x >= -8) & (x <= 2.1), _airy_series), ((x > 2.1) & (x < np.inf), _airy_right),
        ((x < -8) & (x > -np.inf), _airy_left),
    )  # fmt: skip


airy_ai = in_double(_airy)
i0, i1 = [in_double(functools.partial(_i, n)) for n in (0, 1)]
i0e, i1e = [in_double(functools.partial(_i_scaled, n)) for n in (0, 1)]
k0, k1 = [in_double(functools.partial(_k, n)) for n in (0, 1)]
k0e, k1e = [in_double(functools.partial(_k_scaled, n)) for n in (0, 1)]
j0, j1 = [in_double(functools.partial(_j, n)) for n in (0, 1)]
y0, y1 = [in_double(functools.partial(_y, n)) for n in (0, 1)]
spherical_j0 = in_double(_spherical_j0)
