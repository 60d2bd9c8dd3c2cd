"""unfold: overlapping windows along a dimension, as a view."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import as_array
from leafgrad._layouts import restrided
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S
from leafgrad.ops.shape.view_history import ViewFamily, view_of
from leafgrad.ops.signature import Dim, Shape, Tensor

A = Any  # an array, or a tensor under create_graph


def check_window(size: int, step: int, refusal: type[Exception] = RuntimeError) -> None:
    if size < 0:
        raise errors.mistake(RuntimeError, f"size is {size} but must be >= 0")
    if step <= 0:
        raise errors.mistake(refusal, f"step is {step} but must be > 0")


@op
class unfold(ViewFamily):
    """unfold(input, dimension, size, step): all windows of `size` elements along a dimension, `step` apart; the
    elements of a window are the last dimension of the result."""

    saved_as = {"dim": "dimension"}
    options = ("dim", "size", "step")
    holomorphic = False  # elements are only chosen
    method_only = True
    node_names = ("AsStridedBackward0",)  # in stft, which takes its pieces by strides
    reference = "Tensor.unfold"

    def kernel(x: A, dim: int, size: int, step: int) -> A:
        x = as_array(x)
        if not x.ndim:  # one window, of one element at most
            return restrided(x, (size,), (x.itemsize,))
        count = (x.shape[dim] - size) // step + 1
        shape = (*x.shape[:dim], count, *x.shape[dim + 1 :], size)
        strides = (*x.strides[:dim], x.strides[dim] * step, *x.strides[dim + 1 :], x.strides[dim])
        return restrided(x, shape, strides)

    def call(input: Tensor, dimension: Dim, size: int, step: int) -> Tensor:
        shape = input.array.shape or (1,)
        dim = wrap_dim(dimension, input.array.ndim)
        check_window(size, step)
        if size > shape[dim]:
            first = f"maximum size for tensor at dimension {dim} is {shape[dim]} but size is {size}"
            raise errors.mistake(RuntimeError, first, ("tensor", errors.describe(input)))
        return view_of(unfold, input, dim, size, step)

    def vjp(g: A, dim: A, size: A, step: A, input_shape: A) -> A:
        return unfold_backward(g, input_shape, dim, size, step)

    def vmap(batch: A, x: A, dim: int, size: int, step: int) -> A:
        value = batch.value(x)
        if not x.ndim:
            return batch.wrap(value.reshape((batch.size, 1))[:, :size])
        return batch.apply((value,), (dim + 1, size, step))

    samples = lambda t: [
        S(t(6), 0, 3, 2),
        S(t(2, 5), 1, 2, 1),
        S(t(4, 2, 3), -3, 3, 1),
        S(t(), 0, 1, 1),
        S(t(3), 0, 0, 2),
    ]


@op
class unfold_backward(Family):
    """unfold_backward(grad_in, input_sizes, dim, size, step): the windows added up where they came from: the gradient
    of unfold for an input of this shape."""

    options = ("shape", "dim", "size", "step")
    public_name = ""
    reference = "ops.aten.unfold_backward"
    aten = "unfold_backward"
    holomorphic = False
    jvp = "linear"
    exempt = {"half precision": "windows are added one after the other, in the precision that they have, as in PyTorch"}

    def kernel(x: A, shape: Any, dim: int, size: int, step: int) -> A:
        if not shape:
            return x.sum(-1)
        return added_windows(x, shape, dim, size, step)

    def call(grad_in: Tensor, input_sizes: Shape, dim: Dim, size: int, step: int) -> Tensor:
        check_window(size, step, ValueError)
        return unfold_backward.record(grad_in, tuple(input_sizes), wrap_dim(dim, len(input_sizes)), size, step)

    def vjp(g: A, dim: A, size: A, step: A) -> A:
        return unfold(g, dim, size, step)

    def vmap(batch: A, x: A, shape: Any, dim: int, size: int, step: int) -> A:
        value = batch.value(x)
        if not shape:
            return batch.wrap(value.sum(-1))
        return batch.apply((value,), ((batch.size, *shape), dim + 1, size, step))

    samples = lambda t: [S(t(2, 3), (5,), 0, 3, 2), S(t(2, 4, 2), (2, 5), 1, 2, 1), S(t(1), (), 0, 1, 1)]


def added_windows(x: Any, shape: Any, dim: int, size: int, step: int) -> Any:
    """An array of this shape with windows added up along a dimension, those that begin first before the others.

    In blocks of `step` elements each window has its n-th block n further than its first: so the n-th blocks of all
    windows are added at once. For pieces of 512 that begin 128 apart that are 4 sums and not 512, and the gradient
    of stft takes a thirtieth of the time.
    """
    count, length = x.shape[dim], shape[dim]
    step = step if count > 1 else max(size, 1)
    pieces = -(-size // step)
    blocks = max(count - 1 + pieces, -(-length // step))
    whole = np.zeros((*shape[:dim], blocks, step, *shape[dim + 1 :]), x.dtype)
    lead = (slice(None),) * dim
    for piece in reversed(range(pieces if count else 0)):
        part = np.moveaxis(x[..., piece * step : (piece + 1) * step], -1, dim + 1)
        whole[(*lead, slice(piece, piece + count), slice(part.shape[dim + 1]))] += part
    joined = whole.reshape(*shape[:dim], blocks * step, *shape[dim + 1 :])
    return joined if blocks * step == length else joined[(*lead, slice(length))].copy()
