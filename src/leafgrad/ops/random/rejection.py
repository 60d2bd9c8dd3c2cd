"""Random numbers that are proposed and then accepted or rejected, bit for bit those of PyTorch 2.13 on the CPU.

How many words of the generator a number takes is known only afterwards, so each is made by itself, in Python. All that
they are made of are uniforms in float64 (and standard normals, a pair of two such uniforms). These are drawn in blocks,
and the generator gets back what is left over.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from leafgrad.ops.random.dtypes import convert, is_float, require_dtype
from leafgrad.ops.random.generator import Generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

THIRD = float(np.float32(1 / 3))  # PyTorch has these constants in single precision
SQUEEZE = float(np.float32(0.0331))
MOST = 4096  # uniforms drawn at once


class Draws:
    """Uniforms and normals of a generator, one by one; inside of `with`, which nobody else draws from."""

    def __init__(self, generator: Generator, about: int) -> None:
        self.generator = generator
        self.stream = generator._stream
        self.about = min(max(about, 16), MOST)
        self.block: list[float] = []
        self.used = 0
        self.before: Any = None  # the state before the block

    def __enter__(self) -> Draws:
        self.generator._lock.acquire()
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            if self.used < len(self.block):
                self.stream.load(*self.before)
                if self.used:
                    self.stream.uniform(np.empty(self.used))
        finally:
            self.generator._lock.release()

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
        """Standard normal; of a pair the second waits in the generator."""
        waiting = self.generator._next_normal
        if waiting is not None:
            self.generator._next_normal = None
            return waiting
        angle = 2 * math.pi * self.uniform()
        radius = math.sqrt(-2 * math.log1p(-self.uniform()))
        self.generator._next_normal = radius * math.sin(angle)
        return radius * math.cos(angle)


def one_by_one(generator: Generator, draw: Callable[..., float], *parameters: Array) -> Array:
    """draw(draws, ...) for each element, row by row, in float64."""
    size = parameters[0].size
    with Draws(generator, 4 * size) as draws:
        rows = zip(*[p.reshape(-1).tolist() for p in parameters])
        return np.array([draw(draws, *row) for row in rows], np.float64).reshape(parameters[0].shape)


# -- numbers of events ------------------------------------------------------------------------------------------------


def poisson(generator: Generator, rates: Array) -> Array:
    """How many events there are, where so many are expected, as `torch.poisson(rates)`."""
    require_dtype(rates.dtype, is_float(rates.dtype), "poisson_cpu")
    if not np.all(rates >= 0):
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    return convert(one_by_one(generator, _poisson, rates.astype(np.float64)), rates.dtype)


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
        k = math.floor((2 * a / edge + b) * u + rate + 0.43) if edge else -1
        if edge >= 0.07 and v <= tight:
            return k
        if k < 0 or (edge < 0.013 and v > edge):
            continue
        height = math.log(v) + math.log(inverse_alpha) - math.log(a / (edge * edge) + b) if v else -math.inf
        if height <= -rate + k * log_rate - math.lgamma(k + 1):
            return k


def binomial(generator: Generator, parameters: Array) -> Array:
    """How many of `parameters[0]` trials succeed, each with probability `parameters[1]`, as `torch.binomial`."""
    count, p = parameters
    kind = count.dtype
    require_dtype(kind, kind.itemsize >= 4 and is_float(kind), "binomial_cpu")
    flipped = p > 0.5
    q = np.where(flipped, (1.0 - p.astype(np.float64)).astype(kind), p)  # of what is rarer, success or failure
    one = kind.type(1)
    wide = [
        count,
        q,
        count * q,
        np.sqrt(count * q * (one - q)),
        q / (one - q),
        np.floor((count + one) * q),
        np.log1p(-q),
    ]
    rarer = one_by_one(generator, _binomial, *[each.astype(np.float64) for each in wide])
    drawn = np.where(flipped, count - rarer, rarer)
    drawn = np.where((count <= 0) | (p <= 0), 0.0, np.where(p >= 1, count, drawn))
    unknown = np.isnan(count) | (np.isnan(p) & (count > 0))
    return convert(np.where(unknown, np.nan, drawn), kind)


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
        trials += math.ceil(math.log(u) / log_failure) if u else math.inf
        if trials > count:
            return successes
        successes += 1


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
        k = math.floor((2 * a / edge + b) * u + mean + 0.5) if edge else -1
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


# -- gamma and Dirichlet ----------------------------------------------------------------------------------------------


def standard_gamma(generator: Generator, shapes: Array) -> Array:
    """Gamma distributed numbers with scale one, as `torch._standard_gamma(shapes)`; never zero."""
    kind = shapes.dtype
    require_dtype(kind, kind.itemsize >= 4 and is_float(kind), "gamma_cpu")
    positive: Array = np.fmax(convert(_gammas(generator, shapes), kind), np.finfo(kind).tiny)
    return positive


def _gammas(generator: Generator, shapes: Array) -> Array:
    """In float64, after the first steps in the precision of `shapes`."""
    one = shapes.dtype.type(1)
    boosted = shapes < one
    with np.errstate(all="ignore"):
        power = np.where(boosted, one / shapes, 0)
    d = np.where(boosted, shapes + one, shapes) - shapes.dtype.type(THIRD)
    return one_by_one(generator, _gamma, *[each.astype(np.float64) for each in (shapes, power, d)])


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


def dirichlet(generator: Generator, concentrations: Array) -> Array:
    """Probabilities along the last dimension, as `torch._sample_dirichlet`: gamma numbers over their sum."""
    kind = concentrations.dtype
    require_dtype(kind, kind.itemsize >= 4 and is_float(kind), "dirichlet")
    gammas: Array = np.fmax(_gammas(generator, concentrations.astype(np.float64)), np.finfo(np.float64).tiny)
    numbers = gammas / (gammas.sum(-1, keepdims=True) if gammas.ndim else gammas)
    clipped: Array = np.clip(convert(numbers, kind), np.finfo(kind).tiny, np.nextafter(kind.type(1), kind.type(0)))
    return clipped
