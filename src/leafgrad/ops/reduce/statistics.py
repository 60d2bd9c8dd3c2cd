"""Variance and standard deviation, alone or with the mean; sums and means that leave out what is not a number."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._dtypes import COMPLEX, FLOAT, from_numpy_dtype
from leafgrad._dtypes import dtype as Dtype
from leafgrad.kernels import multiply, native_reduction, subtract
from leafgrad.ops.creation.fresh import zero_like
from leafgrad.ops.out import CASTS, COMPUTED, Castable
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.promotion import cast
from leafgrad.ops.reduce.common import (
    F32,
    F64,
    Dims,
    Reduction,
    count_of,
    dims_of,
    has_zero,
    in_single,
    ndarray,
    raw,
    restore,
    sum_of_squares,
    total,
)
from leafgrad.ops.reduce.reductions import mean, mean_of, mean_rule, sum
from leafgrad.ops.registry import Operation, composite, op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import DimOrDims, Number, Tensor

A = Any  # an array, or a tensor under create_graph


@native_reduction("var")
@in_single
def _var(x: Any, dims: Dims | None, correction: float, keepdim: bool) -> Any:
    axes = tuple(range(x.ndim)) if dims is None else dims
    n = count_of(x.shape, axes)
    if not x.size:
        return np.full_like(total(x.real, axes, keepdim), np.nan)
    center = total(x, axes, True) / n
    squares = _squares(x, center, axes, keepdim)
    if _is_rounding(squares, center, n):  # without an element of each, nothing is left of equal ones but zeros
        x = x - x[tuple([slice(0, 1) if d in axes else slice(None) for d in range(x.ndim)])]
        squares = _squares(x, total(x, axes, True) / n, axes, keepdim)
    return np.divide(squares, max(n - correction, 0))


def _squares(x: Any, center: Any, dims: Dims, keepdim: bool) -> Any:
    """The sum of abs(x - center)**2."""
    kind = x.dtype
    if (kind is F32 or kind is F64) and x.flags.c_contiguous:
        if len(dims) == x.ndim and not keepdim:
            return sum_of_squares(subtract(x, center.reshape(())))
        off = np.asarray(subtract(x, center))
        return total(multiply(off, off, off), dims, keepdim)
    off = x - center
    return total(off.real**2 + off.imag**2 if off.dtype.kind == "c" else off * off, dims, keepdim)


def _is_rounding(squares: Any, center: Any, n: int) -> bool:
    """May a sum of squares be nothing but what was lost when the mean was rounded?"""
    limit = n * (64 * np.finfo(center.dtype).eps) ** 2
    if squares.size == 1:
        return bool(0 < squares.item() <= limit * abs(center.item()) ** 2)
    size = center.real**2 + center.imag**2 if center.dtype.kind == "c" else center * center
    return bool(((squares > 0) & (squares <= (size * limit).reshape(squares.shape))).any())


@native_reduction("std")
@in_single
def _std(x: Any, dims: Dims | None, correction: float, keepdim: bool) -> Any:
    return np.sqrt(_var(x, dims, correction, keepdim))


def _var_arguments(
    name: str, input: TensorBase, dim: Any, unbiased: Any, keepdim: bool, correction: Any
) -> tuple[Dims | None, float, bool]:
    """(dims, correction, keepdim) of the call forms (dim, *, correction), (unbiased) and (dim, unbiased, keepdim).
    Whether all dimensions were named or none makes a difference to the gradient where no degree of freedom is left."""
    x = input.array
    if dim is None and unbiased is None and correction is None and x.size > 1 and (x.dtype is F32 or x.dtype is F64):
        return None, 1, keepdim  # by far the most frequent call, where nothing can be wrong
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None and (correction is not None or not isinstance(unbiased, bool)):
        raise TypeError(f"{name}() received an invalid combination of arguments\n  at {errors.here()}")
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    shape = x.shape
    if x.dtype.kind in "biu":
        who = name if name.endswith("mean") else "std and var"
        raise RuntimeError(f"{who} only support floating point and complex dtypes\n  at {errors.here()}")
    dims = dims_of(dim, len(shape))
    if (0 if 0 in shape else count_of(shape, dims)) - correction <= 0:
        errors.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
            "(input numel divided by output numel)."
        )
    return None if dim is None else dims, correction, keepdim


def _var_rule(g: A, input: A, shape: Dims, dims: Dims | None, correction: float, keepdim: bool) -> A:
    whole = dims is None or not shape
    freedom = (math.prod(shape) if dims is None else count_of(shape, dims)) - correction
    if whole and freedom <= 0:
        x = raw(input)
        return g * np.where(x == mean(x, None, True), np.nan, np.inf).astype(x.real.dtype)
    if g.__class__ is ndarray and freedom > 0 and shape and (g.dtype is F32 or g.dtype is F64):
        off = subtract(input, mean(input, dims, True))
        return multiply(off, np.asarray((2 / freedom) * restore(g, shape, dims or (), keepdim)), off)
    off = input - mean(input, dims, True)
    factor = 2 / freedom if freedom else math.inf
    return (factor * restore(g, shape, dims or (), keepdim)) * off


def _std_rule(g: A, input: A, out: A, shape: Dims, dims: Dims | None, correction: float, keepdim: bool) -> A:
    if g.__class__ is ndarray and not has_zero(out):
        return _var_rule(g / (2 * out), input, shape, dims, correction, keepdim)
    flat = raw(out) == 0  # a corner, where zero is a subgradient; the one keeps the second derivative finite there
    g = where(flat, zero_like(g), g / (2 * where(flat, np.ones((), raw(out).dtype), out)))
    return _var_rule(g, input, shape, dims, correction, keepdim)


def _called(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    """A function with the arguments of `var`, of which `compute` gets (input, dims, correction, keepdim)."""

    def call(
        input: Tensor,
        dim: DimOrDims | bool | None = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: Number | None = None,
    ) -> Tensor:
        return compute(input, *_var_arguments(name, input, dim, unbiased, keepdim, correction))

    return call


class Variance(Reduction, family=True):
    """var and std."""

    row_major = True
    options = ("dims", "correction", "keepdim")
    signatures = (
        "(input: Tensor, dim: DimOrDims | None = None, *, correction: Number = 1, keepdim: bool = False) -> Tensor",
        "(input: Tensor, dim: DimOrDims | None, unbiased: bool, keepdim: bool = False) -> Tensor",
        "(input: Tensor, unbiased: bool) -> Tensor",
    )
    holomorphic = False
    samples = staticmethod(
        lambda t: [
            *[S(t(3, 4)), S(t(5)), S(t(3, 4), 0), S(t(2, 3, 4), (0, -1), keepdim=True), S(t(3, 4), 1, False)],
            *[S(t(3, 4), unbiased=False), S(t(3, 4), 1, correction=0.5), S(t(3, 4), False), S(t(2, 3), ())],
        ]
    )

    @staticmethod
    def public(operation: Operation, body: dict[str, Any]) -> Callable[..., Any]:
        return _called(operation.name, operation.record)


@op
class var(Variance):
    """var(input, dim=None, *, correction=1, keepdim=False): the variance of all elements, or along dimensions."""

    out = CASTS
    kernel = _var

    def vjp(g: A, input: A, input_shape: A, dims: A, correction: A, keepdim: A) -> A:
        return _var_rule(g, input, input_shape, dims, correction, keepdim)


@op
class std(Variance):
    """std(input, dim=None, *, correction=1, keepdim=False): the standard deviation, the square root of `var`."""

    out = CASTS
    kernel = _std

    def vjp(g: A, input: A, out: A, input_shape: A, dims: A, correction: A, keepdim: A) -> A:
        return _std_rule(g, input, out, input_shape, dims, correction, keepdim)


class SpreadAndMean(Reduction, family=True):
    """var_mean and std_mean: one operation with two results."""

    saved_as = {"dims": "dim", "input_shape": "", "out": "result0"}
    row_major = True
    results = 2
    options = Variance.options
    method = False
    out = False
    holomorphic = False
    signatures = tuple([form.replace("-> Tensor", "-> tuple[Tensor, Tensor]") for form in Variance.signatures])
    samples = Variance.samples

    @staticmethod
    def public(operation: Operation, body: dict[str, Any]) -> Callable[..., Any]:
        return _called(operation.name, lambda *args: tuple(operation.record(*args)))


def _with_mean(g: A, spread_rule: Callable[[A], A], shape: Dims, dims: Dims | None, keepdim: bool) -> A:
    """The gradients of a spread and of the mean beside it, either of which may be missing, taken together."""
    parts = [] if g[0] is None else [spread_rule(g[0])]
    if g[1] is not None:
        parts.append(mean_rule(g[1], shape, dims, keepdim))
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


@op
class var_mean(SpreadAndMean):
    """var_mean(input, dim=None, *, correction=1, keepdim=False): variance and mean, as a pair."""

    def kernel(x: A, dims: Dims | None, correction: float, keepdim: bool) -> A:
        return _var(x, dims, correction, keepdim), mean_of(x, dims, keepdim)

    def vjp(g: A, input: A, input_shape: A, dims: A, correction: A, keepdim: A) -> A:
        rule = lambda g: _var_rule(g, input, input_shape, dims, correction, keepdim)
        return _with_mean(g, rule, input_shape, dims, keepdim)


@op
class std_mean(SpreadAndMean):
    """std_mean(input, dim=None, *, correction=1, keepdim=False): standard deviation and mean, as a pair."""

    def kernel(x: A, dims: Dims | None, correction: float, keepdim: bool) -> A:
        return _std(x, dims, correction, keepdim), mean_of(x, dims, keepdim)

    def vjp(g: A, input: A, out: A, input_shape: A, dims: A, correction: A, keepdim: A) -> A:
        rule = lambda g: _std_rule(g, input, out, input_shape, dims, correction, keepdim)
        return _with_mean(g, rule, input_shape, dims, keepdim)


# -- without nan ------------------------------------------------------------------------------------------------------


@op
class nansum(Reduction):
    """nansum(input, dim=None, keepdim=False, *, dtype=None): the sum of all elements that are not nan."""

    out = COMPUTED
    options = ("dims", "keepdim")
    refuses = {COMPLEX: (RuntimeError, "nansum on CPU does not support complex inputs")}

    def kernel(x: A, dims: Dims, keepdim: bool) -> A:
        return total(np.where(np.isnan(x), np.zeros((), x.dtype), x), dims, keepdim)

    def call(
        input: Tensor, dim: DimOrDims | None = None, keepdim: bool = False, *, dtype: Dtype | None = None
    ) -> Tensor:
        x = input.array
        if x.dtype.kind in "biu":
            return sum.function(input, dim, keepdim, dtype=dtype)
        nansum.check(from_numpy_dtype(x.dtype))
        dims = dims_of(dim, x.ndim)
        x = x if dtype is None else cast(x, dtype)
        return bind(nansum.core, (input,), (dims, keepdim), (x,))

    def vjp(g: A, input: A, input_shape: A, dims: A, keepdim: A) -> A:
        return where(np.isnan(raw(input)), zero_like(g), restore(g, input_shape, dims, keepdim))

    samples = staticmethod(lambda t: [S(t(3, 4)), S(t(3, 4), 0), S(t(2, 3, 4), (0, -1), True), S(t()), S(t(0, 3), 0)])


OF_FLOATS = Castable("\"nansum_cpu\" not implemented for '{given.alias}'")
OF_FLOATS.error = NotImplementedError


@composite(lambda t: [S(t(3, 4)), S(t(3, 4), 0), S(t(2, 3, 4), (0, -1), True), S(t())], silent=True, out=OF_FLOATS)
def nanmean(
    input: Tensor, dim: DimOrDims | None = None, keepdim: bool = False, *, dtype: Dtype | None = None
) -> Tensor:
    """nanmean(input, dim=None, keepdim=False, *, dtype=None): the mean of all elements that are not nan."""
    own = from_numpy_dtype(input.array.dtype)
    if own.category < FLOAT:
        raise RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got {own.alias}")
    summed = nansum.function(input, dim, keepdim, dtype=dtype)
    ndim = input.array.ndim
    dims = dims_of(dim, ndim)
    return summed / wrap(np.count_nonzero(~np.isnan(input.array), axis=dims, keepdims=keepdim))
