"""Random numbers that are proposed and then accepted or rejected, one by one in Python: methods of the Stream of
_random_numpy.py. Where `_random.c` was built, random_rejection.h has the same in C.

How many words of the stream a number takes is known only afterwards. All that they are made of are uniforms in float64
(and standard normals, a pair of two such uniforms). These are drawn in blocks, and the stream gets back what is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from leafgrad.kernels._random_numpy import Stream

    Array = NDArray[Any]

THIRD = float(np.float32(1 / 3))  # PyTorch has these constants in single precision
SQUEEZE = float(np.float32(0.0331))
MOST = 4096  # uniforms drawn at once


class Draws:
    """Uniforms and normals of a stream, one by one; inside of `with`, which nobody else draws from."""

    def __init__(self, stream: Stream, about: int, waiting: float | None) -> None:
        self.stream = stream
        self.about = min(max(about, 16), MOST)
        self.block: list[float] = []
        self.used = 0
        self.before: Any = None  # the state before the block
        self.waiting = waiting  # the second normal of a pair

    def __enter__(self) -> Draws:
        return self

    def __exit__(self, *exception: object) -> None:
        if self.used < len(self.block):
            self.stream.load(*self.before)
            if self.used:
                self.stream.uniform(np.empty(self.used))

    def uniform(self) -> float:
        """In [0, 1), with 53 bits."""
        if self.used == len(self.block):
            self.before = (*self.stream.state(), self.stream.fresh)
            numbers = np.empty(self.about)
            self.stream.uniform(numbers)
            self.block, self.used = numbers.tolist(), 0
        self.used += 1
        return self.block[self.used - 1]

    def normal(self) -> float:
        """Standard normal; of a pair the second waits."""
        waiting = self.waiting
        if waiting is not None:
            self.waiting = None
            return waiting
        angle = 2 * math.pi * self.uniform()
        radius = math.sqrt(-2 * math.log1p(-self.uniform()))
        self.waiting = radius * math.sin(angle)
        return radius * math.cos(angle)


def fill(
    out: Array, stream: Stream, draw: Callable[..., float], parameters: list[Array], waiting: float | None = None
) -> float | None:
    """draw(draws, ...) for each element, row by row; what waits of a pair of normals is returned."""
    with Draws(stream, 4 * out.size, waiting) as draws:
        rows = zip(*[p.reshape(-1).astype(np.float64).tolist() for p in parameters])
        drawn = np.array([draw(draws, *row) for row in rows], np.float64).reshape(out.shape)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        out[...] = drawn
    return draws.waiting


# -- gamma ------------------------------------------------------------------------------------------------------------


def gammas(stream: Stream, out: Array, shapes: Array, waiting: float | None) -> float | None:
    """See Stream.gammas: the first steps are done in the precision of `shapes`."""
    real = shapes.dtype.type
    boosted = shapes < real(1)
    with np.errstate(all="ignore"):
        power = np.where(boosted, real(1) / shapes, 0)
    d = np.where(boosted, shapes + real(1), shapes) - real(THIRD)
    waiting = fill(out, stream, _gamma, [shapes, power, d], waiting)
    np.fmax(out, np.finfo(real).tiny, out=out)
    return waiting


def _gamma(draws: Draws, shape: float, power: float, d: float) -> float:
    """Marsaglia and Tsang (2000), "A simple method for generating gamma variables"; shapes below one are raised by one
    and the number is scaled down."""
    scale = 1.0
    if shape < 1:
        if shape == 0:
            return 0.0
        scale = math.pow(1 - draws.uniform(), power) if shape > 0 else 0.0
    if not d > 0:  # a shape that is none: what PyTorch makes of it, but without drawing
        return math.nan
    c = 1 / math.sqrt(9 * d)
    while True:
        y = 0.0
        while y <= 0:
            x = draws.normal()
            y = 1 + c * x
        v = y * y * y
        u = 1 - draws.uniform()
        square = x * x
        if u < 1 - SQUEEZE * square * square or math.log(u) < 0.5 * square + d * (1 - v + math.log(v)):
            return scale * d * v


# -- numbers of events ------------------------------------------------------------------------------------------------


def poissons(stream: Stream, out: Array, rates: Array) -> None:
    """See Stream.poissons."""
    fill(out, stream, _poisson, [rates])


def _poisson(draws: Draws, rate: float) -> float:
    if rate >= 10:
        return _poisson_transformed(draws, rate)
    if rate == 0:
        return 0
    # Events until their waiting times, whose exponentials are multiplied, exceed the unit of time.
    limit, product, events = math.exp(-rate), draws.uniform(), 0
    while product > limit:
        product *= draws.uniform()
        events += 1
    return events


def _as_integer(x: float) -> int:
    """Rounded down to a number of 64 bits: all that do not fit are the lowest one, as processors have it."""
    return math.floor(x) if -(2.0**63) <= x < 2.0**63 else -(2**63)


def _poisson_transformed(draws: Draws, rate: float) -> float:
    """Hörmann (1993), "The transformed rejection method for generating Poisson random variables": PTRS."""
    log_rate = math.log(rate)
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    tight = 0.9277 - 3.6224 / (b - 2)
    while True:
        u = draws.uniform() - 0.5
        v = draws.uniform()
        edge = 0.5 - abs(u)
        k = _as_integer((2 * a / edge + b) * u + rate + 0.43) if edge else -1
        if edge >= 0.07 and v <= tight:
            return k
        if k < 0 or (edge < 0.013 and v > edge):
            continue
        height = math.log(v) + math.log(inverse_alpha) - math.log(a / (edge * edge) + b) if v else -math.inf
        if height <= -rate + k * log_rate - math.lgamma(k + 1):
            return k


def binomials(stream: Stream, out: Array, parameters: Array) -> None:
    """See Stream.binomials."""
    fill(out, stream, _binomial, list(parameters))


def _binomial(
    draws: Draws, count: float, p: float, mean: float, std: float, odds: float, mode: float, log_failure: float
) -> float:
    if not (count > 0 and 0 < p < 1):
        return 0
    if mean >= 10:
        return _binomial_transformed(draws, count, p, mean, std, odds, mode)
    # Trials up to a success are geometrically distributed. How many successes fit into `count`?
    trials, successes = 0.0, 0
    while True:
        u = draws.uniform()
        trials += _integral(math.ceil, math.log(u) / log_failure) if u else math.inf
        if trials > count:
            return successes
        successes += 1


def _integral(rounding: Callable[[float], int], x: float) -> float:
    """Of numbers that have no neighbour among the integers, the number itself."""
    return rounding(x) if math.isfinite(x) else x


def _binomial_transformed(
    draws: Draws, count: float, p: float, mean: float, std: float, odds: float, mode: float
) -> float:
    """Hörmann (1993), "The generation of binomial random variates": BTRS."""
    b = 1.15 + 2.53 * std
    a = -0.0873 + 0.0248 * b + 0.01 * p
    tight = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * std
    left = count - mode + 1
    while True:
        u = draws.uniform() - 0.5
        v = draws.uniform()
        edge = 0.5 - abs(u)
        k = _integral(math.floor, (2 * a / edge + b) * u + mean + 0.5) if edge else -1
        if k < 0 or k > count:
            continue
        if edge >= 0.07 and v <= tight:
            return k
        height = math.log(v * alpha / (a / (edge * edge) + b)) if v else -math.inf
        bound = (mode + 0.5) * math.log((mode + 1) / (odds * left)) + (count + 1) * math.log(left / (count - k + 1))
        bound += (k + 0.5) * math.log(odds * (count - k + 1) / (k + 1))
        bound += _stirling_rest(mode) + _stirling_rest(count - mode) - _stirling_rest(k) - _stirling_rest(count - k)
        if height <= bound:
            return k


_STIRLING_RESTS = [
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
]  # fmt: skip


def _stirling_rest(k: float) -> float:
    """What Stirling's formula for log(k!) leaves out."""
    if k <= 9:
        return _STIRLING_RESTS[int(k)]
    square = (k + 1) * (k + 1)
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)
