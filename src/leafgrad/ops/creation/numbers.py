"""Python numbers as arrays without dimensions, and which of them a dtype does not hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad import _dtypes
from leafgrad._core.thread_state import silence_numpy
from leafgrad._dtypes import dtype as Dtype

_f32, _f64, _i64, _bool = [np.dtype(kind) for kind in (np.float32, np.float64, np.int64, np.bool_)]


def number(value: Any, kind: Dtype | None) -> Any:
    """A Python number as an array."""
    if kind is None:
        kind = _dtypes.scalar_dtype(value)
    if isinstance(value, int):
        if kind.category >= _dtypes.FLOAT:
            value = float(value)
        elif kind is _dtypes.bool_:
            value = bool(value)
        elif kind is _dtypes.uint64:
            if not 0 <= value < 2**64:
                raise OverflowError("int too big to convert" if value > 0 else "can't convert negative int to unsigned")
        elif not -(2**63) <= value < 2**63:
            raise ValueError("Overflow when unpacking long long")
    if isinstance(value, complex) and not kind.is_complex and kind is not _dtypes.bool_:
        raise TypeError(f"must be real number, not {type(value).__name__}")
    return to_array(value, kind, suffix="")


def to_array(value: Any, kind: Dtype, suffix: str = "_t") -> Any:
    """One Python number as an array without dimensions; an error if the dtype cannot hold it."""
    silence_numpy()
    if value.__class__ is float and (kind is _dtypes.float32 or kind is _dtypes.float64):  # the usual case
        return np.array(value, kind.np)
    if kind.category == _dtypes.COMPLEX or kind is _dtypes.bool_:
        return np.asarray(value).astype(kind.np)
    name = kind.name + suffix
    if kind.is_floating_point:
        name = kind.cpp if kind.itemsize > 2 else kind.name
    overflow = RuntimeError(f"value cannot be converted to type {name} without overflow")
    if isinstance(value, complex):
        if value.imag:
            raise overflow
        value = value.real
    if kind.is_floating_point:
        try:
            number = float(value)
        except OverflowError:
            raise overflow from None
        # 16-bit floats are reached by way of float32, which rounds twice, as PyTorch does
        return np.asarray(number).astype(np.float32 if kind.itemsize < 8 else np.float64).astype(kind.np)
    info = np.iinfo(kind.np)
    # unsigned numbers accept the negative of an integer that they hold, and wrap around; of a float they do not
    lowest = -int(info.max) if not kind.is_signed and isinstance(value, int) else int(info.min)
    highest = float(info.max) if isinstance(value, float) else int(info.max)  # rounded up, for int64, as in PyTorch
    if not lowest <= value <= highest:  # nor nan
        raise overflow
    return np.asarray(int(value)).astype(kind.np)


def fits(value: Any, kind: Any) -> bool:
    """Is this a number that a dtype surely holds, so that NumPy may be left to convert it? (False: perhaps.)"""
    if value.__class__ is float:
        return kind is _f64 or (kind is _f32 and -3e38 < value < 3e38)
    if value.__class__ is int:
        return (kind is _f32 or kind is _f64 or kind is _i64) and -(2**53) < value < 2**53
    return value.__class__ is bool and kind is _bool


def refuse_overflow(value: Any, kind: Dtype, rounds: bool = False) -> None:
    """Refuse a number between the largest of a float dtype and inf, unless PyTorch `rounds` it to half precision there:
    where it writes a single element, or by `x[...] = value`."""
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise OverflowError("int too big to convert" if value > 0 else "can't convert negative int to unsigned")
    if kind.category < _dtypes.FLOAT or abs(value) < 60_000 or (rounds and kind.itemsize == 2):
        return
    if LARGEST.get(kind.name, math.inf) < abs(value) < math.inf:
        raise RuntimeError(f"value cannot be converted to type {kind.cpp} without overflow")


LARGEST = {
    "float16": 65504.0,
    "bfloat16": float.fromhex("0x1.fep127"),
    "float32": float.fromhex("0x1.fffffep127"),
    "complex64": float.fromhex("0x1.fffffep127"),
}
