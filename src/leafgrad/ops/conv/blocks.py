"""Windows side by side: unfold ("im2col") and fold ("col2im"), each the transpose of the other; pixels as channels."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._dtypes import BOOL, INTEGER, from_numpy_dtype
from leafgrad.kernels.convolution import Geometry, padded, taps, windows
from leafgrad.kernels.moving import copied
from leafgrad.ops.conv.checks import refused
from leafgrad.ops.conv.convolution import widened
from leafgrad.ops.conv.layout import keeps_format
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Shape, Tensor

A = Any  # an array, or a tensor under create_graph
Ints = tuple[int, ...]


def folded_channels(x: A, lead: int) -> A:
    """All samples as one dimension."""
    return x.reshape((prod(x.shape[:lead]), *x.shape[lead:]))


@op
class im2col(Family):
    """im2col(input, kernel_size, dilation, padding, stride): the windows of an input (n, c, height, width) as the
    columns of matrices (n, c * window, positions)."""

    shows = {"self_sym_argsize_minus_2": ..., "self_sym_argsize_minus_1": ...}
    options = ("kernel_size", "dilation", "padding", "stride")
    public_name = ""
    node_name = "Im2ColBackward0"
    kernel_name = "im2col_out_cpu"
    saved_as = {"input_shape": ""}
    refuses = (INTEGER,)
    holomorphic = False  # elements are only chosen
    jvp = "linear"
    vmap = "dims"
    reference = lambda torch, x, *options: torch.nn.functional.unfold(x, *options)

    def kernel(x: A, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> A:
        geometry = Geometry(stride, padding, dilation, 1)
        lead, c, sizes = x.shape[:-3], x.shape[-3], x.shape[-2:]
        positions = geometry.positions(sizes, kernel_size)
        wide = padded(folded_channels(x, len(lead)), padding, tuple([n + 2 * p for n, p in zip(sizes, padding)]))
        found = windows(wide, positions, kernel_size, geometry)
        return copied(found).reshape((*lead, c * prod(kernel_size), prod(positions)))

    def call(input: Tensor, kernel_size: Shape, dilation: Shape, padding: Shape, stride: Shape) -> Tensor:
        options = check_windows(kernel_size, dilation, padding, stride)
        check_image(input, *options)
        im2col.check(from_numpy_dtype(input.array.dtype))
        return im2col.record(input, *options)

    def vjp(g: A, kernel_size: A, dilation: A, padding: A, stride: A, input_shape: A) -> A:
        return col2im(g, tuple(input_shape[-2:]), kernel_size, dilation, padding, stride)

    samples = lambda t: [
        S(t(2, 2, 4, 5), (2, 3), (1, 1), (0, 1), (2, 1)),
        S(t(3, 4, 4), (2, 2), (2, 1), (1, 0), (1, 2)),
        S(t(0, 3, 4, 4), (2, 2), (1, 1), (0, 0), (1, 1)),
    ]


@op
class col2im(Family):
    """col2im(input, output_size, kernel_size, dilation, padding, stride): columns added to the windows of an image of
    this size that they stand for."""

    options = ("output_size", "kernel_size", "dilation", "padding", "stride")
    public_name = ""
    node_name = "Col2ImBackward0"
    kernel_name = "col2im_out_cpu"
    saved_as = {"output_size": ""}
    refuses = (INTEGER, BOOL)
    jvp = "linear"
    vmap = "dims"
    reference = lambda torch, x, *options: torch.nn.functional.fold(x, *options)

    def kernel(x: A, output_size: Ints, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> A:
        geometry, kind = Geometry(stride, padding, dilation, 1), x.dtype
        (x,) = widened(x)
        lead, c = x.shape[:-2], x.shape[-2] // prod(kernel_size)
        positions = geometry.positions(output_size, kernel_size)
        parts = x.reshape((*lead, c, *kernel_size, *positions))
        whole: A = np.zeros((*lead, c, *[n + 2 * p for n, p in zip(output_size, padding)]), x.dtype)
        for tap, place in taps(kernel_size, positions, geometry):
            whole[place] += parts[(..., *tap, slice(None), slice(None))]
        inner = whole[(..., *[slice(p, p + n) for p, n in zip(padding, output_size)])]
        return np.ascontiguousarray(inner).astype(kind, copy=False)

    def call(
        input: Tensor, output_size: Shape, kernel_size: Shape, dilation: Shape, padding: Shape, stride: Shape
    ) -> Tensor:
        size = pair(output_size, "output_size")
        options = check_windows(kernel_size, dilation, padding, stride)
        check_columns(input, size, *options)
        col2im.check(from_numpy_dtype(input.array.dtype))
        return col2im.record(input, size, *options)

    def vjp(g: A, kernel_size: A, dilation: A, padding: A, stride: A) -> A:
        return im2col(g, kernel_size, dilation, padding, stride)

    samples = lambda t: [
        S(t(2, 12, 10), (4, 5), (2, 3), (1, 1), (0, 1), (2, 1)),
        S(t(8, 8), (4, 4), (2, 2), (2, 1), (1, 0), (1, 2)),
    ]


def pair(value: Sequence[int], what: str) -> Ints:
    if len(value) != 2:
        raise refused(f"It is expected {what} equals to 2, but got size {len(value)}")
    return tuple(value)


def check_windows(kernel_size: Shape, dilation: Shape, padding: Shape, stride: Shape) -> tuple[Ints, ...]:
    named = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    window, apart, around, step = [pair(value, what) for what, value in named.items()]
    for what, name, values in (
        ("kernel size", "kernel", window),
        ("stride", "stride", step),
        ("dilation", "dilation", apart),
    ):
        if min(values) <= 0:
            given = f"{name}_height: {values[0]} {name}_width: {values[1]}"
            raise refused(f"{what} should be greater than zero, but got {given}")
    if min(around) < 0:
        raise refused(f"padding should be non-negative, but got pad_height: {around[0]} pad_width: {around[1]}")
    return window, apart, around, step


def check_image(input: Any, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> None:
    shape = input.array.shape
    if len(shape) < 3:
        first = f"Dimension out of range (expected to be in range of [{-len(shape)}, {len(shape) - 1}], but got 2)"
        raise errors.mistake(IndexError, first, ("input", errors.describe(input)))
    if len(shape) > 4 or 0 in shape[-3:]:
        raise refused(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {list(shape)}",
            ("input", input),
        )
    positions = Geometry(stride, padding, dilation, 1).positions(shape[-2:], kernel_size)
    if min(positions) < 1:
        raise refused(
            f"Given input with spatial size {shape[-2:]}, kernel_size={kernel_size}, dilation={dilation}, "
            f"padding={padding}, calculated shape of the array of sliding blocks as {positions}, but its components "
            "must be at least one.",
            ("input", input),
        )


def check_columns(
    input: Any, output_size: Ints, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints
) -> None:
    shape = input.array.shape
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise refused(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
            f"input, but got: {list(shape)}",
            ("input", input),
        )
    if shape[-2] % prod(kernel_size):
        raise refused(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={shape[-2]} and kernel_size={kernel_size}.",
            ("input", input),
        )
    count = Geometry(stride, padding, dilation, 1).positions(output_size, kernel_size)
    given = (
        f"Given output_size={output_size}, kernel_size={kernel_size}, dilation={dilation}, padding={padding}, "
        f"stride={stride},"
    )
    if min(count) < 1 and prod(count) == shape[-1]:
        raise refused(
            f"{given} calculated shape of the array of sliding blocks as {count}, which is too small (non-positive)",
            ("input", input),
        )
    if prod(count) != shape[-1]:
        raise refused(
            f"{given} expected size of input's dimension 2 to match the calculated number of sliding blocks "
            f"{count[0]} * {count[1]} = {prod(count)}, but got input.size(2)={shape[-1]}.",
            ("input", input),
        )


# -- pixels and channels ----------------------------------------------------------------------------------------------


class Shuffling(Family, family=True):
    """Elements in another order."""

    method = False
    holomorphic = False
    jvp = "linear"
    vmap: Any = "dims"


def at_least_three(name: str, input: Any, factor: int, what: str) -> None:
    ndim = input.array.ndim
    if ndim < 3:
        least = f"expects input to have at least 3 dimensions, but got input with {ndim} dimension(s)"
        raise refused(f"{name} {least}", ("input", input))
    if factor <= 0:
        raise refused(f"{name} expects a positive {what}, but got {factor}")


@op
class pixel_shuffle(Shuffling):
    """pixel_shuffle(input, upscale_factor): channels (..., c * r², h, w) become pixels (..., c, h * r, w * r)."""

    options = ("upscale_factor",)
    places = ("nn.functional.pixel_shuffle",)

    @staticmethod
    @keeps_format
    def kernel(x: A, r: int) -> A:
        *lead, c, h, w = x.shape
        parts = x.reshape((*lead, c // r**2, r, r, h, w))
        n = len(lead)
        order = (*range(n + 1), n + 3, n + 1, n + 4, n + 2)
        return copied(parts.transpose(order)).reshape((*lead, c // r**2, h * r, w * r))

    def call(input: Tensor, upscale_factor: int) -> Tensor:
        at_least_three("pixel_shuffle", input, upscale_factor, "upscale_factor")
        channels, square = input.array.shape[-3], upscale_factor**2
        if channels % square:
            raise refused(
                "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
                f"upscale_factor, but input.size(-3)={channels} is not divisible by {square}",
                ("input", input),
            )
        return pixel_shuffle.record(input, upscale_factor)

    def vjp(g: A, upscale_factor: A) -> A:
        return pixel_unshuffle(g, upscale_factor)

    samples = lambda t: [S(t(2, 8, 2, 3), 2), S(t(9, 2, 1), 3)]


@op
class pixel_unshuffle(Shuffling):
    """pixel_unshuffle(input, downscale_factor): pixels (..., c, h * r, w * r) become channels (..., c * r², h, w)."""

    options = ("downscale_factor",)
    places = ("nn.functional.pixel_unshuffle",)

    @staticmethod
    @keeps_format
    def kernel(x: A, r: int) -> A:
        *lead, c, h, w = x.shape
        parts = x.reshape((*lead, c, h // r, r, w // r, r))
        n = len(lead)
        order = (*range(n + 1), n + 2, n + 4, n + 1, n + 3)
        return copied(parts.transpose(order)).reshape((*lead, c * r**2, h // r, w // r))

    def call(input: Tensor, downscale_factor: int) -> Tensor:
        at_least_three("pixel_unshuffle", input, downscale_factor, "downscale_factor")
        for what, dim in (("height", -2), ("width", -1)):
            if (size := input.array.shape[dim]) % downscale_factor:
                raise refused(
                    f"pixel_unshuffle expects {what} to be divisible by downscale_factor, but input.size({dim})={size} "
                    f"is not divisible by {downscale_factor}",
                    ("input", input),
                )
        return pixel_unshuffle.record(input, downscale_factor)

    def vjp(g: A, downscale_factor: A) -> A:
        return pixel_shuffle(g, downscale_factor)

    samples = lambda t: [S(t(2, 2, 4, 6), 2), S(t(1, 3, 6), 3)]


@op
class channel_shuffle(Shuffling):
    """channel_shuffle(input, groups): of channels (n, groups * c, ...), the first of each group, then the second."""

    options = ("groups",)
    places = ("nn.functional.channel_shuffle",)
    saved_as = {"input_shape": ""}

    @staticmethod
    @keeps_format
    def kernel(x: A, groups: int) -> A:
        return _shuffled(x, groups, 1)

    def vmap(batch: A, x: A, groups: int) -> A:
        return batch.wrap(_shuffled(batch.value(x), groups, 2))

    def call(input: Tensor, groups: int) -> Tensor:
        shape = input.array.shape
        if len(shape) < 3:
            raise refused(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(shape)}")
        if groups <= 0:
            raise refused(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
        if shape[1] % groups:
            raise refused(
                f"Number of channels must be divisible by groups. Got {shape[1]} channels and {groups} groups.",
                ("input", input),
            )
        return channel_shuffle.record(input, groups)

    def vjp(g: A, groups: A, input_shape: A) -> A:
        return channel_shuffle(g, input_shape[1] // groups)

    samples = lambda t: [S(t(2, 6, 2, 2), 3), S(t(1, 4, 3), 2)]


def _shuffled(x: A, groups: int, dim: int) -> A:
    shape = x.shape
    parts = x.reshape((*shape[:dim], groups, shape[dim] // groups, *shape[dim + 1 :]))
    return copied(parts.swapaxes(dim, dim + 1)).reshape(shape)
