"""What random numbers must know about dtypes: the integers that they hold, and how PyTorch casts to them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from leafgrad import _dtypes
from leafgrad._dtypes import dtype as Dtype
from leafgrad._dtypes import from_numpy_dtype

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

# Bits of a float's significand, with the hidden one.
DIGITS = {_dtypes.float16: 11, _dtypes.bfloat16: 8, _dtypes.float32: 24, _dtypes.float64: 53}


@functools.cache
def last_integer(kind: Dtype) -> int:
    """The largest integer; for a float, the end of those that it holds without gaps."""
    if kind.is_floating_point:
        return 1 << DIGITS[kind]
    return 1 if kind is _dtypes.bool_ else _dtypes.iinfo(kind).max


@functools.cache
def largest(kind: Dtype) -> float:
    """The largest finite number of a float."""
    return _dtypes.finfo(kind).max


def is_float(dtype: np.dtype[Any]) -> bool:
    return from_numpy_dtype(dtype).is_floating_point


def require_dtype(dtype: np.dtype[Any], accepted: bool, kernel: str) -> None:
    if not accepted:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{from_numpy_dtype(dtype).alias}'")


def convert(values: Array, dtype: np.dtype[Any]) -> Array:
    """Cast as PyTorch does: to a 16-bit float by way of float32, which is not always the nearest."""
    if values.dtype == dtype:
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype.itemsize == 2 and is_float(dtype):
            values = values.astype(np.float32)
        return values.astype(dtype)
