"""Divisors and multiples of integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad._dtypes import BOOL, COMPLEX, FLOAT
from leafgrad.ops.pointwise.comparison import Comparison
from leafgrad.ops.promotion import mixed_binary
from leafgrad.ops.registry import op
from leafgrad.ops.samples import S

A = Any  # an array


class OfIntegers(Comparison, family=True):
    apply: Any = staticmethod(mixed_binary)
    refuses = (BOOL, FLOAT, COMPLEX)
    takes = ("Tensor", "Tensor")
    in_place_function = True
    samples = staticmethod(
        lambda t: [
            S(t(3, 4, dtype="int64", low=-9, high=30), t(4, dtype="int64", low=1, high=20)),
            S(t(0, dtype="int64"), t(dtype="int64")),
        ]
    )


@op
class gcd(OfIntegers):
    """gcd(input, other): the greatest common divisor of each two elements."""

    kernel = np.gcd


@op
class lcm(OfIntegers):
    """lcm(input, other): the least common multiple of each two elements."""

    kernel = np.lcm
