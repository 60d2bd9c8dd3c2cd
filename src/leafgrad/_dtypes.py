"""The element types, how they map to NumPy's, and PyTorch's promotion rules.

NumPy promotes by dtype alone; PyTorch also looks at *what* an operand is. Operands form three priorities,
a tensor with dimensions, a zero-dimensional tensor, a Python number, and a lower priority can only raise the
*category* (bool < integer < float < complex) of the result, never its width.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

BOOL, INTEGER, FLOAT, COMPLEX = range(4)  # the categories, in the order in which they win
HALF = 4  # of FLOAT those of 16 bits, which some operations do not take


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
                raise NotImplementedError(f"leafgrad has no tensors of {self!r}: there is no such dtype in NumPy")
            self._np = _load_bfloat16()
            _from_numpy[self._np] = self
        return self._np

    def to_real(self) -> dtype:
        return {complex32: float16, complex64: float32, complex128: float64}.get(self, self)

    def to_complex(self) -> dtype:
        if self.category < FLOAT or self in FLOAT8:
            raise RuntimeError(f"Unknown Complex ScalarType for {self.alias}")
        return self if self.is_complex else {float16: complex32, float64: complex128}.get(self, complex64)

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return "bool_" if self is bool_ else self.name  # the name here: unpickles to the same object


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
uint16: Final = dtype("uint16", INTEGER, 2, "UInt16", "short unsigned int", np.dtype(np.uint16))
uint32: Final = dtype("uint32", INTEGER, 4, "UInt32", "unsigned int", np.dtype(np.uint32))
uint64: Final = dtype("uint64", INTEGER, 8, "UInt64", "long unsigned int", np.dtype(np.uint64))

ALL: Final = (
    bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, complex64, complex128,
)  # fmt: skip
UNSIGNED: Final = (uint16, uint32, uint64)  # which are promoted to floats only

# Names for programs that compare dtypes and put them in tables. There are no tensors of them: NumPy has none.
complex32: Final = dtype("complex32", COMPLEX, 4, "ComplexHalf", "c10::complex<c10::Half>", None)
FLOAT8: Final = tuple(
    [
        dtype(f"float8_{form}", FLOAT, 1, f"Float8_{form}", f"c10::Float8_{form}", None)
        for form in ("e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu")
    ]
)
float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu = FLOAT8

# Python's own number types, where a dtype is asked for.
PYTHON_DTYPES: Final[dict[type, dtype]] = {float: float64, int: int64, bool: bool_, complex: complex128}

_from_numpy: dict[np.dtype[Any], dtype] = {d._np: d for d in (*ALL, *UNSIGNED) if d._np is not None}


def type_name(kind: dtype) -> str:
    """What PyTorch's messages call the type of tensors of a dtype."""
    return f"CPU{kind.alias}Type" if kind.is_complex or kind in (bool_, bfloat16) else f"torch.{kind.alias}Tensor"


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
            "types are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, "
            "uint16, uint8, and bool."
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
    if a in _RARELY_PROMOTED or b in _RARELY_PROMOTED:
        _check_promotion(a, b)
    if a.category != b.category:
        low, high = (a, b) if a.category < b.category else (b, a)
        return promote_types(high, low.to_complex()) if high.category == COMPLEX and low.category == FLOAT else high
    if a.itemsize == b.itemsize:  # neither holds the other
        return float32 if a.category == FLOAT else int16
    return max((a, b), key=lambda d: d.itemsize)


_RARELY_PROMOTED = frozenset([*FLOAT8, *UNSIGNED])


def _check_promotion(a: dtype, b: dtype) -> None:
    for kinds, what in ((FLOAT8, "Float8 Types"), (UNSIGNED, "uint16, uint32, uint64 types")):
        if (a in kinds or b in kinds) and (kinds is FLOAT8 or max(a.category, b.category) != FLOAT):
            words = f"Promotion for {what} is not supported, attempted to promote {a.alias} and {b.alias}"
            raise RuntimeError(words)


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
            result = widened_to_complex(result) if result.category == FLOAT else found
    if result is None:
        raise ValueError("result_dtype needs at least one operand")
    return result


def widened_to_complex(d: dtype) -> dtype:
    """The complex numbers whose parts are at least as precise as a float, among those that there are tensors of."""
    return complex128 if d is float64 else complex64


def can_cast(source: dtype, target: dtype) -> bool:
    """can_cast(source, target): may an in-place operation put `source` values into `target`?"""
    if source.category > target.category:
        return False
    return not (source.category == INTEGER and target is bool_)


# -- limits -----------------------------------------------------------------------------------------------------


def _limited(name: str, type: Any) -> dtype:
    """A dtype, or one of Python's own types of numbers."""
    found = PYTHON_DTYPES.get(type, type) if isinstance(type, _python_type) else type
    if not isinstance(found, dtype):
        raise TypeError(f"{name}(): argument 'type' (position 1) must be torch.dtype, not {type.__class__.__name__}")
    return found


_python_type = type

# Of dtypes that NumPy does not have: eps, min, max, the smallest normal number, the resolution in decimals.
LIMITS_OF_NAMES = {
    "bfloat16": (2.0**-7, -(2.0**128 - 2.0**120), 2.0**128 - 2.0**120, 2.0**-126, 0.01),
    "float8_e4m3fn": (2.0**-3, -448.0, 448.0, 2.0**-6, 1.0),
    "float8_e4m3fnuz": (2.0**-3, -240.0, 240.0, 2.0**-7, 1.0),
    "float8_e5m2": (2.0**-2, -57344.0, 57344.0, 2.0**-14, 1.0),
    "float8_e5m2fnuz": (2.0**-3, -57344.0, 57344.0, 2.0**-15, 1.0),
    "float8_e8m0fnu": (1.0, 2.0**-127, 2.0**127, 2.0**-127, 1.0),
}


class finfo:
    """finfo(dtype): the limits of a floating dtype: bits, eps, max, min, tiny, smallest_normal, resolution."""

    def __init__(self, type: Any = None):
        d = _default if type is None else _limited("finfo", type)
        if d.category < FLOAT:
            raise TypeError(f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{d}'")
        real = d.to_real()
        if real.name in LIMITS_OF_NAMES:
            self.eps, self.min, self.max, self.tiny, self.resolution = LIMITS_OF_NAMES[real.name]
        else:
            info = np.finfo(real.np)
            self.eps = float(info.eps)
            self.min = float(info.min)
            self.max = float(info.max)
            self.tiny = float(info.smallest_normal)
            self.resolution = 10.0**-info.precision
        self.smallest_normal = self.tiny
        self.bits = real.itemsize * 8
        self.dtype = real.name

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:
    """iinfo(dtype): the limits of an integer dtype: bits, max, min."""

    def __init__(self, type: Any):
        d = _limited("iinfo", type)
        if d is bool_:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if d.category != INTEGER:
            raise TypeError(f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{d}'")
        info = np.iinfo(d.np)
        self.bits = info.bits
        self.max = int(info.max)
        self.min = int(info.min)
        self.dtype = d.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
