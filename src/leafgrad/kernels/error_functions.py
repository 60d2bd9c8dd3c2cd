"""The error function, its relatives and inverses, in double precision.

Two polynomials carry all of it, fitted to 40 digits: erf(x) / x of x**2 up to x = 1, and (1 + 2 x) exp(x**2) erfc(x) of
t = (x - 3.75) / (x + 3.75) for all positive x, which is smooth at infinity (Shepherd and Laframboise, 1981).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad.kernels.approximation import by_cases, in_double, polynomial

A = Any  # an array

NEAR_ZERO = (
    1.1283791670955126, -0.37612638903183543, 0.1128379167094513, -0.026866170643256995, 0.005223977607269946,
    -0.0008548325982543225, 0.00012055295112667001, -1.4924740785377576e-05, 1.6447471190594618e-06,
    -1.6208829856810202e-07, 1.3721520406351094e-08, -7.798543850549947e-10,
)  # fmt: skip
SCALED = (
    1.2375126308378275, -0.14024059858554697, 0.0035854154854644293, 0.0822767384901452, -0.10880393014174886,
    0.09230432116037748, -0.05869339858963677, 0.028362277418956406, -0.009746579558029276, 0.0017556258528952954,
    0.0002937136655913448, -0.0002901540805408417, 5.164909889268241e-05, 2.238423915508223e-05,
    -1.1444146237700524e-05, -9.73559896736775e-07, 1.751637648849062e-06, -5.7218230603224086e-08,
    -2.5866850716155884e-07, 2.3263508708859124e-08, 3.8675334242222354e-08, -3.744210080962018e-09,
    -5.1739902140113095e-09, 3.111433380979925e-10, 4.2514714447963895e-10,
)  # fmt: skip
SQRT_HALF = math.sqrt(0.5)


def _scaled_tail(x: A) -> A:
    """exp(x**2) * erfc(x) for x >= 0."""
    return polynomial(SCALED, 1 - 7.5 / (x + 3.75)) / (1 + 2 * x)


def _exp_of_square(x: A, sign: float) -> A:
    """exp(sign * x**2): the square is taken in two parts, because its last digit would count x**2 times."""
    high = np.clip(x, -1e30, 1e30).astype(np.float32).astype(np.float64)
    return np.exp(sign * high * high) * np.exp(sign * (x - high) * (x + high))


def _tail(x: A) -> A:
    """erfc(x) for x >= 0."""
    x = np.minimum(x, 30)  # from where on it is zero
    return _exp_of_square(x, -1) * _scaled_tail(x)


def _central(x: A) -> A:
    """erf(x) for -1 <= x <= 1."""
    return x * polynomial(NEAR_ZERO, x * x)


def _erf(x: A) -> A:
    size = np.abs(x)
    return by_cases(x, (size <= 1, _central), (size > 1, lambda x: np.copysign(1 - _tail(np.abs(x)), x)))


def _erfc(x: A) -> A:
    small = np.abs(x) <= 0.5
    return by_cases(x, (x > 0.5, _tail), (x < -0.5, lambda x: 2 - _tail(-x)), (small, lambda x: 1 - _central(x)))


def _erfcx(x: A) -> A:
    below = lambda x: np.where(x < -27, np.inf, 2 * _exp_of_square(np.maximum(x, -27), 1) - _scaled_tail(-x))
    return by_cases(x, (x >= 0, _scaled_tail), (x < 0, below))


def _inverse_near_zero(x: A) -> A:
    """y with erf(y) = x for |x| <= 0.5: from a cubic, three steps of Halley's method."""
    y = math.sqrt(math.pi) / 2 * (x + math.pi / 12 * x * x * x)
    for _ in range(3):
        step = (_central(y) - x) * (math.sqrt(math.pi) / 2) * np.exp(y * y)
        y = y - step / (1 + y * step)
    return y


def _inverse_of_tail(q: A) -> A:
    """y with erfc(y) = q for 0 < q <= 0.5: Newton's method for the logarithms, which are nearly a parabola."""
    target = np.log(q)
    y = np.sqrt(np.maximum(-target - 0.5 * np.log(np.maximum(-target, 0.4)) - 0.3, 0.1))
    for _ in range(5):
        scaled = _scaled_tail(y)
        y = y + (np.log(scaled) - y * y - target) * scaled * (math.sqrt(math.pi) / 2)
    return y


def _erfinv(x: A) -> A:
    size = np.abs(x)
    return by_cases(
        x,
        (size <= 0.5, _inverse_near_zero),
        ((size > 0.5) & (size < 1), lambda x: np.copysign(_inverse_of_tail(1 - np.abs(x)), x)),
        (size == 1, lambda x: x * np.inf),
    )


def _ndtri(p: A) -> A:
    root = math.sqrt(2)
    return by_cases(
        p,
        ((p > 0) & (p < 0.25), lambda p: -root * _inverse_of_tail(2 * p)),
        ((p >= 0.25) & (p <= 0.75), lambda p: root * _inverse_near_zero(2 * p - 1)),
        ((p > 0.75) & (p < 1), lambda p: root * _inverse_of_tail(2 * (1 - p))),
        (p == 0, lambda p: p - np.inf),
        (p == 1, lambda p: p + np.inf),
    )


def _log_ndtr(x: A) -> A:
    return by_cases(
        x,
        (x < -1, lambda x: np.log(_scaled_tail(-x * SQRT_HALF) / 2) - x * x / 2),
        (x >= -1, lambda x: np.log1p(-_erfc(x * SQRT_HALF) / 2)),
    )


erf = in_double(_erf)
erfc = in_double(_erfc)
erfcx = in_double(_erfcx)
erfinv = in_double(_erfinv)
ndtri = in_double(_ndtri)
log_ndtr = in_double(_log_ndtr)
