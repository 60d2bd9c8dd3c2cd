"""What all normalisations compute: numbers that share a mean and a variance get the mean 0 and the variance 1, and then
a weight and a bias. They differ in which numbers these are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind_result, execute
from leafgrad._core.recorder import needs_recording
from leafgrad._core.tensor import TensorBase, as_array
from leafgrad._core.thread_state import silence_numpy
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.ops.pointwise.elementwise import rsqrt
from leafgrad.ops.reduce.common import F32, Dims, count_of, is_half, refused, total
from leafgrad.ops.reduce.reductions import sum as sum_along
from leafgrad.ops.registry import Family

A = Any  # an array, or a tensor under create_graph


class Layout(NamedTuple):
    """How an input is looked at."""

    form: Dims  # its shape, with other dimensions
    over: Dims  # the dimensions in which numbers share a mean and a variance
    factors: Dims  # the shape of weight and bias there
    shape: Dims  # their own shape


class Normalization(Family, family=True):
    """Operations that standardize and then scale and shift."""

    inputs = ("input", "weight", "bias")
    options = ("layout", "eps")
    finds: Any = "statistics"  # the means, one divided by the standard deviations, and the variances
    method = False
    row_major = True
    saved_as = {"input": "input", "layout": "", "statistics": ""}

    @staticmethod
    def kernel(x: A, weight: A, bias: A, layout: Layout, eps: float) -> tuple[A, Any]:
        wide = in_layout(x, layout)
        n = count_of(layout.form, layout.over)
        mean = total(wide, layout.over, True) / n
        out = wide - mean
        variance = total(out * out, layout.over, True) / n
        rstd = 1 / np.sqrt(variance + eps)
        out *= rstd
        return scaled(out, weight, bias, layout).reshape(x.shape).astype(x.dtype, copy=False), (mean, rstd, variance)

    @staticmethod
    def vjp_all(g: A, needs: A, input: A, weight: A, layout: A, eps: A, statistics: A) -> A:
        n = count_of(layout.form, layout.over)
        x = in_layout(input, layout)
        if isinstance(input, TensorBase):  # then they depend on the input
            mean = sum_along(x, layout.over, True) / n
            off = x - mean
            rstd = rsqrt(sum_along(off * off, layout.over, True) / n + eps)
        else:
            mean, rstd, _ = statistics
            off = x - mean
        standard = off * rstd
        g = in_layout(g, layout)
        of_input = None
        if needs[0]:
            own = g if weight is None else g * weight.reshape(layout.factors)
            rest = sum_along(own, layout.over, True) + standard * sum_along(own * standard, layout.over, True)
            of_input = ((own - rest / n) * rstd).reshape(input.shape)
        return of_input, *gradients_of_factors(g, standard, needs, layout)


def in_layout(x: A, layout: Layout) -> A:
    """An input, or a gradient, in the form of the layout; half precision numbers as single ones."""
    x = x.reshape(layout.form)
    return x.astype(F32) if not isinstance(x, TensorBase) and is_half(x.dtype) else x


def scaled(standard: Any, weight: Any, bias: Any, layout: Layout) -> Any:
    """Standardized numbers, whose memory may be overwritten, with their weight and bias."""
    if weight is not None:
        standard = standard * weight.reshape(layout.factors)
    if bias is not None:
        standard = standard + bias.reshape(layout.factors)
    return standard


def gradients_of_factors(g: A, standard: A, needs: A, layout: Layout) -> tuple[A, A]:
    """The gradients of weight and bias."""
    dims = tuple([dim for dim, size in enumerate(layout.factors) if size == 1])
    of_weight = sum_along(g * standard, dims, False).reshape(layout.shape) if needs[1] else None
    of_bias = sum_along(g, dims, False).reshape(layout.shape) if needs[2] else None
    return of_weight, of_bias


def standardize(operation: Any, tensors: tuple[Any, ...], layout: Layout, eps: float) -> tuple[Any, Any]:
    """The result of a normalisation whose arguments fit together, and its statistics."""
    silence_numpy()
    recording = needs_recording(tensors)
    arrays = [None if t is None else t.array for t in tensors]
    out, found = execute(operation.core, arrays, (layout, eps))
    return bind_result(operation.core, tensors, (layout, eps, found), arrays, as_array(out), recording), found


def check_dtypes(input: TensorBase, kernel: str, *parameters: TensorBase | None) -> None:
    """Inputs are floats; parameters have the same dtype, or are single where the input is half."""
    kind = input.array.dtype
    if kind.kind in "biuc":
        raise refused(kernel, input)
    given = [p.array.dtype for p in parameters if p is not None]
    if not all([each == kind for each in given]) and not (is_half(kind) and all([each == F32 for each in given])):
        dtypes = [str(from_numpy_dtype(each)) for each in (kind, *given)]
        rows = ("dtypes", f"{dtypes[0]}, and of weight and bias {', '.join(dtypes[1:])}")
        raise errors.mistake(RuntimeError, "mixed dtype (CPU): expect parameter to have scalar type of Float", rows)
