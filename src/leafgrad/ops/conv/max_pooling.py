"""The largest element of each window: max_pool, adaptive and fractional windows, and max_unpool, which puts them back.

Kernels work on the last dimensions, whatever is before them. Indices count the elements of these, row by row.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind, bind_many
from leafgrad._core.recorder import needs_recording
from leafgrad._core.thread_state import state
from leafgrad._dtypes import BOOL, COMPLEX, INTEGER, from_numpy_dtype
from leafgrad.kernels.convolution import Geometry
from leafgrad.kernels.pooling import flattened, max_adaptive, max_at, max_values, max_windows, put_back
from leafgrad.ops.conv.checks import refused
from leafgrad.ops.conv.layout import keeps_format, keeps_format_of_images
from leafgrad.ops.conv.pool_checks import check_adaptive, check_pool, pool_sizes
from leafgrad.ops.index.gather import gather, gather_sum
from leafgrad.ops.reduce.common import raw
from leafgrad.ops.registry import Family, op, with_kernel
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Shape, Tensor

A = Any  # an array, or a tensor under create_graph
Array = Any
Ints = tuple[int, ...]

# -- arrays -----------------------------------------------------------------------------------------------------------


def in_windows(pool: Any) -> Any:
    """A function of kernels/pooling.py as a kernel with the options of max_pool."""

    def kernel(x: A, window: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool) -> A:
        positions = pool_sizes(x.shape[-len(window) :], window, stride, padding, dilation, ceil_mode)
        return pool(x, window, Geometry(stride, padding, dilation, 1), positions)

    return keeps_format(kernel)


def back_to_places(g: A, indices: A, input_shape: A, dims: int) -> A:
    """Gradients added up at the elements that they belong to."""
    lead = tuple(input_shape[: len(input_shape) - dims])
    flat = (*lead, prod(input_shape[len(lead) :]))
    at = flattened(raw(indices), dims)
    if g.__class__ is np.ndarray and (total := put_back(flattened(g, dims), at, flat)) is not None:
        return total.reshape(tuple(input_shape))
    return gather_sum(flattened(g, dims), at, flat, len(flat) - 1).reshape(tuple(input_shape))


# -- windows ----------------------------------------------------------------------------------------------------------


@op
class max_pool(Family):
    """max_pool(input, kernel_size, stride, padding, dilation, ceil_mode): the largest element of each window of two or
    three dimensions, and its index."""

    piecewise_linear = True
    shows = dict.fromkeys(("stride", "padding", "dilation", "ceil_mode"), ...)
    options = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
    results = 2
    public_name = ""
    node_name = "MaxPool2DWithIndicesBackward0"
    node_names = ("MaxPool3DWithIndicesBackward0",)
    aten = {
        "MaxPool2DWithIndicesBackward0": "max_pool2d_with_indices",
        "MaxPool3DWithIndicesBackward0": "max_pool3d_with_indices",
    }
    aten_function = "max_pool2d_with_indices"
    saved_as = {"out1": "result1", "input_shape": ""}
    refuses = (BOOL, COMPLEX)
    vmap = "dims"
    kernel = in_windows(max_windows)
    reference = lambda torch, x, *options: getattr(torch.nn.functional, f"max_pool{len(options[0])}d")(
        x, *options, return_indices=True
    )

    def call(
        input: Tensor, kernel_size: Shape, stride: Shape, padding: Shape, dilation: Shape, ceil_mode: bool
    ) -> list[Tensor]:
        options = check_max_pool(input, kernel_size, stride, padding, dilation, ceil_mode)
        return bind_many(core_for(len(kernel_size)), (input,), options)

    def vjp(g: A, kernel_size: A, out1: A, input_shape: A) -> A:
        return back_to_places(g[0], out1, input_shape, len(kernel_size))

    samples = lambda t: [
        S(t(2, 2, 5, 4), (2, 3), (2, 1), (0, 1), (1, 1), False),
        S(t(1, 5, 6), (3, 2), (2, 2), (1, 1), (1, 2), True),
        S(t(1, 2, 4, 3, 4), (2, 2, 2), (1, 2, 2), (0, 1, 0), (1, 1, 1), False),
        S(t(0, 2, 4, 4), (2, 2), (2, 2), (0, 0), (1, 1), False),
    ]


def check_max_pool(
    input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Any, ...]:
    name = f"max_pool{len(kernel_size)}d"
    check_pool(name, input, kernel_size, stride, padding, dilation, ceil_mode)
    if input.array.dtype.char not in "fd":
        refuse(name, input, BOOL, COMPLEX)
    return kernel_size, stride, padding, dilation, ceil_mode


def refuse(name: str, input: Any, *categories: int) -> None:
    """Dtypes that PyTorch's function of this name does not take."""
    kind = from_numpy_dtype(input.array.dtype)
    if kind.category in categories:
        raise errors.mistake(NotImplementedError, f"\"{name}\" not implemented for '{kind.alias}'")


def core_for(dims: int) -> Any:
    return max_pool.core if dims == 2 else max_pool.named["MaxPool3DWithIndicesBackward0"]


_values_only = with_kernel(max_pool.core, in_windows(max_values))


def largest(input: Tensor, *options: Any) -> Tensor:
    """The values of max_pool, for whose gradients alone indices are needed."""
    options = check_max_pool(input, *options)
    usual = state.recording is True or state.recording is False  # otherwise some mode may want a derivative
    if not usual or needs_recording((input,)):
        return bind_many(core_for(len(options[0])), (input,), options)[0]
    return bind(_values_only, (input,), options)


# -- windows that divide the input ------------------------------------------------------------------------------------


@op
class adaptive_max_pool(Family):
    """adaptive_max_pool(input, output_size): the largest elements of as many windows, and their indices."""

    piecewise_linear = True
    options = ("output_size",)
    results = 2
    public_name = ""
    node_name = "AdaptiveMaxPool2DBackward0"
    node_names = ("AdaptiveMaxPool3DBackward0",)
    aten = {"AdaptiveMaxPool2DBackward0": "adaptive_max_pool2d", "AdaptiveMaxPool3DBackward0": "adaptive_max_pool3d"}
    aten_function = "adaptive_max_pool2d"
    saved_as = {"out1": "result1", "input_shape": "", "output_size": ""}
    vmap = "dims"
    reference = lambda torch, x, size: getattr(torch._C._nn, f"adaptive_max_pool{len(size)}d")(x, size)

    @staticmethod
    @keeps_format_of_images
    def kernel(x: A, output_size: Ints) -> A:
        return max_adaptive(x, output_size)

    def call(input: Tensor, output_size: Shape) -> list[Tensor]:
        dims = len(output_size)
        size = check_adaptive(f"adaptive_max_pool{dims}d", input, output_size, dims, True)
        refuse("adaptive_max_pool2d" if dims == 2 else "adaptive_max_pool3d_cpu", input, BOOL, COMPLEX, INTEGER)
        named = adaptive_max_pool.named
        core = adaptive_max_pool.core if dims == 2 else named["AdaptiveMaxPool3DBackward0"]
        return bind_many(core, (input,), (size,))

    def vjp(g: A, out1: A, input_shape: A, output_size: A) -> A:
        return back_to_places(g[0], out1, input_shape, len(output_size))

    samples = lambda t: [
        S(t(2, 2, 5, 7), (2, 3)),
        S(t(3, 4, 3), (2, 5)),
        S(t(1, 2, 3, 4, 5), (2, 2, 3)),
    ]


@op
class fractional_max_pool(Family):
    """fractional_max_pool(input, samples, kernel_size, output_size): the largest elements of as many windows of one
    size, whose places are chosen by random numbers, and their indices."""

    piecewise_linear = True
    autocast = "float32"
    inputs = ("input", "samples")
    options = ("kernel_size", "output_size")
    results = 2
    public_name = ""
    constants = ("samples",)
    node_name = "FractionalMaxPool2DBackward0"
    node_names = ("FractionalMaxPool3DBackward0",)
    aten = {
        "FractionalMaxPool2DBackward0": "fractional_max_pool2d",
        "FractionalMaxPool3DBackward0": "fractional_max_pool3d",
    }
    aten_function = "fractional_max_pool2d"
    saved_as = {"out1": "result1", "input_shape": ""}
    reference = lambda torch, x, samples, kernel, size: getattr(torch._C._nn, f"fractional_max_pool{len(kernel)}d")(
        x, kernel, size, samples
    )

    def kernel(x: A, samples: A, kernel_size: Ints, output_size: Ints) -> list[A]:
        dims = len(kernel_size)
        if not prod(output_size) or not x.size:
            shape = (*x.shape[:-dims], *output_size)
            return [np.zeros(shape, x.dtype), np.zeros(shape, np.int64)]
        coordinates = []
        for i, (size, window, count) in enumerate(zip(x.shape[-dims:], kernel_size, output_size)):
            # PyTorch has the random numbers of the last dimension first in two dimensions, last in three
            chosen = samples[..., dims - 1 - i if dims == 2 else i]
            first = fractional_starts(chosen, size, window, count)
            first = first[: x.shape[0]] if x.ndim == dims + 2 else first[0]
            coordinates.append([first + t for t in range(window)])
        return max_at(x, coordinates)

    def call(input: Tensor, samples: Tensor, kernel_size: Shape, output_size: Shape) -> list[Tensor]:
        dims = len(kernel_size)
        check_fractional(input, samples, tuple(kernel_size), tuple(output_size))
        named = fractional_max_pool.named
        core = fractional_max_pool.core if dims == 2 else named["FractionalMaxPool3DBackward0"]
        return bind_many(core, (input, samples), (tuple(kernel_size), tuple(output_size)))

    def vjp_input(g: A, kernel_size: A, output_size: A, out1: A, input_shape: A) -> A:
        return back_to_places(g[0], out1, input_shape, len(kernel_size))

    def vmap(batch: A, *args: Any) -> A:
        return batch.by_sample()

    samples = lambda t: [
        S(t(2, 2, 5, 6), t(2, 2, 2, low=0, high=1), (2, 2), (3, 2)),
        S(t(2, 5, 4), t(1, 2, 2, low=0, high=1), (2, 1), (1, 3)),
        S(t(1, 2, 4, 4, 3), t(1, 2, 3, low=0, high=1), (2, 2, 1), (2, 2, 2)),
    ]


def fractional_starts(samples: Array, size: int, window: int, count: int) -> Array:
    """Where windows begin, (..., count), by one random number for all of a row."""
    if count == 1:
        return np.full((*samples.shape, 1), size - window)
    alpha = samples.dtype.type(size - window) / samples.dtype.type(count - 1)
    random = samples[..., None]
    at = ((np.arange(count, dtype=samples.dtype) + random) * alpha).astype(np.int64)
    at -= (random * alpha).astype(np.int64)
    at[..., -1] = size - window
    return at


def check_fractional(input: Any, samples: Any, kernel_size: Ints, output_size: Ints) -> None:
    dims, shape = len(kernel_size), input.array.shape
    name = f"fractional_max_pool{dims}d{'_out' * (dims == 3)}()"
    if len(shape) not in (dims + 1, dims + 2):
        raise refused(f"{name}: Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(shape)}", ("input", input))
    refuse(f"fractional_max_pool{dims}d_out_frame", input, COMPLEX)
    batched = len(shape) == dims + 2
    for dim in range(batched, len(shape)):
        if shape[dim] == 0:
            raise refused(
                f"{name}: Expected input to have non-zero size for non-batch dimensions, but got{list(shape)} with "
                f"dimension {dim} being empty.",
                ("input", input),
            )
    if needs_recording((samples,)):
        named = f"The function 'fractional_max_pool{dims}d' is not differentiable with respect to argument 'samples'"
        raise refused(f"{named}. This input cannot have requires_grad True.")
    check_random_numbers(samples.array, input.array, dims)
    axes = ("height", "width") if dims == 2 else ("time", "height", "width")
    for axis, size, window, count in zip(axes, shape[-dims:], kernel_size, output_size):
        if count + window - 1 > size - (dims == 3):
            raise refused(f"{name}: pool {axis} {window} too large relative to input {axis} {size}", ("input", input))


def check_random_numbers(samples: Array, x: Array, dims: int) -> None:
    """One for each dimension of each channel of each sample, and maybe of more samples."""
    if samples.dtype != x.dtype:
        raise refused("Expect _random_samples to have the same dtype as input")
    if samples.ndim != 3:
        raise refused(f"Expect _random_samples to have 3 dimensions, got {samples.ndim}")
    if samples.shape[0] < (x.shape[0] if x.ndim == dims + 2 else 1):
        raise refused("Expect _random_samples.size(0) no less then input batch size.")
    if samples.shape[1] != x.shape[-dims - 1]:
        raise refused("Expect _random_samples.size(1) equals to input channel size.")
    if samples.shape[2] != dims:
        raise refused(f"Expect _random_samples.size(2) equals to {dims}; got {samples.shape[2]}.")


# -- back -------------------------------------------------------------------------------------------------------------


@op
class max_unpool(Family):
    """max_unpool(input, indices, output_size): zeros, with the elements at the places that indices name."""

    autocast = "float32"
    inputs = ("input", "indices")
    options = ("output_size",)
    public_name = ""
    node_name = "MaxUnpool2DBackward0"
    node_names = ("MaxUnpool3DBackward0",)
    aten = {"MaxUnpool2DBackward0": "max_unpool2d", "MaxUnpool3DBackward0": "max_unpool3d"}
    aten_function = "max_unpool2d"
    saved_as = {"input_shape": "", "output_size": ""}
    holomorphic = False
    reference = lambda torch, x, indices, size: (
        torch._C._nn.max_unpool2d(x, indices, size)
        if len(size) == 2
        else torch._C._nn.max_unpool3d(x, indices, size, (1,) * 3, (0,) * 3)
    )

    @staticmethod
    @keeps_format
    def kernel(x: A, indices: A, output_size: Ints) -> A:
        dims = len(output_size)
        out = np.zeros((*x.shape[:-dims], prod(output_size)), x.dtype)
        np.put_along_axis(out, flattened(indices, dims), flattened(x, dims), -1)
        return out.reshape((*x.shape[:-dims], *output_size))

    def call(input: Tensor, indices: Tensor, output_size: Shape) -> Tensor:
        size = tuple(output_size)
        check_unpool(input, indices, size)
        core = max_unpool.core if len(size) == 2 else max_unpool.named["MaxUnpool3DBackward0"]
        return bind(core, (input, indices), (size,))

    def vjp_input(g: A, indices: A, input_shape: A, output_size: A) -> A:
        dims = len(output_size)
        at = flattened(indices, dims)
        return gather(flattened(g, dims), at, len(g.shape) - dims).reshape(tuple(input_shape))

    def vmap(batch: A, x: A, indices: A, output_size: Ints) -> A:
        return batch.apply(batch.values(x, indices), (output_size,))

    samples = lambda t: [
        S(t(4, 1, 1), t(4, 1, 1, dtype="int64", high=12), (3, 4)),
        S(t(1, 3, 1, 1, 1), t(1, 3, 1, 1, 1, dtype="int64", high=6), (1, 2, 3)),
    ]


def check_unpool(input: Any, indices: Any, size: Ints) -> None:
    dims, x, at = len(size), input.array, indices.array
    if at.dtype != np.int64:
        given = "" if dims == 3 else f" but got: {from_numpy_dtype(at.dtype).alias}"
        raise refused(f"elements in indices should be type int64{given}")
    if x.ndim not in (dims + 1, dims + 2):
        raise refused(
            f"Input to max_unpooling{dims}d should be a {dims + 1}d or {dims + 2}d Tensor, but got a tensor with "
            f"{x.ndim} dimensions.",
            ("input", input),
        )
    if x.shape != at.shape:
        raise refused(
            f"Expected shape of indices to be same as that of the input tensor ({list(x.shape)}) but got indices "
            f"tensor with shape: {list(at.shape)}",
            ("input", input), ("indices", indices),
        )  # fmt: skip
    for dim in range(x.ndim - dims - 1, x.ndim):
        if x.shape[dim] == 0:
            raise refused(
                f"max_unpooling{dims}d_forward_out_cpu(): Expected input to have non-zero size for non-batch "
                f"dimensions, but got {list(x.shape)} with dimension {dim} being empty.",
                ("input", input),
            )
    refuse(f"max_unpool{dims}d", input, BOOL, COMPLEX, INTEGER)
    wrong = at[(at < 0) | (at >= prod(size))]
    if wrong.size:
        volume = "x".join([str(n) for n in size])
        raise refused(f"Found an invalid max index: {wrong[-1]} (output volumes are of size {volume})")
