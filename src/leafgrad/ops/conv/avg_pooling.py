"""The mean of each window: avg_pool, and adaptive windows."""

from __future__ import annotations

import functools
from math import prod
from typing import Any

import numpy as np

from leafgrad._core.bind import bind
from leafgrad._core.fused import only_values, run_on_tensors
from leafgrad._core.tensor import is_batched
from leafgrad._device import contiguous_format
from leafgrad._dtypes import BOOL, COMPLEX, INTEGER
from leafgrad._layouts import format_of
from leafgrad.kernels.pooling import bins, is_native, means, means_adaptive, means_adaptive_back, means_back
from leafgrad.ops.conv.axis_maps import AxisMap, along_axes, mapped
from leafgrad.ops.conv.checks import refused
from leafgrad.ops.conv.convolution import widened
from leafgrad.ops.conv.layout import keeps_format_of_images
from leafgrad.ops.conv.max_pooling import refuse
from leafgrad.ops.conv.pool_checks import check_adaptive, check_pool, pool_sizes
from leafgrad.ops.reduce.common import raw
from leafgrad.ops.reduce.reductions import mean
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Shape, Tensor

A = Any  # an array, or a tensor under create_graph
Array = Any
Ints = tuple[int, ...]


class Averaging(Family, family=True):
    public_name = ""
    jvp = "linear"
    vmap = "dims"
    refuses = (BOOL, COMPLEX)


@op
class avg_pool(Averaging):
    """avg_pool(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override): the mean of each
    window of two or three dimensions."""

    piecewise_linear = True
    shows = {"ceil_mode": ...}
    options = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override")
    node_name = "AvgPool2DBackward0"
    node_names = ("AvgPool3DBackward0",)
    aten = {"AvgPool2DBackward0": "avg_pool2d", "AvgPool3DBackward0": "avg_pool3d"}
    aten_function = "avg_pool2d"
    saved_as = {"input_shape": ""}
    exempt = {"half precision": "PyTorch does not take it in three dimensions"}
    reference = lambda torch, x, *options: getattr(torch.nn.functional, f"avg_pool{len(options[0])}d")(x, *options)

    @staticmethod
    @keeps_format_of_images
    def kernel(x: A, window: Ints, stride: Ints, padding: Ints, ceil_mode: bool, include_pad: bool, override: Any) -> A:
        positions = pool_sizes(x.shape[-len(window) :], window, stride, padding, (1,) * len(window), ceil_mode)
        if x.dtype.itemsize > 2:
            return means(x, window, stride, padding, positions, include_pad, override)
        wide = widened(x)[0]
        return means(wide, window, stride, padding, positions, include_pad, override).astype(x.dtype, copy=False)

    def call(
        input: Tensor,
        kernel_size: Shape,
        stride: Shape,
        padding: Shape,
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None,
    ) -> Tensor:
        dims = len(kernel_size)
        window, step, around = tuple(kernel_size), tuple(stride), tuple(padding)
        if divisor_override == 0:
            raise refused("divisor must be not zero")
        check_pool("avg_pool2d" if dims == 2 else "avg_pool3d", input, window, step, around, (1,) * dims, ceil_mode)
        kind = input.array.dtype
        if kind.char not in "fd":
            name = "avg_pool2d" if dims == 2 else "avg_pool3d_out_frame"
            refuse(name, input, BOOL, COMPLEX)
            if (kind.kind in "iu" and kind != np.int64) or (dims == 3 and kind.itemsize == 2):
                refuse(name, input, *range(8))
        core = avg_pool.core if dims == 2 else avg_pool.named["AvgPool3DBackward0"]
        return bind(core, (input,), (window, step, around, ceil_mode, count_include_pad, divisor_override))

    def vjp(
        g: A, kernel_size: A, stride: A, padding: A, count_include_pad: A, divisor_override: A, input_shape: A
    ) -> A:
        sizes = tuple(input_shape[-len(kernel_size) :])
        return avg_pool_back(g, sizes, kernel_size, stride, padding, count_include_pad, divisor_override)

    samples = lambda t: [
        S(t(2, 2, 5, 4), (2, 3), (2, 1), (0, 1), False, True, None),
        S(t(1, 5, 6), (3, 2), (2, 2), (1, 1), True, False, None),
        S(t(1, 4, 4), (3, 3), (1, 2), (1, 0), False, True, 4),
        S(t(1, 2, 4, 3, 4), (2, 2, 2), (1, 2, 2), (0, 1, 0), True, True, None),
        S(t(0, 2, 4, 4), (2, 2), (2, 2), (0, 0), False, True, None),
    ]


@op
class avg_pool_back(Averaging):
    """avg_pool_back(input, sizes, kernel_size, stride, padding, count_include_pad, divisor_override): each element,
    divided, added to its window of zeros of these sizes: the gradient of avg_pool."""

    options = ("sizes", "kernel_size", "stride", "padding", "count_include_pad", "divisor_override")
    node_name = "AvgPool2DBackwardBackward0"
    aten = "avg_pool2d_backward"
    reference = lambda torch, g, sizes, kernel, stride, padding, include, override: torch.ops.aten.avg_pool2d_backward(
        g, torch.zeros((*g.shape[:-2], *sizes), dtype=g.dtype), kernel, stride, padding, False, include, override
    )

    def kernel(g: A, sizes: Ints, window: Ints, stride: Ints, padding: Ints, include_pad: bool, override: Any) -> A:
        kind = g.dtype
        (g,) = widened(g)
        return means_back(g, sizes, window, stride, padding, include_pad, override).astype(kind, copy=False)

    def vjp(
        g: A, sizes: A, kernel_size: A, stride: A, padding: A, count_include_pad: A, divisor_override: A, input_shape: A
    ) -> A:
        by_floor = pool_sizes(sizes, kernel_size, stride, padding, (1,) * len(sizes), False)
        ceil_mode = by_floor != tuple(input_shape[-len(sizes) :])
        return avg_pool(g, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)

    samples = lambda t: [
        S(t(2, 5, 4), (5, 4), (1, 3), (1, 1), (0, 1), True, None),
        S(t(1, 2, 3, 2), (5, 4), (3, 2), (2, 2), (1, 0), False, None),
    ]


# -- windows that divide the input ------------------------------------------------------------------------------------


@functools.cache
def bin_map(size: int, count: int) -> AxisMap:
    """The means of `count` windows that cover `size` elements."""
    first, last = bins(size, count)
    lengths = last - first
    results = np.repeat(np.arange(count), lengths)
    elements = np.concatenate([np.arange(a, b) for a, b in zip(first, last)]) if count else np.zeros(0, int)
    return AxisMap(size, count, results, elements, 1 / np.repeat(lengths, lengths))


def bin_maps(sizes: Ints, counts: Ints) -> tuple[AxisMap, ...]:
    return tuple([bin_map(size, count) for size, count in zip(sizes, counts)])


@op
class adaptive_avg_pool(Averaging):
    """adaptive_avg_pool(input, output_size): the means of as many windows."""

    piecewise_linear = True
    options = ("output_size",)
    node_name = "AdaptiveAvgPool2DBackward0"
    node_names = ("AdaptiveAvgPool3DBackward0",)
    aten = {"AdaptiveAvgPool2DBackward0": "_adaptive_avg_pool2d", "AdaptiveAvgPool3DBackward0": "_adaptive_avg_pool3d"}
    aten_function = "_adaptive_avg_pool2d"
    saved_as = {"output_size": "", "input_shape": ""}
    reference = lambda torch, x, size: getattr(torch._C._nn, f"adaptive_avg_pool{len(size)}d")(x, size)

    @staticmethod
    @keeps_format_of_images
    def kernel(x: A, output_size: Ints) -> A:
        dims, kind = len(output_size), x.dtype
        sizes = x.shape[-dims:]
        (wide,) = widened(x)
        if (found := means_adaptive(wide, output_size)) is not None:
            return found.astype(kind, copy=False)
        if prod(output_size) and not any([n % q for n, q in zip(sizes, output_size)]):  # all windows are equal
            pairs = [part for n, q in zip(sizes, output_size) for part in (q, n // q)]
            lead = x.ndim - dims
            split = wide.reshape((*x.shape[:lead], *pairs))
            return split.mean(tuple(range(lead + 1, split.ndim, 2)), wide.dtype).astype(kind, copy=False)
        return mapped(x, bin_maps(sizes, output_size))

    def call(input: Tensor, output_size: Shape) -> Tensor:
        dims = len(output_size)
        name = f"adaptive_avg_pool{dims}d"
        size = check_adaptive(name, input, output_size, dims, dims == 3)
        if size == (1,) * dims:
            out: Any = mean.function(input, tuple(range(-dims, 0)), True)
            if is_batched(input.array) or format_of(input.array) is contiguous_format:
                return out
            channels = input.array.shape[1]
            return out.as_strided_(out.array.shape, (channels, 1) + (channels,) * dims)
        refuse(name if dims == 2 else "adaptive_avg_pool3d_cpu", input, BOOL, COMPLEX, INTEGER)
        named = adaptive_avg_pool.named
        core = adaptive_avg_pool.core if dims == 2 else named["AdaptiveAvgPool3DBackward0"]
        return bind(core, (input,), (size,))

    def vjp(g: A, output_size: A, input_shape: A) -> A:
        sizes = tuple(input_shape[-len(output_size) :])
        if is_native(raw(g)):
            if g.__class__ is np.ndarray:
                return means_adaptive_back(g, sizes)
            if only_values(g):
                return run_on_tensors(means_adaptive_back, means_adaptive_back, (g, sizes))
        maps = bin_maps(sizes, output_size)
        return along_axes(g, tuple([each.transpose for each in maps]))

    samples = lambda t: [
        S(t(2, 2, 5, 7), (2, 3)),
        S(t(3, 4, 6), (2, 3)),
        S(t(1, 2, 3), (4, 2)),
        S(t(1, 2, 3, 4, 5), (2, 2, 3)),
    ]
