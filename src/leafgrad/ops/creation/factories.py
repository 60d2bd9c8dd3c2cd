"""Tensors made from nothing but a shape and a value: zeros, ones, full, empty, and their `_like` and `new_` forms.

Every function takes `dtype`, `layout`, `device`, `pin_memory` and `requires_grad`, which are its `**options`; what
leafgrad does not have (other devices and layouts, pinned memory) is refused, not ignored.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._core.overrides import UNCHANGED, function_overridden, modes_of_all_threads, plain_tensors
from leafgrad._core.tensor import TensorBase, constant, is_batched, is_meta, wrap
from leafgrad._device import check_device, layout, names_meta, strided
from leafgrad._dtypes import dtype as Dtype
from leafgrad._layouts import empty_array, empty_like_array
from leafgrad._missing import part
from leafgrad.kernels.moving import full as full_of
from leafgrad.ops.arguments import REFUSED, as_int, declared_and_checked, matched
from leafgrad.ops.creation.fresh import fresh
from leafgrad.ops.creation.from_data import check_options, copied, finished, option, warn_of_copy, without_history
from leafgrad.ops.creation.numbers import fits, refuse_overflow, to_array
from leafgrad.ops.out import resize_output, store_output
from leafgrad.ops.signature import (
    LikeOptions,
    MemoryFormat,
    Number,
    Options,
    OutOptions,
    Shape,
    Sizes,
    Tensor,
    by_name,
    declared,
)  # fmt: skip

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
    if args and as_int(args[0]) is not REFUSED:
        args = (args,)  # one by one
    given = {} if size is None else {"size": size}
    return not_negative(name, matched(one_size, args, given, name)["size"])


@declared()
def one_size(size: Shape) -> Any:
    """What `sizes` takes."""


def not_negative(name: str, shape: Any) -> tuple[int, ...]:
    if not shape or min(shape) >= 0:
        return shape  # type: ignore[no-any-return]
    first = f"Trying to create tensor with negative dimension {min(shape)}: {errors.size(shape)}"
    first = "zeros: Dimension size must be non-negative." if name == "zeros" else first
    raise RuntimeError(f"{first}\n  at {errors.here()}")


def asked_dtype(options: dict[str, Any]) -> Any:
    """The NumPy dtype that a call asks for, if it asks for nothing else: then `create` has nothing to look at. None if
    there is more to it."""
    if not options:
        return _dtypes.get_default_dtype().np
    kind = options.get("dtype")
    return kind.np if len(options) == 1 and kind.__class__ is Dtype else None


def create(
    name: str,
    options: dict[str, Any],
    make: Callable[..., Any],
    *args: Any,
    default: Callable[[], Dtype] = _dtypes.get_default_dtype,
    keeps_shape: bool = False,
    form: tuple[Any, ...] = (),
    on_meta: bool = False,
) -> Any:
    """A tensor around `make(*args, dtype)`, or `out` with those values, after a look at the common arguments. `out`
    may keep its own shape if it has as many elements. `form` is the shape of the result, perhaps with its strides in
    elements, where it is known before it is made. `on_meta` says that it has no data, unless a device is asked for."""
    if not options and not on_meta:  # the usual case
        return wrap(fresh(name, make, *args, default().np))
    out, kind = options.pop("out", None), options.pop("dtype", None)
    if kind.__class__ is not Dtype:
        kind = option(name, "dtype", kind)
    if isinstance(given := options.get("layout"), layout) and given is not strided:
        return part("ops.sparse.creation").zeros_in(
            name, args[0] if args else (), kind or default(), out=out, **options
        )
    if (wanted := options.get("device")) is not None:
        on_meta = names_meta(option(name, "device", wanted))
        if on_meta:
            del options["device"]
    requires_grad = bool(options) and check_options(name, options)
    if on_meta and out is None:
        array = part("ops.meta.creation").made(make, args, (kind or default()).np, form)
        return finished(array, requires_grad)
    if out is None:
        array = fresh(name, make, *args, (kind or default()).np)
        return finished(array, True) if requires_grad else wrap(array)
    if not isinstance(out, TensorBase):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    own = _dtypes.from_numpy_dtype(out.array.dtype)
    if kind is not None and kind is not own:
        raise RuntimeError(f"dtype {kind.alias} does not match dtype of out parameter ({own.alias})")
    made = fresh(name, make, *args, own.np)
    if keeps_shape and out.array.size == made.size:
        made = made.reshape(out.array.shape)
    resize_output(out, made.shape)
    return store_output(f"aten::{name}", out, made).requires_grad_(requires_grad)


def named(function: Any, name: str, doc: str) -> Any:
    """One of several functions that a `def` makes, as a declared function of its own."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return declared()(function)


# -- one value everywhere ---------------------------------------------------------------------------------------------


def of_size(name: str, make: Callable[..., Any], what: str) -> Any:
    def function(*args: Sizes, size: Shape | None = None, **options: OutOptions) -> Tensor:
        if modes_of_all_threads or "out" in options:
            taken = function_overridden(name, args, {"size": size, **options}, options.get("out"))
            if taken is not UNCHANGED:
                return taken
        shape = sizes(name, args, size)
        if not options:  # the usual case
            return wrap(fresh(name, make, shape, _dtypes.get_default_dtype().np))
        if (dtype := asked_dtype(options)) is not None:
            return wrap(fresh(name, make, shape, dtype))
        return create(name, options, make, shape)

    return named(function, name, f"{name}(*size, **options): {what}.")


def ones_array(shape: tuple[int, ...], dtype: Any) -> Any:
    return full_of(shape, constant(1, dtype))


zeros = of_size("zeros", np.zeros, "a tensor of zeros")
ones = of_size("ones", ones_array, "a tensor of ones")


@declared()
def empty(
    *args: Sizes, size: Shape | None = None, memory_format: MemoryFormat | None = None, **options: OutOptions
) -> Tensor:
    """empty(*size, **options, memory_format=contiguous_format): a tensor whose values are whatever was in memory."""
    if modes_of_all_threads:
        taken = function_overridden("empty", args, {"size": size, "memory_format": memory_format, **options})
        if taken is not UNCHANGED:
            return taken
    shape = sizes("empty", args, size)
    if memory_format is None and (dtype := asked_dtype(options)) is not None:
        return wrap(fresh("empty", np.empty, shape, dtype))
    return create("empty", options, _empty_in_format, shape, memory_format)


def _empty_in_format(shape: tuple[int, ...], memory_format: Any, dtype: Any) -> Any:
    return empty_array(shape, dtype, memory_format)


@declared_and_checked
def empty_strided(size: Shape, stride: Shape, **options: Options) -> Tensor:
    """empty_strided(size, stride, *, **options): a tensor without set values, its elements lying as far apart as
    `stride` says."""
    shape = not_negative("empty_strided", size)
    if len(shape) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(stride)})"
        )
    overflow = f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(stride)}"
    if any([s < 0 for s in stride]):
        raise RuntimeError(overflow)

    def make(dtype: Any) -> Any:
        length = 0 if 0 in shape else 1 + sum([(n - 1) * s for n, s in zip(shape, stride)])
        if length * dtype.itemsize >= 2**63:
            raise RuntimeError(overflow)
        memory = np.empty(length, dtype)
        return np.lib.stride_tricks.as_strided(memory, shape, [s * dtype.itemsize for s in stride])

    return create("empty_strided", options, make, form=(shape, tuple(stride)))


@declared_and_checked
def full(size: Shape, fill_value: Number, **options: OutOptions) -> Tensor:
    """full(size, fill_value, *, **options): one value everywhere, which also decides the dtype if none is given."""
    shape = not_negative("full", size)
    if not options and fill_value.__class__ is float:  # the usual case
        return wrap(fresh("full", full_array, shape, fill_value, _dtypes.get_default_dtype().np))
    return create("full", options, full_array, shape, fill_value, default=lambda: _dtypes.scalar_dtype(fill_value))


def full_array(shape: tuple[int, ...], value: Any, dtype: Any) -> Any:
    """An array of one value, which its dtype must be able to hold."""
    return full_of(shape, constant(value, dtype) if fits(value, dtype) else checked_value(value, dtype, shape))


def checked_value(value: Any, dtype: Any, shape: tuple[int, ...]) -> Any:
    """The value of an array as one without dimensions."""
    kind = _dtypes.from_numpy_dtype(dtype)
    refuse_overflow(value, kind, math.prod(shape) == 1)
    return to_array(value, kind)


@declared_and_checked
def scalar_tensor(s: Number, **options: Options) -> Tensor:
    """scalar_tensor(s, *, **options): one number, in the default dtype if none is given."""
    return create("scalar_tensor", options, full_array, (), s)


# -- the shape and dtype of another tensor ----------------------------------------------------------------------------


def like(
    name: str, input: Any, options: dict[str, Any], make: Callable[..., Any], fill: Callable[[Any], Any] | None = None
) -> Any:
    """`make(shape, dtype)` with the shape and, unless told otherwise, the dtype of `input`. Where elements lie in
    another order than row by row, `fill(array)` writes to that memory if the order matters to it."""
    if not isinstance(input, TensorBase):
        raise errors.not_a_tensor(name, "input", 1, input)
    own = input.array
    in_rows = own.__class__ is np.ndarray and own.flags.c_contiguous
    if not options and in_rows:  # the usual case
        return wrap(fresh(name, make, own.shape, own.dtype))
    kind = option(name, "dtype", options.pop("dtype", None))
    wanted = options.pop("memory_format", None)
    device = option(name, "device", options.pop("device", None))
    if names_meta(device) or (device is None and is_meta(own)):
        array = part("ops.meta.creation").made_like(own, None if kind is None else kind.np, wanted)
        return finished(array, check_options(name, options))
    check_device(device)
    requires_grad = check_options(name, options)
    if is_meta(own):
        own = part("ops.meta.creation").allocated(own)
    dtype = own.dtype if kind is None else kind.np
    if in_rows and wanted is None:
        return finished(fresh(name, make, own.shape, dtype), requires_grad)

    def laid_out() -> Any:
        array = empty_like_array(own, dtype, wanted)
        if fill is not None:
            return fill(array)
        if make is not np.empty:
            array[...] = make(array.shape, dtype)
        return array

    return finished(fresh(name, laid_out), requires_grad)


def of_shape_of(name: str, make: Callable[..., Any], what: str) -> Any:
    def function(input: Tensor, **options: LikeOptions) -> Tensor:
        if input.__class__ not in plain_tensors or modes_of_all_threads:
            taken = function_overridden(name, (input,), options, input)
            if taken is not UNCHANGED:
                return taken
        elif not options:
            own = input.array  # type: ignore[attr-defined]
            if own.__class__ is np.ndarray and own.flags.c_contiguous:  # the usual case of `like`, at once
                return wrap(fresh(name, make, own.shape, own.dtype))
        return like(name, input, options, make)

    return named(function, name, f"{name}(input, *, **options): {what}.")


zeros_like = of_shape_of("zeros_like", np.zeros, "zeros in the shape of input")
ones_like = of_shape_of("ones_like", ones_array, "ones in the shape of input")
empty_like = of_shape_of("empty_like", np.empty, "a tensor in the shape of input whose values are not set")


@declared_and_checked
def full_like(input: Tensor, fill_value: Number, **options: LikeOptions) -> Tensor:
    """full_like(input, fill_value, *, **options): one value in the shape of input."""
    return like("full_like", input, options, lambda shape, dtype: full_array(shape, fill_value, dtype))


# -- Tensor.new_* -----------------------------------------------------------------------------------------------------


def create_new(self: TensorBase, name: str, options: dict[str, Any], make: Callable[..., Any], *args: Any) -> Any:
    """`create` in the dtype of a tensor; inside vmap as many as there are samples of it, so that they can be written
    into."""
    own = self.array
    for_all = (lambda *args: own.as_many(make(*args))) if is_batched(own) else make
    return create(
        name, options, for_all, *args, default=lambda: _dtypes.from_numpy_dtype(own.dtype), on_meta=is_meta(own)
    )


def new_of_size(name: str, make: Callable[..., Any], what: str) -> Any:
    def method(self: Tensor, *args: Sizes, size: Shape | None = None, **options: Options) -> Tensor:
        if "out" in options:
            raise TypeError(f"{name}() got an unexpected keyword argument 'out'")
        return create_new(self, name, options, make, sizes(name, args, size))

    return named(method, name, f"{name}(*size, **options): {what}.")


new_zeros = new_of_size("new_zeros", np.zeros, "zeros in the dtype of this tensor")
new_ones = new_of_size("new_ones", ones_array, "ones in the dtype of this tensor")
new_empty = new_of_size("new_empty", np.empty, "a tensor in the dtype of this one whose values are not set")


@declared_and_checked
def new_empty_strided(self: Tensor, size: Shape, stride: Shape, **options: Options) -> Tensor:
    """new_empty_strided(size, stride, **options): as empty_strided, in the dtype of this tensor."""
    options["dtype"] = options.get("dtype") or _dtypes.from_numpy_dtype(self.array.dtype)
    if is_meta(self.array) and options.get("device") is None:
        options["device"] = "meta"
    return empty_strided(size, stride, **options)


@declared_and_checked
def new_full(self: Tensor, size: Shape, fill_value: Number, **options: Options) -> Tensor:
    """new_full(size, fill_value, *, **options): one value in the dtype of this tensor."""
    return create_new(self, "new_full", options, full_array, not_negative("new_full", size), fill_value)


@declared_and_checked
def new_tensor(self: Tensor, data: Any, **options: Options) -> Tensor:
    """new_tensor(data, *, **options): a new leaf with a copy of data in the dtype of this tensor."""
    if isinstance(data, TensorBase):
        warn_of_copy("tensor.new_tensor(sourceTensor)")
    own = _dtypes.from_numpy_dtype(self.array.dtype)
    make = lambda dtype: copied(data, _dtypes.from_numpy_dtype(dtype))
    made = create("new_tensor", options, make, default=lambda: own, on_meta=is_meta(self.array))
    return without_history(made, data)


FUNCTIONS = by_name(
    empty, empty_like, empty_strided, full, full_like, ones, ones_like, scalar_tensor, zeros, zeros_like
)  # fmt: skip
METHODS = by_name(new_empty, new_empty_strided, new_full, new_ones, new_tensor, new_zeros)
