"""Derivatives of gamma and Dirichlet numbers by their parameters, on arrays.

A number x with distribution function F(x; a) that moves with `a` so that F stays what it is has the derivative
-(dF/da) / (dF/dx). There is no closed form; as PyTorch does, series are used where x is small, saddle point expansions
where parameters are large, and elsewhere rational functions whose coefficients are PyTorch's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

A = Any


def digamma(x: A) -> A:
    """Of positive numbers: raised above ten by the recurrence, then the asymptotic series."""
    x = np.array(x, np.float64)
    shift = np.zeros_like(x)
    for _ in range(10):
        low = x < 10
        shift = np.where(low, shift - 1 / x, shift)
        x = np.where(low, x + 1, x)
    z = 1 / (x * x)
    series = 1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * (691 / 32760 - z / 12)))))
    return shift + np.log(x) - 0.5 / x - z * series


def by_region(regions: list[tuple[A, Callable[..., A]]], *arrays: A) -> A:
    """Each element by the function of the first region that it lies in."""
    out = np.zeros(arrays[0].shape)
    left = np.ones(arrays[0].shape, bool)
    for region, function in regions:
        chosen = left & region
        if chosen.any():
            out[chosen] = function(*[array[chosen] for array in arrays])
        left &= ~chosen
    return out


def broadcast(arrays: tuple[A, ...]) -> tuple[np.dtype[Any], list[A]]:
    return arrays[0].dtype, [np.atleast_1d(a).astype(np.float64) for a in np.broadcast_arrays(*arrays)]


# -- gamma ------------------------------------------------------------------------------------------------------------


def gamma_gradient(shape: A, x: A) -> A:
    """d x / d shape for a number of the standard gamma distribution, as `torch._standard_gamma_grad`."""
    kind, (a, x_) = broadcast((shape, x))
    with np.errstate(all="ignore"):
        near = (0.9 * a <= x_) & (x_ <= 1.1 * a)
        regions = [
            (x_ < 0.8, gamma_series), ((a > 8) & near, gamma_at_mean), (a > 8, gamma_saddle),
            (np.True_, gamma_rational),
        ]  # fmt: skip
        out = by_region(regions, a, x_)
    return out.reshape(np.broadcast_shapes(shape.shape, x.shape)).astype(kind)


def gamma_series(a: A, x: A) -> A:
    numerator, first, second = np.ones_like(x), 1 / a, 1 / (a * a)
    for i in range(1, 6):
        numerator = numerator * (-x / i)
        first = first + numerator / (a + i)
        second = second + numerator / ((a + i) * (a + i))
    power = np.power(x, a)
    slope = (np.log(x) - digamma(a)) * (power * first) - power * second
    found = -slope / (np.power(x, a - 1) * np.exp(-x))
    return np.where(np.isnan(found), 0.0, found)


def gamma_at_mean(a: A, x: A) -> A:
    """Where the saddle point expansion is 0 / 0."""
    factor = 1 + 24 * a * (1 + 12 * a)
    return factor * (1440 * a**2 + 6 * x * (53 - 120 * x) - 65 * x * x / a + a * (107 + 3600 * x)) / (1244160 * a**4)


def gamma_saddle(a: A, x: A) -> A:
    root, gap, log = np.sqrt(8 * a), a - x, np.log(x / a)
    tail = np.power(x - a - a * log, -1.5)
    term = log * (root / gap + np.where(x < a, -tail, tail)) - np.sqrt(2 / a) * (a + x) / (gap * gap)
    return -(1 + 1 / (12 * a) * (1 + 1 / (24 * a))) * x * term / root


_GAMMA = np.array(
    [
        [0.16009398, -0.094634809, 0.025146376, -0.0030648343, 1, 0.32668115, 0.10406089, 0.0014179084],
        [0.53487893, 0.1298071, 0.065735949, -0.0015649758, 0.16639465, 0.020070113, -0.0035938915, -0.00058392623],
        [0.040121004, -0.0065914022, -0.0026286047, -0.0013441777, 0.017050642, -0.0021309326, 0.00085092367,
         -1.5247877e-07],
    ]
)  # fmt: skip


def gamma_rational(a: A, x: A) -> A:
    """exp(p / q), polynomials in u = log(x / a) and v = log(a)."""
    coefficients = powers(np.log(x / a), 3) @ _GAMMA
    v = powers(np.log(a), 4)
    return np.exp((coefficients[:, :4] * v).sum(1) / (coefficients[:, 4:] * v).sum(1))


def powers(x: A, count: int) -> A:
    return np.stack([x**i for i in range(count)], 1)


# -- Dirichlet --------------------------------------------------------------------------------------------------------


def dirichlet_gradient(x: A, alpha: A, total: A) -> A:
    """d x / d alpha over 1 - x, for a number of Beta(alpha, total - alpha), as `torch._dirichlet_grad`."""
    kind, (x_, a, t) = broadcast((x, alpha, total))
    b = t - a
    with np.errstate(all="ignore"):
        edge = t * x_ * (1 - x_)
        regions = [
            ((x_ <= 0.5) & (edge < 2.5), beta_near_zero),
            ((x_ >= 0.5) & (edge < 0.75), lambda x, a, b: -beta_by_other(1 - x, b, a)),
            ((a > 6) & (b > 6), beta_saddle),
            (np.True_, beta_rational),
        ]
        out = by_region(regions, x_, a, b)
    return out.reshape(np.broadcast_shapes(x.shape, alpha.shape, total.shape)).astype(kind)


def beta_near_zero(x: A, a: A, b: A) -> A:
    factor = digamma(a) - digamma(a + b) - np.log(x)
    numerator, series = np.ones_like(x), 1 / a * (factor + 1 / a)
    for i in range(1, 11):
        numerator = numerator * ((i - b) * x / i)
        series = series + numerator / (a + i) * (factor + 1 / (a + i))
    found = x * np.power(1 - x, -b) * series
    return np.where(np.isnan(found), 0.0, found)


def beta_by_other(x: A, a: A, b: A) -> A:
    """The derivative by the second parameter, where x is near zero."""
    factor = digamma(a + b) - digamma(b)
    numerator, product, slope, series = np.ones_like(x), np.ones_like(x), np.zeros_like(x), factor / a
    for i in range(1, 9):
        numerator = numerator * (-x / i)
        slope = slope * (b - i) + product
        product = product * (b - i)
        series = series + numerator / (a + i) * (slope + factor * product)
    found = -np.power(1 - x, 1 - b) * series
    return np.where(np.isnan(found), 0.0, found)


def beta_saddle(x: A, a: A, b: A) -> A:
    total = a + b
    mean = a / total
    std = np.sqrt(a * b / (total + 1)) / total
    near = (mean - 0.1 * std <= x) & (x <= mean + 0.1 * std)
    return by_region([(near, beta_at_mean), (np.True_, beta_far_from_mean)], x, a, b)


def beta_at_mean(x: A, a: A, b: A) -> A:
    """Where the saddle point expansion is 0 / 0."""
    total = a + b
    polynomial = (453 + 1620 * b * (1 - x) - 455 * x) * b + a * (8 * (1 - x) * (135 * b - 11))
    polynomial = 3 * (59 + 180 * b - 90 * x) * b**2 + a * polynomial
    polynomial = 47 * x * b**4 + a * ((43 + 20 * (16 + 27 * b) * x) * b**3 + a * polynomial)
    above = (1 + 12 * a) * (1 + 12 * b) / (total * total)
    return above / (1 - x) * polynomial / (12960 * a**3 * b**2 * (1 + 12 * total))


def beta_far_from_mean(x: A, a: A, b: A) -> A:
    total = a + b

    def stirling(z: A) -> A:
        return 1 + 1 / (12 * z) + 1 / (288 * z * z)

    gap = a * (x - 1) + b * x
    log_a, log_b = np.log(a / (total * x)), np.log(b / (total * (1 - x)))
    term = 2 * a**2 * (x - 1) + a * b * (x - 1) - x * b**2
    term = term / (np.sqrt(2 * a / b) * np.power(total, 1.5) * gap * gap)
    tail = np.power(b * log_b + a * log_a, -1.5)
    term = term + 0.5 * log_a * (np.sqrt(8 * a * b / total) / gap + np.where(x < a / total, tail, -tail))
    return stirling(a) * stirling(b) / stirling(total) * (-x / np.sqrt(2 * a * b / total)) * term


# Of p and q: by the powers of u, of a and of b.
_BETA = np.array(
    [
        1.003668233, -0.01061107488, -0.0657888334, 0.01201642863, 0.6336835991, -0.3557432599, 0.05486251648,
        -0.001465281033, -0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013,
        0.221950385, -0.3187676331, 0.01799915743, 0.01074823814, -0.2951249643, 0.06219954479, 0.01535556598,
        0.001550077057, 0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05,
        -0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565, 0.02911413504, 0.01400243777, -0.002721828457,
        0.000751041181, 0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05,
        1, -0.02924021934, -0.04438342661, 0.007285809825, 0.6357567472, -0.3473456711, 0.05454656494,
        -0.002407477521, -0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149,
        0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273, 0.1014815858, -0.06589186703, 0.01272886114,
        -0.0007316646956, -0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05,
        0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05, 0.001925008108, -0.002869809258,
        0.0008000589141, -6.063713228e-05, -0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06,
    ]
).reshape(2, 3, 3, 4)  # fmt: skip


def beta_rational(x: A, a: A, b: A) -> A:
    """p / q, polynomials in u = log(x), v = log(a / x) and w = log(total) - v, times what holds for small x."""
    total = a + b
    u = np.log(x)
    v = np.log(a) - u
    w = np.log(total) - v
    p, q = np.einsum("kuvw,nu,nv,nw->kn", _BETA, powers(u, 3), powers(v, 3), powers(w, 4))
    return p / q * (x * (digamma(total) - digamma(a)) / b)
