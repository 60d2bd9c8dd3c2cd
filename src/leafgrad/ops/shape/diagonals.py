"""Matrices made of diagonals and of blocks: diag_embed, diag, diagflat, block_diag."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.tensor import wrap
from leafgrad._dtypes import get_default_dtype
from leafgrad.ops.index.slices import slice_
from leafgrad.ops.promotion import cast, common_dtype
from leafgrad.ops.registry import Family, composite, op
from leafgrad.ops.samples import S
from leafgrad.ops.shape.join import Joining, arrays_of
from leafgrad.ops.shape.split import diagonal, put_diagonal
from leafgrad.ops.shape.views import reshape, wrap_dim
from leafgrad.ops.signature import Dim, Tensor

A = Any  # an array, or a tensor under create_graph


@op
class diag_embed(Family):
    """diag_embed(input, offset=0, dim1=-2, dim2=-1): the last dimension as a diagonal of two others, among zeros."""

    options = ("offset", "dim1", "dim2")
    holomorphic = False
    jvp = "linear"
    vmap = "dims"

    def kernel(x: A, offset: int, dim1: int, dim2: int) -> A:
        shape, size = list(x.shape[:-1]), x.shape[-1] + abs(offset)
        for dim in sorted((dim1, dim2)):
            shape.insert(dim, size)
        return put_diagonal(x, offset, dim1, dim2, tuple(shape))

    def call(input: Tensor, offset: int = 0, dim1: Dim = -2, dim2: Dim = -1) -> Tensor:
        ndim = input.array.ndim + 1
        one, two = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
        if one == two:
            raise errors.mistake(RuntimeError, f"diagonal dimensions cannot be identical {dim1}, {dim2}")
        if ndim == 1:
            raise errors.dimension_range(-1 if dim1 else 0, 0)
        return diag_embed.record(input, offset, one, two)

    def vjp(g: A, offset: A, dim1: A, dim2: A) -> A:
        return diagonal(g, offset, dim1, dim2)

    samples = lambda t: [S(t(3)), S(t(2, 3), 1), S(t(2, 3), offset=-2, dim1=0, dim2=2), S(t(2, 3), 0, 2, 0), S(t(0))]


@op
class diagonal_copy(Family):
    """diagonal_copy(input, offset=0, dim1=0, dim2=1): the diagonal of two dimensions, in memory of its own."""

    options = ("offset", "dim1", "dim2")
    holomorphic = False
    jvp = "linear"
    vmap = "dims"
    method = False
    out = True
    node_name = "DiagonalBackward0_copy"

    def kernel(x: A, offset: int, dim1: int, dim2: int) -> A:
        return np.diagonal(x, offset, dim1, dim2).copy()

    def call(input: Tensor, offset: int = 0, dim1: Dim = 0, dim2: Dim = 1) -> Tensor:
        ndim = input.array.ndim
        one, two = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
        if one == two:
            raise errors.mistake(RuntimeError, f"diagonal dimensions cannot be identical {dim1}, {dim2}")
        return diagonal_copy.record(input, offset, one, two)

    def vjp(g: A, offset: A, dim1: A, dim2: A, input_shape: A) -> A:
        return put_diagonal(g, offset, dim1, dim2, input_shape)

    samples = lambda t: [S(t(3, 4)), S(t(3, 4), -1), S(t(2, 3, 4), 0, 2, 0), S(t(0, 2))]


@composite(lambda t: [S(t(3)), S(t(3), -1), S(t(3, 4)), S(t(3, 4), 1), S(t(0))], out=True)
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """diag(input, diagonal=0): the matrix that has a vector on its diagonal; or the diagonal of a matrix."""
    ndim = input.array.ndim
    if ndim == 1:
        return diag_embed.function(input, diagonal)
    if ndim == 2:
        return diagonal_copy.function(input, diagonal)
    raise errors.mistake(RuntimeError, f"diag(): Supports 1D or 2D tensors. Got {ndim}D")


@composite(lambda t: [S(t(3)), S(t(2, 2), 1), S(t(), -1), S(t(0))])
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """diagflat(input, offset=0): the matrix that has all elements of a tensor, in order, on its diagonal."""
    return diag_embed.function(reshape(input, (-1,)), offset)


# -- blocks -----------------------------------------------------------------------------------------------------------


def blocks(shapes: Any) -> list[tuple[slice, slice]]:
    """Where in the matrix the tensors of these shapes lie. A vector is a row, a number a matrix of one element."""
    found, row, column = [], 0, 0
    for shape in shapes:
        height, width = ((1, 1) + tuple(shape))[-2:]
        found.append((slice(row, row + height), slice(column, column + width)))
        row, column = row + height, column + width
    return found


@op
class block_diag(Joining):
    """block_diag(*tensors): a matrix of zeros but for the tensors, one right below the other."""

    options = ("shapes",)
    out = False
    signatures = ("(*tensors: Tensor) -> Tensor",)
    vmap: Any = "kernel"

    def kernel(*args: Any) -> A:
        shapes = args[-1]
        places = blocks(shapes)
        out = np.zeros((places[-1][0].stop, places[-1][1].stop), args[0].dtype)
        for place, x in zip(places, args):
            out[place] = x
        return out

    def call(*tensors: Tensor) -> Tensor:
        arrays = arrays_of(tensors)
        if not arrays:
            return wrap(np.empty((1, 0), get_default_dtype().np))
        for position, x in enumerate(arrays):
            if x.ndim > 2:
                raise errors.mistake(
                    RuntimeError,
                    "torch.block_diag: Input tensors must have 2 or fewer dimensions. "
                    f"Input {position} has {x.ndim} dimensions",
                )
        kind = common_dtype(*[np.empty((1,), x.dtype) for x in arrays])  # numbers count as much as matrices
        return bind(block_diag.core, tensors, (tuple([x.shape for x in arrays]),), [cast(x, kind) for x in arrays])

    def vjp_all(g: A, needs: A, shapes: A) -> A:
        parts = zip(needs, blocks(shapes), shapes)
        return [slice_(g, place).reshape(shape) if need else None for need, place, shape in parts]

    samples = lambda t: [S(t(2, 3), t(2), t()), S(t(1, 2)), S(t(3, 0), t(2))]
