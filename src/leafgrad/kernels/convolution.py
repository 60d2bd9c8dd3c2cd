"""Convolution in any number of dimensions: three functions of arrays, each a derivative of the others.

With x of shape (n, c, *sizes), w of shape (o, c / groups, *window) and y of shape (n, o, *positions), where the window
at position q begins at q * stride - padding and its elements are `dilation` apart:

    correlate(x, w)        y: at each position the sum of the window times w
    spread(y, w)           x: each window gets w times y, added up (the gradient by x; a transposed convolution)
    weights(x, y)          w: the sum over all positions of the window times y (the gradient by w)

Where the extension `_images` was built, float32 and float64 go there. On plain NumPy, windows are copied side by side,
as the columns of a matrix ("im2col"), and multiplied by BLAS: sample by sample, while they are in the cache, or several
samples at once where one has few positions. Where each channel has its own window ("depthwise") there is nothing to
multiply with a matrix, and the elements of windows are taken one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np

try:
    from leafgrad.kernels import _images
except ImportError:  # not built, or built for another NumPy: plain NumPy does the same work
    NATIVE = False
else:
    NATIVE = True

Array = Any
Ints = tuple[int, ...]

FEW = 128  # positions in a sample below which several samples make one product
MANY = 1 << 20  # elements of columns that are made at once, in this case


class Geometry(NamedTuple):
    """Where windows lie; one number for each dimension, and into how many groups channels are divided."""

    stride: Ints
    padding: Ints
    dilation: Ints
    groups: int

    def positions(self, sizes: Ints, window: Ints) -> Ints:
        """How many windows fit along each dimension."""
        each = zip(sizes, window, self.stride, self.padding, self.dilation)
        return tuple([(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in each])

    def reach(self, positions: Ints, window: Ints) -> Ints:
        """How many elements, with the padding, all windows together cover."""
        each = zip(positions, window, self.stride, self.dilation)
        return tuple([(q - 1) * s + d * (k - 1) + 1 for q, k, s, d in each])


def is_native(first: Array, second: Array) -> bool:
    """Can the extension compute this?"""
    kind = first.dtype.char
    return NATIVE and (kind == "f" or kind == "d") and kind == second.dtype.char and first.size > 0 and second.size > 0


# -- windows ----------------------------------------------------------------------------------------------------------


def padded(x: Array, padding: Ints, sizes: Ints) -> Array:
    """x with `padding` zeros before its elements and so many behind them that it has these sizes; cut off where they
    are smaller."""
    if not any(padding) and x.shape[2:] == sizes:
        return x
    whole: Array = np.zeros((*x.shape[:2], *sizes), x.dtype)
    each = [min(n, size - p) for n, p, size in zip(x.shape[2:], padding, sizes)]
    own = [slice(n) for n in each]
    whole[(..., *[slice(p, p + n) for n, p in zip(each, padding)])] = x[(..., *own)]
    return whole


def windows(x: Array, positions: Ints, window: Ints, geometry: Geometry) -> Array:
    """All windows of a padded array, without copying: (n, c, *window, *positions)."""
    steps = x.strides[2:]
    inside = [step * d for step, d in zip(steps, geometry.dilation)]
    between = [step * s for step, s in zip(steps, geometry.stride)]
    shape, strides = (*x.shape[:2], *window, *positions), (*x.strides[:2], *inside, *between)
    if x.__class__ is np.ndarray and x.flags.c_contiguous:  # a tenth of the time
        return np.ndarray(shape, x.dtype, x, 0, strides)
    return np.lib.stride_tricks.as_strided(x, shape, strides)


def taps(window: Ints, positions: Ints, geometry: Geometry) -> Iterator[tuple[Ints, tuple[Any, ...]]]:
    """Each element of a window, and where in a padded array it lies, for all positions."""
    for tap in np.ndindex(*window):
        each = zip(tap, positions, geometry.stride, geometry.dilation)
        yield tap, (..., *[slice(t * d, t * d + (q - 1) * s + 1, s) for t, q, s, d in each])


def in_blocks(samples: int, elements: int, positions: int) -> list[slice]:
    """The samples that are computed together; `elements` of columns belong to each."""
    size = 1 if positions >= FEW else max(1, min(samples, MANY // max(elements, 1)))
    return [slice(at, min(at + size, samples)) for at in range(0, samples, size)]


def columns(found: Array, groups: int, buffer: list[Any]) -> Array:
    """Windows (n, c, *window, *positions) as matrices (groups, c / groups * window, n * positions), in memory that the
    list keeps for the next ones."""
    n, c = found.shape[:2]
    dims = (found.ndim - 2) // 2
    laid = found.transpose((*range(1, 2 + dims), 0, *range(2 + dims, found.ndim)))
    if not buffer or buffer[0].shape != laid.shape:
        buffer[:] = [np.empty(laid.shape, found.dtype)]
    np.copyto(buffer[0], laid)
    return buffer[0].reshape((groups, c // groups * prod(found.shape[2 : 2 + dims]), n * prod(found.shape[2 + dims :])))


def grouped(y: Array, groups: int) -> Array:
    """(n, o, *positions) as matrices (groups, o / groups, n * positions)."""
    n, o = y.shape[:2]
    return y.swapaxes(0, 1).reshape((groups, o // groups, n * prod(y.shape[2:])))


def is_plain(window: Ints, geometry: Geometry) -> bool:
    """Is a window one element, so that nothing has to be copied to be multiplied?"""
    return prod(window) == 1 and not any(geometry.padding)


def is_depthwise(w: Array, geometry: Geometry) -> bool:
    return bool(geometry.groups == w.shape[0] > 1 and w.shape[1] == 1)


def along_channels(w: Array, tap: Ints) -> Array:
    """One element of the windows of a depthwise convolution, (c, 1, ...)."""
    return w[(slice(None), 0, *tap)].reshape((-1,) + (1,) * len(tap))


# -- products ---------------------------------------------------------------------------------------------------------


def correlate(x: Array, w: Array, geometry: Geometry, bias: Array | None = None) -> Array:
    """y of x and w, and the bias added to it."""
    if is_native(x, w):
        bias = None if bias is None else np.ascontiguousarray(bias)
        return _images.convolve(np.ascontiguousarray(x), np.ascontiguousarray(w), bias, *geometry)
    return with_bias(correlate_numpy(x, w, geometry), bias)


def correlate_numpy(x: Array, w: Array, geometry: Geometry) -> Array:
    window, groups = w.shape[2:], geometry.groups
    positions = geometry.positions(x.shape[2:], window)
    n, o = x.shape[0], w.shape[0]
    out = np.empty((n, o, *positions), x.dtype)
    if not out.size or not w.size:
        out[...] = 0
        return out
    x = padded(x, geometry.padding, tuple([s + 2 * p for s, p in zip(x.shape[2:], geometry.padding)]))
    if is_depthwise(w, geometry):
        return correlate_depthwise(x, w, geometry, out)
    matrix = w.reshape((groups, o // groups, -1))
    found = windows(x, positions, window, geometry)
    count = prod(positions)
    into = out.reshape((n, groups, o // groups, count))
    if is_plain(window, geometry) and count >= FEW:
        return np.matmul(matrix, found.reshape((n, groups, x.shape[1] // groups, count)), into).reshape(out.shape)
    buffer: list[Any] = []
    for part in in_blocks(n, x.shape[1] * prod(window) * count, count):
        made = columns(found[part], groups, buffer)
        if part.stop - part.start == 1:
            np.matmul(matrix, made, into[part.start])
        else:
            product = np.matmul(matrix, made).reshape((groups, o // groups, -1, count))
            into[part] = product.transpose((2, 0, 1, 3))
    return out


def with_bias(out: Array, bias: Array | None) -> Array:
    if bias is not None:
        out += bias.reshape((-1,) + (1,) * (out.ndim - 2))
    return out


def correlate_depthwise(x: Array, w: Array, geometry: Geometry, out: Array) -> Array:
    """`correlate` of a padded array where each channel has its own window."""
    term = np.empty(out.shape[1:], x.dtype)
    found = list(taps(w.shape[2:], out.shape[2:], geometry))
    for sample, into in zip(x, out):
        into[...] = 0
        for tap, place in found:
            into += np.multiply(sample[place], along_channels(w, tap), term)
    return out


def spread(y: Array, w: Array, geometry: Geometry, sizes: Ints, bias: Array | None = None) -> Array:
    """x, with these sizes, of y and w, and the bias added to it."""
    if is_native(y, w) and 0 not in sizes:
        bias = None if bias is None else np.ascontiguousarray(bias)
        return _images.convolve(np.ascontiguousarray(y), np.ascontiguousarray(w), bias, *geometry, sizes)
    return with_bias(spread_numpy(y, w, geometry, sizes), bias)


def spread_numpy(y: Array, w: Array, geometry: Geometry, sizes: Ints) -> Array:
    window, positions, groups = w.shape[2:], y.shape[2:], geometry.groups
    n, c = y.shape[0], w.shape[1] * groups
    if not y.size or not w.size:
        return np.zeros((n, c, *sizes), y.dtype)
    reach = geometry.reach(positions, window)
    if not is_depthwise(w, geometry) and max(geometry.stride) == 1 and w.shape[0] <= 2 * c and prod(window) > 1:
        return spread_densely(y, w, geometry, sizes)
    whole: Array = np.zeros((n, c, *[max(r, s + p) for r, s, p in zip(reach, sizes, geometry.padding)]), y.dtype)
    if is_depthwise(w, geometry):
        term = np.empty(y.shape[1:], y.dtype)
        for sample, into in zip(y, whole):
            for tap, place in taps(window, positions, geometry):
                into[place] += np.multiply(sample, along_channels(w, tap), term)
    else:
        add_windows(y, w, geometry, whole)
    inner = whole[(..., *[slice(p, p + s) for p, s in zip(geometry.padding, sizes)])]
    return inner if inner.flags.c_contiguous else inner.copy()


def add_windows(y: Array, w: Array, geometry: Geometry, whole: Array) -> None:
    """Add w times y to the windows of a padded array."""
    window, positions, groups = w.shape[2:], y.shape[2:], geometry.groups
    n, c = whole.shape[:2]
    matrix = w.reshape((groups, w.shape[0] // groups, -1)).transpose((0, 2, 1))
    for part in in_blocks(n, c * prod(window) * prod(positions), prod(positions)):
        product = np.matmul(matrix, grouped(y[part], groups))
        product = product.reshape((c, *window, part.stop - part.start, *positions))
        into = whole[part].swapaxes(0, 1)
        for tap, place in taps(window, positions, geometry):
            into[place] += product[(slice(None), *tap)]


def spread_densely(y: Array, w: Array, geometry: Geometry, sizes: Ints) -> Array:
    """`spread` where windows are one element apart: `correlate` with the windows turned round and the channels of both
    sides exchanged."""
    window, groups = w.shape[2:], geometry.groups
    before = [d * (k - 1) - p for k, p, d in zip(window, geometry.padding, geometry.dilation)]
    wide = tuple([s + d * (k - 1) for s, k, d in zip(sizes, window, geometry.dilation)])
    shifted = tuple([max(b, 0) for b in before])
    y = y[(..., *[slice(max(-b, 0), None) for b in before])]  # where there is more padding than a window reaches
    whole = padded(y, shifted, wide)
    turned = np.flip(w, tuple(range(2, w.ndim))).reshape((groups, w.shape[0] // groups, *w.shape[1:]))
    turned = turned.swapaxes(1, 2).reshape((w.shape[1] * groups, w.shape[0] // groups, *window))
    none = (0,) * len(window)
    return correlate_numpy(whole, turned, Geometry(geometry.stride, none, geometry.dilation, groups))


def weights(x: Array, y: Array, geometry: Geometry, window: Ints) -> Array:
    """w, with these windows, of x and y."""
    if is_native(x, y):
        found = _images.weights(np.ascontiguousarray(x), np.ascontiguousarray(y), window, *geometry)
        if found is not None:  # otherwise something is not finite, and where, only NumPy's way tells exactly
            return found
    return weights_numpy(x, y, geometry, window)


def weights_numpy(x: Array, y: Array, geometry: Geometry, window: Ints) -> Array:
    groups, positions = geometry.groups, y.shape[2:]
    n, c, o = x.shape[0], x.shape[1], y.shape[1]
    total: Array = np.zeros((o, c // groups, *window), x.dtype)
    if not x.size or not y.size or not total.size:
        return total
    reach = geometry.reach(positions, window)
    x = padded(x, geometry.padding, tuple([max(r, s + p) for r, s, p in zip(reach, x.shape[2:], geometry.padding)]))
    if is_depthwise(total, geometry):
        letters = "ncxyzuvw"[: x.ndim]
        for tap, place in taps(window, positions, geometry):
            total[(slice(None), 0, *tap)] = np.einsum(f"{letters},{letters}->c", x[place], y)
        return total
    found = windows(x, positions, window, geometry)
    matrix = total.reshape((groups, o // groups, -1))
    buffer: list[Any] = []
    for part in in_blocks(n, c * prod(window) * prod(positions), prod(positions)):
        made = columns(found[part], groups, buffer)
        matrix += np.matmul(grouped(y[part], groups), made.transpose((0, 2, 1)))
    return total
