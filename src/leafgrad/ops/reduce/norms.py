"""Norms of vectors, along any dimensions. Those of matrices are in ops/linalg/matrix_norms.py."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.tensor import TensorBase
from leafgrad._dtypes import FLOAT, can_cast, from_numpy_dtype, promote_types
from leafgrad._dtypes import dtype as Dtype
from leafgrad.kernels import multiply, native_reduction
from leafgrad.ops.creation.fresh import zero_like
from leafgrad.ops.pointwise.convert import to_dtype
from leafgrad.ops.pointwise.elementwise import abs, sgn
from leafgrad.ops.pointwise.powers import pow_number
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.reduce.common import (
    F32,
    F64,
    Dims,
    count_of,
    dims_of,
    expand_gradient,
    has_zero,
    in_single,
    max_reduce,
    min_reduce,
    ndarray,
    raw,
    restore,
    sum_of_squares,
    total,
)
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import DimOrDims, Number, Tensor

A = Any  # an array, or a tensor under create_graph


@native_reduction("norm")
@in_single
def _euclidean_norm(x: Any, dims: Dims, keepdim: bool) -> Any:
    kind = x.dtype
    if len(dims) == x.ndim and not keepdim and (kind is F32 or kind is F64):
        return np.sqrt(sum_of_squares(x))
    size = np.abs(x) if kind.kind == "c" else x  # of inf + nan j it is infinite
    return np.sqrt(total(size * size, dims, keepdim))


@native_reduction("sum_of_sizes")
@in_single
def _sum_of_sizes(x: Any, dims: Dims, keepdim: bool) -> Any:
    return total(np.abs(x), dims, keepdim)


def _vector_norm(x: Any, order: float, dims: Dims, keepdim: bool) -> Any:
    if order == 2:
        return _euclidean_norm(x, dims, keepdim)
    if order == 1:
        return _sum_of_sizes(x, dims, keepdim)
    return _other_norm(x, order, dims, keepdim)


@in_single
def _other_norm(x: Any, order: float, dims: Dims, keepdim: bool) -> Any:
    if order == 0:
        return np.asarray(np.count_nonzero(x, axis=dims, keepdims=keepdim), x.dtype.char.lower())
    size = np.abs(x)
    if order == math.inf:
        return max_reduce(size, dims, None, None, keepdim)
    if order == -math.inf:
        return min_reduce(size, dims, None, None, keepdim)
    return total(size**order, dims, keepdim) ** (1 / order)


@op
class vector_norm(Family):
    """vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None): (sum of abs(x)**ord) ** (1/ord) along dimensions;
    ord = inf and -inf are the largest and smallest abs(x), ord = 0 is the number of elements that are not zero."""

    saved_as = {"order": "ord", "dims": "dim", "input_shape": ""}
    row_major = True
    options = ("order", "dims", "keepdim")
    vmap = "dims"
    kernel = _vector_norm
    holomorphic = False
    node_name = "LinalgVectorNormBackward0"
    public_name = ""
    places = ("linalg.vector_norm",)
    out = True
    aten = "linalg_vector_norm"

    def call(
        x: Tensor,
        ord: Number = 2,
        dim: DimOrDims | None = None,
        keepdim: bool = False,
        *,
        dtype: Dtype | None = None,
    ) -> Tensor:
        if dtype is None and ord == 2 and isinstance(x, TensorBase) and (x.array.dtype is F32 or x.array.dtype is F64):
            ndim = x.array.ndim
            dims = dims_of(dim, ndim)
            return bind(vector_norm.core, (x,), (2.0, dims, keepdim))
        if isinstance(ord, str):
            raise TypeError("linalg_vector_norm(): argument 'ord' (position 2) must be Number, not str")
        if isinstance(ord, complex):
            first = "linalg.vector_norm: Expected a non-complex scalar as the order of norm."
            raise errors.mistake(RuntimeError, first)
        x = as_checked(x, dtype)
        order, shape = float(ord), x.array.shape
        dims = dims_of(dim, len(shape))
        if (order < 0 or order == math.inf) and count_of(shape, dims) == 0:
            what = f"linalg.vector_norm cannot compute the {order:g} norm on "
            if not dim and dim != 0:
                raise RuntimeError(f"{what}an empty tensor because the operation does not have an identity")
            hollow = next(d for d in dims if shape[d] == 0)
            raise RuntimeError(
                f"{what}the dimension {hollow}because this dimension is empty and the operation does not have an "
                "identity"
            )
        return vector_norm.record(x, order, dims, keepdim)

    def vjp(g: A, input: A, out: A, input_shape: A, order: A, dims: A, keepdim: A) -> A:
        g, out = restore(g, input_shape, dims, keepdim), restore(out, input_shape, dims, keepdim)
        if order == 0:
            return expand_gradient(g * 0, input_shape)
        if order == 1:
            return g * sgn(input)
        if math.isinf(order):
            size = np.abs(raw(input))
            won = (size == raw(out)) | np.isnan(size)
            return sgn(input) * (g / np.count_nonzero(won, axis=dims, keepdims=True).astype(raw(out).dtype)) * won
        if order == 2 and g.__class__ is ndarray and not has_zero(out):
            return multiply(input, np.asarray(g / out))
        # Where everything is zero the norm has a corner, and zero is its subgradient; ones keep the rest finite there.
        flat = raw(out) == 0
        g, out = where(flat, zero_like(g), g), where(flat, one_like(out), out)
        if order == 2:
            return input * (g / out)
        # order * size**(order - 1) would be infinite at a zero for order < 1, and 0 * inf below for order < 2
        zero = raw(input) == 0
        size = where(zero, one_like(out), abs(input))
        direction = where(zero, zero_like(input), input / size)
        return direction * pow_number(size / out, order - 1) * g

    samples = staticmethod(
        lambda t: [
            *[S(t(3, 4)), S(t(5), 1), S(t(3, 4), 3, 0), S(t(2, 3, 4), math.inf, (0, -1), True), S(t(), 2)],
            *[S(t(3, 4, low=0.2), -1.5, 1), S(t(3, 4), -math.inf), S(t(0, 3), 2, 0), S(t(4, low=0.2), 0.5), S(t(4), 0)],
        ]
    )


def one_like(x: A) -> Any:
    """A one of the dtype of x, so that `where` does not change it."""
    return np.ones((), raw(x).dtype)


def as_checked(x: Any, kind: Dtype | None, name: str = "linalg.vector_norm") -> Any:
    """The tensor in the dtype asked for; norms take floating point only, and convert only to something wider."""
    if not isinstance(x, TensorBase):
        raise errors.not_a_tensor("linalg_vector_norm", "x", 1, x)
    own = from_numpy_dtype(x.array.dtype)
    if own.category < FLOAT:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {own.alias}\n  at {errors.here()}\n"
            "  fix: convert first, x.float()"
        )
    if kind is None:
        return x
    if kind.category < FLOAT:
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {kind.alias}")
    if kind.is_complex != own.is_complex:
        word = "complex" if own.is_complex else "real"
        raise RuntimeError(f"{name}: dtype should be {word} for {word} inputs, but got {kind.alias}")
    if promote_types(own, kind) is not kind or not can_cast(own, kind):
        raise RuntimeError(
            f"{name}: the dtype of the input ({own.alias}) should be convertible without narrowing to the specified "
            f"dtype ({kind.alias})"
        )
    return to_dtype.function(x, kind)
