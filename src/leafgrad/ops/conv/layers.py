"""conv1d, conv2d, conv3d and their transposes: `convolution` with the arguments that users give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.ops.conv.checks import check_convolution, each_dimension, refused
from leafgrad.ops.conv.convolution import convolution
from leafgrad.ops.conv.padding import constant_pad_nd
from leafgrad.ops.index.slices import select
from leafgrad.ops.pointwise.complex import view_as_real
from leafgrad.ops.pointwise.elementwise import mul
from leafgrad.ops.registry import composite, renamed
from leafgrad.ops.samples import S, Samples
from leafgrad.ops.shape.views import squeeze, unsqueeze
from leafgrad.ops.signature import DimOrDims, Tensor

Ints = tuple[int, ...]


def as_batch(input: Tensor, dims: int, name: str) -> tuple[Tensor, bool]:
    """An input (n, c, ...), and whether it was (c, ...)."""
    ndim = input.array.ndim
    if ndim not in (dims + 1, dims + 2):
        raise refused(
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {name}, but got input of size: "
            f"{list(input.array.shape)}",
            ("input", input),
        )
    return (unsqueeze.function(input, 0), True) if ndim == dims + 1 else (input, False)


def same_padding(input: Tensor, weight: Tensor, stride: Ints, dilation: Ints) -> tuple[Tensor, Ints]:
    """The padding that keeps the sizes of an input. What cannot be put on both sides alike is put behind it first."""
    if any([s != 1 for s in stride]):
        raise refused("padding='same' is not supported for strided convolutions")
    needed = [d * (k - 1) for d, k in zip(dilation, weight.array.shape[2:])]
    odd = [n % 2 for n in needed]
    if any(odd):
        errors.warn(
            "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of the "
            "input be created"
        )
        pad = [side for more in reversed(odd) for side in (0, more)]
        while pad and pad[-2:] == [0, 0]:
            del pad[-2:]
        input = constant_pad_nd.function(input, pad, 0)
    return input, tuple([n // 2 for n in needed])


def convolved(x: Tensor, weight: Tensor, bias: Any, alone: bool, *options: Any) -> Tensor:
    """The convolution of tensors that fit together; `alone`: of one sample, which had no dimension for samples."""
    options = check_convolution(x, weight, bias, *options)
    kind = x.array.dtype
    if kind.kind == "c":
        out = complex_convolution(x, weight, bias, options)
    else:
        if x.array.size:
            convolution.check(from_numpy_dtype(kind))
        out = convolution.record(x, weight, bias, *options)
    return squeeze.function(out, 0) if alone else out


_times = renamed(mul, mul.core, "MulBackward1(input)")  # by a number, as PyTorch's graph calls it here


def complex_convolution(x: Tensor, weight: Tensor, bias: Any, options: tuple[Any, ...]) -> Tensor:
    """Three real convolutions make a complex one: of the real parts, of the imaginary parts, and of their sums."""

    def parts(t: Any) -> Any:
        if t is None:
            return None, None
        pairs = view_as_real.function(t)
        return select.function(pairs, -1, 0), select.function(pairs, -1, 1)

    (x_real, x_imag), (w_real, w_imag), (b_real, b_imag) = [parts(t) for t in (x, weight, bias)]
    sums = x_real + x_imag, w_real + w_imag, None if bias is None else b_real + b_imag
    real = convolution.record(x_real, w_real, b_real, *options)
    imag = convolution.record(x_imag, w_imag, None, *options)
    mixed = convolution.record(*sums, *options)
    rest = mixed - real - imag
    turned = bind(_times, (rest, None), (), (rest.array, np.asarray(1j, x.array.dtype)))
    return real - imag + turned


def forward_of(dims: int, samples: Samples) -> Callable[..., Any]:
    """convNd for inputs of this many dimensions."""

    def convolve(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: DimOrDims = 1,
        padding: DimOrDims | str = 0,
        dilation: DimOrDims = 1,
        groups: int = 1,
    ) -> Tensor:
        x, alone = as_batch(input, dims, name)
        if padding.__class__ is str:
            strides, dilations = each_dimension(stride, dims, "stride"), each_dimension(dilation, dims, "dilation")
            if padding not in ("same", "valid"):
                raise refused(f"Invalid padding string: '{padding}'")
            if padding == "same":
                x, padding = same_padding(x, weight, strides, dilations)
            else:
                padding = 0
        sizes: Sequence[int] | int = padding  # type: ignore[assignment]
        return convolved(x, weight, bias, alone, stride, sizes, dilation, False, 0, groups)

    name = convolve.__name__ = convolve.__qualname__ = f"conv{dims}d"
    convolve.__doc__ = (
        f"{name}(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1): the sum of each window of the "
        "input times the weight, plus the bias. padding='same' keeps the size, 'valid' is no padding."
    )
    form = "(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: DimOrDims = 1, padding: {}, "
    form += "dilation: DimOrDims = 1, groups: int = 1) -> Tensor"
    forms = form.format("DimOrDims = 0"), form.format("str = 'valid'")
    known: dict[str, Any] = {"method": False, "places": (f"nn.functional.{name}",), "autocast": "lower"}
    return composite(samples, signatures=forms, **known)(convolve)


def transposed_of(dims: int, samples: Samples) -> Callable[..., Any]:
    """conv_transposeNd for inputs of this many dimensions."""

    def convolve(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: DimOrDims = 1,
        padding: DimOrDims = 0,
        output_padding: DimOrDims = 0,
        groups: int = 1,
        dilation: DimOrDims = 1,
    ) -> Tensor:
        x, alone = as_batch(input, dims, name)
        return convolved(x, weight, bias, alone, stride, padding, dilation, True, output_padding, groups)

    name = convolve.__name__ = convolve.__qualname__ = f"conv_transpose{dims}d"
    convolve.__doc__ = (
        f"{name}(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1): the transpose "
        f"of conv{dims}d: each element of the input times the weight, added up where the windows are."
    )
    return composite(samples, method=False, places=(f"nn.functional.{name}",), autocast="lower")(convolve)


conv1d = forward_of(1, lambda t: [
    S(t(2, 2, 5), t(3, 2, 3), t(3), padding=1),
    S(t(2, 6), t(4, 1, 2), stride=2, groups=2),
    S(t(0, 2, 5), t(3, 2, 3), t(3)),
    S(t(1, 2, 6), t(2, 2, 3), padding="same"),
])  # fmt: skip
conv2d = forward_of(2, lambda t: [
    S(t(1, 2, 4, 5), t(3, 2, 3, 2), t(3), (1, 2), (1, 0)),
    S(t(1, 2, 5, 4), t(2, 2, 1, 3), t(2), padding="same"),
    S(t(2, 4, 4), t(2, 2, 2, 2), dilation=2, padding="valid"),
    S(t(1, 2, 3, 3), t(2, 1, 3, 3), None, 1, 1, 1, 2),
])  # fmt: skip
conv3d = forward_of(3, lambda t: [
    S(t(1, 2, 3, 4, 3), t(2, 2, 2, 3, 1), t(2), padding=1, stride=2),
    S(t(1, 2, 3, 3), t(2, 1, 3, 1, 1), padding="same"),
])  # fmt: skip
conv_transpose1d = transposed_of(1, lambda t: [
    S(t(2, 2, 3), t(2, 3, 3), t(3), 2, 1, 1),
    S(t(2, 4), t(2, 1, 2), groups=2),
])  # fmt: skip
conv_transpose2d = transposed_of(2, lambda t: [
    S(t(1, 2, 3, 2), t(2, 2, 2, 3), t(2), (1, 2), dilation=(2, 1)),
    S(t(2, 2, 3), t(2, 1, 2, 2), padding=1),
])  # fmt: skip
conv_transpose3d = transposed_of(3, lambda t: [S(t(1, 2, 2, 2, 2), t(2, 1, 2, 1, 2), t(1), 2, 1, 1)])
