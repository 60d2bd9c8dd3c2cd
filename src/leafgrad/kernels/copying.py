"""Copies of large arrays, made by several threads where the native loops are built.

The native loops run ufuncs, and a copy is none. But the larger one of x and x is x, with all its bits, also for -0.0
and nan; that this is so on the machine at hand is checked once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad.kernels import NATIVE, SPLIT_CHEAP, fast

_larger = fast(np.maximum)
_FLOATS: dict[Any, Any] = {np.dtype(np.float32): np.dtype(np.uint32), np.dtype(np.float64): np.dtype(np.uint64)}


def keeps_bits() -> bool:
    """Does the larger one of x and x have all the bits of x? Among them here: both infinities and zeros, the smallest
    numbers, and all kinds of nan."""
    for kind, bits in _FLOATS.items():
        highest = bits.type(1) << bits.type(8 * bits.itemsize - 1)
        quiet, signalling = np.array(np.nan, kind).view(bits), np.array(np.inf, kind).view(bits) | bits.type(1)
        one = np.array([0, 1, np.array(np.inf, kind).view(bits), quiet, quiet | bits.type(5), signalling], bits)
        values = np.concatenate([one, one | highest] * 5)  # for vectors, and some numbers more
        with np.errstate(all="ignore"):
            copy = _larger(values.view(kind), values.view(kind))
        if not np.array_equal(copy.view(bits), values):
            return False
    return True


SEVERAL_THREADS = NATIVE and keeps_bits()


def copied(x: Any) -> Any:
    """`x.copy()`."""
    if SEVERAL_THREADS and x.size >= SPLIT_CHEAP and x.__class__ is np.ndarray:
        if x.dtype in _FLOATS and x.flags.c_contiguous:
            return _larger(x, x)
    return x.copy()
