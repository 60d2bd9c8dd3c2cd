"""conv_tbc: the convolution of sequences that lie as (time, batch, channels)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from leafgrad._core.bind import bind
from leafgrad._dtypes import BOOL, from_numpy_dtype
from leafgrad.kernels.products import product
from leafgrad.ops.conv.checks import refused
from leafgrad.ops.conv.convolution import widened
from leafgrad.ops.creation.factories import zeros
from leafgrad.ops.reduce.common import total
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S
from leafgrad.ops.shape.arrange import flip
from leafgrad.ops.shape.views import transpose
from leafgrad.ops.signature import Tensor

A = Any  # an array, or a tensor under create_graph


def overlaps(length: int, width: int, pad: int) -> Iterator[tuple[int, slice, slice]]:
    """For each step of the window: the times of the input that it meets, and those of the output."""
    for k in range(width):
        first, out = max(0, k - pad), max(0, pad - k)
        count = min(length - first, length - width + 1 + 2 * pad - out)
        if count > 0:
            yield k, slice(first, first + count), slice(out, out + count)


def matrix(x: A) -> A:
    return x.reshape(x.shape[0] * x.shape[1], x.shape[2])


def check_tbc(x: A, weight: A, bias: A, pad: int) -> None:
    given = ("input", x), ("weight", weight), ("bias", bias)
    if x.ndim != 3:
        raise refused("Input must have 3 dims: time, batch, in_channel", *given)
    if weight.ndim != 3:
        raise refused("Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.", *given)
    if bias.ndim != 1:
        raise refused("Bias must be 1-D", *given)
    if x.shape[2] != weight.shape[1]:
        raise refused("Input dim 2 (input channels) is not == dim 1 in the weight tensor", *given)
    if bias.shape[0] != weight.shape[2]:
        raise refused("Bias size must equal dim 2 in the weight tensor (output channels).", *given)
    length = x.shape[0] + 2 * pad - weight.shape[0] + 1
    if length < 0:
        sizes = [length, x.shape[1], weight.shape[2]]
        raise refused(f"Trying to create tensor with negative dimension {length}: {sizes}", *given)
    kinds = [from_numpy_dtype(each.dtype).alias for each in (x, weight)]
    if kinds[0] != kinds[1]:
        raise refused(f"self and mat2 must have the same dtype, but got {kinds[0]} and {kinds[1]}", *given)


@op
class conv_tbc(Family):
    """conv_tbc(input, weight, bias, pad=0): the convolution of an input (time, batch, channels) with a weight (width,
    channels, output channels), plus the bias, with `pad` zeros before and after."""

    shows = {"pad": ...}
    inputs = ("input", "weight", "bias")
    options = ("pad",)
    places = ("nn.functional.conv_tbc",)
    method = False
    autocast = "lower"
    kernel_name = "addmm_impl_cpu_"
    refuses = (BOOL,)
    exempt = {"observed bits": "on tensors the gradient by the weight is a convolution, which adds in another order"}

    def kernel(x: A, weight: A, bias: A, pad: int) -> A:
        kind = x.dtype
        x, weight, bias = widened(x, weight, bias)
        length = x.shape[0] + 2 * pad - weight.shape[0] + 1
        out = np.empty((length, x.shape[1], weight.shape[2]), x.dtype)
        out[...] = bias
        for k, of_input, of_output in overlaps(x.shape[0], weight.shape[0], pad):
            part = x[of_input]
            out[of_output] += product(matrix(part), weight[k]).reshape((*part.shape[:2], weight.shape[2]))
        return out.astype(kind, copy=False)

    def call(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
        check_tbc(input.array, weight.array, bias.array, pad)
        if input.array.size:  # the product refuses it, and PyTorch computes none of nothing
            conv_tbc.check(from_numpy_dtype(input.array.dtype))
        return bind(conv_tbc.core, (input, weight, bias), (pad,))

    def vjp_input(g: A, weight: A, pad: int) -> A:
        """The convolution of the gradient with the weight turned round."""
        pad = weight.shape[0] - 1 - pad
        if g.__class__ is np.ndarray:
            back = np.ascontiguousarray(weight[::-1].swapaxes(1, 2))
            return conv_tbc.core.kernel(g, back, np.zeros(weight.shape[1], g.dtype), pad)
        return conv_tbc.record(g, transpose(flip(weight, (0,)), 1, 2), zeros(weight.shape[1], dtype=g.dtype), pad)

    def vjp_weight(g: A, input: A, weight: A, pad: int) -> A:
        """That of the input with the gradient, each channel a sample and each sample a channel."""
        if g.__class__ is not np.ndarray:
            return conv_tbc.record(transpose(input, 1, 2), g, zeros(weight.shape[2], dtype=g.dtype), pad)
        x, g, _ = widened(input, g, None)
        out = np.zeros(weight.shape, x.dtype)
        for k, of_input, of_output in overlaps(x.shape[0], weight.shape[0], pad):
            out[k] = product(matrix(x[of_input]).T, matrix(g[of_output]))
        return out.astype(input.dtype, copy=False)

    def vjp_bias(g: A, bias: A) -> A:
        return total(g, (0, 1)) if g.__class__ is np.ndarray else g.sum((0, 1))

    samples = lambda t: [
        S(t(5, 2, 3), t(3, 3, 4), t(4)),
        S(t(4, 2, 3), t(2, 3, 2), t(2), 1),
        S(t(5, 1, 2), t(3, 2, 3), t(3), pad=-1),
        S(t(2, 2, 1), t(1, 1, 2), t(2), pad=2),
        S(t(3, 0, 2), t(2, 2, 3), t(3)),
        S(t(0, 2, 2), t(1, 2, 3), t(3)),
    ]
