"""softmax, log_softmax and logsumexp: exponentials that cannot overflow, because the largest is taken out first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from leafgrad._core.bind import bind
from leafgrad._core.fused import only_values, run_on_tensors
from leafgrad._core.tensor import TensorBase
from leafgrad._dtypes import dtype as Dtype
from leafgrad.kernels import multiply, native_reduction
from leafgrad.kernels.fused import softmax as fused
from leafgrad.kernels.moving import in_rows
from leafgrad.ops.out import Castable
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
    max_reduce,
    ndarray,
    one_dim,
    refused,
    restore,
    total,
)
from leafgrad.ops.registry import Operation, op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Dim, DimOrDims, Tensor

A = Any  # an array, or a tensor under create_graph


@native_reduction("max")
def largest_along(x: A, dims: Dims, keepdim: bool) -> A:
    return max_reduce(x, dims, None, None, keepdim)


def over_rows(kernel: Any, across: Any, dim: int, *values: A) -> A:
    """What a kernel makes of the rows along a dimension; `across` computes the same along any other
    dimension than the last."""
    first = values[0]
    ndim = len(first.shape)
    if not ndim:
        return kernel(*[v.reshape(1) for v in values]).reshape(())
    if dim == ndim - 1:
        return kernel(*values)
    if isinstance(first, TensorBase) and only_values(*values) and are_dense([v.array for v in values]):
        return run_on_tensors(across, across, (*values, (dim,)))
    if first.__class__ is not ndarray:
        return kernel(*[v.swapaxes(dim, -1) for v in values]).swapaxes(dim, -1)
    if are_dense(values):
        return across(*values, (dim,))
    moved = [np.ascontiguousarray(v.swapaxes(dim, -1)) for v in values]
    return np.ascontiguousarray(kernel(*moved).swapaxes(dim, -1))


def are_dense(arrays: Sequence[A]) -> bool:
    """Are these arrays of one of the usual dtypes that lie row by row?"""
    kind = arrays[0].dtype
    return (kind is F32 or kind is F64) and all([a.dtype is kind and a.flags.c_contiguous for a in arrays])


def softmax_across(x: A, dims: Dims) -> A:
    e = fused.exp_below(x, largest_along(x, dims, True))
    return fused.shares(e, total(e, dims, True), e)


def log_softmax_across(x: A, dims: Dims) -> A:
    largest = largest_along(x, dims, True)
    e = fused.exp_below(x, largest)
    return fused.log_shares(x, largest, np.log(total(e, dims, True)), e)


def softmax_backward_across(g: A, out: A, dims: Dims) -> A:
    products = multiply(g, out)
    return fused.shares_backward(g, out, total(products, dims, True), products)


def log_softmax_backward_across(g: A, out: A, dims: Dims) -> A:
    return fused.log_shares_backward(g, out, total(g, dims, True))


class Softmax(Reduction, family=True):
    """softmax and log_softmax."""

    silent = False
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

    def kernel(x: A, dim: int) -> A:
        if not x.size:
            return x.copy()
        return in_rows(fused.softmax(x) if dim == x.ndim - 1 else over_rows(fused.softmax, softmax_across, dim, x))

    def vjp(g: A, out: A, dim: A) -> A:
        return over_rows(fused.softmax_backward, softmax_backward_across, dim, g, out)


@op
class log_softmax(Softmax):
    """log_softmax(input, dim, dtype=None): log(softmax(input)), without the loss of precision."""

    aten = "_log_softmax"
    places = ("special.log_softmax",)

    def kernel(x: A, dim: int) -> A:
        if not x.size:
            return x.copy()
        along_rows = dim == x.ndim - 1
        return in_rows(fused.log_softmax(x) if along_rows else over_rows(fused.log_softmax, log_softmax_across, dim, x))

    def vjp(g: A, out: A, dim: A) -> A:
        return over_rows(fused.log_softmax_backward, log_softmax_backward_across, dim, g, out)


@op
class logsumexp(Reduction):
    """logsumexp(input, dim, keepdim=False): log(sum(exp(input))) along dimensions."""

    out = Castable("logsumexp(): Expected floating point type for result tensor, but got: {given.alias}")
    row_major = True
    options = ("dims", "keepdim")
    places = ("special.logsumexp",)

    @in_single
    def kernel(x: A, dims: Dims, keepdim: bool) -> A:
        if len(dims) == 1 and x.size and x.dtype.kind == "f":
            rows = x if dims[0] == x.ndim - 1 else np.ascontiguousarray(x.swapaxes(dims[0], -1))
            out = fused.logsumexp(rows).swapaxes(dims[0], -1)
            return out if keepdim else out.reshape(x.shape[: dims[0]] + x.shape[dims[0] + 1 :])
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
