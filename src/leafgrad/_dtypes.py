"""The element types, how they map to NumPy's, and PyTorch's promotion rules.

NumPy promotes by dtype alone; PyTorch also looks at *what* an operand is. Operands form three priorities,
a tensor with dimensions, a zero-dimensional tensor, a Python number, and a lower priority can only raise the
*category* (bool < integer < float < complex) of the result, never its width.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

BOOL, INTEGER, FLOAT, COMPLEX = range(4)  # the categories, in the order in which they win


class dtype:
    """An element type. Printed as PyTorch prints it, because that is what people compare with."""

    __slots__ = ("_np", "alias", "category", "cpp", "is_complex", "is_floating_point", "is_signed", "itemsize", "name")

    def __init__(
        self, name: str, category: int, itemsize: int, alias: str, cpp: str, np_dtype: np.dtype[Any] | None
    ) -> None:
        self.name = name
        self.category = category
        self.itemsize = itemsize
        self.alias = alias  # what PyTorch's messages call it, and those that speak of C++
        self.cpp = cpp
        self.is_floating_point = category == FLOAT
        self.is_complex = category == COMPLEX
        self.is_signed = name not in ("uint8", "bool", "uint16", "uint32", "uint64")
        self._np = np_dtype

    @property
    def np(self) -> np.dtype[Any]:
        """The NumPy dtype behind it. bfloat16 is the one that needs a package of its own."""
        if self._np is None:
            if self is not bfloat16:
                raise TypeError(f"leafgrad has the name {self}, but no tensors of this dtype")
            self._np = _load_bfloat16()
            _from_numpy[self._np] = self
        return self._np

    def to_real(self) -> dtype:
        return {complex64: float32, complex128: float64}.get(self, self)

    def to_complex(self) -> dtype:
        return {float64: complex128}.get(self, complex64) if self.category == FLOAT else self

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name  # unpickles to the same object


def _load_bfloat16() -> np.dtype[Any]:
    try:
        import ml_dtypes
    except ImportError as error:
        raise ImportError(
            "torch.bfloat16 needs the package ml_dtypes, which is not installed\n"
            "  fix: pip install 'leafgrad[bf16]'   (or: pip install ml_dtypes)"
        ) from error
    loaded: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return loaded


bool_: Final = dtype("bool", BOOL, 1, "Bool", "bool", np.dtype(np.bool_))
uint8: Final = dtype("uint8", INTEGER, 1, "Byte", "unsigned char", np.dtype(np.uint8))
int8: Final = dtype("int8", INTEGER, 1, "Char", "signed char", np.dtype(np.int8))
int16: Final = dtype("int16", INTEGER, 2, "Short", "short int", np.dtype(np.int16))
int32: Final = dtype("int32", INTEGER, 4, "Int", "int", np.dtype(np.int32))
int64: Final = dtype("int64", INTEGER, 8, "Long", "long int", np.dtype(np.int64))
float16: Final = dtype("float16", FLOAT, 2, "Half", "c10::Half", np.dtype(np.float16))
bfloat16: Final = dtype("bfloat16", FLOAT, 2, "BFloat16", "c10::BFloat16", None)
float32: Final = dtype("float32", FLOAT, 4, "Float", "float", np.dtype(np.float32))
float64: Final = dtype("float64", FLOAT, 8, "Double", "double", np.dtype(np.float64))
complex64: Final = dtype("complex64", COMPLEX, 8, "ComplexFloat", "c10::complex<float>", np.dtype(np.complex64))
complex128: Final = dtype("complex128", COMPLEX, 16, "ComplexDouble", "c10::complex<double>", np.dtype(np.complex128))

# Known by name, for programs that list them: there are no tensors of these.
float8_e4m3fn: Final = dtype("float8_e4m3fn", FLOAT, 1, "Float8_e4m3fn", "c10::Float8_e4m3fn", None)
float8_e4m3fnuz: Final = dtype("float8_e4m3fnuz", FLOAT, 1, "Float8_e4m3fnuz", "c10::Float8_e4m3fnuz", None)
float8_e5m2: Final = dtype("float8_e5m2", FLOAT, 1, "Float8_e5m2", "c10::Float8_e5m2", None)
float8_e5m2fnuz: Final = dtype("float8_e5m2fnuz", FLOAT, 1, "Float8_e5m2fnuz", "c10::Float8_e5m2fnuz", None)

ALL: Final = (
    bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, complex64, complex128,
)  # fmt: skip

# Python's own number types, where a dtype is asked for.
PYTHON_DTYPES: Final[dict[type, dtype]] = {float: float64, int: int64, bool: bool_, complex: complex128}

_from_numpy: dict[np.dtype[Any], dtype] = {d._np: d for d in ALL if d._np is not None}


def from_numpy_dtype(np_dtype: np.dtype[Any]) -> dtype:
    """The dtype of a NumPy array; a clear TypeError for those no tensor can hold."""
    found = _from_numpy.get(np_dtype)
    if found is None:
        if np_dtype.name == "bfloat16":
            bfloat16.np  # noqa: B018  looks itself up and registers
            return bfloat16
        if not np_dtype.isnative and (found := _from_numpy.get(np_dtype.newbyteorder("="))) is not None:
            return found
        raise TypeError(
            f"can't convert np.ndarray of type {np_dtype.type.__module__}.{np_dtype.type.__name__}. The only supported "
            "types are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint8, and bool."
        )
    return found


# -- the default dtype ------------------------------------------------------------------------------------------

_default = float32


def get_default_dtype() -> dtype:
    return _default


def set_default_dtype(d: dtype) -> None:
    """set_default_dtype(d): the dtype that Python floats and integer division get."""
    global _default
    if not isinstance(d, dtype) or not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _default = d


def default_complex() -> dtype:
    return complex128 if _default is float64 else complex64


# -- promotion --------------------------------------------------------------------------------------------------


def promote_types(a: dtype, b: dtype) -> dtype:
    """promote_types(a, b): the smallest dtype that holds both, PyTorch's lattice."""
    if a is b:
        return a
    if a.category != b.category:
        low, high = (a, b) if a.category < b.category else (b, a)
        if high.category == COMPLEX and low.category == FLOAT:
            return complex128 if high is complex128 or low is float64 else complex64
        return high
    if a.itemsize == b.itemsize:  # neither holds the other
        return float32 if a.category == FLOAT else int16
    return max((a, b), key=lambda d: d.itemsize)


def scalar_dtype(value: object) -> dtype:
    """The dtype a Python number asks for."""
    if isinstance(value, (bool, np.bool_)):
        return bool_
    if isinstance(value, (int, np.integer)):
        return int64
    if isinstance(value, (float, np.floating)):
        return _default
    return default_complex()


def result_dtype(operands: list[tuple[dtype, int]]) -> dtype:
    """The dtype of a result. `operands` are (dtype, priority): 0 a tensor with dimensions, 1 a zero-dimensional
    tensor, 2 a Python number. A lower priority matters only if its category is higher."""
    best: list[dtype | None] = [None, None, None]
    for d, priority in operands:
        seen = best[priority]
        best[priority] = d if seen is None else promote_types(seen, d)
    result: dtype | None = None
    for found in best:
        if found is None:
            continue
        if result is None:
            result = found
        elif found.category > result.category:
            # a wider category wins, with the width that the stronger operands ask for
            result = result.to_complex() if result.category == FLOAT else found
    if result is None:
        raise ValueError("result_dtype needs at least one operand")
    return result


def can_cast(source: dtype, target: dtype) -> bool:
    """can_cast(source, target): may an in-place operation put `source` values into `target`?"""
    if source.category > target.category:
        return False
    return not (source.category == INTEGER and target is bool_)


# -- limits -----------------------------------------------------------------------------------------------------


class finfo:
    """finfo(dtype): the limits of a floating dtype: bits, eps, max, min, tiny, smallest_normal, resolution."""

    def __init__(self, d: dtype | None = None):
        d = d or _default
        if d.category < FLOAT:
            raise TypeError(f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{d}'")
        real = d.to_real()
        if real is bfloat16:
            import ml_dtypes

            limits: Any = ml_dtypes.finfo
        else:
            limits = np.finfo
        info = limits(real.np)
        self.bits = real.itemsize * 8
        self.eps = float(info.eps)
        self.max = float(info.max)
        self.min = float(info.min)
        self.tiny = self.smallest_normal = float(info.smallest_normal)
        self.resolution = float(info.resolution)
        self.dtype = real.name

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:
    """iinfo(dtype): the limits of an integer dtype: bits, max, min."""

    def __init__(self, d: dtype):
        if d.category != INTEGER:
            raise TypeError(f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{d}'")
        info = np.iinfo(d.np)
        self.bits = info.bits
        self.max = int(info.max)
        self.min = int(info.min)
        self.dtype = d.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
