"""softmax, log_softmax and logsumexp: exponentials that cannot overflow, because the largest is taken out first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import _core
from leafgrad._core import TensorBase
from leafgrad._state import quiet
from leafgrad.dtypes import dtype as Dtype
from leafgrad.ops.elementwise import exp
from leafgrad.ops.promotion import cast, float_input
from leafgrad.ops.reducing import (
    F32,
    Dims,
    Reduction,
    all_if_empty,
    dims_of,
    is_half,
    largest_along,
    max_reduce,
    one_dim,
    refused,
    restore,
    total,
)
from leafgrad.ops.reductions import sum_dim
from leafgrad.ops.registry import op
from leafgrad.ops.samples import S

A = Any  # an array, or a tensor under create_graph


def in_single(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that computes half precision numbers in single precision."""

    def wide(x: Any, *options: Any) -> Any:
        if is_half(x.dtype):
            return kernel(x.astype(F32), *options).astype(x.dtype)
        return kernel(x, *options)

    return wide


@in_single
def softmax_array(x: Any, dim: int) -> Any:
    if not x.size or not x.ndim:
        return np.ones_like(x)
    e = x - largest_along(x, dim)
    np.exp(e, e)
    e /= total(e, (dim,), True)
    return e


@in_single
def log_softmax_array(x: Any, dim: int) -> Any:
    if not x.size or not x.ndim:
        return np.zeros_like(x)
    below = x - largest_along(x, dim)
    below -= np.log(total(np.exp(below), (dim,), True))
    return below


class Softmax(Reduction):
    """softmax and log_softmax."""

    options = ("dim",)
    samples = staticmethod(
        lambda t: [S(t(3, 4), 1), S(t(3, 4), 0), S(t(2, 3, 4), -2), S(t(5), 0), S(t(), 0), S(t(0, 3), 1)]
    )


def _apply(operation: Any, input: TensorBase, dim: Any, dtype: Dtype | None) -> Any:
    quiet()
    name, x = operation.core.name, input.array
    if dtype is not None:
        x = cast(x, dtype)
    place = one_dim(dim, x.ndim, name)
    if x.dtype.kind in "biuc":
        raise refused(f"{name}{'_lastdim' if place == x.ndim - 1 else ''}_kernel_impl", input)
    return _core.finish(operation.core, (input,), (x,), (place,), _core.compute(operation.core, (x,), (place,)))


@op
class softmax(Softmax):
    """softmax(input, dim, dtype=None): exp(input) divided by its sum along a dimension."""

    row_major = True
    forward = softmax_array

    def call(input: Any, dim: int, dtype: Dtype | None = None) -> Any:
        return _apply(softmax, input, dim, dtype)

    def vjp(g: A, out: A, dim: A) -> A:
        weighted = g * out
        return weighted - out * _sum_along(weighted, dim)


@op
class log_softmax(Softmax):
    """log_softmax(input, dim, dtype=None): log(softmax(input)), without the loss of precision."""

    row_major = True
    forward = log_softmax_array

    def call(input: Any, dim: int, dtype: Dtype | None = None) -> Any:
        return _apply(log_softmax, input, dim, dtype)

    def vjp(g: A, out: A, dim: A) -> A:
        return g - exp(out) * _sum_along(g, dim)


def _sum_along(x: A, dim: int) -> A:
    return sum_dim(x, (dim,) if len(x.shape) else (), True)


@op
class logsumexp(Reduction):
    """logsumexp(input, dim, keepdim=False): log(sum(exp(input))) along dimensions."""

    row_major = True
    options = ("dims", "keepdim")

    @in_single
    def forward(x: A, dims: Dims, keepdim: bool) -> A:
        largest = max_reduce(x.real, dims, None, None, True, -np.inf)
        largest = np.where(np.isinf(largest), 0, largest).astype(x.real.dtype)  # inf - inf would not be a number
        out = np.log(total(np.exp(x - largest), dims, keepdim))
        return out + (largest if keepdim else largest.reshape(out.shape))

    def call(input: Any, dim: Any, keepdim: bool = False) -> Any:
        ndim = input.array.ndim
        if dim is None:
            raise TypeError("logsumexp(): argument 'dim' must be tuple of ints, not NoneType")
        return logsumexp.record(float_input(input), all_if_empty(dims_of(dim, ndim, "logsumexp"), ndim), keepdim)

    def vjp(g: A, input: A, out: A, input_shape: A, dims: A, keepdim: A) -> A:
        out = restore(out, input_shape, dims, keepdim)
        return restore(g, input_shape, dims, keepdim) * exp(input - out)

    samples = staticmethod(
        lambda t: [S(t(3, 4), 0), S(t(2, 3, 4), (0, -1), True), S(t(5), 0), S(t(), 0), S(t(0, 3), 1), S(t(3, 0), 0)]
    )
