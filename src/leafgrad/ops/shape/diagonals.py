"""Matrices out of diagonals, and diagonals out of matrices. The view `diagonal` is in split.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.recorder import needs_recording
from leafgrad._core.tensor import wrap
from leafgrad._core.thread_state import state
from leafgrad._dtypes import BOOL, from_numpy_dtype, get_default_dtype
from leafgrad._layouts import order_in_memory
from leafgrad.kernels.moving import copied as array_copied
from leafgrad.kernels.moving import native_move
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.index.slices import slice_
from leafgrad.ops.inplace import copy_slices
from leafgrad.ops.public_forms import checked_methods
from leafgrad.ops.registry import Family, composite, op, with_kernel
from leafgrad.ops.samples import S
from leafgrad.ops.shape.copies import copied
from leafgrad.ops.shape.join import arrays_of, in_common_dtype
from leafgrad.ops.shape.split import diagonal, put_diagonal
from leafgrad.ops.shape.split import diagonal as diagonal_op
from leafgrad.ops.shape.strides import as_strided, checked_geometry
from leafgrad.ops.shape.view_history import view_of
from leafgrad.ops.shape.views import expand, reshape
from leafgrad.ops.signature import Dim, Number, Shape, Tensor

A = Any  # an array, or a tensor under create_graph


@op
class diag_embed(Family):
    """diag_embed(input, offset=0, dim1=-2, dim2=-1): zeros with the last dimension of input on the diagonal of two
    dimensions of the result."""

    options = ("offset", "dim1", "dim2")
    vmap = "dims"
    holomorphic = False  # numbers are moved, not computed with
    jvp = "linear"

    def kernel(x: A, offset: int, dim1: int, dim2: int) -> A:
        size = x.shape[-1] + abs(offset)
        shape = list(x.shape[:-1])
        for dim in sorted((dim1, dim2)):
            shape.insert(dim, size)
        out = np.zeros(shape, x.dtype)
        diagonal(out, offset, dim1, dim2)[...] = x
        return out

    def call(input: Tensor, offset: int = 0, dim1: Dim = -2, dim2: Dim = -1) -> Tensor:
        ndim = input.array.ndim + 1
        one, two = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
        if one == two:
            raise errors.mistake(RuntimeError, f"diagonal dimensions cannot be identical {dim1}, {dim2}")
        return diag_embed.record(input, offset, one, two)

    def vjp(g: A, offset: A, dim1: A, dim2: A) -> A:
        return diagonal(g, offset, dim1, dim2)

    samples = lambda t: [S(t(3)), S(t(2, 3), 1), S(t(2, 3), -2, 0, 2), S(t(2, 3), 0, 2, 1), S(t(0))]


@composite(lambda t: [S(t(3)), S(t(3), -1), S(t(3, 4)), S(t(3, 4), 2), S(t(2, 0))], out=True)
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """diag(input, diagonal=0): a matrix with this vector on its diagonal, or a copy of the diagonal of this matrix."""
    ndim = input.array.ndim
    if ndim not in (1, 2):
        raise errors.mistake(RuntimeError, f"diag(): Supports 1D or 2D tensors. Got {ndim}D")
    if ndim == 1:
        return diag_embed.function(input, diagonal)
    usual = state.recording is True or state.recording is False  # otherwise some mode may want to see the view
    if usual and not needs_recording((input,)):
        return bind(_diagonal_values, (input,), (diagonal, 0, 1))  # without a view: half of the time
    return copied(view_of(diagonal_op, input, diagonal, 0, 1))


_diagonal_values = with_kernel(diagonal_op.core, lambda x, *options: array_copied(x.diagonal(*options)))


@composite(lambda t: [S(t(3)), S(t(2, 2), 1), S(t())])
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """diagflat(input, offset=0): a matrix with all elements of input on its diagonal."""
    return diag_embed.function(reshape(input.contiguous(), (-1,)), offset)


@native_move("diagonal_sum")
def sum_of_diagonal(x: A) -> A:
    """The sum of the diagonal of matrices, added up in single precision for half, and in double for single."""
    on_diagonal = x.diagonal(0, -2, -1)
    if x.dtype.itemsize == 2 and x.dtype.kind not in "iu":
        return on_diagonal.astype(np.float32).sum(-1).astype(x.dtype)
    if x.dtype == np.float32:
        return on_diagonal.sum(-1, dtype=np.float64).astype(np.float32)
    return on_diagonal.sum(-1, dtype=np.int64 if x.dtype.kind in "iu" else x.dtype)


@op
class trace(Family):
    """trace(input): the sum of the diagonal of a matrix."""

    autocast = "float32"
    refuses = (BOOL,)
    kernel_name = "trace"
    jvp = "linear"

    kernel = sum_of_diagonal

    def call(input: Tensor) -> Tensor:
        if input.array.ndim != 2:
            raise errors.mistake(RuntimeError, f"trace: expected a matrix, but got tensor with dim {input.array.ndim}")
        trace.check(from_numpy_dtype(input.array.dtype))
        return trace.record(input)

    def vjp(g: A, input_shape: A) -> A:
        return put_diagonal(expand(g, (min(input_shape),)), 0, 0, 1, input_shape)

    def vmap(batch: A, x: A) -> A:
        return batch.apply((batch.value(x),), ())

    samples = lambda t: [S(t(3, 3)), S(t(2, 4)), S(t(3, 2)), S(t(0, 2))]


@op
class block_diag(Family):
    """block_diag(*tensors): a matrix of zeros with these matrices along its diagonal; vectors are rows."""

    saved_as = {"shapes": ""}
    inputs = ("tensors",)
    options = ("shapes",)
    variadic = True
    holomorphic = False
    jvp = "linear"
    method = False

    def kernel(*args: Any) -> A:
        arrays, shapes = args[:-1], args[-1]
        lead = arrays[0].shape[: arrays[0].ndim - len(shapes[0])]
        corners = _corners(shapes)
        out = np.zeros((*lead, *corners[-1]), arrays[0].dtype)
        for x, (top, left), (bottom, right) in zip(arrays, corners, corners[1:]):
            out[..., top:bottom, left:right] = x.reshape((*lead, bottom - top, right - left))
        return out

    def call(*tensors: Tensor) -> Tensor:
        if not tensors:
            return wrap(np.empty((1, 0), get_default_dtype().np))
        arrays = in_common_dtype(arrays_of(tensors), tensors)
        for position, x in enumerate(arrays):
            if x.ndim > 2:
                raise errors.mistake(
                    RuntimeError,
                    "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                    f"{position} has {x.ndim} dimensions",
                )
        return bind(block_diag.core, tensors, (tuple([x.shape for x in arrays]),), arrays)

    def vjp_all(g: A, needs: A, shapes: A) -> A:
        corners = _corners(shapes)
        gradients = []
        for need, shape, (top, left), (bottom, right) in zip(needs, shapes, corners, corners[1:]):
            part = slice_(g, (slice(top, bottom), slice(left, right))) if need else None
            gradients.append(None if part is None else part.reshape(shape))
        return gradients

    def vmap(batch: Any, *args: Any) -> Any:
        return batch.apply(batch.values(*batch.arrays), batch.options)

    samples = lambda t: [S(t(2, 3), t(3), t()), S(t(2, 2)), S(t(0, 2), t(1, 1))]


def _corners(shapes: Any) -> list[tuple[int, int]]:
    """Where the blocks of these shapes begin, and where the last one ends."""
    corners = [(0, 0)]
    for shape in shapes:
        rows, columns = (1,) * (2 - len(shape)) + tuple(shape)
        corners.append((corners[-1][0] + rows, corners[-1][1] + columns))
    return corners


# -- other numbers on a diagonal --------------------------------------------------------------------------------------


@composite(lambda t: [S(t(3, 4), t(3)), S(t(3, 4), t(2), 2), S(t(2, 3, 2), t(3, 2), 0, 0, 2)])
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: Dim = 0, dim2: Dim = 1) -> Tensor:
    """diagonal_scatter(input, src, offset=0, dim1=0, dim2=1): a copy of input with a diagonal replaced by src."""
    seen = diagonal.function(input, offset, dim1, dim2)
    ndim = input.array.ndim
    step = (diagonal, (offset, wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)))
    return _replaced(input, seen, step, src, "DiagonalScatterBackward0")


@composite(
    lambda t: [S(t(6, contiguous=True), t(2, 2), (2, 2), (3, 1)), S(t(6, contiguous=True), t(2), (2,), (2,), 1)],
)
def as_strided_scatter(
    input: Tensor, src: Tensor, size: Shape, stride: Shape, storage_offset: int | None = None
) -> Tensor:
    """as_strided_scatter(input, src, size, stride, storage_offset=None): a copy of input with the elements that
    as_strided shows replaced by src."""
    geometry = checked_geometry(input.array, tuple(size), tuple(stride), storage_offset)
    seen = as_strided.function(input, size, stride, storage_offset)
    return _replaced(input, seen, (as_strided, (geometry,)), src, "AsStridedScatterBackward0")


def _replaced(input: Any, seen: Any, step: Any, src: Any, node_name: str) -> Any:
    """A copy of input with the part that a step leads to, which is `seen`, replaced."""
    if src.array.shape != seen.array.shape:
        raise errors.mistake(
            RuntimeError,
            f"expected src to have a size equal to the slice of self. src size = {errors.size(src.array.shape)}, "
            f"slice size = {errors.size(seen.array.shape)}",
        )
    return bind(copy_slices.named[node_name], (input, src), ((step,), np.array(order_in_memory(input.array))))


def fill_diagonal_(self: Tensor, fill_value: Number, wrap: bool = False) -> Tensor:
    """fill_diagonal_(fill_value, wrap=False): set the main diagonal; in a matrix with more rows than columns `wrap`
    lets it begin again below."""
    shape = self.array.shape
    if len(shape) < 2:
        raise errors.mistake(RuntimeError, "dimensions must larger than 1")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise errors.mistake(RuntimeError, "all dimensions of input must be of equal length")
    step, start = sum(self.stride()), self.storage_offset()
    self.as_strided((min(shape),), (step,), start).fill_(fill_value)
    if wrap and len(shape) == 2 and shape[0] > shape[1] + 1:
        period = shape[1] + 1
        rest = -(-self.array.size // period) - min(shape)
        self.as_strided((rest,), (step,), start + self.stride(0) * period).fill_(fill_value)
    return self


METHODS = checked_methods(fill_diagonal_)
