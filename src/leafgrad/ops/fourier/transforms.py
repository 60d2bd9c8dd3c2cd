"""The three transforms that all of torch.fft is made of: of complex numbers, of real ones to complex, and back. They
are sums times a factor, along some dimensions; of real numbers, half the result says all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from leafgrad._core.tensor import TensorBase
from leafgrad._layouts import in_order
from leafgrad.kernels import native_forms
from leafgrad.kernels.moving import copied
from leafgrad.ops.pointwise.convert import real_part
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S

A = Any  # an array, or a tensor under create_graph
Array = Any
Dims = tuple[int, ...]

native_transform = native_forms("_fourier")  # many lines side by side in registers, groups of them on several threads


class Transform(Family, family=True):
    """Transforms along dimensions."""

    vmap = "dims"
    jvp = "linear"
    public_name = ""
    exempt = {"half precision": "PyTorch has no transforms of it on CPUs either"}


def scaled(x: Array, factor: float) -> Array:
    return x if factor == 1 else x * x.real.dtype.type(factor)


def by_stride(x: Array, dims: Iterable[int]) -> list[int]:
    """Dimensions, the slowest in memory first."""
    return sorted(dims, key=lambda dim: -x.strides[dim])


def laid(x: Array, out: Array, dims: Sequence[int]) -> Array:
    """A transform of `x` along some dimensions as PyTorch lays it out: these are the fastest, in their order."""
    if out.__class__ is not np.ndarray or out.ndim == 1:
        return out
    order = [*by_stride(x, [dim for dim in range(out.ndim) if dim not in dims]), *dims]
    return out if out.transpose(order).flags.c_contiguous else in_order(out, order)


def with_mirror_images(half: Array, size: int, dims: Sequence[int]) -> Array:
    """The transform of real numbers along some dimensions, of which the first half along the last is known: elsewhere
    it is the conjugate of what is found at the opposite place."""
    last = dims[-1]
    known = half.shape[last]
    out = np.empty((*half.shape[:last], size, *half.shape[last + 1 :]), half.dtype)
    before: tuple[Any, ...] = (slice(None),) * last
    out[(*before, slice(known))] = half
    images = half[(*before, slice(size - known, 0, -1))]
    for dim in dims[:-1]:
        images = images[(slice(None),) * dim + (np.arange(0, -images.shape[dim], -1),)]
    np.conjugate(images, out=out[(*before, slice(known, None))])
    return out


def own_images_times(half: A, last: int, size: int, number: float) -> A:
    """Half of a transform of `size` numbers along a dimension, with those multiplied that are their own mirror images:
    the first and, of an even size, the last. An array is changed where it lies, because they are so few."""
    own = slice(None, None, max(size // 2, 1) if size % 2 == 0 else size)
    if isinstance(half, TensorBase):
        tensor: Any = half
        weights: Any = np.ones(tensor.shape[last], tensor.array.real.dtype)
        weights[own] = number
        return tensor * weights.reshape((-1,) + (1,) * (len(tensor.shape) - 1 - last))
    half[(slice(None),) * last + (own,)] *= number
    return half


@op
class fft_c2c(Transform):
    """fft_c2c(input, dims, factor, forward): complex numbers to complex numbers."""

    options = ("dims", "factor", "forward")
    holomorphic = False  # to save conjugating twice
    node_name = "FftC2CBackward0"
    aten = "_fft_c2c"
    saved_as = {"dims": "dim", "factor": ""}

    @native_transform("complex_transform")
    def kernel(x: Array, dims: Dims, factor: float, forward: bool) -> Array:
        if not dims:
            return scaled(x.copy(), factor)
        if len(dims) == 1:  # in half the time when small
            out = np.fft.fft(x, axis=dims[0]) if forward else np.fft.ifft(x, axis=dims[0], norm="forward")
        else:
            out = np.fft.fftn(x, axes=dims) if forward else np.fft.ifftn(x, axes=dims, norm="forward")
        return laid(x, scaled(out, factor), by_stride(x, dims))

    def vjp(g: A, dims: A, factor: A, forward: A) -> A:
        return fft_c2c(g, dims, factor, not forward)

    samples = lambda t: [
        S(t(4, dtype="complex128"), (0,), 1.0, True),
        S(t(3, 4, dtype="complex128"), (0, 1), 0.5, False),
    ]

    def reference(torch: Any, x: Any, dims: Any, factor: float, forward: bool) -> Any:
        name = "fftn" if forward else "ifftn"
        return getattr(torch.fft, name)(x, dim=dims, norm="backward" if forward else "forward") * factor


@op
class fft_r2c(Transform):
    """fft_r2c(input, dims, factor, onesided): real numbers to complex ones, of which the second half of the last of the
    dimensions may be left out."""

    options = ("dims", "factor", "onesided")
    holomorphic = False
    node_name = "FftR2CBackward0"
    aten = "_fft_r2c"
    saved_as = {"dims": "dim", "factor": "", "input_shape": ""}

    @native_transform("real_transform")
    def kernel(x: Array, dims: Dims, factor: float, onesided: bool) -> Array:
        out = np.fft.rfft(x, axis=dims[0]) if len(dims) == 1 else np.fft.rfftn(x, axes=dims)
        if not onesided:
            out = with_mirror_images(out, x.shape[dims[-1]], dims)
        return laid(x, scaled(out, factor), [*by_stride(x, dims[:-1]), dims[-1]])

    def vjp(g: A, dims: A, factor: A, onesided: A, input_shape: A) -> A:
        size = input_shape[dims[-1]]
        if not onesided:
            return real_part(fft_c2c(g, dims, factor, False))
        # The real part of the transform of what was left out as zeros is half of that with mirror images in its place.
        doubled = own_images_times(g if isinstance(g, TensorBase) else copied(g), dims[-1], size, 2)
        return fft_c2r(doubled, dims, factor / 2, size)

    samples = lambda t: [
        S(t(4, dtype="float64"), (0,), 1.0, True),
        S(t(3, 4, dtype="float64"), (1, 0), 0.5, True),
        S(t(2, 3, dtype="float64"), (1,), 2.0, False),
    ]

    def reference(torch: Any, x: Any, dims: Any, factor: float, onesided: bool) -> Any:
        return getattr(torch.fft, "rfftn" if onesided else "fftn")(x, dim=dims) * factor


@op
class fft_c2r(Transform):
    """fft_c2r(input, dims, factor, size): half of the complex numbers to the `size` real ones along the last of the
    dimensions of which they are the transform."""

    options = ("dims", "factor", "size")
    holomorphic = False
    node_name = "FftC2RBackward0"
    aten = "_fft_c2r"
    saved_as = {"dims": "dim", "factor": "", "size": "", "input_shape": ""}

    @native_transform("real_inverse")
    def kernel(x: Array, dims: Dims, factor: float, size: int) -> Array:
        sizes = [*[x.shape[d] for d in dims[:-1]], size]
        out = scaled(np.fft.irfftn(x, sizes, dims, norm="forward"), factor)
        return laid(x, out, [*by_stride(x, dims[:-1]), dims[-1]])

    def vjp(g: A, dims: A, factor: A, input_shape: A) -> A:
        # All but those that are their own stand for their mirror images as well.
        return own_images_times(fft_r2c(g, dims, factor * 2, True), dims[-1], g.shape[dims[-1]], 0.5)

    samples = lambda t: [
        S(t(3, dtype="complex128"), (0,), 1.0, 4),
        S(t(3, dtype="complex128"), (0,), 1.0, 5),
        S(t(3, 2, dtype="complex128"), (1, 0), 0.5, 4),
    ]

    def reference(torch: Any, x: Any, dims: Any, factor: float, size: int) -> Any:
        sizes = [*[x.shape[d] for d in dims[:-1]], size]
        return torch.fft.irfftn(x, sizes, dims, norm="forward") * factor


def factor_of(norm: str, forward: bool, count: int) -> float:
    """What sums are multiplied with: once one over their length, in the one direction, the other, or both."""
    if norm == "ortho":
        return 1 / math.sqrt(count) if count else 1.0
    return 1.0 if (norm == "backward") == forward else 1 / max(count, 1)
