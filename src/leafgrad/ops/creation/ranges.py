"""Tensors that follow a rule: ranges, equal distances, ones on a diagonal, the places of a triangle."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._core.overrides import UNCHANGED, function_overridden, modes_of_all_threads
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._dtypes import dtype as Dtype
from leafgrad.kernels.moving import counted, native_move
from leafgrad.kernels.moving import spaced as equal_distances
from leafgrad.ops.arguments import declared_and_checked, matched
from leafgrad.ops.creation.factories import create
from leafgrad.ops.creation.fresh import fresh
from leafgrad.ops.creation.numbers import fits
from leafgrad.ops.signature import Number, Options, OutOptions, Tensor, by_name, declared


@declared_and_checked
def eye(n: int, m: int | None = None, **options: OutOptions) -> Tensor:
    """eye(n, m=None, *, **options): ones on the diagonal of an n x m matrix."""
    for name, value in (("n", n), ("m", m)):
        if value is not None and value < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {value}")
    m = n if m is None else m
    return create("eye", options, _ones_on_diagonal, n, m, form=((n, m),))


def _ones_on_diagonal(n: int, m: int, dtype: Any) -> Any:
    out = np.zeros((n, m), dtype)
    out.reshape(-1)[: n * m if n < m else m * m : m + 1] = 1
    return out


@declared(
    "(end: Number, **options: OutOptions) -> Tensor",
    "(start: Number, end: Number, step: Number = 1, **options: OutOptions) -> Tensor",
)
def arange(*args: Any, **options: OutOptions) -> Tensor:
    """arange(start=0, end, step=1, *, **options): start, start + step, ... up to but without end."""
    if modes_of_all_threads and (taken := function_overridden("arange", args, options)) is not UNCHANGED:
        return taken
    if not options and len(args) == 1 and args[0].__class__ is int and 0 <= args[0] < 2**60:  # the usual case
        return wrap(fresh("arange", counted, args[0]))
    given = options
    if not options and len(args) == 2 and args[0].__class__ is args[1].__class__ is int:
        start, end, step = _integer(args[0]), _integer(args[1]), 1
    else:
        given = matched(arange, args, options)
        start, end, step = [_integer(given.pop(name, fallback)) for name, fallback in _RANGE_DEFAULTS]
    if isinstance(start + end + step, complex):
        raise RuntimeError("value cannot be converted to type double without overflow")
    is_float = isinstance(start + end + step, float)
    _check_range(start, end, step)

    def make(dtype: Any) -> Any:
        kind = _dtypes.from_numpy_dtype(dtype)
        if kind is _dtypes.bool_ or kind.is_complex:
            raise NotImplementedError(f"\"arange_cpu\" not implemented for '{kind.alias}'")
        return arange_array(start, end, step, kind)

    out = given.get("out")
    if out is not None:
        own = _dtypes.from_numpy_dtype(out.array.dtype)
        if given.get("dtype") in (None, own):  # create refuses another
            _warn_of_resize(out, arange_length(start, end, step, own))
    default = _dtypes.get_default_dtype if is_float else lambda: _dtypes.int64
    return create("arange", given, make, default=default, keeps_shape=True)


_RANGE_DEFAULTS = (("start", 0), ("end", None), ("step", 1))


def _integer(value: Any) -> Any:
    """A number of a range; an integer has to fit into 64 bits."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise RuntimeError("value cannot be converted to type int64_t without overflow")
    return int(value) if value.__class__ is bool else value


def _check_range(start: Any, end: Any, step: Any) -> None:
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    if (end < start and step > 0) or (end > start and step < 0):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")


def arange_length(start: Any, end: Any, step: Any, kind: Dtype) -> int:
    """How many numbers there are. For int64 in integers, which are exact; for all else in float64."""
    if kind is _dtypes.int64:
        if int(step) == 0:
            raise ValueError("step must be nonzero")
        return max(0, -(-(int(end) - int(start)) // int(step)))
    return math.ceil((float(end) - float(start)) / float(step))


def arange_array(start: Any, end: Any, step: Any, kind: Dtype) -> Any:
    length = arange_length(start, end, step, kind)
    if length >= 2**63:
        raise RuntimeError("invalid size, possible overflow?")
    if length * kind.itemsize >= 2**63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes=[{length}]")
    if kind.category == _dtypes.INTEGER:
        first, by = int(start), int(step)
        if abs(first) + abs(by) * length < 2**63:
            return np.arange(first, first + by * length, by, dtype=np.int64).astype(kind.np, copy=False)
        return (np.arange(length) * np.int64(by) + np.int64(first)).astype(kind.np)  # modulo 2**64 on the way
    return (float(start) + float(step) * np.arange(length)).astype(kind.np, copy=False)


def _warn_of_resize(out: TensorBase, length: int) -> None:
    if out.array.size not in (0, length):
        errors.warn(
            f"The number of elements in the out tensor of shape {errors.size(out.array.shape)} is {out.array.size} "
            f"which does not match the computed number of elements {length}. Note that this may occur as a result of "
            f"rounding error. The out tensor will be resized to a tensor of shape ({length},)."
        )


def range_(start: Number, end: Number, step: Number = 1, **options: OutOptions) -> Tensor:
    """range(start, end, step=1, *, **options): start, start + step, ... up to and including end. PyTorch has deprecated
    it: arange leaves the end out, as Python's range does."""
    errors.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end)."
    )
    if any([isinstance(value, complex) for value in (start, end, step)]):
        raise RuntimeError("value cannot be converted to type double without overflow")
    _check_range(start, end, step)

    def make(dtype: Any) -> Any:
        kind = _dtypes.from_numpy_dtype(dtype)
        if kind is _dtypes.bool_ or kind.is_complex:
            raise NotImplementedError(f"\"range_cpu\" not implemented for '{kind.alias}'")
        number: Any = int if kind.category == _dtypes.INTEGER else float
        first, last, by = number(start), number(end), number(step)
        if by == 0:  # of an integer, after its fraction is gone
            raise RuntimeError("step must be nonzero")
        length = int((last - first) / by + 1)
        return (first + by * np.arange(length)).astype(dtype)

    return create("range", options, make, keeps_shape=True)


range_.__name__ = "range"  # which is Python's own in this module
range_ = declared_and_checked(range_)


@declared_and_checked
def linspace(start: Number | Tensor, end: Number | Tensor, steps: int, **options: OutOptions) -> Tensor:
    """linspace(start, end, steps, *, **options): `steps` numbers at equal distances, from start to end inclusive."""
    if not options and steps >= 0:
        kind = _dtypes.get_default_dtype()
        if fits(start, kind.np) and fits(end, kind.np):  # the usual case
            return wrap(fresh("linspace", spaced, start, end, steps, kind))
    return _spaced("linspace", start, end, steps, options, lambda numbers, kind: numbers)


@declared_and_checked
def logspace(
    start: Number | Tensor, end: Number | Tensor, steps: int, base: float = 10.0, **options: OutOptions
) -> Tensor:
    """logspace(start, end, steps, base=10.0, *, **options): base to the power of linspace(start, end, steps)."""

    def powers(numbers: Any, kind: Dtype) -> Any:
        return np.power(base, numbers.astype(np.complex128 if kind.is_complex else np.float64))

    return _spaced("logspace", start, end, steps, options, powers)


def _spaced(
    name: str, start: Any, end: Any, steps: int, options: dict[str, Any], function: Callable[[Any, Dtype], Any]
) -> Any:
    """A function of numbers at equal distances."""
    ends = []
    for which, value in (("start", start), ("end", end)):
        if isinstance(value, TensorBase):
            if value.array.ndim:
                raise RuntimeError(
                    f"{name} only supports 0-dimensional start and end tensors, but got {which} with "
                    f"{value.array.ndim} dimension(s)."
                )
            value = value.array.item()
        ends.append(_integer(value))
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    default = _dtypes.get_default_dtype
    if any([isinstance(value, complex) for value in ends]):
        default = _dtypes.default_complex
        asked = options.get("dtype")
        if asked is not None and not asked.is_complex:
            kind = "c10::complex<double>" if default() is _dtypes.complex128 else "c10::complex<float>"
            raise RuntimeError(
                f"torch.{name}(): inferred dtype {kind} can't be safely cast to passed dtype {asked.alias}"
            )

    def make(dtype: Any) -> Any:
        kind = _dtypes.from_numpy_dtype(dtype)
        if kind is _dtypes.bool_:
            raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'")
        return function(spaced(ends[0], ends[1], steps, kind), kind).astype(dtype, copy=False)

    return create(name, options, make, default=default, keeps_shape=True)


def spaced(start: Any, end: Any, steps: int, kind: Dtype) -> Any:
    """Equal distances; integers are computed in float64."""
    if kind.category == _dtypes.INTEGER:
        real: np.dtype[Any] = np.dtype(np.float64)
        start, end = int(start), int(end)
    else:
        real = kind.np
    if steps < 2:
        return np.full(steps, start, real)
    first, last = np.array(start, real), np.array(end, real)
    return equal_distances(first, last, np.asarray((last - first) / real.type(steps - 1)), steps)


@declared_and_checked
def tril_indices(row: int, col: int, offset: int = 0, **options: Options) -> Tensor:
    """tril_indices(row, col, offset=0, *, dtype=torch.int64, device=None, layout=strided): the places of the lower
    triangle of a matrix, row numbers above column numbers."""
    return _triangle("tril_indices", row, col, offset, options)


@declared_and_checked
def triu_indices(row: int, col: int, offset: int = 0, **options: Options) -> Tensor:
    """triu_indices(row, col, offset=0, *, dtype=torch.int64, device=None, layout=strided): the places of the upper
    triangle of a matrix, row numbers above column numbers."""
    return _triangle("triu_indices", row, col, offset, options)


@native_move("triangle")
def triangle_places(rows: int, columns: int, offset: int, lower: bool) -> Any:
    """The places of a triangle of a matrix, row numbers above column numbers."""
    inside: Any = np.less_equal if lower else np.greater_equal
    return np.stack(np.nonzero(inside(np.arange(columns), np.arange(rows)[:, None] + offset)))


INTEGERS = (np.dtype(np.int64), np.dtype(np.int32))


def _triangle(name: str, row: int, col: int, offset: int, options: dict[str, Any]) -> Any:
    for which, value in (("row", row), ("col", col)):
        if value < 0:
            raise RuntimeError(f"{which} must be non-negative, got{value}")

    def make(dtype: Any) -> Any:
        if dtype not in INTEGERS:
            alias = _dtypes.from_numpy_dtype(dtype).alias
            raise NotImplementedError(f"\"{name}\" not implemented for '{alias}'")
        found = triangle_places(row, col, offset, name == "tril_indices")
        return found if dtype is found.dtype else found.astype(dtype, copy=False)

    return create(name, options, make, default=lambda: _dtypes.int64)


FUNCTIONS = by_name(arange, eye, linspace, logspace, range_, tril_indices, triu_indices)
