"""What a convolution takes: its arguments made one number for each dimension, or refused in PyTorch's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leafgrad import errors
from leafgrad._core.tensor import TensorBase
from leafgrad._dtypes import bfloat16, from_numpy_dtype, type_name

Ints = tuple[int, ...]

AXES = {1: ("width",), 2: ("height", "width"), 3: ("depth", "height", "width")}


def refused(first: str, *tensors: tuple[str, TensorBase]) -> RuntimeError:
    return errors.mistake(RuntimeError, first, *[(name, errors.describe(t)) for name, t in tensors])


def each_dimension(value: int | Sequence[int], dims: int, name: str) -> Ints:
    """One number for each dimension, where there may be one for all."""
    if value.__class__ is int:
        return (value,) * dims
    found = tuple(value)  # type: ignore[arg-type]
    if len(found) == 1:
        return found * dims
    if len(found) != dims:
        raise refused(
            f"expected {name} to be a single integer value or a list of {dims} values to match the convolution "
            f"dimensions, but got {name}={list(found)}"
        )
    return found


def check_convolution(
    input: TensorBase,
    weight: TensorBase,
    bias: TensorBase | None,
    stride: int | Sequence[int],
    padding: int | Sequence[int],
    dilation: int | Sequence[int],
    transposed: bool,
    output_padding: int | Sequence[int],
    groups: int,
) -> tuple[Any, ...]:
    """The options of a convolution, one number for each dimension, of tensors that fit together."""
    dims = weight.array.ndim - 2
    if dims <= 0:
        raise refused("weight should have at least three dimensions", ("weight", weight))
    if groups <= 0:
        raise refused("non-positive groups is not supported")
    named = {"stride": stride, "padding": padding, "dilation": dilation, "output_padding": output_padding}
    # in the order in which PyTorch looks at them
    stride, padding, dilation, extra = [each_dimension(value, dims, name) for name, value in named.items()]
    if min(padding) < 0:
        raise refused("negative padding is not supported")
    if min(extra) < 0:
        raise refused("negative output_padding is not supported")
    if min(stride) <= 0:
        raise refused("non-positive stride is not supported")
    if min(dilation) <= 0:
        raise refused(f"dilation should be greater than zero, but got {list(dilation)}")
    if input.array.ndim != dims + 2:
        raise refused(
            f"Expected {dims + 2}-dimensional input for {dims + 2}-dimensional weight {list(weight.array.shape)}, but "
            f"got {input.array.ndim}-dimensional input of size {list(input.array.shape)} instead",
            ("input", input), ("weight", weight),
        )  # fmt: skip
    check_channels(input, weight, bias, transposed, groups)
    check_sizes(input, weight, stride, padding, dilation, transposed, extra)
    check_dtypes(input, weight, bias, transposed)
    return stride, padding, dilation, transposed, extra, groups


def check_channels(
    input: TensorBase, weight: TensorBase, bias: TensorBase | None, transposed: bool, groups: int
) -> None:
    shape, w = input.array.shape, weight.array.shape
    if w[0] < groups:
        least = f"expected weight to be at least {groups} at dimension 0, but got weight of size {list(w)} instead"
        raise refused(f"Given groups={groups}, {least}", ("weight", weight))
    if w[0] % groups:
        divisible = f"expected weight to be divisible by {groups} at dimension 0, but got weight of size [{list(w)}]"
        raise refused(f"Given groups={groups}, {divisible} instead", ("weight", weight))
    channels, results = (w[0], w[1] * groups) if transposed else (w[1] * groups, w[0])
    given = "transposed=1" if transposed else f"groups={groups}"
    if shape[1] != channels:
        raise refused(
            f"Given {given}, weight of size {list(w)}, expected input{list(shape)} to have {channels} channels, but "
            f"got {shape[1]} channels instead",
            ("input", input), ("weight", weight),
        )  # fmt: skip
    if bias is not None and bias.array.shape != (results,):
        raise refused(
            f"Given {'transposed=1, ' * transposed}weight of size {list(w)}, expected bias to be 1-dimensional with "
            f"{results} elements, but got bias of size {list(bias.array.shape)} instead",
            ("bias", bias),
        )


def check_sizes(
    input: TensorBase,
    weight: TensorBase,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    extra: Ints,
) -> None:
    sizes, window = input.array.shape[2:], weight.array.shape[2:]
    if not transposed:
        wide = [size + 2 * p for size, p in zip(sizes, padding)]
        if any([d * (k - 1) + 1 > size for d, k, size in zip(dilation, window, wide)]):
            reach = [d * (k - 1) + 1 for d, k in zip(dilation, window)]
            raise refused(
                f"Calculated padded input size per channel: ({by(wide)}). Kernel size: ({by(reach)}). Kernel size "
                "can't be greater than actual input size",
                ("input", input), ("weight", weight),
            )  # fmt: skip
    if 0 in window:
        raise refused(f"kernel size should be greater than zero, but got {of_axes('kernel', window)}")
    if 0 in sizes and input.array.shape[0] and input.array.shape[1]:
        shape = list(input.array.shape)
        raise refused(f"Only zero batch or zero channel inputs are supported, but got input shape: {shape}")
    if not transposed:
        return
    if any([e >= s and e >= d for e, s, d in zip(extra, stride, dilation)]):
        values = {"output_padding": extra, "stride": stride, "dilation": dilation}
        found = " ".join([of_axes(name, value) for name, value in values.items()])
        raise refused(f"output padding must be smaller than either stride or dilation, but got {found}")
    each = zip(sizes, window, stride, padding, dilation, extra)
    results = [(n - 1) * s - 2 * p + d * (k - 1) + 1 + e for n, k, s, p, d, e in each]
    if min(results) < 1:
        raise refused(
            f"Given input size per channel: ({by(sizes)}). Calculated output size per channel: ({by(results)}). Output "
            "size is too small",
            ("input", input),
        )


def check_dtypes(input: TensorBase, weight: TensorBase, bias: TensorBase | None, transposed: bool) -> None:
    """All have one dtype. Which of them PyTorch looks at first, and what it says, depends on who computes it."""
    kind = from_numpy_dtype(input.array.dtype)
    for name, other in (("weight", weight), ("bias", bias))[:: 1 if transposed else -1]:
        if other is None or other.array.dtype == input.array.dtype:
            continue
        found = from_numpy_dtype(other.array.dtype)
        tensors = ("input", input), (name, other)
        if name == "bias" and not transposed:
            raise refused(f"Input type ({kind.cpp}) and bias type ({found.cpp}) should be the same", *tensors)
        if kind.is_complex or kind is bfloat16:
            types = f"Input type ({type_name(kind)}) and {name} type ({type_name(found)}) should be the same"
            dense = f" or input should be a MKLDNN tensor and {name} is a dense tensor"
            raise refused(types + dense * (kind is bfloat16), *tensors)
        raise refused(f"expected scalar type {kind.alias} but found {found.alias}", *tensors)


def by(sizes: Sequence[int]) -> str:
    return " x ".join([str(size) for size in sizes])


def of_axes(name: str, values: Ints) -> str:
    return " ".join([f"{name}_{axis}: {value}" for axis, value in zip(AXES[len(values)], values)])
