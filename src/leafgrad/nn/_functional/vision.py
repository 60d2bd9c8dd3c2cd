"""Images: resampling, windows side by side, grids, and normalisation across channels."""

from __future__ import annotations

import math
from typing import Any

from leafgrad import errors
from leafgrad.nn._functional.overridable import overridable
from leafgrad.nn._functional.padding import pad as pad_function
from leafgrad.nn._functional.pooling import adaptive_avg_pool2d, adaptive_avg_pool3d
from leafgrad.ops.conv import pools
from leafgrad.ops.conv.blocks import col2im, im2col
from leafgrad.ops.conv.grids import MODES, PADDINGS, affine_grid_generator, grid_sampler
from leafgrad.ops.conv.resampling import LINEAR, resample
from leafgrad.ops.signature import DimOrDims, Tensor, declared

__all__ = [
    "affine_grid", "fold", "grid_sample", "interpolate", "local_response_norm", "unfold", "upsample",
    "upsample_bilinear", "upsample_nearest",
]  # fmt: skip


# -- resampling -------------------------------------------------------------------------------------------------------

ALIGNED = "linear", "bilinear", "bicubic", "trilinear"


def output_sizes(input: Tensor, size: Any, scale_factor: Any) -> tuple[Any, Any]:
    """The size of the result and the factors, one for each dimension; None for what is not given."""
    dims = input.dim() - 2
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    given, name, word, letter = (size, "output", "output size of", "o") if size is not None else (
        scale_factor, "scale_factor", "scale_factor of shape", "s"
    )  # fmt: skip
    if not isinstance(given, (list, tuple)):
        return ([given] * dims, None) if size is not None else (None, [given] * dims)
    if len(given) != dims:
        what = "output size" if size is not None else name
        raise ValueError(
            f"Input and {name} must have the same number of spatial dimensions, but got input with spatial dimensions "
            f"of {list(input.shape[2:])} and {word} {given}. Please provide input tensor in (N, C, d1, d2, ...,dK) "
            f"format and {what} in ({letter}1, {letter}2, ...,{letter}K) format."
        )
    return (list(given), None) if size is not None else (None, list(given))


@overridable(refusal=".dim")
@declared()
def interpolate(
    input: Tensor,
    size: DimOrDims | None = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """interpolate(input, size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None,
    antialias=False): an input (n, c, ...) resampled to a size, or by a factor. Modes: nearest, nearest-exact, linear,
    bilinear, bicubic, trilinear, area."""
    if mode not in ALIGNED and mode in ("nearest", "area", "nearest-exact") and align_corners is not None:
        modes = " | ".join(ALIGNED)
        raise ValueError(f"align_corners option can only be set with the interpolating modes: {modes}")
    dims = input.dim() - 2
    sizes, factors = output_sizes(input, size, scale_factor)
    if recompute_scale_factor and sizes is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if antialias and not (mode in ("bilinear", "bicubic") and input.dim() == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    if sizes is None:
        sizes = [math.floor(float(n) * f) for n, f in zip(input.shape[2:], factors)]
        if recompute_scale_factor:
            factors = None
        if mode != "area" and not all([-(2**63) <= n < 2**63 for n in sizes]):
            raise RuntimeError("value cannot be converted to type int64_t without overflow")
    check_mode(input, mode)
    if mode == "area":
        return area(input, sizes, dims)
    named = f"smooth {mode}" if antialias else mode
    scales = tuple(factors) if factors is not None else (None,) * dims
    return resample.function(input, sizes, named, bool(align_corners), scales)


def check_mode(input: Tensor, mode: str) -> None:
    """Is this a mode for inputs of as many dimensions?"""
    ndim, needed = input.dim(), {kind: dims + 2 for dims, kind in LINEAR.items()}
    if mode in needed and ndim in (3, 4, 5) and ndim != needed[mode]:
        raise NotImplementedError(f"Got {ndim}D input, but {mode} mode needs {needed[mode]}D input")
    known = mode in ("nearest", "nearest-exact", "area", *LINEAR.values()) or (mode == "bicubic" and ndim == 4)
    if ndim not in (3, 4, 5) or not known:
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {ndim}D) for the modes: nearest | linear | "
            f"bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
        )


def area(input: Tensor, sizes: Any, dims: int) -> Tensor:
    pool: Any = (pools.adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[dims - 1]
    return pool(input, sizes)


@overridable(refusal=".dim")
@declared()
def upsample(
    input: Tensor,
    size: DimOrDims | None = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """upsample(input, size=None, scale_factor=None, mode='nearest', align_corners=None): interpolate, which replaces
    it."""
    errors.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode, align_corners)


@overridable
@declared()
def upsample_nearest(input: Tensor, size: DimOrDims | None = None, scale_factor: Any = None) -> Tensor:
    """upsample_nearest(input, size=None, scale_factor=None): interpolate with mode='nearest', which replaces it."""
    errors.warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, "nearest")


@overridable
@declared()
def upsample_bilinear(input: Tensor, size: DimOrDims | None = None, scale_factor: Any = None) -> Tensor:
    """upsample_bilinear(input, size=None, scale_factor=None): interpolate with mode='bilinear' and align_corners, which
    replaces it."""
    errors.warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, "bilinear", True)


# -- grids ------------------------------------------------------------------------------------------------------------


@overridable(refusal="grid_sampler()")
@declared()
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """grid_sample(input, grid, mode='bilinear', padding_mode='zeros', align_corners=None): the values of images at the
    places of a grid (n, height, width, 2), whose coordinates, x first, go from -1 to 1."""
    if mode not in MODES:
        words = "expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: "
        raise ValueError(f"nn.functional.grid_sample(): {words}'{mode}'")
    if padding_mode not in PADDINGS:
        words = "expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
        raise ValueError(f"nn.functional.grid_sample(): {words}'{padding_mode}'")
    if align_corners is None:
        unspecified("grid_sample")
    return grid_sampler.function(input, grid, MODES.index(mode), PADDINGS.index(padding_mode), bool(align_corners))


def unspecified(name: str) -> None:
    errors.warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
        "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details."
    )


@overridable
@declared()
def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """affine_grid(theta, size, align_corners=None): the grid for grid_sample that maps images of this size by theta,
    (n, 2, 3) or (n, 3, 4)."""
    if align_corners is None:
        unspecified("affine_grid")
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    dims = len(size) - 2
    if dims not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{size}."
        )
    if theta.dim() != 3 or tuple(theta.shape[1:]) != (dims, dims + 1):
        raise ValueError(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size {size}. Got "
            f"{theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    if align_corners and min(size[2:]) == 1:
        errors.warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This "
            "is not an intended use case of affine_grid. See the documentation of affine_grid for details."
        )
    return affine_grid_generator.function(theta, tuple(size), bool(align_corners))


# -- windows ----------------------------------------------------------------------------------------------------------


def pair(value: Any) -> Any:
    return (value, value) if isinstance(value, int) else tuple(value)


@overridable(refusal="im2col()")
@declared()
def unfold(
    input: Tensor,
    kernel_size: DimOrDims,
    dilation: DimOrDims = 1,
    padding: DimOrDims = 0,
    stride: DimOrDims = 1,
) -> Tensor:
    """unfold(input, kernel_size, dilation=1, padding=0, stride=1): the windows of an input (n, c, height, width) as
    columns (n, c * window, positions)."""
    return im2col.function(input, pair(kernel_size), pair(dilation), pair(padding), pair(stride))


@overridable(refusal="col2im()")
@declared()
def fold(
    input: Tensor,
    output_size: DimOrDims,
    kernel_size: DimOrDims,
    dilation: DimOrDims = 1,
    padding: DimOrDims = 0,
    stride: DimOrDims = 1,
) -> Tensor:
    """fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1): columns (n, c * window, positions) added
    up to an image of this size."""
    size = pair(output_size)
    return col2im.function(input, size, pair(kernel_size), pair(dilation), pair(padding), pair(stride))


# -- across channels --------------------------------------------------------------------------------------------------


@overridable(refusal=".dim")
@declared()
def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """local_response_norm(input, size, alpha=0.0001, beta=0.75, k=1.0): x / (k + alpha * mean of x² over `size`
    neighbouring channels) ** beta."""
    if input.dim() < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality                          input (got {input.dim()} dimensions)"
        )
    if input.numel() == 0:
        return input
    squares = input.mul(input)
    before, behind = size // 2, (size - 1) // 2
    if input.dim() == 3:
        wide = pad_function(squares.unsqueeze(1), (0, 0, before, behind))
        means = pools.avg_pool2d(wide, (size, 1), 1).squeeze(1)
    else:
        n, c, *rest = input.shape
        flat = squares.view(n, 1, c, rest[0], -1)
        wide = pad_function(flat, (0, 0, 0, 0, before, behind))
        means = pools.avg_pool3d(wide, (size, 1, 1), 1).squeeze(1).view(input.shape)
    return input / means.mul(alpha).add(k).pow(beta)
