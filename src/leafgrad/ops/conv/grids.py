"""Images looked at in other places: grid_sample and affine_grid."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.fused import only_values, run_on_tensors
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._dtypes import BOOL, COMPLEX, INTEGER, from_numpy_dtype
from leafgrad.kernels.sampling import sampled, sampled_back
from leafgrad.ops.conv.checks import refused
from leafgrad.ops.conv.convolution import widened
from leafgrad.ops.conv.layout import in_format_of
from leafgrad.ops.conv.resampling import cubic_weights
from leafgrad.ops.creation.fresh import zero_like
from leafgrad.ops.creation.ranges import spaced
from leafgrad.ops.index.gather import gather, gather_sum
from leafgrad.ops.linalg.products import is_half, matmul
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.reduce.common import raw
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S
from leafgrad.ops.shape.join import stack
from leafgrad.ops.signature import Shape, Tensor, twin

A = Any  # an array, or a tensor under create_graph
Array = Any
Ints = tuple[int, ...]

MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")

# -- coordinates ------------------------------------------------------------------------------------------------------


class Tap(NamedTuple):
    """An element near each of many places, along one dimension or in all of them."""

    number: Array
    inside: Array  # is it in the image?
    share: A  # of it, in the result
    slopes: list[A]  # the derivatives of the share, by the coordinates


def beside(x: A, array: Array) -> A:
    """An array that has no gradient, to compute with x: as a tensor where that is one."""
    return wrap(array) if isinstance(x, TensorBase) else array


def reflected(x: A, low: float, high: float) -> tuple[A, Array]:
    """Coordinates mirrored at both ends until they are between them, and whether they then run backwards."""
    span = high - low
    if span == 0:
        return x * 0, raw(x) * 0
    kind = raw(x).dtype
    sign = 1 - 2 * (raw(x) < low).astype(kind)
    distance = (x - low) * beside(x, sign)
    turns = np.floor(raw(distance) / span)
    odd = (turns % 2 != 0).astype(kind)
    rest = (distance - beside(x, turns * span)) * beside(x, 1 - 2 * odd) + beside(x, odd * span)
    return rest + low, sign * (1 - 2 * odd)


def kept_inside(x: A, size: int, padding: str, align_corners: bool) -> tuple[A, Any]:
    """Coordinates that the mode of padding moves to the image, and the derivatives of that. At its borders they have no
    gradient, as in PyTorch."""
    sign: Any = 1
    if padding == "zeros":
        return x, sign
    if padding == "reflection":
        x, sign = reflected(x, 0.0, size - 1.0) if align_corners else reflected(x, -0.5, size - 0.5)
    values = raw(x)
    inside = (values > 0) & (values < size - 1)
    border = (values > 0).astype(values.dtype) * (size - 1)
    return where(inside, x, border), sign * inside.astype(values.dtype)


def taps_along(x: A, size: int, mode: str, padding: str, align_corners: bool) -> list[Tap]:
    """The elements around coordinates along one dimension, which go from -1 to 1."""
    scale = (size - 1) / 2 if align_corners else size / 2
    at = (x + 1) * scale if align_corners else (x + 1) * scale - 0.5
    nothing = (raw(x) < 0).astype(raw(x).dtype) * 0  # even where x is no number
    shares: list[A]
    if mode == "bicubic":
        first = np.floor(raw(at))
        rest = at - beside(at, first)
        shares, slopes = cubic_weights(rest), [slope * scale for slope in cubic_slopes(rest)]
        places = [kept_inside(first + t, size, padding, align_corners)[0] for t in (-1, 0, 1, 2)]
    elif mode == "bilinear":
        at, sign = kept_inside(at, size, padding, align_corners)
        first = np.floor(raw(at))
        rest, slope = at - beside(at, first), beside(at, nothing + scale * sign)
        places, shares, slopes = [first, first + 1], [1 - rest, rest], [-slope, slope]
    else:
        places = [np.round(raw(kept_inside(at, size, padding, align_corners)[0]))]
        shares, slopes = [beside(x, nothing + 1)], [beside(x, nothing)]
    insides = [(place >= 0) & (place <= size - 1) for place in places]
    numbers = [np.where(inside, place, 0).astype(np.int64) for place, inside in zip(places, insides)]
    return [Tap(*each) for each in zip(numbers, insides, shares, [[slope] for slope in slopes])]


def cubic_slopes(t: A, a: float = -0.75) -> list[A]:
    """The derivatives of cubic_weights."""

    def near(x: A) -> A:
        return (3 * (a + 2) * x - 2 * (a + 3)) * x

    def far(x: A) -> A:
        return (3 * a * x - 10 * a) * x + 8 * a

    return [far(t + 1), near(t), -near(1 - t), -far(2 - t)]


def taps_of(grid: A, sizes: Ints, mode: int, padding: int, align_corners: bool) -> Iterator[Tap]:
    """The elements around the places of a grid (n, ..., dims), each (n, 1, places)."""
    dims = len(sizes)
    # a grid has the coordinate of the last dimension first
    along = [
        taps_along(grid[..., dims - 1 - i], size, MODES[mode], PADDINGS[padding], align_corners)
        for i, size in enumerate(sizes)
    ]
    shape = (grid.shape[0], 1, prod(grid.shape[1:-1]))
    for corner in itertools.product(*along):
        number, inside, share, slopes = corner[0]
        for tap, size in zip(corner[1:], sizes[1:]):
            slopes = [*[slope * tap.share for slope in slopes], share * tap.slopes[0]]
            number, inside, share = number * size + tap.number, inside & tap.inside, share * tap.share
        number, inside, share = [x.reshape(shape) for x in (number, inside, share)]
        yield Tap(number, inside, share, slopes)


# -- images -----------------------------------------------------------------------------------------------------------


def in_one_dimension(input: A) -> A:
    shape = tuple(input.shape)
    return input.reshape((*shape[:2], prod(shape[2:])))


def composed(input: A, grid: A, *options: Any) -> A:
    """The values of images at the places of a grid, tap by tap."""
    flat, places = in_one_dimension(input), tuple(grid.shape[1:-1])
    total: Any = None
    for number, inside, share, _ in taps_of(grid, tuple(input.shape[2:]), *options):
        values = gather(flat, np.broadcast_to(number, (*flat.shape[:2], number.shape[-1])), 2)
        term = where(inside, values * share, zero_like(values))
        total = term if total is None else total + term
    return total.reshape((*flat.shape[:2], *places))


def composed_back(g: A, input: A, grid: A, *options: Any) -> tuple[A, A]:
    """Both gradients, tap by tap: of operations that can be differentiated again."""
    flat, g, places = in_one_dimension(input), in_one_dimension(g), tuple(grid.shape[:-1])
    shape, dims = tuple(flat.shape), len(input.shape) - 2
    of_input: Any = 0
    of_places: list[Any] = [0] * dims
    for number, inside, share, slopes in taps_of(grid, tuple(input.shape[2:]), *options):
        at = np.broadcast_to(number, (*shape[:2], number.shape[-1]))
        nothing = zero_like(g)
        of_input = of_input + gather_sum(where(inside, g * share, nothing), at, shape, 2)
        product = where(inside, g * gather(flat, at, 2), nothing).sum(1).reshape(places)
        inside = inside.reshape(places)
        terms = [where(inside, product * slope, nothing) for slope in slopes]
        of_places = [total + term for total, term in zip(of_places, terms)]
    return of_input.reshape(input.shape), stack(*of_places[::-1], len(places))


def gradients(g: A, input: A, grid: A, mode: int, padding: int, align_corners: bool, *wanted: bool) -> tuple[A, A]:
    """The gradients of grid_sampler that are wanted, for arrays."""
    kind = input.dtype
    g, input, grid = widened(g, input, grid)
    found = sampled_back(g, input, grid, mode, padding, align_corners, *wanted)
    if found is None:
        found = composed_back(g, input, grid, mode, padding, align_corners)
    image, places = [None if x is None or not w else x.astype(kind, copy=False) for x, w in zip(found, wanted)]
    return None if image is None else in_format_of(input, image), places


@op
class grid_sampler(Family):
    """grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners): the values of images (n, c, ...) at
    the places of a grid (n, ..., 2 or 3), whose coordinates go from -1 to 1."""

    piecewise_linear = True
    inputs = ("input", "grid")
    options = ("interpolation_mode", "padding_mode", "align_corners")
    method = False
    public_name = ""  # nn.functional has it
    node_name = "GridSampler2DBackward0"
    node_names = ("GridSampler3DBackward0",)
    aten = {"GridSampler2DBackward0": "grid_sampler_2d", "GridSampler3DBackward0": "grid_sampler_3d"}
    aten_function = "grid_sampler"
    reference = "grid_sampler"
    derivatives = 1  # of those that PyTorch has
    holomorphic = False

    def kernel(x: A, grid: A, mode: int, padding: int, align_corners: bool) -> A:
        kind = x.dtype
        x, grid = widened(x, grid)
        out = sampled(x, grid, mode, padding, align_corners)
        out = composed(x, grid, mode, padding, align_corners) if out is None else out
        return out.astype(kind, copy=False)

    def call(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
        check_grid(input, grid, interpolation_mode)
        flat = input.array.ndim == 4
        core = grid_sampler.core if flat else grid_sampler.named["GridSampler3DBackward0"]
        return bind(core, (input, grid), (interpolation_mode, padding_mode, align_corners))

    def vjp_all(
        g: A, needs: A, input: A, grid: A, interpolation_mode: A, padding_mode: A, align_corners: A
    ) -> tuple[A, A]:
        options = interpolation_mode, padding_mode, align_corners
        arrays = g, input, grid
        if all([x.__class__ is np.ndarray for x in arrays]):
            return gradients(*arrays, *options, needs[0], needs[1])
        tensors = [x for x in arrays if isinstance(x, TensorBase)]
        if len(tensors) == 3 and only_values(*tensors):
            return run_on_tensors(gradients, gradients, (*arrays, *options, needs[0], needs[1]))  # type: ignore[no-any-return]
        half = is_half(raw(g).dtype)
        found = composed_back(*[x.float() for x in arrays] if half else arrays, *options)
        of_input, of_grid = [x.to(g.dtype) if half else x for x in found]
        return of_input if needs[0] else None, of_grid if needs[1] else None

    def vmap(batch: A, x: A, grid: A, *options: Any) -> A:
        values = [batch.value(v) for v in (x, grid)]  # more images
        out = batch.run([v.reshape((v.shape[0] * v.shape[1], *v.shape[2:])) for v in values], options)
        return batch.wrap(out.reshape((batch.size, out.shape[0] // batch.size, *out.shape[1:])))

    samples = lambda t: [
        S(t(2, 2, 3, 4), t(2, 2, 3, 2, low=-0.9, high=0.9), 0, 0, False),
        S(t(1, 2, 3, 4), t(1, 2, 2, 2, low=-1.6, high=1.6), 0, 1, True),
        S(t(1, 2, 3, 4), t(1, 2, 3, 2, low=-1.6, high=1.6), 0, 2, False),
        S(t(1, 2, 3, 4), t(1, 2, 3, 2, low=-1.6, high=1.6), 1, 0, False),
        S(t(1, 2, 3, 4), t(1, 2, 3, 2, low=-0.9, high=0.9), 2, 0, True),
        S(t(1, 1, 3, 2, 3), t(1, 2, 1, 2, 3, low=-0.9, high=0.9), 0, 0, True),
    ]


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


sampler: Any = grid_sampler.function
# Under `torch` as well, by PyTorch's own names; programs call them by those of nn.functional.
FUNCTIONS = {
    "affine_grid_generator": affine_grid_generator.function,
    **{name: twin(sampler, sampler.__wrapped__) for name in ("grid_sampler_2d", "grid_sampler_3d")},
    "grid_sampler": sampler,
}
