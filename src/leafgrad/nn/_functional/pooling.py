"""Pooling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from leafgrad import errors
from leafgrad.nn._functional.overridable import overridable
from leafgrad.ops.conv import pools
from leafgrad.ops.conv.avg_pooling import adaptive_avg_pool
from leafgrad.ops.conv.max_pooling import adaptive_max_pool, fractional_max_pool, max_pool, max_unpool
from leafgrad.ops.random.functions import rand
from leafgrad.ops.signature import DimOrDims, Tensor, declared

__all__ = [
    "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices", "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices", "fractional_max_pool2d", "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d", "fractional_max_pool3d_with_indices", "lp_pool1d", "lp_pool2d", "lp_pool3d", "max_pool1d",
    "max_pool1d_with_indices", "max_pool2d", "max_pool2d_with_indices", "max_pool3d", "max_pool3d_with_indices",
    "max_unpool1d", "max_unpool2d", "max_unpool3d",
]  # fmt: skip


def public(name: str, function: Any, documentation: str, refusal: str = "") -> Any:
    """A function for several numbers of dimensions under one of its names. See `overridable_function`."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name}{documentation}"
    return overridable(declared()(function), refusal=refusal)


# -- the largest ------------------------------------------------------------------------------------------------------


def max_pools_of(dims: int) -> tuple[Any, Any]:
    """max_pool1d, ..., and the functions that return indices as well."""
    name = f"max_pool{dims}d"
    of_values: Callable[..., Any] = getattr(pools, name)

    def pooled_with_indices(
        input: Tensor,
        kernel_size: DimOrDims,
        stride: DimOrDims | None = None,
        padding: DimOrDims = 0,
        dilation: DimOrDims = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> tuple[Tensor, Tensor]:
        steps = () if stride is None else stride
        if dims == 1:
            return pools.max_pool1d_with_indices(  # type: ignore[no-any-return]
                input, kernel_size, steps, padding, dilation, ceil_mode
            )
        options = pools.windows(name, dims, kernel_size, steps, padding, dilation)
        values, indices = max_pool.function(input, *options, ceil_mode)
        return values, indices

    def pooled(
        input: Tensor,
        kernel_size: DimOrDims,
        stride: DimOrDims | None = None,
        padding: DimOrDims = 0,
        dilation: DimOrDims = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        if return_indices:
            return pooled_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
        steps = () if stride is None else stride
        return of_values(input, kernel_size, steps, padding, dilation, ceil_mode)

    arguments = "(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False): the "
    largest = arguments + "largest element of each window"
    with_indices = public(f"{name}_with_indices", pooled_with_indices, f"{largest}, and its index.")
    return public(name, pooled, f"{largest}; with return_indices, its index as well."), with_indices


max_pool1d, max_pool1d_with_indices = max_pools_of(1)
max_pool2d, max_pool2d_with_indices = max_pools_of(2)
max_pool3d, max_pool3d_with_indices = max_pools_of(3)


# -- windows that divide the input ------------------------------------------------------------------------------------


def sizes_asked_for(output_size: Any, input: Tensor) -> Any:
    """The size of a result: one number for all dimensions, or one for each, where None is the input's own."""
    if isinstance(output_size, int):
        return output_size
    if len(output_size) >= input.dim():
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    own = input.shape[input.dim() - len(output_size) :]
    return [size if wanted is None else wanted for wanted, size in zip(output_size, own)]


def in_all_dimensions(size: Any, dims: int) -> tuple[int, ...]:
    return (size,) * dims if isinstance(size, int) else tuple(size)


def adaptive_max_pools_of(dims: int) -> tuple[Any, Any]:
    name = f"adaptive_max_pool{dims}d"

    def pooled_with_indices(
        input: Tensor, output_size: DimOrDims, return_indices: bool = False
    ) -> tuple[Tensor, Tensor]:
        if dims == 1:
            return pools.adaptive_max_pool1d(input, output_size)  # type: ignore[no-any-return]
        size = in_all_dimensions(sizes_asked_for(output_size, input), dims)
        if len(size) != dims:
            raise errors.mistake(RuntimeError, f"{name}(): internal error: output_size.size() must be {dims}")
        values, indices = adaptive_max_pool.function(input, size)
        return values, indices

    def pooled(input: Tensor, output_size: DimOrDims, return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
        both = pooled_with_indices(input, output_size)
        return both if return_indices else both[0]

    arguments = "(input, output_size, return_indices=False): the largest elements of as many windows"
    by = ".size" if dims > 1 else ""
    with_indices = public(f"{name}_with_indices", pooled_with_indices, f"{arguments}, and their indices.")
    return public(name, pooled, f"{arguments}; with return_indices, their indices as well.", by), with_indices


adaptive_max_pool1d, adaptive_max_pool1d_with_indices = adaptive_max_pools_of(1)
adaptive_max_pool2d, adaptive_max_pool2d_with_indices = adaptive_max_pools_of(2)
adaptive_max_pool3d, adaptive_max_pool3d_with_indices = adaptive_max_pools_of(3)


def adaptive_avg_pool_of(dims: int) -> Any:
    name = f"adaptive_avg_pool{dims}d"

    def pooled(input: Tensor, output_size: DimOrDims) -> Tensor:
        size = in_all_dimensions(sizes_asked_for(output_size, input), dims)
        if len(size) != dims:
            raise errors.mistake(RuntimeError, f"{name}: output_size must be {dims}")
        return adaptive_avg_pool.function(input, size)

    return public(name, pooled, "(input, output_size): the means of as many windows.", ".size" if dims > 1 else "")


adaptive_avg_pool2d, adaptive_avg_pool3d = adaptive_avg_pool_of(2), adaptive_avg_pool_of(3)


# -- windows at random places -----------------------------------------------------------------------------------------


def fractional_pools_of(dims: int) -> tuple[Any, Any]:
    name = f"fractional_max_pool{dims}d"
    numbers = "tuple of three Ints" if dims == 3 else "tuple of Ints"

    def numbers_of(value: Any, what: str) -> tuple[int, ...]:
        found = in_all_dimensions(value, dims)
        if len(found) != dims:
            raise errors.mistake(RuntimeError, f"{name}: {what} must either be a single Int or {numbers}")
        return found

    def pooled_with_indices(
        input: Tensor,
        kernel_size: DimOrDims,
        output_size: DimOrDims | None = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        if output_size is None:
            ratios = output_ratio
            if dims == 3 and isinstance(output_ratio, float):
                ratios = (output_ratio,) * dims
            if len(ratios) > dims:
                raise ValueError(f"{name} requires output_ratio to either be a single Int or {numbers}.")
            output_size = [int(size * ratio) for size, ratio in zip(input.shape[-dims:], ratios)]
        if _random_samples is None:
            samples = 1 if input.dim() == dims + 1 else input.size(0)
            _random_samples = rand(samples, input.size(-dims - 1), dims, dtype=input.dtype, device=input.device)
        window, size = numbers_of(kernel_size, "kernel_size"), numbers_of(output_size, "output_size")
        values, indices = fractional_max_pool.function(input, _random_samples, window, size)
        return values, indices

    def pooled(
        input: Tensor,
        kernel_size: DimOrDims,
        output_size: DimOrDims | None = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        both = pooled_with_indices(input, kernel_size, output_size, output_ratio, False, _random_samples)
        return both if return_indices else both[0]

    arguments = (
        "(input, kernel_size, output_size=None, output_ratio=None, return_indices=False): the largest elements of "
    )
    windows = arguments + "windows at random places, so many that the result has this size"
    with_indices = public(f"{name}_with_indices", pooled_with_indices, f"{windows}, and their indices.")
    return public(name, pooled, f"{windows}; with return_indices, their indices as well.", ".dim"), with_indices


fractional_max_pool2d, fractional_max_pool2d_with_indices = fractional_pools_of(2)
fractional_max_pool3d, fractional_max_pool3d_with_indices = fractional_pools_of(3)


# -- back -------------------------------------------------------------------------------------------------------------


def unpooled_size(
    input: Tensor, window: Sequence[int], stride: Sequence[int], padding: Sequence[int], asked: Sequence[int] | None
) -> tuple[int, ...]:
    """The size that the input of max_pool had: it may have had a few elements more than its windows cover."""
    dims = len(window)
    each = zip(input.shape[-dims:], window, stride, padding)
    default = tuple([(n - 1) * s + k - 2 * p for n, k, s, p in each])
    if asked is None:
        return default
    wanted = tuple(asked)
    if len(wanted) == dims + 2:
        wanted = wanted[2:]
    if len(wanted) != dims:
        raise ValueError(
            f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it has a length of "
            f"'{len(wanted)}'"
        )
    for d, (size, usual, step) in enumerate(zip(wanted, default, stride)):
        if not usual - step < size < usual + step:
            between = f"(dim {d} must be between {usual - step} and {usual + step})"
            raise ValueError(f'invalid output_size "{wanted}" {between}')
    return wanted


def two_or_three(size: tuple[int, ...], dims: int) -> tuple[int, ...]:
    if len(size) != dims:
        axes = "two elements (height, width)" if dims == 2 else "three elements (depth, height, width)"
        first = f"There should be exactly {axes} in output_size, but got {len(size)} elements."
        raise errors.mistake(RuntimeError, first)
    return size


def max_unpool_of(dims: int) -> Any:
    name = f"max_unpool{dims}d"

    def unpooled(
        input: Tensor,
        indices: Tensor,
        kernel_size: DimOrDims,
        stride: DimOrDims | None = None,
        padding: DimOrDims = 0,
        output_size: Sequence[int] | None = None,
    ) -> Tensor:
        window = in_all_dimensions(kernel_size, dims)
        step = window if stride is None else in_all_dimensions(stride, dims)
        size = unpooled_size(input, window, step, in_all_dimensions(padding, dims), output_size)
        if dims == 1:  # a plane of one column
            size = two_or_three((*size, 1), 2)
            return max_unpool.function(input.unsqueeze(-1), indices.unsqueeze(-1), size).squeeze(-1)
        return max_unpool.function(input, indices, two_or_three(size, dims))

    return public(
        name,
        unpooled,
        "(input, indices, kernel_size, stride=None, padding=0, output_size=None): zeros, with the elements that "
        "max_pool has found at their places.",
        ".size",
    )


max_unpool1d, max_unpool2d, max_unpool3d = max_unpool_of(1), max_unpool_of(2), max_unpool_of(3)


# -- norms ------------------------------------------------------------------------------------------------------------


def lp_pool_of(dims: int) -> Any:
    average: Callable[..., Any] = getattr(pools, f"avg_pool{dims}d")

    def pooled(
        input: Tensor,
        norm_type: float,
        kernel_size: DimOrDims,
        stride: DimOrDims | None = None,
        ceil_mode: bool = False,
    ) -> Tensor:
        count = prod(in_all_dimensions(kernel_size, dims))
        means = average(input.pow(norm_type), kernel_size, () if stride is None else stride, 0, ceil_mode)
        return (means.sign() * means.abs().relu()).mul(count).pow(1.0 / norm_type)

    return public(
        f"lp_pool{dims}d",
        pooled,
        "(input, norm_type, kernel_size, stride=None, ceil_mode=False): the norm of each window, sum(x**p) ** (1 / p).",
        ".pow",
    )


lp_pool1d, lp_pool2d, lp_pool3d = lp_pool_of(1), lp_pool_of(2), lp_pool_of(3)
