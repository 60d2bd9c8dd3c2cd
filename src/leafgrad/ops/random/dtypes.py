"""What random numbers must know about dtypes: PyTorch's names for them, their limits, and how it casts to them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


class Facts(NamedTuple):
    """About a dtype: its name, PyTorch's name for it, the C++ name that PyTorch's messages use."""

    name: str
    torch: str
    cpp: str
    digits: int = 0  # bits of a float's significand with the hidden one; 0 if it is no float
    largest: float = 0.0  # finite number of a float

    @property
    def is_float(self) -> bool:
        return self.digits > 0

    @property
    def last_integer(self) -> int:
        """The largest integer; for a float, the end of those that it holds without gaps."""
        if self.is_float:
            return 1 << self.digits
        return 1 if self.name == "bool" else int(np.iinfo(self.name).max)


_FACTS = [
    Facts("uint8", "Byte", "unsigned char"),
    Facts("int8", "Char", "signed char"),
    Facts("int16", "Short", "short int"),
    Facts("int32", "Int", "int"),
    Facts("int64", "Long", "long int"),
    Facts("uint16", "UInt16", "short unsigned int"),
    Facts("uint32", "UInt32", "unsigned int"),
    Facts("uint64", "UInt64", "long unsigned int"),
    Facts("bool", "Bool", "bool"),
    Facts("float16", "Half", "c10::Half", 11, 65504.0),
    Facts("bfloat16", "BFloat16", "c10::BFloat16", 8, 3.3895313892515355e38),
    Facts("float32", "Float", "float", 24, 3.4028234663852886e38),
    Facts("float64", "Double", "double", 53, 1.7976931348623157e308),
    Facts("complex64", "ComplexFloat", "c10::complex<float>"),
    Facts("complex128", "ComplexDouble", "c10::complex<double>"),
]
INTEGER_AND_FLOAT = ("uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
REAL = (*INTEGER_AND_FLOAT, "bool")  # the younger uint16, uint32 and uint64 are unknown to most kernels


@functools.cache
def facts(dtype: np.dtype[Any]) -> Facts:
    # By name, because bfloat16 comes from ml_dtypes, which need not be installed.
    return next(found for found in _FACTS if found.name == dtype.name)


def require_dtype(dtype: np.dtype[Any], accepted: bool, kernel: str) -> None:
    if not accepted:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{facts(dtype).torch}'")


def convert(values: Array, dtype: np.dtype[Any]) -> Array:
    """Cast as PyTorch does: to a 16-bit float by way of float32, which is not always the nearest."""
    if values.dtype == dtype:
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype.itemsize == 2 and facts(dtype).is_float:
            values = values.astype(np.float32)
        return values.astype(dtype)
