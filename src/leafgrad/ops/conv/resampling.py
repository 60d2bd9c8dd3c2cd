"""Interpolation: an image, a sound or a volume with another number of elements."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._dtypes import BOOL, COMPLEX, INTEGER, from_numpy_dtype
from leafgrad.ops.conv.axis_maps import AxisMap, along_axes, mapped
from leafgrad.ops.conv.checks import refused
from leafgrad.ops.conv.layout import keeps_format
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Shape, Tensor

A = Any  # an array, or a tensor under create_graph
Array = Any
Ints = tuple[int, ...]
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)

# -- maps along one dimension -----------------------------------------------------------------------------------------


def step_of(size: int, count: int, align_corners: bool, scale: float | None, kind: Any) -> Any:
    """How many elements of the input there are between two of the result."""
    if align_corners:
        return kind.type(size - 1) / kind.type(count - 1) if count > 1 else kind.type(0)
    return kind.type(1 / scale) if scale is not None and scale > 0 else kind.type(size) / kind.type(count)


@functools.cache
def nearest_map(size: int, count: int, exact: bool, scale: float | None) -> AxisMap:
    """The element whose number is rounded down (as PyTorch does it, in single precision); `exact`: the nearest one."""
    at = np.arange(count, dtype=F32)
    step = step_of(size, count, False, scale, F32)
    if not exact and count in (size, 2 * size):
        chosen = np.arange(count) * size // count
    else:
        chosen = np.minimum(np.floor((at + F32.type(0.5)) * step if exact else at * step).astype(int), size - 1)
    return AxisMap(size, count, np.arange(count), chosen, None)


@functools.cache
def linear_map(size: int, count: int, align_corners: bool, scale: float | None, kind: Any) -> AxisMap:
    """Between two elements, by the distances from them."""
    if size == count:
        return AxisMap(size, count, np.arange(count), np.arange(count), None)
    step, half = step_of(size, count, align_corners, scale, kind), kind.type(0.5)
    at = np.arange(count, dtype=kind)
    source = at * step if align_corners else np.maximum((at + half) * step - half, kind.type(0))
    first = np.minimum(source.astype(int), size - 1)
    second = np.minimum(first + 1, size - 1)
    share = np.clip(source - first.astype(kind), 0, 1)
    return joined(size, count, [first, second], [1 - share, share])


@functools.cache
def cubic_map(size: int, count: int, align_corners: bool, scale: float | None, kind: Any) -> AxisMap:
    """By the cubic through four elements, of which those at the ends are repeated."""
    step, half = step_of(size, count, align_corners, scale, kind), kind.type(0.5)
    at = np.arange(count, dtype=kind)
    source = at * step if align_corners else (at + half) * step - half
    first = np.floor(source)
    weights = cubic_weights(source - first)
    places = [np.clip(first.astype(int) + t, 0, size - 1) for t in (-1, 0, 1, 2)]
    return joined(size, count, places, weights)


def cubic_weights(t: Array, a: float = -0.75) -> list[Array]:
    """The shares of the four elements around a place, t behind the second of them."""

    def near(x: Array) -> Array:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Array) -> Array:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


@functools.cache
def smooth_map(size: int, count: int, cubic: bool, align_corners: bool, scale: float | None, kind: Any) -> AxisMap:
    """The mean of all elements around a place, with weights that become less with the distance: with fewer results,
    over as many more elements ("antialias")."""
    step = float(step_of(size, count, align_corners, scale, kind))
    stretch = max(step, 1.0)
    reach = (2.0 if cubic else 1.0) * stretch
    results, elements, weights = [], [], []
    for i in range(count):
        center = step * (i + 0.5)
        low, high = max(int(center - reach + 0.5), 0), min(int(center + reach + 0.5), size)
        at = np.arange(low, high)
        distance = np.abs((at - center + 0.5) / stretch)
        share = smooth_cubic(distance) if cubic else np.maximum(1 - distance, 0)
        total = share.sum()
        results.append(np.full(at.size, i))
        elements.append(at)
        weights.append(share / total if total else share)
    return AxisMap(size, count, *[np.concatenate(parts) for parts in (results, elements, weights)])


def smooth_cubic(x: Array, a: float = -0.5) -> Array:
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * a
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def joined(size: int, count: int, places: list[Array], weights: list[Array]) -> AxisMap:
    """Several elements for each result, one list after the other."""
    results = np.tile(np.arange(count), len(places))
    return AxisMap(size, count, results, np.concatenate(places), np.concatenate(weights))


def resampling_maps(
    sizes: Ints, counts: Ints, mode: str, align_corners: Any, scales: Any, kind: Any
) -> tuple[AxisMap, ...]:
    wide = F64 if kind == F64 else F32
    maps = []
    for size, count, scale in zip(sizes, counts, scales):
        if mode.startswith("nearest"):
            maps.append(nearest_map(size, count, mode == "nearest-exact", scale))
        elif mode.startswith("smooth"):
            maps.append(smooth_map(size, count, mode == "smooth bicubic", align_corners, scale, wide))
        else:
            make = cubic_map if mode == "bicubic" else linear_map
            maps.append(make(size, count, align_corners, scale, wide))
    return tuple(maps)


# -- images of bytes --------------------------------------------------------------------------------------------------


@functools.cache
def in_fixed_point(exact: AxisMap) -> tuple[AxisMap, int]:
    """A map whose weights are integers of 16 bits, and by which power of two they are too large. Elements that a
    result has several times, those at the ends, have one weight."""
    pairs, places = np.unique(exact.results * exact.size_in + exact.elements, return_inverse=True)
    ones = np.ones(exact.elements.size)
    weights = np.bincount(places, ones if exact.weights is None else exact.weights, pairs.size)
    largest = weights.max(initial=0.0)
    bits = 0
    while bits < 22 and int(0.5 + largest * 2.0 ** (bits + 1)) < 2**15:
        bits += 1
    whole = np.trunc(weights * 2.0**bits + np.where(weights < 0, -0.5, 0.5))
    return AxisMap(exact.size_in, exact.size_out, *np.divmod(pairs, exact.size_in), whole), bits


def mapped_bytes(x: Array, maps: tuple[AxisMap, ...]) -> Array:
    """Maps of bytes, rounded as PyTorch rounds them: images line by line and then column by column, each time to bytes,
    in fixed point; lines and volumes once."""
    if len(maps) != 2:
        return np.rint(mapped(x.astype(F32), maps)).clip(0, 255).astype(np.uint8)
    by_column, by_line = [in_fixed_point(each) for each in maps]
    width = by_line[0].size_out
    same = AxisMap(width, width, np.arange(width), np.arange(width), None)
    out = rounded_to_bytes(x, *by_line, (by_line[0],))
    return rounded_to_bytes(out, *by_column, (by_column[0], same)).astype(np.uint8)


def rounded_to_bytes(x: Array, whole: AxisMap, bits: int, maps: tuple[AxisMap, ...]) -> Array:
    """Values of bytes, mapped by weights that are so many bits too large, as floats without a fraction."""
    weights: Any = whole.weights
    largest = np.bincount(whole.results, np.abs(weights)).max() * 255 + 2.0**bits
    # half the time of double precision, and as exact while sums have at most 24 bits: without antialias they have 23
    out = mapped(x.astype(F32 if largest < 2**24 else F64, copy=False), maps)
    out += 2.0 ** (bits - 1)
    out *= 2.0**-bits
    np.floor(out, out)
    return np.clip(out, 0, 255, out) if weights.min() < 0 else out


# -- the operation ----------------------------------------------------------------------------------------------------

LINEAR = {1: "linear", 2: "bilinear", 3: "trilinear"}
NODES = {
    **{("nearest", n): f"UpsampleNearest{n}DBackward0" for n in (1, 2, 3)},
    **{("nearest-exact", n): f"UpsampleNearestExact{n}DBackward0" for n in (1, 2, 3)},
    **{(mode, n): f"Upsample{mode.capitalize()}{n}DBackward0" for n, mode in LINEAR.items()},
    ("bicubic", 2): "UpsampleBicubic2DBackward0",
    ("smooth bilinear", 2): "UpsampleBilinear2DAaBackward0",
    ("smooth bicubic", 2): "UpsampleBicubic2DAaBackward0",
}


def aten_name(mode: str, dims: int) -> str:
    if mode == "nearest-exact":
        return f"_upsample_nearest_exact{dims}d"
    if mode.startswith("smooth "):
        return f"_upsample_{mode[7:]}2d_aa"
    return f"upsample_{mode}{dims}d"


def in_pytorch(torch: Any, x: Any, size: Ints, mode: str, align_corners: Any, scales: Any) -> Any:
    smooth = mode.startswith("smooth ")
    return torch.nn.functional.interpolate(
        x, size, mode=mode.removeprefix("smooth "), align_corners=align_corners, antialias=smooth
    )


@op
class resample(Family):
    """resample(input, output_size, mode, align_corners, scales): an input (n, c, ...) resampled to this size."""

    options = ("output_size", "mode", "align_corners", "scales")
    public_name = ""
    node_name = "UpsampleNearest1DBackward0"
    node_names = tuple([name for name in NODES.values() if name != "UpsampleNearest1DBackward0"])
    aten = {name: aten_name(*key) for key, name in NODES.items()}
    aten_function = "upsample_nearest1d"
    saved_as = {"mode": "", "scales": ""}
    refuses = (BOOL, INTEGER, COMPLEX)
    jvp = "linear"
    vmap = "dims"
    reference = in_pytorch

    def meta(x: A, output_size: Ints, mode: str, align_corners: Any, scales: Any) -> Any:
        return (*x.shape[: -len(output_size)], *output_size) if x.flags.c_contiguous else NotImplemented

    @staticmethod
    @keeps_format
    def kernel(x: A, output_size: Ints, mode: str, align_corners: Any, scales: Any) -> A:
        of_bytes = x.dtype == np.uint8 and not mode.startswith("nearest")
        kind = F64 if of_bytes and len(output_size) == 2 else x.dtype
        maps = resampling_maps(x.shape[-len(output_size) :], output_size, mode, align_corners, scales, kind)
        if of_bytes:
            return mapped_bytes(x, maps)
        return mapped(x, maps)

    def call(input: Tensor, output_size: Shape, mode: str, align_corners: bool | None, scales: Any) -> Tensor:
        size = tuple(output_size)
        check_resampling(input, size, mode)
        name = NODES[mode, len(size)]
        core = resample.core if name == resample.core.node_name else resample.named[name]
        return bind(core, (input,), (size, mode, bool(align_corners), scales))

    def vjp(g: A, output_size: A, mode: A, align_corners: A, scales: A, input_shape: A) -> A:
        kind = g.dtype if g.__class__ is np.ndarray else g.array.dtype
        sizes = tuple(input_shape[-len(output_size) :])
        maps = resampling_maps(sizes, output_size, mode, align_corners, scales, kind)
        return along_axes(g, tuple([each.transpose for each in maps]))

    samples = lambda t: [
        S(t(2, 2, 3), (5,), "nearest", None, (None,)),
        S(t(1, 2, 3, 4), (4, 3), "nearest-exact", None, (None, None)),
        S(t(1, 2, 4), (6,), "linear", False, (None,)),
        S(t(1, 2, 4, 3), (5, 5), "bilinear", True, (None, None)),
        S(t(1, 2, 4, 3), (2, 5), "bilinear", False, (None, None)),
        S(t(1, 1, 4, 3), (5, 2), "bicubic", False, (None, None)),
        S(t(1, 1, 3, 2), (4, 4), "bicubic", True, (None, None)),
        S(t(1, 1, 2, 3, 2), (3, 2, 4), "trilinear", False, (None,) * 3),
        S(t(1, 1, 6, 5), (3, 7), "smooth bilinear", False, (None, None)),
        S(t(1, 1, 7, 5), (3, 4), "smooth bicubic", False, (None, None)),
    ]


def check_resampling(input: Any, size: Ints, mode: str) -> None:
    shape, dims = input.array.shape, len(size)
    own = shape[2:]
    if min(own) <= 0 or min(size) <= 0:
        names = "DHW"[3 - dims :]
        given, wanted = [", ".join([f"{n}: {v}" for n, v in zip(names, values)]) for values in (own, size)]
        joint = " and" if dims == 1 else ""
        sizes = f"input ({given}){joint} output ({wanted})"
        raise refused(f"Input and output sizes should be greater than 0, but got {sizes}", ("input", input))
    if shape[1] == 0:
        raise refused(f"Non-empty {dims + 2}D data tensor expected but got a tensor with sizes {list(shape)}")
    kind = from_numpy_dtype(input.array.dtype)
    if kind.category in (BOOL, INTEGER, COMPLEX) and input.array.dtype != np.uint8:
        plain = mode.removesuffix("-exact").removeprefix("tri")
        if dims == 2 and plain in ("nearest", "bilinear"):
            name = f"upsample_{plain}2d_channels_last"
        else:
            name = f"compute_indices_weights_{'cubic' if 'cubic' in mode else plain}"
        raise errors.mistake(NotImplementedError, f"\"{name}\" not implemented for '{kind.alias}'")
