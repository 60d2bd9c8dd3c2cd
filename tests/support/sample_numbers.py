"""Pseudo-random numbers that stay the same for ever: whole multiples of 2**-20, made by integer arithmetic alone.

Stored results of other libraries belong to them (tests/data/op_values), and the streams of `numpy.random` may
change from one version to the next. Such multiples are the same numbers in single and in double precision.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

Array = Any
UNIT = 2**20
_MASK = 2**64 - 1
_STEP = 0x9E3779B97F4A7C15  # 2**64 over the golden ratio, odd: steps of this size reach every state


def _mixed(z: Any) -> Any:
    """The output function of the generator SplitMix64; for an integer or for an array of uint64, which wraps."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def words(seed: Iterable[int], count: int) -> Array:
    """`count` numbers of 64 bits, uint64."""
    state = 0
    for number in seed:
        state = _mixed((state + number + _STEP) & _MASK)
    steps = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_STEP)
    return _mixed(steps + np.uint64(state))


def integers(seed: Iterable[int], shape: tuple[int, ...], first: int, last: int) -> Array:
    """Integers from `first` to `last`, both included."""
    drawn = words(seed, math.prod(shape)) % np.uint64(last - first + 1)
    return (drawn.astype(np.int64) + first).reshape(shape)


def uniform(seed: Iterable[int], shape: tuple[int, ...], low: float, high: float) -> Array:
    """Floats of the interval, each for itself."""
    return np.asarray(integers(seed, shape, round(low * UNIT), round(high * UNIT) - 1) / UNIT)


def spaced(seed: tuple[int, ...], shape: tuple[int, ...], low: float, high: float) -> Array:
    """Floats in random order that are well apart: the interval is cut into as many cells as there are numbers, and
    each cell has one, in its middle part."""
    count = math.prod(shape)
    cells = np.argsort(words((*seed, 0), count), kind="stable")
    places = cells * UNIT + integers((*seed, 1), (count,), UNIT // 5, UNIT * 4 // 5)
    first, last = round(low * UNIT), round(high * UNIT)
    return np.asarray((first + (last - first) * places // max(UNIT * count, 1)) / UNIT).reshape(shape)
