"""The gamma function's relatives in double precision: its logarithm and the derivatives of that, Hurwitz' zeta
function, and the incomplete gamma functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad.kernels.approximation import by_cases, in_double, polynomial

A = Any  # an array

# B(2k) / (2k): the series of digamma in 1 / x**2
DIGAMMA_SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
# B(2k) / (2k)!: the corrections of Euler and Maclaurin to an integral in place of a sum
EULER_MACLAURIN = (
    1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600,
    -3617 / 10670622842880000,
)  # fmt: skip
# of log(gamma(a)) - (a - 1/2) log(a) + a - log(2 pi) / 2, in 1 / a
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)

_log_gamma: Any = np.frompyfunc(math.lgamma, 1, 1)


def _lgamma(x: A) -> A:
    pole = (x <= 0) & (x == np.floor(x))
    above = x > 2.5e305  # where the result is larger than any double
    safe = np.where(pole | above, 1.0, x)
    return np.where(pole | above, np.inf, _log_gamma(safe).astype(np.float64))


def _digamma_of_positive(x: A) -> A:
    total, x = np.zeros_like(x), x.copy()
    while (small := x < 10).any():  # by psi(x) = psi(x + 1) - 1 / x into the range of the series
        total[small] -= 1 / x[small]
        x[small] += 1
    square = 1 / (x * x)
    return total + np.log(x) - 0.5 / x - square * polynomial(DIGAMMA_SERIES, square)


def _digamma(x: A) -> A:
    def reflected(x: A) -> A:
        fraction = np.fmod(x, 1)  # the tangent has the period 1 in it, and large x lose no digits by it
        return _digamma_of_positive(1 - x) - math.pi / np.tan(math.pi * fraction)

    is_whole = x == np.floor(x)
    return by_cases(
        x,
        (x > 0, _digamma_of_positive),
        ((x < 0) & ~is_whole, reflected),
        (x == 0, lambda x: np.copysign(np.inf, -x)),
        (x == -np.inf, lambda x: x * np.nan),
        (x == np.inf, lambda x: x),
    )


def _zeta_sum(s: A, q: A) -> A:
    """1 / q**s + 1 / (q + 1)**s + ...: nine terms and more until q is above 9, an integral for the rest."""
    total, q = np.zeros_like(q), q.copy()
    for i in range(10**6):
        summed = (q <= 9) | (i < 9)
        if not summed.any():
            break
        total[summed] += q[summed] ** -s[summed]
        q[summed] += 1
    last = q**-s
    total = total + q * last / (s - 1) + 0.5 * last
    factor = s * last / q
    for k, c in enumerate(EULER_MACLAURIN):
        total = total + c * factor
        factor = factor * (s + 2 * k + 1) * (s + 2 * k + 2) / (q * q)
    return total


def _zeta(s: A, q: A) -> A:
    is_pole = (q <= 0) & (q == np.floor(q))
    undefined = (s < 1) | ((q <= 0) & ~is_pole & (s != np.floor(s))) | np.isnan(s) | np.isnan(q)
    infinite = (s == 1) | (is_pole & (s > 1))
    out = np.where(infinite, np.inf, np.nan)
    usual = ~undefined & ~infinite
    if usual.any():
        out[usual] = _zeta_sum(s[usual], q[usual])
    return out


def _trigamma(x: A) -> A:
    """With PyTorch's nine digits: six steps upward, and three terms of the series."""
    left = x < 0.5
    y = np.where(left, 1 - x, x)
    total = np.zeros_like(y)
    for _ in range(6):
        total += 1 / (y * y)
        y = y + 1
    square = 1 / (y * y)
    total += (1 + 1 / (2 * y) + square * (1 / 6 - square * (1 / 30 - square / 42))) / y
    return np.where(left, (math.pi / np.sin(math.pi * x)) ** 2 - total, total)


def _polygamma(n: int, x: A) -> A:
    if n == 0:
        return _digamma(x)
    if n == 1:
        return _trigamma(x)
    return (-1.0) ** (n + 1) * math.factorial(n) * _zeta(np.full_like(x, n + 1), x)


# -- the incomplete gamma functions -----------------------------------------------------------------------------------


def _log1p_minus(x: A) -> A:
    """log(1 + x) - x, by its series where the two are nearly equal."""

    def series(x: A) -> A:
        # in z = x / (2 + x): log(1 + x) = 2 (z + z**3 / 3 + z**5 / 5 + ...), of which 2 z - x = -x z
        z = x / (2 + x)
        square = z * z
        return -x * z + 2 * z * square * polynomial([1 / (2 * k + 3) for k in range(14)], square)

    return by_cases(x, (np.abs(x) >= 0.4, lambda x: np.log1p(x) - x), (np.abs(x) < 0.4, series))


def _density(a: A, x: A) -> A:
    """x**a exp(-x) / gamma(a + 1). For large a without the difference of large numbers."""
    out = np.exp(a * np.log(x) - x - _lgamma(a + 1))
    large = (a > 10) & (x > 0)
    if large.any():
        b, y = a[large], x[large]
        # a**a exp(-a) / gamma(a + 1) by Stirling's series, and (x / a)**a exp(a - x)
        rest = polynomial(STIRLING, 1 / (b * b)) / b
        out[large] = np.exp(b * _log1p_minus((y - b) / b) - rest) / np.sqrt(2 * math.pi * b)
    return out


def _lower_series(a: A, x: A) -> A:
    """P(a, x) as a power series, for x that are not much larger than a."""
    term = total = np.ones_like(x)
    n = 0
    while n < 20000 and (term > total * 1e-17).any():
        n += 1
        term = term * (x / (a + n))
        total = total + term
    return _density(a, x) * total


def _upper_fraction(a: A, x: A) -> A:
    """Q(a, x) as a continued fraction (Lentz' method), for x that are larger than a."""
    b = x + 1 - a
    c, d = np.full_like(x, 1e300), 1 / b
    h = d.copy()
    for i in range(1, 20000):
        weight = -i * (i - a)
        b = b + 2
        d = 1 / (weight * d + b)
        c = b + weight / c
        change = d * c
        h = h * change
        if not (np.abs(change - 1) > 1e-16).any():
            break
    return _density(a, x) * a * h


def _incomplete(a: A, x: A, upper: bool) -> A:
    out = np.full_like(a + x, np.nan)  # in the common layout of both
    inside = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    by_series = inside & (x < a + 1) if not upper else inside & (x <= np.maximum(a, 1.1)) & (x < a + 1)
    by_fraction = inside & ~by_series
    if by_series.any():
        p = _lower_series(a[by_series], x[by_series])
        out[by_series] = 1 - p if upper else p
    if by_fraction.any():
        q = _upper_fraction(a[by_fraction], x[by_fraction])
        out[by_fraction] = q if upper else 1 - q
    # the edges of the quarter plane, as PyTorch has them
    valid = (a >= 0) & (x >= 0)
    all_below = valid & (((a == 0) & (x > 0)) | ((x == np.inf) & (a < np.inf)))
    none_below = valid & (((x == 0) & (a > 0)) | ((a == np.inf) & (x < np.inf)))
    out[all_below] = 0.0 if upper else 1.0
    out[none_below] = 1.0 if upper else 0.0
    return out


lgamma = in_double(_lgamma)
digamma = in_double(_digamma)
zeta = in_double(_zeta)
igamma = in_double(lambda a, x: _incomplete(a, x, False))
igammac = in_double(lambda a, x: _incomplete(a, x, True))


def polygamma(n: int, x: A) -> A:
    return in_double(lambda x: _polygamma(n, x))(x)
