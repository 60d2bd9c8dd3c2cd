"""Reductions: sums, means, counts; along dimensions or of everything.

The others are in products.py, extremes.py (max, min, ...), statistics.py (var, std), norms.py and softmax.py
(logsumexp).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.tensor import links
from leafgrad._dtypes import BOOL, FLOAT, from_numpy_dtype, int64
from leafgrad._dtypes import dtype as Dtype
from leafgrad.kernels import native_reduction, native_search
from leafgrad.ops.dimensions import shape_arguments
from leafgrad.ops.out import COMPUTED, Castable
from leafgrad.ops.promotion import cast, sum_dtype
from leafgrad.ops.reduce.common import (
    F32,
    F64,
    Dims,
    Reduction,
    Total,
    count_of,
    dims_of,
    empty,
    expand_gradient,
    is_half,
    named_dims,
    one_dim,
    refuse_integers,
    restore,
    total,
    wide_total,
)
from leafgrad.ops.registry import Operation, composite, op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Dim, DimOrDims, Sizes, Tensor

A = Any  # an array, or a tensor under create_graph

add_accumulate: Any = np.add.accumulate
WIDER = {F32: F64, np.dtype(np.complex64): np.dtype(np.complex128)}  # what running sums are added in, as in PyTorch

# -- sum --------------------------------------------------------------------------------------------------------------


@op
class sum(Total):
    """sum(input, dim=None, keepdim=False, *, dtype=None): the sum of all elements, or along dimensions."""

    out = COMPUTED
    node_name = "SumBackward1"
    node_names = ("SumBackward0",)  # of all elements
    hides = {"SumBackward0": ("dims", "keepdim")}
    kernel = total
    dtype_of = lambda x, dtype: dtype or int64

    def vjp(g: A, input_shape: A, dims: A = None, keepdim: A = False) -> A:
        return expand_gradient(restore(g, input_shape, dims, keepdim), input_shape)

    samples = staticmethod(
        lambda t: [
            *[S(t(*shape)) for shape in [(3, 4), (5,), (), (2, 0, 3)]],
            S(t(3, 4), 0),
            S(t(2, 3, 4), (0, -1), keepdim=True),
            S(t(2, 3), ()),
            S(t(), 0),
            S(t(0, 3), 0),
            S(t(2, 0), dim=1, keepdim=True),
        ]
    )


links.sum_dim = sum.core


@composite(lambda t: [S(t(3, 4), 3, 1), S(t(2, 3, 4), (4,)), S(t(2, 3), (2, 3)), S(t(2, 3), ())], method_only=True)
def sum_to_size(input: Tensor, *size: Sizes) -> Tensor:
    """sum_to_size(input, *size): summed over the dimensions in which `size` is 1 or missing: broadcasting undone."""
    target, own = shape_arguments(size, "sum_to_size", "size"), input.array.shape
    extra = len(own) - len(target)
    if extra < 0 or not all_fit(target, own[extra:]):
        raise RuntimeError(f"size {{{errors.size(target)}}} is not expandable to size {{{errors.size(own)}}}.")
    if not target:
        return sum.function(input)
    if target == own:
        return input
    dims = (*range(extra), *[extra + i for i, s in enumerate(target) if s == 1 and own[extra + i] != 1])
    summed: Any = sum.function(input, dims, True)
    return summed.view(target) if extra else summed


def all_fit(target: Dims, own: Dims) -> bool:
    return not [1 for have, want in zip(own, target, strict=True) if want not in (1, have)]


# -- mean -------------------------------------------------------------------------------------------------------------


@native_reduction("mean")
def mean_of(x: Any, dims: Dims | None = None, keepdim: bool = False) -> Any:
    n = x.size if dims is None else count_of(x.shape, dims)
    kind = x.dtype
    if kind is not F32 and kind is not F64 and is_half(kind):
        return np.asarray(wide_total(x, dims, keepdim) / n, kind)
    return total(x, dims, keepdim) / n


def mean_rule(g: A, shape: Dims, dims: Dims | None, keepdim: bool) -> A:
    n = math.prod(shape) if dims is None else count_of(shape, dims)
    return expand_gradient(restore(g, shape, dims or (), keepdim) / n, shape)


def _dtype_of_mean(x: Any, wanted: Dtype | None) -> Dtype:
    kind = wanted or from_numpy_dtype(x.dtype)
    if kind.category < FLOAT:
        raise RuntimeError(
            f"mean(): could not infer output dtype. {'Optional' if wanted else 'Input'} dtype must be either a "
            f"floating point or complex dtype. Got: {kind.alias}\n  at {errors.here()}\n"
            "  fix: convert first, x.float().mean(), or name the dtype, x.mean(dtype=torch.float32)"
        )
    return kind


@op
class mean(Total):
    """mean(input, dim=None, keepdim=False, *, dtype=None): the mean of all elements, or along dimensions."""

    out = Castable("mean.dtype_out(): input types can't be cast to the desired output type {given.alias}")
    shows = {"self_sym_numel": ...}
    node_name = "MeanBackward1"
    node_names = ("MeanBackward0",)  # of all elements
    hides = {"MeanBackward0": ("dims", "keepdim")}
    kernel = mean_of
    dtype_of = _dtype_of_mean

    def vjp(g: A, input_shape: A, dims: A = None, keepdim: A = False) -> A:
        return mean_rule(g, input_shape, dims, keepdim)

    samples = staticmethod(
        lambda t: [
            *[S(t(*shape)) for shape in [(3, 4), (5,), ()]],
            S(t(3, 4), 0),
            S(t(2, 3, 4), (0, -1), keepdim=True),
            S(t(2, 3), ()),
            S(t(), 0),
            S(t(0, 3), 1),
        ]
    )


# -- cumsum -----------------------------------------------------------------------------------------------------------


@native_search("running_sum")
def _running_sum(x: Any, dim: int, reverse: bool) -> Any:
    """Sums begin with zero, so that none is -0.0."""
    if x.ndim == 0:
        return x.copy()
    kind = x.dtype
    if dim == x.ndim - 1 and (kind is F32 or kind is F64) and x.flags.c_contiguous:  # the usual case at once
        sums = add_accumulate(x[..., ::-1] if reverse else x, dim, F64)
        sums += 0.0
        return sums[..., ::-1].astype(kind, "C") if reverse else sums.astype(kind, copy=False)
    kind = F32 if is_half(kind) else WIDER.get(kind, kind)
    out = empty(x.shape, kind)
    source, target = np.moveaxis(x, dim, 0), np.moveaxis(out, dim, 0)
    if reverse:
        source, target = source[::-1], target[::-1]
    if dim < x.ndim - 1 and x.size > 64 * len(source):  # NumPy would go along memory that is far apart
        target[0] = source[0]
        for i in range(1, len(source)):
            np.add(target[i - 1], source[i], target[i], dtype=kind)
    else:
        np.cumsum(source, 0, kind, target)
    if kind.kind in "fc":
        out += 0
    return out.astype(x.dtype, copy=False)


@op
class cumsum(Reduction):
    """cumsum(input, dim, *, dtype=None): the sum up to and including each element along a dimension."""

    out = COMPUTED
    saved_as = {"reverse": ""}
    options = ("dim", "reverse")
    refuses = (BOOL,)
    kernel_name = "cumsum_out_cpu"
    jvp = "linear"
    in_place = True
    in_place_function = False

    kernel = _running_sum

    def call(input: Tensor, dim: Dim, *, dtype: Dtype | None = None) -> Tensor:
        x = input.array
        if dtype is None and (x.dtype is F32 or x.dtype is F64):
            return bind(cumsum.core, (input,), (one_dim(dim, x.ndim), False))
        x = cast(x, dtype or sum_dtype(from_numpy_dtype(x.dtype)))
        place = one_dim(dim, x.ndim)
        cumsum.check(from_numpy_dtype(x.dtype))
        refuse_integers(input, x)
        return bind(cumsum.core, (input,), (place, False), (x,))

    def vjp(g: A, dim: A, reverse: A) -> A:
        return cumsum(g, dim, not reverse)  # each element counts in its own sum and all later ones

    samples = staticmethod(lambda t: [S(t(3, 4), 0), S(t(2, 3, 4), -2), S(t(), 0), S(t(0, 3), 0)])


# -- yes or no --------------------------------------------------------------------------------------------------------


def _truth(name: str, reduce: Any, find: Any) -> Callable[..., Any]:
    @native_reduction(name)
    def kernel(x: Any, dims: Dims, keepdim: bool) -> Any:
        if x.dtype.kind == "b" and not keepdim and len(dims) == x.ndim and x.size:
            return x.take(find(x))  # the first that decides; a quarter of the time of a reduction of few elements
        out = reduce(x, dims, np.bool_, None, keepdim)
        return np.asarray(out, np.uint8) if x.dtype == np.uint8 else out

    return kernel  # type: ignore[no-any-return]


class Truth(Reduction, family=True):
    """all and any: bool, but uint8 for uint8, which was PyTorch's bool once."""

    row_major = True
    options = ("dims", "keepdim")
    differentiable = False
    samples = staticmethod(
        lambda t: [S(t(3, 4)), S(t(3, 4), 0), S(t(2, 3, 4), (0, -1), True), S(t(3, dtype="bool")), S(t(0)), S(t())]
    )

    @staticmethod
    def public(operation: Operation, body: dict[str, Any]) -> Callable[..., Any]:
        def call(input: Tensor, dim: DimOrDims | None = None, keepdim: bool = False) -> Tensor:
            return operation.record(input, named_dims(dim, input.array.ndim), keepdim)

        return call


@op
class all(Truth):
    """all(input, dim=None, keepdim=False): are all elements nonzero, in the tensor or along dimensions?"""

    out = "all only supports bool tensor for result, got: {given.alias}"
    kernel = _truth("all", np.logical_and.reduce, np.ndarray.argmin)


@op
class any(Truth):
    """any(input, dim=None, keepdim=False): is any element nonzero, in the tensor or along dimensions?"""

    out = "any only supports bool tensor for result, got: {given.alias}"
    kernel = _truth("any", np.logical_or.reduce, np.ndarray.argmax)


@native_reduction("count_nonzero")
def _count_nonzero(x: Any, dims: Dims) -> Any:
    return np.count_nonzero(x, axis=dims) if x.ndim else np.asarray(x != 0, np.int64)


@op
class count_nonzero(Reduction):
    """count_nonzero(input, dim=None): how many elements are not zero, in the tensor or along dimensions."""

    row_major = True
    options = ("dims",)
    out = False
    differentiable = False
    samples = staticmethod(lambda t: [S(t(3, 4)), S(t(3, 4), 0), S(t(2, 3, 4), (0, -1)), S(t(0, 3), 0), S(t())])

    kernel = _count_nonzero

    def call(input: Tensor, dim: DimOrDims | None = None) -> Tensor:
        ndim = input.array.ndim
        return count_nonzero.record(input, dims_of(dim, ndim))
