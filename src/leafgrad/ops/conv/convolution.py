"""Convolution and its transpose, in any number of dimensions.

Both are one operation, as in PyTorch. It is linear in the input and in the weight, so that its gradients are it and one
more, `convolution_weight`, and the gradients of those are these two again: all orders of derivatives are here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad._device import contiguous_format
from leafgrad._dtypes import BOOL, COMPLEX, from_numpy_dtype
from leafgrad._layouts import format_of
from leafgrad.kernels import halves
from leafgrad.kernels.convolution import Geometry, correlate, spread, weights
from leafgrad.ops.conv.checks import check_convolution
from leafgrad.ops.conv.layout import in_format_of
from leafgrad.ops.linalg.products import is_half
from leafgrad.ops.reduce.common import total
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Shape, Tensor

A = Any  # an array, or a tensor under create_graph
Array = Any
Ints = tuple[int, ...]


def widened(*arrays: Array) -> list[Array]:
    """Half precision in single precision, in which it is computed; others as they are."""
    return [halves.widened(x) if x is not None and is_half(x.dtype) else x for x in arrays]


def size_left(sizes: Ints, positions: Ints, window: Ints, geometry: Geometry) -> Ints:
    """By how much an input of these sizes goes beyond its last window: the `output_padding` of the transpose."""
    reach = geometry.reach(positions, window)
    return tuple([size + 2 * p - r for size, p, r in zip(sizes, geometry.padding, reach)])


def cut(x: A, sizes: Ints) -> A:
    """The first elements of each of the last dimensions, of which there may be more."""
    return x if x.shape[2:] == sizes else x[(..., *[slice(size) for size in sizes])]


def input_gradient(g: A, weight: A, sizes: Ints, geometry: Geometry, transposed: bool) -> A:
    """The gradient by the input of a convolution, whose sizes are given."""
    stride, padding, dilation, groups = geometry
    none = (0,) * len(stride)
    if transposed:
        return cut(convolution(g, weight, None, stride, padding, dilation, False, none, groups), sizes)
    left = size_left(sizes, tuple(g.shape[2:]), tuple(weight.shape[2:]), geometry)
    return convolution(g, weight, None, stride, padding, dilation, True, left, groups)


def flops_of_convolution(shapes: Any) -> int:
    """Two for each element of a window at each position; transposed or not, by the smaller side."""
    x, w = shapes[0], shapes[1]
    return int(2 * np.prod(x[:1] + x[2:]) * np.prod(w))


@op
class convolution(Family):
    """convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups): the sum of each
    window of an input (n, c, ...) times the weight (o, c / groups, ...); or the transpose of that."""

    piecewise_linear = "undefined"
    inputs = ("input", "weight", "bias")
    options = ("stride", "padding", "dilation", "transposed", "output_padding", "groups")
    method = False
    kernel_name = "slow_conv2d_cpu"
    refuses = (BOOL, COMPLEX)
    saved_as = {"input": "input", "input_shape": "", "weight_shape": "", "bias_shape": "bias_sym_sizes_opt"}
    shows = dict.fromkeys(options, ...)
    flops = flops_of_convolution
    counted_backward = "convolution_backward"

    def meta(
        x: A, w: A, bias: A, stride: Ints, padding: Ints, dilation: Ints, transposed: bool, extra: Ints, groups: int
    ) -> Any:
        if not x.flags.c_contiguous or not w.flags.c_contiguous:
            return NotImplemented  # their layouts decide that of the result
        windows = [d * (k - 1) + 1 for d, k in zip(dilation, w.shape[2:])]
        if transposed:
            sizes = [(n - 1) * s + k - 2 * p + e for n, s, k, p, e in zip(x.shape[2:], stride, windows, padding, extra)]
            return (x.shape[0], w.shape[1] * groups, *sizes)
        sizes = [(n + 2 * p - k) // s + 1 for n, p, k, s in zip(x.shape[2:], padding, windows, stride)]
        return (x.shape[0], w.shape[0], *sizes)

    def kernel(
        x: A, w: A, bias: A, stride: Ints, padding: Ints, dilation: Ints, transposed: bool, extra: Ints, groups: int
    ) -> A:
        kind = x.dtype
        like = w if x.flags.c_contiguous and format_of(x) is contiguous_format else x
        x, w, bias = widened(x, w, bias)
        geometry = Geometry(stride, padding, dilation, groups)
        if transposed:
            reach = geometry.reach(x.shape[2:], w.shape[2:])
            sizes = tuple([r - 2 * p + e for r, p, e in zip(reach, padding, extra)])
            out = spread(x, w, geometry, sizes, bias)
        else:
            out = correlate(x, w, geometry, bias)
        return in_format_of(like, out.astype(kind, copy=False))

    def call(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        stride: Shape,
        padding: Shape,
        dilation: Shape,
        transposed: bool,
        output_padding: Shape,
        groups: int,
    ) -> Tensor:
        options = check_convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
        convolution.check(from_numpy_dtype(input.array.dtype))
        return convolution.record(input, weight, bias, *options)

    def vjp_input(g: A, weight: A, input_shape: A, stride: A, padding: A, dilation: A, transposed: A, groups: A) -> A:
        return input_gradient(g, weight, input_shape[2:], Geometry(stride, padding, dilation, groups), transposed)

    def vjp_weight(g: A, input: A, weight_shape: A, stride: A, padding: A, dilation: A, transposed: A, groups: A) -> A:
        pair = (g, input) if transposed else (input, g)
        return convolution_weight(*pair, weight_shape[2:], stride, padding, dilation, groups)

    def vjp_bias(g: A, bias_shape: A) -> A:
        dims = (0, *range(2, g.ndim))
        return total(g, dims) if g.__class__ is np.ndarray else g.sum(dims)

    def vmap(batch: A, x: A, w: A, bias: A, *options: Any) -> A:
        *rest, groups = options
        if not batch.holds(w, bias):  # more samples
            value = batch.value(x)
            out = batch.run((value.reshape((batch.size * x.shape[0], *x.shape[1:])), w, bias), options)
            return batch.wrap(out.reshape((batch.size, x.shape[0], *out.shape[1:])))
        # more channels, in groups of their own
        x, w = [batch.value(v) for v in (x, w)]
        bias = None if bias is None else batch.value(bias).reshape(-1)
        arrays = channels_of_all(x), w.reshape((w.shape[0] * w.shape[1], *w.shape[2:])), bias
        return batch.wrap(channels_of_each(batch.run(arrays, (*rest, groups * batch.size)), batch.size))

    samples = lambda t: [
        S(t(2, 2, 5), t(3, 2, 3), t(3), (1,), (1,), (1,), False, (0,), 1),
        S(t(1, 4, 5, 6), t(6, 2, 3, 2), None, (2, 1), (1, 0), (1, 2), False, (0, 0), 2),
        S(t(2, 3, 3, 4), t(3, 1, 2, 2), t(3), (1, 1), (0, 0), (1, 1), False, (0, 0), 3),
        S(t(2, 3, 2, 2), t(2, 3, 1, 1), t(2), (1, 1), (0, 0), (1, 1), False, (0, 0), 1),
        S(t(2, 2, 4), t(2, 3, 3), t(3), (2,), (1,), (1,), True, (1,), 1),
        S(t(1, 4, 2, 3), t(4, 1, 2, 2), t(2), (1, 2), (1, 0), (2, 1), True, (0, 1), 2),
        S(t(1, 2, 2), t(2, 1, 3), None, (1,), (0,), (3,), True, (2,), 1),
        S(t(1, 1, 3, 3, 3), t(2, 1, 2, 2, 2), t(2), (1, 2, 1), (1, 1, 0), (1, 1, 1), False, (0, 0, 0), 1),
    ]


@op
class convolution_weight(Family):
    """convolution_weight(input, output, window, stride, padding, dilation, groups): the sum over all positions of the
    window of an input there times the output: the gradient of a convolution by its weight."""

    inputs = ("input", "output")
    options = ("window", "stride", "padding", "dilation", "groups")
    public_name = ""
    node_name = "ConvolutionBackwardBackward0"
    aten = "convolution_backward"
    reference = lambda torch, x, y, window, stride, padding, dilation, groups: torch.nn.grad.conv2d_weight(
        x, (y.shape[1], x.shape[1] // groups, *window), y, stride, padding, dilation, groups
    )

    def kernel(x: A, y: A, window: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> A:
        kind = x.dtype
        x, y = widened(x, y)
        return weights(x, y, Geometry(stride, padding, dilation, groups), window).astype(kind, copy=False)

    def vjp_input(g: A, output: A, input_shape: A, stride: A, padding: A, dilation: A, groups: A) -> A:
        return input_gradient(output, g, input_shape[2:], Geometry(stride, padding, dilation, groups), False)

    def vjp_output(g: A, input: A, output_shape: A, stride: A, padding: A, dilation: A, groups: A) -> A:
        none = (0,) * len(stride)
        return cut(convolution(input, g, None, stride, padding, dilation, False, none, groups), output_shape[2:])

    def vmap(batch: A, x: A, y: A, *options: Any) -> A:
        *rest, groups = options
        x, y = [channels_of_all(batch.value(v)) for v in (x, y)]
        out = batch.run((x, y), (*rest, groups * batch.size))
        return batch.wrap(out.reshape((batch.size, out.shape[0] // batch.size, *out.shape[1:])))

    samples = lambda t: [
        S(t(2, 2, 5, 4), t(2, 3, 5, 2), (3, 2), (1, 2), (1, 0), (1, 1), 1),
        S(t(1, 4, 5, 5), t(1, 2, 3, 3), (2, 3), (2, 1), (1, 0), (1, 1), 2),
        S(t(2, 3, 3, 4), t(2, 3, 2, 3), (2, 2), (1, 1), (0, 0), (1, 1), 3),
    ]


def channels_of_all(x: Array) -> Array:
    """(samples, n, c, ...) as (n, samples * c, ...)."""
    return x.swapaxes(0, 1).reshape((x.shape[1], x.shape[0] * x.shape[2], *x.shape[3:]))


def channels_of_each(x: Array, samples: int) -> Array:
    """(n, samples * c, ...) as (samples, n, c, ...)."""
    return x.reshape((x.shape[0], samples, x.shape[1] // samples, *x.shape[2:])).swapaxes(0, 1)
