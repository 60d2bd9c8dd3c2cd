"""What pooling takes: its arguments made one number for each dimension, or refused in PyTorch's words."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from math import prod

from leafgrad import errors
from leafgrad._core.tensor import TensorBase
from leafgrad.ops.conv.checks import refused

Ints = tuple[int, ...]
IntOrInts = int | Sequence[int]

COUNTS = {1: "one", 2: "two", 3: "three"}
AXES = {2: "HW", 3: "THW"}


def pool_size(size: int, window: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """How many windows there are along a dimension. With `ceil_mode` the last may go beyond the end, but has to begin
    inside or in the padding before."""
    count = (size + 2 * padding - dilation * (window - 1) - 1 + (stride - 1 if ceil_mode else 0)) // stride + 1
    return count - 1 if ceil_mode and (count - 1) * stride >= size + padding else count


@functools.lru_cache(1000)
def pool_sizes(sizes: Ints, window: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool) -> Ints:
    each = zip(sizes, window, stride, padding, dilation)
    return tuple([pool_size(*values, ceil_mode) for values in each])


def each_axis(name: str, what: str, value: IntOrInts, dims: int, default: Ints | None = None) -> Ints:
    """One number for each dimension, of 32 bits where it is about windows. `default` is taken if there is none, as for
    a stride."""
    if value.__class__ is int and -(2**31) <= value < 2**31:
        return (value,) * dims
    found = (value,) if isinstance(value, int) else tuple(value)
    if not found and default is not None:
        return default
    if len(found) not in (1, dims):
        raise refused(f"{name.strip()}{'' if dims == 1 else ':'} {wrong_count(name, what, dims, len(found))}")
    if what != "output_size" and any([not -(2**31) <= n < 2**31 for n in found]):
        raise refused("value cannot be converted to type int without overflow")
    return found * dims if len(found) == 1 else found


def wrong_count(name: str, what: str, dims: int, count: int) -> str:
    if name == "max_pool1d()":
        none = "None, " if what == "stride" else ""
        comma = "," if what in ("stride", "padding") else ""
        return f"{what} must be {none}an int, list of ints{comma} or tuple of ints of size 1 but got size {count}"
    if dims == 1:
        return f"argument '{what}' should contain one int (got {count})"
    either = "be either" if what == "dilation" else "either be" if name != "avg_pool3d" else "be"
    omitted = "omitted, " if what == "stride" else ""
    return f"{what} must {either} {omitted}a single int, or a tuple of {COUNTS[dims]} ints"


def named_axes(prefix: str, values: Sequence[int]) -> str:
    return " ".join([f"{prefix}{axis}: {value}" for axis, value in zip(AXES[len(values)], values)])


_accepted: set[tuple[object, ...]] = set()  # what check_pool found right: a layer sees the same shapes again and again


def check_pool(
    name: str, input: TensorBase, window: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
) -> None:
    """Are these windows ones that an input of two or three dimensions, with channels and maybe samples, can have?"""
    key = (name, input.array.shape, window, stride, padding, dilation, ceil_mode)
    if key in _accepted:
        return
    check_new_pool(name, input, window, stride, padding, dilation, ceil_mode)
    if len(_accepted) < 1000:
        _accepted.add(key)


def check_new_pool(
    name: str, input: TensorBase, window: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
) -> None:
    dims, shape = len(window), input.array.shape
    whole = ("input", input)
    if len(shape) not in (dims + 1, dims + 2) and name != "avg_pool2d":
        raise refused(f"non-empty {dims + 1}D or {dims + 2}D (batch mode) tensor expected for input", whole)
    if len(shape) < dims + 1:
        raise errors.mistake(
            IndexError,
            f"Dimension out of range (expected to be in range of [{-len(shape)}, {len(shape) - 1}], but got "
            f"{-dims - 1})",
        )
    if 0 in stride:
        raise refused("stride should not be zero")
    for k, p, d in zip(window, padding, dilation):
        if p < 0:
            raise refused(f"pad must be non-negative, but got pad: {p}")
        if p > int(((k - 1) * d + 1) / 2):
            given = f"pad={p}, kernel_size={k} and dilation={d}"
            raise refused(f"pad should be at most half of effective kernel size, but got {given}")
    named = ("kernel size", "k", window), ("stride", "d", stride), ("dilation", "dilation", dilation)
    for what, letter, values in named:
        if min(values) <= 0:
            raise refused(f"{what} should be greater than zero, but got {named_axes(letter, values)}")
    check_empty(name, input, dims)
    sizes = shape[-dims:]
    if name == "avg_pool3d" and any([n < k for n, k in zip(sizes, window)]):
        raise refused(
            f"input image ({named_axes('', sizes)}) smaller than kernel size ({named_axes('k', window)})", whole
        )
    results = pool_sizes(sizes, window, stride, padding, dilation, ceil_mode)
    if min(results) < 1:
        channels = shape[-dims - 1]
        given, found = ["x".join([str(n) for n in (channels, *s)]) for s in (sizes, results)]
        raise refused(
            f"Given input size: ({given}). Calculated output size: ({found}). Output size is too small", whole
        )


def check_empty(name: str, input: TensorBase, dims: int) -> None:
    shape = input.array.shape
    own = shape[1:] if len(shape) == dims + 2 else shape
    if len(shape) <= dims + 2 and 0 not in own:
        return
    if dims == 3:
        where = "max_pool3d_with_indices_out_cpu_template" if name == "max_pool3d" else name
        raise refused(
            f"{where}(): Expected input's non-batch dimensions to have positive length, but input has a shape of "
            f"{list(shape)} and non-batch dimension 0 has length zero!",
            ("input", input),
        )
    raise refused(
        f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with optional 0 dim batch size for input, but "
        f"got:{list(shape)}",
        ("input", input),
    )


def check_max_pool1d(input: TensorBase, window: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> None:
    """PyTorch has words of its own for one dimension."""
    shape = input.array.shape
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise refused(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but "
            f"got:{list(shape)}",
            ("input", input),
        )
    for what, value in (("kernel_size", window), ("stride", stride)):
        if value <= 0:
            raise refused(f"max_pool1d() {what} must be greater than zero, but got {value}")
    if padding < 0:
        raise refused(f"max_pool1d() padding must be non-negative, but got {padding}")
    if padding > window // 2:
        half = f"but got padding={padding} and kernel_size={window}"
        raise refused(f"max_pool1d() padding should be at most half of kernel size, {half}")
    if dilation <= 0:
        raise refused(f"max_pool1d() dilation must be greater than zero, but got {dilation}")
    count = pool_size(shape[-1], window, stride, padding, dilation, ceil_mode)
    if count <= 0:
        raise refused(f"max_pool1d() Invalid computed output size: {count}", ("input", input))


def check_adaptive(name: str, input: TensorBase, output_size: Sequence[int], dims: int, needs_channels: bool) -> Ints:
    """The size of the result, one number for each dimension."""
    found, shape, colon = tuple(output_size), input.array.shape, ":" if "max" in name else ""
    if len(found) != dims:
        internal = f"{name}(): internal error: output_size.size() must be {dims}"
        raise refused(internal if "max" in name else f"{name}: output_size must be {dims}")
    if len(shape) not in (dims + 1, dims + 2):
        raise refused(f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got{colon} {list(shape)}")
    if min(found) < 0:
        if "max" in name:
            whole = [*shape[:-dims], *found]
            raise refused(f"Trying to create tensor with negative dimension {min(found)}: {whole}")
        values = "{" + ", ".join([str(v) for v in found[:2]]) + "".join([f",{v}" for v in found[2:]]) + "}"
        raise refused(f"{name}: elements of output_size must be greater than or equal to 0 but received {values}")
    if prod(shape[:-dims]) * prod(found) >= 2**63:
        whole = [*shape[:-dims], *(1,) * (dims == 1), *found]  # a line is a plane of one row
        too_many = f"Storage size calculation overflowed with sizes={whole}"
        raise refused(too_many if "max" in name else "numel: integer multiplication overflow")
    for dim in range(len(shape) - dims - needs_channels, len(shape)):
        if shape[dim] == 0:
            raise refused(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes "
                f"{list(shape)} with dimension {dim} being empty",
                ("input", input),
            )
    return found


def check_one_dimension(name: str, input: TensorBase) -> None:
    ndim = input.array.ndim
    if ndim not in (2, 3):
        raise refused(
            f"Expected 2 to 3 dimensions, but got {ndim}-dimensional tensor for argument #1 'self' (while checking "
            f"arguments for {name})",
            ("input", input),
        )
