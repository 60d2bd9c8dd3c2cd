"""Pooling with the arguments that users give: what PyTorch has under `torch`, and in nn.functional as it is."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from leafgrad._core.recorder import needs_recording
from leafgrad._dtypes import BOOL, COMPLEX, INTEGER
from leafgrad.ops.conv.avg_pooling import adaptive_avg_pool, avg_pool
from leafgrad.ops.conv.max_pooling import adaptive_max_pool, largest, max_pool, refuse
from leafgrad.ops.conv.pool_checks import check_adaptive, check_max_pool1d, check_one_dimension, each_axis
from leafgrad.ops.registry import composite
from leafgrad.ops.samples import S, Samples
from leafgrad.ops.shape.views import squeeze, unsqueeze
from leafgrad.ops.signature import DimOrDims, Tensor

Ints = tuple[int, ...]


def as_plane(input: Tensor) -> Tensor:
    """(..., length) as (..., 1, length)."""
    return unsqueeze.function(input, -2)


def as_line(output: Tensor) -> Tensor:
    return squeeze.function(output, -2)


# -- the largest ------------------------------------------------------------------------------------------------------


def max_windows_of_line(
    input: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Any, ...]:
    """The options of max_pool1d, for windows of two dimensions."""
    window, step, around, apart = windows("max_pool1d()", 1, kernel_size, stride, padding, dilation)
    check_max_pool1d(input, window[0], step[0], around[0], apart[0], ceil_mode)
    return (1, *window), (1, *step), (0, *around), (1, *apart), ceil_mode


@composite(
    lambda t: [S(t(2, 2, 5), 2, 1), S(t(2, 6), 3, padding=1, ceil_mode=True)],
    method=False,
    reference=lambda torch, *args, **named: torch.max_pool1d_with_indices(*args, **named),
)
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: DimOrDims,
    stride: DimOrDims | None = (),
    padding: DimOrDims = 0,
    dilation: DimOrDims = 1,
    ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:
    """max_pool1d_with_indices(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False): the largest
    element of each window, and its index."""
    check_one_dimension("max_pool1d", input)
    window, step, around, apart = windows("max_pool1d() ", 1, kernel_size, stride, padding, dilation)
    options = (1, *window), (1, *step), (0, *around), (1, *apart), ceil_mode
    values, indices = max_pool.function(as_plane(input), *options)
    return as_line(values), as_line(indices)


@composite(lambda t: [S(t(2, 2, 5), 2, 1), S(t(2, 6), 3, padding=1, ceil_mode=True)], method=False)
def max_pool1d(
    input: Tensor,
    kernel_size: DimOrDims,
    stride: DimOrDims | None = (),
    padding: DimOrDims = 0,
    dilation: DimOrDims = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """max_pool1d(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False): the largest element of each
    window."""
    options = max_windows_of_line(input, kernel_size, stride, padding, dilation, ceil_mode)
    if not needs_recording((input,)):
        refuse("max_pool1d_impl", input, BOOL, COMPLEX, INTEGER)
        return as_line(largest(as_plane(input), *options)).contiguous()
    return as_line(largest(as_plane(input), *options))


def max_pool_of(dims: int, samples: Samples) -> Callable[..., Any]:
    """max_pool2d and max_pool3d."""

    def pool(
        input: Tensor,
        kernel_size: DimOrDims,
        stride: DimOrDims | None = (),
        padding: DimOrDims = 0,
        dilation: DimOrDims = 1,
        ceil_mode: bool = False,
    ) -> Tensor:
        return largest(input, *windows(name, dims, kernel_size, stride, padding, dilation), ceil_mode)

    name = pool.__name__ = pool.__qualname__ = f"max_pool{dims}d"
    pool.__doc__ = (
        f"{name}(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False): the largest element of each "
        "window."
    )
    return composite(samples, method=False, autocast="float32" if dims == 3 else None)(pool)


def windows(name: str, dims: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any = 1) -> tuple[Ints, ...]:
    """Where windows lie, one number for each dimension."""
    if kernel_size.__class__ is padding.__class__ is dilation.__class__ is int:
        if stride is None or stride == () or stride.__class__ is int:
            return square_windows(name, dims, kernel_size, stride, padding, dilation)
    return windows_of_each(name, dims, kernel_size, stride, padding, dilation)


def windows_of_each(
    name: str, dims: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any
) -> tuple[Ints, ...]:
    window = each_axis(name, "kernel_size", kernel_size, dims)
    step = window if stride is None or stride == () else each_axis(name, "stride", stride, dims, window)
    return window, step, each_axis(name, "padding", padding, dims), each_axis(name, "dilation", dilation, dims)


square_windows = functools.lru_cache(1000)(windows_of_each)  # of numbers: a layer asks for the same again and again


max_pool2d = max_pool_of(2, lambda t: [S(t(2, 2, 4, 5), 2), S(t(2, 5, 5), (3, 2), (1, 2), (1, 0), (1, 2), True)])
max_pool3d = max_pool_of(3, lambda t: [S(t(1, 2, 4, 4, 3), 2, 1), S(t(1, 4, 3, 4), (2, 2, 3), 2, 1, ceil_mode=True)])


@composite(
    lambda t: [S(t(2, 2, 5), 2), S(t(2, 6), 4)],
    method=False,
    reference=lambda torch, x, size: torch.adaptive_max_pool1d(x, size),  # nn.functional has another one
)
def adaptive_max_pool1d(input: Tensor, output_size: DimOrDims) -> tuple[Tensor, Tensor]:
    """adaptive_max_pool1d(input, output_size): the largest elements of as many windows, and their indices."""
    (count,) = each_axis("adaptive_max_pool1d()", "output_size", output_size, 1)
    check_one_dimension("adaptive_max_pool1d", input)
    if count >= 0:
        check_adaptive("adaptive_max_pool1d", input, (count,), 1, True)
    values, indices = adaptive_max_pool.function(as_plane(input), (1, count))
    return as_line(values), as_line(indices)


# -- the mean ---------------------------------------------------------------------------------------------------------


@composite(
    lambda t: [S(t(2, 2, 5), 2, 1), S(t(2, 6), 3, padding=1, count_include_pad=False), S(t(1, 5), 2, ceil_mode=True)],
    method=False,
    places=("nn.functional.avg_pool1d",),
)
def avg_pool1d(
    input: Tensor,
    kernel_size: DimOrDims,
    stride: DimOrDims | None = (),
    padding: DimOrDims = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """avg_pool1d(input, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True): the mean of each
    window."""
    name = "avg_pool1d()"
    window, step, around, _ = windows(name, 1, kernel_size, stride, padding)
    check_one_dimension("avg_pool1d", input)
    options = (1, *window), (1, *step), (0, *around), ceil_mode, count_include_pad, None
    return as_line(avg_pool.function(as_plane(input), *options))


def avg_pool_of(dims: int, samples: Samples) -> Callable[..., Any]:
    """avg_pool2d and avg_pool3d."""

    def pool(
        input: Tensor,
        kernel_size: DimOrDims,
        stride: DimOrDims | None = None,
        padding: DimOrDims = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        found = windows(name, dims, kernel_size, stride, padding)
        return avg_pool.function(input, *found[:3], ceil_mode, count_include_pad, divisor_override)

    name = pool.__name__ = pool.__qualname__ = f"avg_pool{dims}d"
    pool.__doc__ = (
        f"{name}(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, "
        "divisor_override=None): the mean of each window."
    )
    place = f"nn.functional.{name}"
    exempt = {"half precision": "PyTorch does not take it in three dimensions"} if dims == 3 else {}
    known: dict[str, Any] = {"method": False, "public_name": "", "places": (place,), "reference": place, "out": True}
    return composite(samples, exempt=exempt, autocast="float32" if dims == 3 else None, **known)(pool)


avg_pool2d = avg_pool_of(2, lambda t: [S(t(2, 2, 4, 5), 2), S(t(2, 5, 5), (3, 2), (1, 2), (1, 0), True, False)])
avg_pool3d = avg_pool_of(
    3, lambda t: [S(t(1, 2, 4, 4, 3), 2, 1), S(t(1, 4, 3, 4), (2, 2, 3), 2, 1, divisor_override=3)]
)


@composite(lambda t: [S(t(2, 2, 5), 2), S(t(2, 6), 4)], method=False, places=("nn.functional.adaptive_avg_pool1d",))
def adaptive_avg_pool1d(input: Tensor, output_size: DimOrDims) -> Tensor:
    """adaptive_avg_pool1d(input, output_size): the means of as many windows."""
    (count,) = each_axis("adaptive_avg_pool1d()", "output_size", output_size, 1)
    check_one_dimension("adaptive_avg_pool1d", input)
    return as_line(adaptive_avg_pool.function(as_plane(input), (1, count)))
