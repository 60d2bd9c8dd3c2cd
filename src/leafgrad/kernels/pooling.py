"""The largest element and the mean of each window, with their gradients: functions of arrays whose last dimensions are
the image, whatever is before them. Indices count the elements of an image, row by row.

Where the extension `_images` was built, float32 and float64 go there, plane by plane on all cores. On plain NumPy the
elements of windows are taken one after the other, each for all windows at once.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from leafgrad.kernels.convolution import NATIVE, Geometry, taps

if NATIVE:
    from leafgrad.kernels import _images

Array = Any
Ints = tuple[int, ...]

LARGE_WINDOW = 65536  # elements from which a window is searched by itself: the extension has lists of all its elements


def is_native(x: Array) -> bool:
    """Can the extension compute this?"""
    return NATIVE and x.dtype.char in "fd" and 0 < x.size < 2**31


def windows_of(window: Ints, geometry: Geometry) -> Any:
    return window, *geometry[:3]


def flattened(x: Any, dims: int) -> Any:
    """The last dimensions as one."""
    lead = tuple(x.shape[: len(x.shape) - dims])
    return x.reshape((*lead, prod(x.shape[len(lead) :])))


# -- the largest ------------------------------------------------------------------------------------------------------


def max_windows(x: Array, window: Ints, geometry: Geometry, positions: Ints) -> Any:
    """The largest element of each window, and its index."""
    if is_native(x):
        return _images.pool_max(np.ascontiguousarray(x), positions, windows_of(window, geometry), True)
    return max_windows_numpy(x, window, geometry, positions)


def max_values(x: Array, window: Ints, geometry: Geometry, positions: Ints) -> Array:
    """The largest element of each window, where nobody asks for its index."""
    if is_native(x):
        return _images.pool_max(np.ascontiguousarray(x), positions, windows_of(window, geometry), False)
    return max_values_numpy(x, window, geometry, positions)


def max_adaptive(x: Array, counts: Ints) -> Any:
    """The largest elements of windows that divide an image, and their indices."""
    dims = len(counts)
    if not prod(counts):
        shape = (*x.shape[:-dims], *counts)
        return [np.zeros(shape, x.dtype), np.zeros(shape, np.int64)]
    sizes = x.shape[-dims:]
    large = prod([(n - 1) // q + 1 + (n % q > 0) for n, q in zip(sizes, counts)]) >= LARGE_WINDOW  # at most so wide
    if is_native(x) and not large:
        return _images.pool_max(np.ascontiguousarray(x), counts, None, True)
    edges = [bins(size, count) for size, count in zip(sizes, counts)]
    widest = [int((last - first).max()) for first, last in edges]
    if large or prod(widest) > prod(counts):
        return max_of_each(x, edges)
    return max_at(x, [[np.minimum(first + t, last - 1) for t in range(n)] for (first, last), n in zip(edges, widest)])


def max_of_each(x: Array, edges: list[tuple[Array, Array]]) -> list[Array]:
    """The same window by window, where there are fewer windows than elements in one."""
    dims = len(edges)
    sizes, counts = x.shape[-dims:], [len(first) for first, _ in edges]
    best = np.empty((*x.shape[:-dims], *counts), x.dtype)
    indices = np.empty(best.shape, np.int64)
    for position in np.ndindex(*counts):
        spans = [slice(int(first[q]), int(last[q])) for q, (first, last) in zip(position, edges)]
        window = flattened(x[(..., *spans)], dims)
        at = window.argmax(-1)
        if window.dtype.kind not in "iu" and (unknown := window != window).any():  # the last nan counts
            at = np.where(unknown.any(-1), window.shape[-1] - 1 - unknown[..., ::-1].argmax(-1), at)
        best[(..., *position)] = np.take_along_axis(window, at[..., None], -1)[..., 0]
        inside = np.unravel_index(at, [span.stop - span.start for span in spans])
        indices[(..., *position)] = np.ravel_multi_index([i + span.start for i, span in zip(inside, spans)], sizes)
    return [best, indices]


def put_back(g: Array, indices: Array, shape: Ints) -> Array | None:
    """Zeros of a shape with g added to the elements of the last dimension that indices name; None if only NumPy can."""
    if not is_native(g) or not prod(shape):
        return None
    planes = prod(shape[:-1]), g.shape[-1]
    g, indices = np.ascontiguousarray(g).reshape(planes), np.ascontiguousarray(indices).reshape(planes)
    return _images.pool_put(g, indices, shape[-1]).reshape(shape)


def max_windows_numpy(x: Array, window: Ints, geometry: Geometry, positions: Ints) -> list[Array]:
    stride, padding, dilation, _ = geometry
    dims = len(window)
    sizes = x.shape[-dims:]
    whole = surrounded(x, geometry, window, positions)
    found = list(taps(window, positions, geometry))
    best = whole[found[0][1]].copy()
    turn = np.zeros(best.shape, np.min_scalar_type(len(found)))
    for n, (_, place) in enumerate(found[1:], 1):
        element = whole[place]
        where = better(element, best)
        np.copyto(best, element, where=where)
        np.copyto(turn, n, where=where)
    steps = [prod(sizes[i + 1 :]) for i in range(dims)]
    offsets = np.array([sum([t * d * step for t, d, step in zip(tap, dilation, steps)]) for tap, _ in found])
    starts = [np.arange(q) * s - p for q, s, p in zip(positions, stride, padding)]
    indices = offsets.take(turn) + flat_places(starts, steps)
    if any(padding):  # a window of nothing but the lowest numbers has its first element
        inside = [np.where(at < 0, at + -(at // d) * d, at) for at, d in zip(starts, dilation)]
        np.copyto(indices, flat_places(inside, steps), where=best == lowest(x.dtype))
    return [best, indices]


def max_values_numpy(x: Array, window: Ints, geometry: Geometry, positions: Ints) -> Array:
    whole = surrounded(x, geometry, window, positions)
    best: Any = None
    for _, place in taps(window, positions, geometry):
        best = whole[place].copy() if best is None else np.maximum(best, whole[place], out=best)
    return best


def flat_places(coordinates: list[Array], steps: list[int]) -> Array:
    """The indices of all combinations of coordinates, one list for each dimension."""
    dims = len(steps)
    each = [(at * step).reshape((-1,) + (1,) * (dims - 1 - i)) for i, (at, step) in enumerate(zip(coordinates, steps))]
    total: Array = each[0]
    for further in each[1:]:
        total = total + further
    return total


def lowest(kind: Any) -> Any:
    return np.iinfo(kind).min if kind.kind in "iu" else -np.inf


def better(x: Array, best: Array) -> Array:
    """Where an element takes the place of the best one before: it is larger, or not a number."""
    return (x > best) | (x != x) if x.dtype.kind not in "iu" else x > best


def surrounded(x: Array, geometry: Geometry, window: Ints, positions: Ints) -> Array:
    """x with as much of the lowest number around it as all windows reach."""
    dims = len(window)
    reach = geometry.reach(positions, window)
    sizes = [max(r, n + p) for r, n, p in zip(reach, x.shape[-dims:], geometry.padding)]
    if not any(geometry.padding) and tuple(sizes) == x.shape[-dims:]:
        return x
    whole: Array = np.full((*x.shape[:-dims], *sizes), lowest(x.dtype), x.dtype)
    whole[(..., *[slice(p, p + n) for p, n in zip(geometry.padding, x.shape[-dims:])])] = x
    return whole


def max_at(x: Array, coordinates: list[list[Array]]) -> list[Array]:
    """The largest of elements, and its index: for each dimension the coordinates of the first, second, ... element of
    windows that may overlap and differ in size, which have some elements twice then. The coordinates are arrays
    (positions,), or (*x.shape[:-dims], positions) where windows are not the same everywhere."""
    dims = len(coordinates)
    sizes = x.shape[-dims:]
    steps = [prod(sizes[i + 1 :]) for i in range(dims)]
    flat = flattened(x, dims)
    best: Any = None
    indices: Any = None
    for tap in np.ndindex(*[len(each) for each in coordinates]):
        at: Any = 0
        for i, t in enumerate(tap):
            own = coordinates[i][t] * steps[i]
            at = at + own.reshape((*own.shape[:-1], *(1,) * i, own.shape[-1], *(1,) * (dims - 1 - i)))
        at = np.broadcast_to(at, (*x.shape[:-dims], *at.shape[-dims:]))
        element = np.take_along_axis(flat, flattened(at, dims), -1).reshape(at.shape)
        if best is None:
            best, indices = element, at.copy()
        else:
            where = better(element, best)
            np.copyto(best, element, where=where)
            np.copyto(indices, at, where=where)
    return [best, indices]


# -- the mean ---------------------------------------------------------------------------------------------------------


def means(
    x: Array, window: Ints, stride: Ints, padding: Ints, positions: Ints, include_pad: bool, override: int | None
) -> Array:
    """The sum of each window, divided by the number of its elements or by another one."""
    dims = len(window)
    if is_native(x):
        windows = (window, stride, padding, (1,) * dims)
        return _images.pool_mean(np.ascontiguousarray(x), positions, windows, include_pad, override or 0)
    geometry = Geometry(stride, padding, (1,) * dims, 1)
    sizes = x.shape[-dims:]
    reach = [max(r, n + p) for r, n, p in zip(geometry.reach(positions, window), sizes, padding)]
    whole: Array = x
    if any(padding) or tuple(reach) != sizes:
        whole = np.zeros((*x.shape[:-dims], *reach), x.dtype)
        whole[(..., *[slice(p, p + n) for p, n in zip(padding, sizes)])] = x
    total = np.zeros((*x.shape[:-dims], *positions), x.dtype)
    for _, place in taps(window, positions, geometry):
        total += whole[place]
    return divided(total, divisors(sizes, positions, window, stride, padding, include_pad, override))


def means_back(
    g: Array, sizes: Ints, window: Ints, stride: Ints, padding: Ints, include_pad: bool, override: int | None
) -> Array:
    """Each element, divided, added to its window of zeros of these sizes."""
    dims, positions = len(window), g.shape[-len(window) :]
    geometry = Geometry(stride, padding, (1,) * dims, 1)
    if is_native(g) and 0 not in sizes:
        divisor = override or 0
        return _images.pool_spread(np.ascontiguousarray(g), sizes, windows_of(window, geometry), include_pad, divisor)
    reach = [max(r, n + p) for r, n, p in zip(geometry.reach(positions, window), sizes, padding)]
    whole: Array = np.zeros((*g.shape[:-dims], *reach), g.dtype)
    part = divided(g, divisors(sizes, positions, window, stride, padding, include_pad, override))
    for _, place in taps(window, positions, geometry):
        whole[place] += part
    inner = whole[(..., *[slice(p, p + n) for p, n in zip(padding, sizes)])]
    return np.ascontiguousarray(inner)


def means_adaptive(x: Array, counts: Ints) -> Array | None:
    """The means of windows that divide an image; None if there is no native form."""
    if not is_native(x) or 0 in counts:
        return None
    return _images.pool_mean(np.ascontiguousarray(x), counts, None, True, 0)


def means_adaptive_back(g: Array, sizes: Ints) -> Array | None:
    """Each element, divided, added to its window; None if there is no native form."""
    return _images.pool_spread(np.ascontiguousarray(g), sizes, None, True, 0) if is_native(g) else None


def bins(size: int, count: int) -> tuple[Array, Array]:
    """The first elements of `count` windows that cover `size` elements, and those after their last ones."""
    at = np.arange(count)
    return at * size // max(count, 1), -(-(at + 1) * size // max(count, 1))


def divisors(
    sizes: Ints, positions: Ints, window: Ints, stride: Ints, padding: Ints, include_pad: bool, override: int | None
) -> Array:
    """By what the sum of each window is divided: a number, or one for each position."""
    if override is not None:
        return np.asarray(override)
    total: Any = 1
    for i, (n, q, k, s, p) in enumerate(zip(sizes, positions, window, stride, padding)):
        start = np.arange(q) * s - p
        end = np.minimum(start + k, n + p)
        count = end - start if include_pad else np.minimum(end, n) - np.maximum(start, 0)
        total = total * count.reshape((-1,) + (1,) * (len(sizes) - 1 - i))
    return total


def divided(x: Array, by: Array) -> Array:
    if x.dtype.kind in "iu":  # towards zero, as C does it
        return (np.sign(x) * np.sign(by) * (np.abs(x) // np.abs(by))).astype(x.dtype)
    return x / by.astype(x.dtype)
