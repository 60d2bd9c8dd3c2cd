"""Images looked at in other places: grid_sample and affine_grid."""

from __future__ import annotations

import itertools
from math import prod
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._dtypes import BOOL, COMPLEX, INTEGER, from_numpy_dtype
from leafgrad.ops.conv.checks import refused
from leafgrad.ops.conv.convolution import widened
from leafgrad.ops.conv.resampling import cubic_weights
from leafgrad.ops.creation.ranges import spaced
from leafgrad.ops.linalg.products import is_half, matmul
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.reduce.common import raw
from leafgrad.ops.registry import Family, composite, op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Shape, Tensor, twin

A = Any  # an array, or a tensor under create_graph
Array = Any
Ints = tuple[int, ...]

MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")

# -- coordinates ------------------------------------------------------------------------------------------------------

Taps = list[tuple[Tensor, Tensor, Tensor]]  # for each element: its number, its share, and whether it is in the image


def reflected(x: Tensor, low: float, high: float) -> Tensor:
    """Coordinates mirrored at both ends until they are between them."""
    span = high - low
    if span == 0:
        return x * 0
    distance = (x - low).abs()
    turns = (distance.detach() / span).floor()
    rest = distance - turns * span
    return where.function(turns.remainder(2) == 0, rest + low, span - rest + low)


def kept_inside(x: Tensor, size: int, padding: str, align_corners: bool) -> Tensor:
    """Coordinates that the mode of padding moves to the image. At its borders they have no gradient, as in PyTorch."""
    if padding == "zeros":
        return x
    if padding == "reflection":
        x = reflected(x, 0.0, size - 1.0) if align_corners else reflected(x, -0.5, size - 0.5)
    values = x.detach()
    return where.function((values > 0) & (values < size - 1), x, values.clamp(0, size - 1).nan_to_num(0))


def taps_along(x: Tensor, size: int, mode: str, padding: str, align_corners: bool) -> Taps:
    """The elements around coordinates along one dimension, which go from -1 to 1."""
    at = (x + 1) * ((size - 1) / 2) if align_corners else ((x + 1) * size - 1) / 2
    if mode == "bicubic":
        first = at.detach().floor()
        shares = cubic_weights(at - first)
        places = [kept_inside(first + t, size, padding, align_corners) for t in (-1, 0, 1, 2)]
    else:
        at = kept_inside(at, size, padding, align_corners)
        first = at.detach().round() if mode == "nearest" else at.detach().floor()
        places = [first] if mode == "nearest" else [first, first + 1]
        shares = [at * 0 + 1] if mode == "nearest" else [first + 1 - at, at - first]
    found = []
    for place, share in zip(places, shares):
        inside = (place >= 0) & (place <= size - 1)
        found.append((place.clamp(0, size - 1).nan_to_num(0).long(), share, inside))
    return found


# -- images -----------------------------------------------------------------------------------------------------------


@composite(
    lambda t: [
        S(t(2, 2, 3, 4), t(2, 2, 3, 2, low=-0.9, high=0.9), 0, 0, False),
        S(t(1, 2, 3, 4), t(1, 2, 2, 2, low=-1.6, high=1.6), 0, 1, True),
        S(t(1, 2, 3, 4), t(1, 2, 3, 2, low=-1.6, high=1.6), 0, 2, False),
        S(t(1, 2, 3, 4), t(1, 2, 3, 2, low=-1.6, high=1.6), 1, 0, False),
        S(t(1, 2, 3, 4), t(1, 2, 3, 2, low=-0.9, high=0.9), 2, 0, True),
        S(t(1, 1, 3, 2, 3), t(1, 2, 1, 2, 3, low=-0.9, high=0.9), 0, 0, True),
    ],
    method=False,
    public_name="",  # nn.functional has it
    reference="grid_sampler",
    derivatives=1,  # of those that PyTorch has
)
def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners): the values of images (n, c, ...) at
    the places of a grid (n, ..., 2 or 3), whose coordinates go from -1 to 1."""
    check_grid(input, grid, interpolation_mode)
    if is_half(input.array.dtype):
        options = interpolation_mode, padding_mode, align_corners
        return grid_sampler(input.float(), grid.float(), *options).to(input.dtype)
    (n, c, *sizes), places = input.shape, tuple(grid.shape[1:-1])
    flat = input.reshape((n, c, prod(sizes)))
    mode, padding = MODES[interpolation_mode], PADDINGS[padding_mode]
    # a grid has the coordinate of the last dimension first
    along = [
        taps_along(grid[..., len(sizes) - 1 - i], size, mode, padding, align_corners) for i, size in enumerate(sizes)
    ]
    total: Any = None
    for corner in itertools.product(*along):
        number, share, inside = corner[0]
        for (place, further, within), size in zip(corner[1:], sizes[1:]):
            number, share, inside = number * size + place, share * further, inside & within
        at, share, inside = [x.reshape((n, 1, prod(places))) for x in (number, share, inside)]
        values = flat.gather(-1, at.expand((n, c, prod(places))))
        term = where.function(inside, values * share, 0.0)
        total = term if total is None else total + term
    return total.reshape((n, c, *places))


def check_grid(input: Any, grid: Any, mode: int) -> None:
    shape, places = input.array.shape, grid.array.shape
    both = ("input", input), ("grid", grid)
    if input.array.dtype != grid.array.dtype:
        kinds = [from_numpy_dtype(t.array.dtype).alias for t in (input, grid)]
        raise refused("expected scalar type {} but found {}".format(*kinds), *both)
    if shape[0] != places[0]:
        raise refused(
            f"grid_sampler(): expected grid and input to have same batch size, but got input with sizes {list(shape)} "
            f"and grid with sizes {list(places)}",
            *both,
        )
    if places[-1] != len(shape) - 2:
        raise refused(
            f"grid_sampler(): expected grid to have size {len(shape) - 2} in last dimension, but got grid with sizes "
            f"{list(places)}",
            *both,
        )
    for dim in range(2, len(shape)):
        if shape[dim] == 0:
            raise refused(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
                f"{list(shape)} with dimension {dim} being empty",
                *both,
            )
    if len(shape) not in (4, 5) or len(shape) != len(places):
        raise refused(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes "
            f"{list(shape)} and grid with sizes {list(places)}",
            *both,
        )
    if len(shape) == 5 and MODES[mode] == "bicubic":
        raise refused("grid_sampler(): bicubic interpolation only supports 4D input")
    kind = from_numpy_dtype(input.array.dtype)
    if kind.category in (BOOL, INTEGER, COMPLEX):
        name = "grid_sampler_2d_cpu_kernel_impl" if len(shape) == 4 else "grid_sampler3d_cpu"
        raise errors.mistake(NotImplementedError, f"\"{name}\" not implemented for '{kind.alias}'")


def base_grid(sizes: Ints, align_corners: bool, kind: Any) -> Array:
    """The coordinates of all elements and a one, (elements, dims + 1), the last dimension's first."""
    axes = []
    for n in sizes:
        # PyTorch's roundings: an image mapped to itself has its grid at its elements, where gradients jump
        axis = spaced(-1, 1, n, from_numpy_dtype(kind)) if n > 1 else np.zeros(1, kind)
        axes.append(axis if align_corners else axis * kind.type(n - 1) / kind.type(n))
    meshes = np.meshgrid(*axes, indexing="ij")[::-1]
    return np.stack([*[mesh.reshape(-1) for mesh in meshes], np.ones(prod(sizes), kind)], -1)


@op
class affine_grid_generator(Family):
    """affine_grid_generator(theta, size, align_corners): where the elements of images of this size are in images that
    are mapped to them by theta, (n, 2, 3) or (n, 3, 4)."""

    inputs = ("theta",)
    options = ("size", "align_corners")
    public_name = ""
    reference = "affine_grid_generator"
    jvp = "linear"
    holomorphic = False
    refuses = (BOOL, INTEGER, COMPLEX)

    def kernel(theta: A, size: Ints, align_corners: bool) -> A:
        kind = theta.dtype
        (theta,) = widened(theta)
        base = base_grid(size[2:], align_corners, theta.dtype)
        out = np.matmul(base, np.swapaxes(theta, -1, -2))
        return out.reshape((*theta.shape[:-2], *size[2:], len(size) - 2)).astype(kind, copy=False)

    def call(theta: Tensor, size: Shape, align_corners: bool) -> Tensor:
        size = tuple(size)
        if len(size) not in (4, 5):
            raise refused("affine_grid_generator needs 4d (spatial) or 5d (volumetric) inputs.")
        if theta.array.shape[0] != size[0]:
            n, rest = size[0], len(size) - 1
            raise refused(
                f"Expected size for first two dimensions of batch2 tensor to be: [{n}, {rest}] but got: "
                f"[{theta.array.shape[0]}, {rest}].",
                ("theta", theta),
            )
        return affine_grid_generator.record(theta, size, align_corners)

    def vjp(g: A, size: A, align_corners: A) -> A:
        dims = len(size) - 2
        kind = raw(g).dtype
        base = base_grid(size[2:], align_corners, kind if kind.itemsize > 2 else np.dtype(np.float32)).astype(kind)
        lead = tuple(g.shape[: len(g.shape) - dims - 1])
        return matmul(g.reshape((*lead, prod(size[2:]), dims)).swapaxes(-1, -2), base)

    def vmap(batch: A, theta: A, size: Ints, align_corners: bool) -> A:
        return batch.apply((batch.value(theta),), (size, align_corners))

    samples = lambda t: [S(t(2, 2, 3), (2, 1, 3, 4), False), S(t(1, 3, 4), (1, 2, 2, 3, 1), True)]


# Under `torch` as well, by PyTorch's own names; programs call them by those of nn.functional.
FUNCTIONS = {
    "affine_grid_generator": affine_grid_generator.function,
    **{name: twin(grid_sampler, grid_sampler.__wrapped__) for name in ("grid_sampler_2d", "grid_sampler_3d")},  # type: ignore[attr-defined]
    "grid_sampler": grid_sampler,
}
