"""softmax, log_softmax and logsumexp: exponentials that cannot overflow, because the largest is taken out first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad._core.bind import bind
from leafgrad._dtypes import dtype as Dtype
from leafgrad.kernels import divide, exponential, multiply, subtract
from leafgrad.ops.pointwise.convert import to_dtype
from leafgrad.ops.pointwise.elementwise import exp
from leafgrad.ops.promotion import float_input
from leafgrad.ops.reduce.common import (
    F32,
    F64,
    Dims,
    Reduction,
    dims_of,
    in_single,
    largest_along,
    max_reduce,
    ndarray,
    one_dim,
    refused,
    restore,
    total,
    total_of_all,
)
from leafgrad.ops.reduce.reductions import sum
from leafgrad.ops.registry import Operation, op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Dim, DimOrDims, Tensor

A = Any  # an array, or a tensor under create_graph

ZERO: dict[str, Any] = {"f": np.zeros((), np.float32), "d": np.zeros(())}


@in_single
def softmax_array(x: Any, dim: int) -> Any:
    if not x.ndim:  # one, or nan
        return softmax_array(x.reshape(1), 0).reshape(())
    if not x.size:
        return x.copy()
    if x.ndim == 1 and (x.dtype is F32 or x.dtype is F64) and x.flags.c_contiguous:  # the same without dimensions
        at = x.argmax()
        e = subtract(x, x[at : at + 1].reshape(()))
        exponential(e, e)
        return divide(e, np.asarray(total_of_all(e)), e)
    e = subtract(x, one_of(largest_along(x, dim)))
    exponential(e, e)
    return divide(e, one_of(total(e, (dim,), True)), e)


@in_single
def log_softmax_array(x: Any, dim: int) -> Any:
    if not x.ndim:  # zero, or nan
        return log_softmax_array(x.reshape(1), 0).reshape(())
    if not x.size:
        return x.copy()
    below = subtract(x, one_of(largest_along(x, dim)))
    return subtract(below, one_of(np.log(total(exponential(below), (dim,), True))), below)


def one_of(reduced: Any) -> Any:
    """What is left of a vector without its dimension: the native loops take that beside any array."""
    return reduced.reshape(()) if reduced.__class__ is ndarray and reduced.ndim == 1 else reduced


class Softmax(Reduction, family=True):
    """softmax and log_softmax."""

    row_major = True
    options = ("dim",)
    samples = staticmethod(
        lambda t: [S(t(3, 4), 1), S(t(3, 4), 0), S(t(2, 3, 4), -2), S(t(5), 0), S(t(), 0), S(t(0, 3), 1)]
    )

    @staticmethod
    def public(operation: Operation, body: dict[str, Any]) -> Callable[..., Any]:
        core, name = operation.core, operation.name

        def call(input: Tensor, dim: Dim, dtype: Dtype | None = None) -> Tensor:
            x = input.array
            if dtype is None and (x.dtype is F32 or x.dtype is F64):
                return bind(core, (input,), (one_dim(dim, x.ndim),))
            if dtype is not None:
                input = to_dtype.call(input, dtype)
                x = input.array
            place = one_dim(dim, x.ndim)
            if x.dtype.kind in "biuc":
                raise refused(f"{name}{'_lastdim' if place >= x.ndim - 1 else ''}_kernel_impl", input)
            return bind(core, (input,), (place,), (x,))

        return call


@op
class softmax(Softmax):
    """softmax(input, dim, dtype=None): exp(input) divided by its sum along a dimension."""

    aten = "_softmax"
    places = ("special.softmax",)
    kernel = softmax_array

    def vjp(g: A, out: A, dim: A) -> A:
        if both_dense(g, out):
            weighted = multiply(g, out)
            rest = multiply(out, one_of(total(weighted, (dim,), True)))
            return subtract(weighted, rest, rest)
        weighted = g * out
        return weighted - out * _sum_along(weighted, dim)


@op
class log_softmax(Softmax):
    """log_softmax(input, dim, dtype=None): log(softmax(input)), without the loss of precision."""

    aten = "_log_softmax"
    places = ("special.log_softmax",)
    kernel = log_softmax_array

    def vjp(g: A, out: A, dim: A) -> A:
        if both_dense(g, out):
            rest = exponential(out)
            multiply(rest, one_of(total(g, (dim,), True)), rest)
            return subtract(g, rest, rest)
        return g - exp(out) * _sum_along(g, dim)


def both_dense(g: A, out: A) -> bool:
    """Plain arrays of one dtype, side by side in memory: then a rule can write over what it has made itself."""
    return bool(
        g.__class__ is ndarray is out.__class__
        and g.dtype is out.dtype
        and (g.dtype is F32 or g.dtype is F64)
        and g.ndim
        and g.flags.c_contiguous
        and out.flags.c_contiguous
    )


def _sum_along(x: A, dim: int) -> A:
    return sum(x, (dim,) if len(x.shape) else (), True)


@op
class logsumexp(Reduction):
    """logsumexp(input, dim, keepdim=False): log(sum(exp(input))) along dimensions."""

    row_major = True
    options = ("dims", "keepdim")
    places = ("special.logsumexp",)

    @in_single
    def kernel(x: A, dims: Dims, keepdim: bool) -> A:
        if (x.dtype is F32 or x.dtype is F64) and len(dims) == 1 and x.size:
            largest = largest_along(x, dims[0])
            infinite = np.isinf(largest)
            if infinite.any():
                largest = np.where(infinite, ZERO[x.dtype.char], largest)
            e = subtract(x, one_of(largest))
            exponential(e, e)
            out = np.log(total(e, dims, keepdim))
            return out + largest.reshape(out.shape)
        largest = max_reduce(x.real, dims, None, None, True, -np.inf)
        largest = np.where(np.isinf(largest), 0, largest).astype(x.real.dtype)  # inf - inf would not be a number
        out = np.log(total(np.exp(x - largest), dims, keepdim))
        return out + (largest if keepdim else largest.reshape(out.shape))

    def call(input: Tensor, dim: DimOrDims, keepdim: bool = False) -> Tensor:
        ndim = input.array.ndim
        return logsumexp.record(float_input(input), dims_of(dim, ndim), keepdim)

    def vjp(g: A, input: A, out: A, input_shape: A, dims: A, keepdim: A) -> A:
        out = restore(out, input_shape, dims, keepdim)
        return restore(g, input_shape, dims, keepdim) * exp(input - out)

    samples = staticmethod(
        lambda t: [S(t(3, 4), 0), S(t(2, 3, 4), (0, -1), True), S(t(5), 0), S(t(), 0), S(t(0, 3), 1), S(t(3, 0), 0)]
    )
