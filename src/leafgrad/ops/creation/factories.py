"""Tensors made from nothing but a shape and a rule: zeros, ones, full, empty, eye, ranges, and their `_like` forms.

Every function takes `dtype`, `layout`, `device`, `pin_memory` and `requires_grad`; what leafgrad does not have
(other devices and layouts, pinned memory) is refused, not ignored.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._core.tensor import TensorBase, is_batched, wrap
from leafgrad._core.thread_state import silence_numpy
from leafgrad._dtypes import dtype as Dtype
from leafgrad._layouts import empty_array, empty_like_array
from leafgrad.ops.creation.fresh import fresh
from leafgrad.ops.creation.from_data import as_dtype, as_scalar, check_options, finished, to_array
from leafgrad.ops.out import resize_output, store_output
from leafgrad.ops.signature import MemoryFormat, Number, Options, Shape, Sizes, Tensor, declared

# -- sizes, dtypes, out -----------------------------------------------------------------------------------------------


def sizes(name: str, args: tuple[Any, ...], size: Any = None) -> tuple[int, ...]:
    """The shape asked for: f(2, 3), f((2, 3)), f([2, 3]), f(Size) and f(size=(2, 3)) are all the same."""
    shape = args[0] if len(args) == 1 and args[0].__class__ is tuple else args
    if size is None and args:
        for s in shape:
            if s.__class__ is not int or s < 0:
                break
        else:
            return shape  # the common case
    if size is not None:
        if args:
            raise TypeError(f"{name}() got multiple values for argument 'size'")
        args = (size,)
    if not args:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    wanted = args
    if isinstance(args[0], (tuple, list)) and len(args) == 1:
        wanted = tuple(args[0])
        if wanted and isinstance(wanted[0], (tuple, list)):
            found = type(wanted[0]).__name__
            raise TypeError(
                f"{name}(): argument 'size' (position 1) must be tuple of ints, but found element of type {found} at "
                "pos 0"
            )
    elif not is_int(args[0]):
        found = "numpy.ndarray" if isinstance(args[0], np.ndarray) else type(args[0]).__name__
        raise TypeError(f"{name}(): argument 'size' (position 1) must be tuple of ints, not {found}")
    for place, value in enumerate(wanted, 1):
        if not (is_int(value) or isinstance(value, bool)):
            raise TypeError(
                f"{name}(): argument 'size' failed to unpack the object at pos {place} with error \"type must be tuple "
                f'of ints,but got {type(value).__name__}"'
            )
    shape = tuple([int(value) for value in wanted])
    if any([s < 0 for s in shape]):
        raise _negative_size(name, shape)
    return shape


def is_int(value: Any) -> bool:
    """Is it an integer, also in the disguise of a NumPy scalar or a tensor without dimensions?"""
    if isinstance(value, TensorBase):
        return value.array.ndim == 0 and value.array.dtype.kind in "iu"
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _negative_size(name: str, shape: tuple[int, ...]) -> RuntimeError:
    if name == "zeros":
        return RuntimeError(f"zeros: Dimension size must be non-negative.\n  at {errors.here()}")
    wrong = next(s for s in shape if s < 0)
    first = f"Trying to create tensor with negative dimension {wrong}: {errors.size(shape)}"
    return RuntimeError(f"{first}\n  at {errors.here()}")


def create(
    name: str,
    make: Callable[[Dtype], Any],
    dtype: Any,
    out: Any,
    options: dict[str, Any],
    default: Callable[[], Dtype] = _dtypes.get_default_dtype,
) -> Any:
    """A tensor around `make(dtype)`, or `out` with those values, after a look at the common arguments."""
    silence_numpy()
    kind = as_dtype(name, dtype)
    requires_grad = check_options(name, options)
    if out is None:
        return finished(fresh(name, make, kind or default()), requires_grad)
    own = _dtypes.from_numpy_dtype(out.array.dtype)
    if kind is not None and kind is not own:
        raise RuntimeError(f"dtype {kind.alias} does not match dtype of out parameter ({own.alias})")
    made = fresh(name, make, own)
    resize_output(out, made.shape)
    return store_output(f"aten::{name}", out, made).requires_grad_(requires_grad)


def asked_dtype(dtype: Any, out: Any, options: dict[str, Any]) -> Any:
    """The NumPy dtype that a call asks for, if it asks for nothing else: then `create` has nothing to look at. None if
    there is more to it."""
    silence_numpy()
    if out is not None or options:
        return None
    if dtype is None:
        return _dtypes.get_default_dtype().np
    return dtype.np if dtype.__class__ is Dtype else None


# -- one value everywhere ---------------------------------------------------------------------------------------------


@declared()
def zeros(
    *args: Sizes, size: Shape | None = None, out: Tensor | None = None, dtype: Dtype | None = None, **options: Options
) -> Tensor:
    """zeros(*size, out=None, dtype=None, layout=strided, device=None, requires_grad=False, pin_memory=False): a
    tensor of zeros."""
    shape = sizes("zeros", args, size)
    if (kind := asked_dtype(dtype, out, options)) is not None:
        return wrap(fresh("zeros", np.zeros, shape, kind))
    return create("zeros", lambda kind: np.zeros(shape, kind.np), dtype, out, options)


@declared()
def ones(
    *args: Sizes, size: Shape | None = None, out: Tensor | None = None, dtype: Dtype | None = None, **options: Options
) -> Tensor:
    """ones(*size, out=None, dtype=None, layout=strided, device=None, requires_grad=False, pin_memory=False): a
    tensor of ones."""
    shape = sizes("ones", args, size)
    if (kind := asked_dtype(dtype, out, options)) is not None:
        return wrap(fresh("ones", np.ones, shape, kind))
    return create("ones", lambda kind: np.ones(shape, kind.np), dtype, out, options)


@declared()
def empty(
    *args: Sizes,
    size: Shape | None = None,
    out: Tensor | None = None,
    dtype: Dtype | None = None,
    memory_format: MemoryFormat | None = None,
    **options: Options,
) -> Tensor:
    """empty(*size, out=None, dtype=None, layout=strided, device=None, requires_grad=False, pin_memory=False,
    memory_format=contiguous_format): a tensor whose values are whatever was in memory."""
    shape = sizes("empty", args, size)
    if memory_format is None and (kind := asked_dtype(dtype, out, options)) is not None:
        return wrap(fresh("empty", np.empty, shape, kind))
    return create("empty", lambda kind: empty_array(shape, kind.np, memory_format), dtype, out, options)


@declared()
def empty_strided(size: Shape, stride: Shape, *, dtype: Dtype | None = None, **options: Options) -> Tensor:
    """empty_strided(size, stride, *, dtype=None, layout=strided, device=None, requires_grad=False, pin_memory=False):
    a tensor without set values, its elements lying as far apart as `stride` says."""
    shape, steps = sizes("empty_strided", (size,)), tuple([int(s) for s in stride])
    if len(shape) != len(steps):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(steps)})"
        )
    if any([s < 0 for s in steps]):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(steps)}")

    def make(kind: Dtype) -> Any:
        length = 0 if 0 in shape else 1 + sum([(n - 1) * s for n, s in zip(shape, steps)])
        memory = np.empty(length, kind.np)
        return np.lib.stride_tricks.as_strided(memory, shape, [s * kind.itemsize for s in steps])

    return create("empty_strided", make, dtype, None, options)


@declared()
def full(
    size: Shape,
    fill_value: Number | Tensor,
    *,
    out: Tensor | None = None,
    dtype: Dtype | None = None,
    **options: Options,
) -> Tensor:
    """full(size, fill_value, *, out=None, dtype=None, layout=strided, device=None, requires_grad=False,
    pin_memory=False): one value everywhere, which also decides the dtype if none is given."""
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}")
    shape, value = sizes("full", (size,)), as_scalar("full", fill_value)
    if out is None and not options and (dtype is None or dtype.__class__ is Dtype):  # the usual case
        kind = _dtypes.scalar_dtype(value) if dtype is None else dtype
        return wrap(fresh("full", np.full, shape, to_array(value, kind), kind.np))
    return create(
        "full",
        lambda kind: filled(np.empty(shape, kind.np), to_array(value, kind)),
        dtype,
        out,
        options,
        lambda: _dtypes.scalar_dtype(value),
    )


@declared()
def scalar_tensor(s: Number, *, dtype: Dtype | None = None, **options: Options) -> Tensor:
    """scalar_tensor(s, *, dtype=None, layout=strided, device=None, requires_grad=False, pin_memory=False): one number,
    in the default dtype if none is given."""
    value = as_scalar("scalar_tensor", s)
    return create("scalar_tensor", lambda kind: to_array(value, kind), dtype, None, options)


# -- the shape and dtype of another tensor ----------------------------------------------------------------------------


def like(
    name: str, input: Any, dtype: Any, memory_format: Any, options: dict[str, Any], make: Callable[..., Any]
) -> Any:
    """`make(array)`, where the array is new and has the shape and, unless told otherwise, the dtype of `input`."""
    if not isinstance(input, TensorBase):
        raise errors.not_a_tensor(name, "input", 1, input)
    silence_numpy()
    own = input.array
    if dtype is None and memory_format is None and not options and own.__class__ is np.ndarray:
        if own.flags.c_contiguous:  # the usual case
            return wrap(fresh(name, _made, make, own.shape, own.dtype))
    kind = as_dtype(name, dtype)
    requires_grad = check_options(name, options)
    dtype = None if kind is None else kind.np
    array = fresh(name, lambda: make(empty_like_array(own, dtype, memory_format)))
    return finished(array, requires_grad)


def _made(make: Callable[..., Any], shape: tuple[int, ...], dtype: Any) -> Any:
    return make(np.empty(shape, dtype))


def filled(array: Any, value: Any) -> Any:
    array.fill(value)
    return array


def _fill_with_zeros(array: Any) -> Any:
    return filled(array, 0)


def _fill_with_ones(array: Any) -> Any:
    return filled(array, 1)


def _leave_as_it_is(array: Any) -> Any:
    return array


@declared()
def zeros_like(
    input: Tensor, *, dtype: Dtype | None = None, memory_format: MemoryFormat | None = None, **options: Options
) -> Tensor:
    """zeros_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False,
    memory_format=preserve_format): zeros in the shape of input."""
    return like("zeros_like", input, dtype, memory_format, options, _fill_with_zeros)


@declared()
def ones_like(
    input: Tensor, *, dtype: Dtype | None = None, memory_format: MemoryFormat | None = None, **options: Options
) -> Tensor:
    """ones_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False,
    memory_format=preserve_format): ones in the shape of input."""
    return like("ones_like", input, dtype, memory_format, options, _fill_with_ones)


@declared()
def empty_like(
    input: Tensor, *, dtype: Dtype | None = None, memory_format: MemoryFormat | None = None, **options: Options
) -> Tensor:
    """empty_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False,
    memory_format=preserve_format): a tensor in the shape of input whose values are not set."""
    return like("empty_like", input, dtype, memory_format, options, _leave_as_it_is)


@declared()
def full_like(
    input: Tensor,
    fill_value: Number | Tensor,
    *,
    dtype: Dtype | None = None,
    memory_format: MemoryFormat | None = None,
    **options: Options,
) -> Tensor:
    """full_like(input, fill_value, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False,
    memory_format=preserve_format): one value in the shape of input."""
    value = as_scalar("full_like", fill_value)

    def make(array: Any) -> Any:
        return filled(array, to_array(value, _dtypes.from_numpy_dtype(array.dtype)))

    return like("full_like", input, dtype, memory_format, options, make)


# -- ranges -----------------------------------------------------------------------------------------------------------


@declared()
def eye(
    n: int, m: int | None = None, *, out: Tensor | None = None, dtype: Dtype | None = None, **options: Options
) -> Tensor:
    """eye(n, m=None, *, out=None, dtype=None, layout=strided, device=None, requires_grad=False, pin_memory=False):
    ones on the diagonal of an n x m matrix."""
    value: Any
    for place, name, value in ((1, "n", n), (2, "m", m)):
        if value is not None or name == "n":
            if not is_int(value):
                raise TypeError(f"eye(): argument '{name}' (position {place}) must be int, not {type(value).__name__}")
            if int(value) < 0:
                raise RuntimeError(f"{name} must be greater or equal to 0, got {int(value)}")
    rows, columns = int(n), int(n if m is None else m)
    return create("eye", lambda kind: np.eye(rows, columns, dtype=kind.np), dtype, out, options)


@declared(
    "(end: Number, *, out: Tensor | None = None, dtype: Dtype | None = None, **options: Options) -> Tensor",
    "(start: Number, end: Number, step: Number = 1, *, out: Tensor | None = None, dtype: Dtype | None = None, "
    "**options: Options) -> Tensor",
)
def arange(*args: Any, out: Tensor | None = None, dtype: Dtype | None = None, **options: Options) -> Tensor:
    """arange(start=0, end, step=1, *, out=None, dtype=None, layout=strided, device=None, requires_grad=False,
    pin_memory=False): start, start + step, ... up to but without end."""
    if len(args) == 1 and args[0].__class__ is int and out is None and dtype is None and not options:
        if 0 <= args[0] < 2**63:  # the usual case
            silence_numpy()
            return wrap(fresh("arange", np.arange, 0, args[0], 1, np.int64))
    named: dict[str, Any] = {name: options.pop(name) for name in ("start", "end", "step") if name in options}
    names = ("end",) if len(args) == 1 and "end" not in named else ("start", "end", "step")
    given: dict[str, Any] = dict(zip(names, args))
    given.update(named)
    if len(args) > 3 or not given:
        got = ", ".join([type(a).__name__ for a in args])
        raise TypeError(f"arange() received an invalid combination of arguments - got ({got})")
    if "end" not in given:
        raise TypeError('arange() missing 1 required positional arguments: "end"')
    start, end, step = [range_number("arange", name, given.get(name, fallback)) for name, fallback in _RANGE_DEFAULTS]
    is_float = any([isinstance(v, float) for v in (start, end, step)])
    _check_range(start, end, step)

    def make(kind: Dtype) -> Any:
        if kind is _dtypes.bool_ or kind.is_complex:
            raise NotImplementedError(f"\"arange_cpu\" not implemented for '{kind.alias}'")
        return arange_array(start, end, step, kind)

    default = _dtypes.get_default_dtype if is_float else lambda: _dtypes.int64
    if out is not None:
        _warn_of_resize(out, arange_length(start, end, step, _dtypes.from_numpy_dtype(out.array.dtype)))
    return create("arange", make, dtype, out, options, default)


_RANGE_DEFAULTS = (("start", 0), ("end", None), ("step", 1))


def range_number(function: str, name: str, value: Any) -> Any:
    """An end of a range as a Python number."""
    if isinstance(value, (TensorBase, np.generic, np.ndarray)):
        value = (value.array if isinstance(value, TensorBase) else value).item()
    if isinstance(value, complex) and function == "arange":
        raise RuntimeError("value cannot be converted to type double without overflow")
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, (int, float, complex)):
        raise TypeError(f"{function}(): argument '{name}' must be Number, not {type(value).__name__}")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise RuntimeError("value cannot be converted to type int64_t without overflow")
    return value


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
    if kind.category == _dtypes.INTEGER:
        first, by = int(start), int(step)
        if abs(first) + abs(by) * length < 2**63:
            return np.arange(first, first + by * length, by, dtype=np.int64).astype(kind.np, copy=False)
        return np.array([first + by * i for i in range(length)], np.int64).astype(kind.np)
    return (float(start) + float(step) * np.arange(length)).astype(kind.np, copy=False)


def _warn_of_resize(out: TensorBase, length: int) -> None:
    if out.array.size not in (0, length):
        warnings.warn(
            f"The number of elements in the out tensor of shape {errors.size(out.array.shape)} is {out.array.size} "
            f"which does not match the computed number of elements {length}. Note that this may occur as a result of "
            f"rounding error. The out tensor will be resized to a tensor of shape ({length},).",
            UserWarning,
            stacklevel=3,
        )


@declared()
def linspace(
    start: Number | Tensor,
    end: Number | Tensor,
    steps: int,
    *,
    out: Tensor | None = None,
    dtype: Dtype | None = None,
    **options: Options,
) -> Tensor:
    """linspace(start, end, steps, *, out=None, dtype=None, layout=strided, device=None, requires_grad=False,
    pin_memory=False): `steps` numbers at equal distances, from start to end inclusive."""
    first, last, count = _interval("linspace", start, end, steps, dtype)

    def make(kind: Dtype) -> Any:
        if kind is _dtypes.bool_:
            raise NotImplementedError("\"linspace_cpu\" not implemented for 'Bool'")
        return spaced(first, last, count, kind).astype(kind.np, copy=False)

    return create("linspace", make, dtype, out, options, lambda: _float_dtype(first, last))


@declared()
def logspace(
    start: Number | Tensor,
    end: Number | Tensor,
    steps: int,
    base: float = 10.0,
    *,
    out: Tensor | None = None,
    dtype: Dtype | None = None,
    **options: Options,
) -> Tensor:
    """logspace(start, end, steps, base=10.0, *, out=None, dtype=None, layout=strided, device=None,
    requires_grad=False, pin_memory=False): base to the power of linspace(start, end, steps)."""
    first, last, count = _interval("logspace", start, end, steps, dtype)

    def make(kind: Dtype) -> Any:
        if kind is _dtypes.bool_:
            raise NotImplementedError("\"logspace_cpu\" not implemented for 'Bool'")
        exponents = spaced(first, last, count, kind).astype(np.complex128 if kind.is_complex else np.float64)
        return np.power(base, exponents).astype(kind.np)

    return create("logspace", make, dtype, out, options, lambda: _float_dtype(first, last))


def _interval(name: str, start: Any, end: Any, steps: Any, dtype: Any) -> tuple[Any, Any, int]:
    for which, value in (("start", start), ("end", end)):
        if isinstance(value, TensorBase) and value.array.ndim:
            raise RuntimeError(
                f"{name} only supports 0-dimensional start and end tensors, but got {which} with {value.array.ndim} "
                "dimension(s)."
            )
    first, last = range_number(name, "start", start), range_number(name, "end", end)
    if not is_int(steps):
        raise TypeError(f"{name}(): argument 'steps' must be int, not {type(steps).__name__}")
    if int(steps) < 0:
        raise RuntimeError("number of steps must be non-negative")
    if isinstance(dtype, Dtype) and not dtype.is_complex and _float_dtype(first, last).is_complex:
        kind = "c10::complex<double>" if _dtypes.get_default_dtype() is _dtypes.float64 else "c10::complex<float>"
        raise RuntimeError(f"torch.{name}(): inferred dtype {kind} can't be safely cast to passed dtype {dtype.alias}")
    return first, last, int(steps)


def _float_dtype(*values: Any) -> Dtype:
    is_complex = any([isinstance(v, complex) for v in values])
    return _dtypes.default_complex() if is_complex else _dtypes.get_default_dtype()


def spaced(start: Any, end: Any, steps: int, kind: Dtype) -> Any:
    """Equal distances, counted from the nearer end so that the range is symmetric; integers are computed in float64."""
    if kind.category == _dtypes.INTEGER:
        real: np.dtype[Any] = np.dtype(np.float64)
        start, end = int(start), int(end)
    else:
        real = kind.np
    if steps < 2:
        return np.full(steps, start, real)
    first, last = real.type(start), real.type(end)
    step = (last - first) / real.type(steps - 1)
    half = steps // 2
    count = np.arange(steps - half).astype(real)
    out = np.empty(steps, real)
    np.add(first, step * count[:half], out=out[:half])
    np.subtract(last, step * count[::-1], out=out[half:])
    return out


# -- coordinates ------------------------------------------------------------------------------------------------------


@declared()
def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Dtype | None = None, **options: Options) -> Tensor:
    """tril_indices(row, col, offset=0, *, dtype=torch.int64, device=None, layout=strided): the places of the lower
    triangle of a matrix, row numbers above column numbers."""
    return _triangle("tril_indices", row, col, lambda i, j: j <= i + offset, dtype, options)


@declared()
def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Dtype | None = None, **options: Options) -> Tensor:
    """triu_indices(row, col, offset=0, *, dtype=torch.int64, device=None, layout=strided): the places of the upper
    triangle of a matrix, row numbers above column numbers."""
    return _triangle("triu_indices", row, col, lambda i, j: j >= i + offset, dtype, options)


def _triangle(name: str, row: int, col: int, inside: Callable[..., Any], dtype: Any, options: dict[str, Any]) -> Any:
    for which, value in (("row", row), ("col", col)):
        if value < 0:
            raise RuntimeError(f"{which} must be non-negative, got{value}")
    places = np.nonzero(inside(np.arange(row)[:, None], np.arange(col)[None, :]))
    return create(name, lambda kind: np.stack(places).astype(kind.np), dtype, None, options, lambda: _dtypes.int64)


# -- Tensor.new_* -----------------------------------------------------------------------------------------------------


def _with_own_dtype(self: TensorBase) -> Callable[[], Dtype]:
    return lambda: _dtypes.from_numpy_dtype(self.array.dtype)


def _as_many(self: TensorBase, array: Any) -> Any:
    """Inside vmap: as many as there are samples of this tensor, so that they can be written into."""
    return self.array.as_many(array) if is_batched(self.array) else array


@declared()
def new_zeros(
    self: Tensor, *args: Sizes, size: Shape | None = None, dtype: Dtype | None = None, **options: Options
) -> Tensor:
    """new_zeros(*size, dtype=None, device=None, requires_grad=False, layout=strided, pin_memory=False): zeros in the
    dtype of this tensor."""
    shape = sizes("new_zeros", args, size)
    make = lambda k: _as_many(self, np.zeros(shape, k.np))
    return create("new_zeros", make, dtype, None, options, _with_own_dtype(self))


@declared()
def new_ones(
    self: Tensor, *args: Sizes, size: Shape | None = None, dtype: Dtype | None = None, **options: Options
) -> Tensor:
    """new_ones(*size, dtype=None, device=None, requires_grad=False, layout=strided, pin_memory=False): ones in the
    dtype of this tensor."""
    shape = sizes("new_ones", args, size)
    make = lambda k: _as_many(self, np.ones(shape, k.np))
    return create("new_ones", make, dtype, None, options, _with_own_dtype(self))


@declared()
def new_empty(
    self: Tensor, *args: Sizes, size: Shape | None = None, dtype: Dtype | None = None, **options: Options
) -> Tensor:
    """new_empty(*size, dtype=None, device=None, requires_grad=False, layout=strided, pin_memory=False): a tensor in
    the dtype of this one whose values are not set."""
    shape = sizes("new_empty", args, size)
    make = lambda k: _as_many(self, np.empty(shape, k.np))
    return create("new_empty", make, dtype, None, options, _with_own_dtype(self))


@declared()
def new_empty_strided(
    self: Tensor, size: Shape, stride: Shape, *, dtype: Dtype | None = None, **options: Options
) -> Tensor:
    """new_empty_strided(size, stride, dtype=None, device=None, requires_grad=False, layout=strided, pin_memory=False):
    as empty_strided, in the dtype of this tensor."""
    return empty_strided(size, stride, dtype=dtype or _with_own_dtype(self)(), **options)


@declared()
def new_full(
    self: Tensor, size: Shape, fill_value: Number | Tensor, *, dtype: Dtype | None = None, **options: Options
) -> Tensor:
    """new_full(size, fill_value, *, dtype=None, device=None, requires_grad=False, layout=strided, pin_memory=False):
    one value in the dtype of this tensor."""
    shape, value = sizes("new_full", (size,)), as_scalar("new_full", fill_value)
    make = lambda k: _as_many(self, np.full(shape, to_array(value, k)))
    return create("new_full", make, dtype, None, options, _with_own_dtype(self))


@declared()
def new_tensor(self: Tensor, data: Any, *, dtype: Dtype | None = None, **options: Options) -> Tensor:
    """new_tensor(data, *, dtype=None, device=None, requires_grad=False, layout=strided, pin_memory=False): a new leaf
    with a copy of data in the dtype of this tensor."""
    from leafgrad.ops.creation.from_data import copied

    if isinstance(data, TensorBase):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than tensor.new_tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
    own = _dtypes.from_numpy_dtype((data if isinstance(data, TensorBase) else self).array.dtype)
    return create("new_tensor", lambda kind: copied(data, kind), dtype, None, options, lambda: own)
