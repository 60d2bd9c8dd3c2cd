"""What all normalisations compute: numbers that share a mean and a variance get the mean 0 and the variance 1, and then
a weight and a bias. They differ in which numbers these are."""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind_result, execute
from leafgrad._core.fused import only_values, run_on_tensors
from leafgrad._core.recorder import needs_recording
from leafgrad._core.tensor import TensorBase, as_array
from leafgrad._core.thread_state import silence_numpy
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.kernels.fused import normalization as fused
from leafgrad.kernels.halves import widened
from leafgrad.kernels.moving import copied, in_rows
from leafgrad.ops.conv.layout import in_format_of
from leafgrad.ops.pointwise.elementwise import rsqrt
from leafgrad.ops.reduce.common import F32, F64, Dims, count_of, is_half, refused, total
from leafgrad.ops.reduce.reductions import sum as sum_along
from leafgrad.ops.registry import Family

A = Any  # an array, or a tensor under create_graph
FEW = 8_192  # elements that are copied in less time than a handful of ufuncs take
SOME = 65_536  # elements that one thread standardizes as fast as several would
SEVERAL_ROWS = 4  # enough for several threads


class Layout(NamedTuple):
    """How an input is looked at."""

    form: Dims  # its shape, with other dimensions
    over: Dims  # the dimensions in which numbers share a mean and a variance
    factors: Dims  # the shape of weight and bias there
    shape: Dims  # their own shape
    of_rows: bool  # is it a matrix whose rows are standardized, with a factor for each column?
    of_channels: bool  # are numbers that follow each other in memory, several at least, in a channel with one factor?


def layout_by(form: Dims, over: Dims, factors: Dims, shape: Dims) -> Layout:
    of_rows = over == (1,) and factors == (1, form[1])
    of_channels = factors[-1] == 1 and len(form) - 1 in over and form[-1] > 3
    return Layout(form, over, factors, shape, of_rows, of_channels)


class Normalization(Family, family=True):
    """Operations that standardize and then scale and shift."""

    inputs = ("input", "weight", "bias")
    options = ("layout", "eps")
    finds: Any = "statistics"  # the means, one divided by the standard deviations, and the variances
    method = False
    saved_as = {"input": "input", "layout": "", "statistics": ""}

    @staticmethod
    def kernel(x: A, weight: A, bias: A, layout: Layout, eps: float) -> tuple[A, Any]:
        if x.size and layout.of_rows:
            return of_rows(x, weight, bias, layout, eps)
        wide = in_layout(x, layout)
        if wide.size and layout.of_channels and weight is None and bias is None and is_one_call(wide.size, layout):
            out, statistics = standardized_at_once(wide, layout, eps)
        elif wide.size and layout.of_channels:
            statistics = statistics_of_channels(wide, layout, eps)
            mean, rstd, _ = statistics
            out = scaled_channels(wide, mean, rstd, weight, bias, layout)
        else:
            out, *statistics = plainly(wide, weight, bias, layout, eps)
        return in_format_of(x, as_before(out, x)), tuple(statistics)

    @staticmethod
    def vjp_all(g: A, needs: A, input: A, weight: A, layout: A, eps: A, statistics: A) -> A:
        n = count_of(layout.form, layout.over)
        if math.prod(layout.form) and (layout.of_rows or layout.of_channels):
            arguments = (g, input, weight, layout, statistics, needs)
            if not isinstance(input, TensorBase):
                return gradients_of_rows(*arguments)
            if only_values(g, input):
                return run_on_tensors(gradients_of_rows, gradients_of_rows, arguments)
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
    return widened(x) if not isinstance(x, TensorBase) and is_half(x.dtype) else x


def as_rows(x: Any, layout: Layout) -> Any:
    """An array whose last dimension is a row. It is the input itself if that fits: a result of a kernel for it is then
    no view, and can become a gradient without a copy."""
    if x.shape[-1] != layout.form[1]:
        x = x.reshape(layout.form)
    kind = x.dtype
    return x if kind is F32 or kind is F64 or not is_half(kind) else x.astype(F32)


def as_before(out: Any, x: Any) -> Any:
    """A result in shape and dtype of an input."""
    if out.shape != x.shape:
        out = out.reshape(x.shape)
    return out if out.dtype == x.dtype else out.astype(x.dtype)


def of_rows(x: Any, weight: Any, bias: Any, layout: Layout, eps: float) -> tuple[Any, Any]:
    """The result and the statistics where rows are contiguous."""
    rows = as_rows(x, layout)
    if weight is None and bias is None:
        found = fused.standardized(rows, eps)
    else:
        columns = layout.form[1]
        ones = np.ones(columns, rows.dtype) if weight is None else weight.reshape(-1)
        zeros = np.zeros(columns, rows.dtype) if bias is None else bias.reshape(-1)
        found = fused.layer_norm(rows, ones, zeros, eps)
    return in_rows(found[0]) if rows is x else in_rows(as_before(found[0], x)), found[1:]


def plainly(x: A, weight: A, bias: A, layout: Layout, eps: float) -> tuple[A, ...]:
    """The result and the statistics, for any layout."""
    n = count_of(layout.form, layout.over)
    mean = total(x, layout.over, True) / n
    out = x - mean
    variance = total(out * out, layout.over, True) / n
    rstd = 1 / np.sqrt(variance + eps)
    out *= rstd
    return scaled(out, weight, bias, layout), mean, rstd, variance


def for_rows(each: Any, layout: Layout, kind: Any) -> Any:
    """A number for each row of the layout, that is for all its dimensions but the last."""
    rows = np.empty(layout.form[:-1] + (1,), kind)
    rows[...] = each
    return rows


def scaled_channels(x: Any, mean: Any, rstd: Any, weight: Any, bias: Any, layout: Layout) -> Any:
    """Channels, standardized by statistics that are known, with their weight and bias."""
    factor = rstd if weight is None else rstd * weight.reshape(layout.factors)
    offset = 0 if bias is None else bias.reshape(layout.factors)
    return fused.scaled_rows(x, *[for_rows(each, layout, x.dtype) for each in (mean, factor, offset)])


class Arrangement(NamedTuple):
    """What has one mean as one row."""

    order: Dims | None  # of the dimensions, those with one mean last; None if that is how they lie
    back: Dims  # and how to undo that
    sizes: Dims  # in this order
    rows: Dims
    kept: Dims  # the shape of statistics


@functools.lru_cache(1000)
def arrangement_of(form: Dims, over: Dims) -> Arrangement:
    dims = range(len(form))
    order = tuple(sorted(dims, key=lambda dim: (dim in over, dim)))
    sizes = tuple([form[dim] for dim in order])
    rows = sizes[: len(form) - len(over)] + (-1,)
    kept = tuple([1 if dim in over else form[dim] for dim in dims])
    back = tuple([order.index(dim) for dim in dims])
    return Arrangement(None if order == tuple(dims) else order, back, sizes, rows, kept)


def is_one_call(size: int, layout: Layout) -> bool:
    """Are there few elements, or do those that are standardized together lie side by side? Then, without weights, all
    is done in one call of a kernel, in seven tenths of the time. But each row is done by one thread: a few long ones
    took a quarter longer that way."""
    together = arrangement_of(layout.form, layout.over)
    if together.order is not None:
        return size <= FEW
    return size <= SOME or math.prod(together.rows[:-1]) >= SEVERAL_ROWS


def standardized_at_once(x: Any, layout: Layout, eps: float) -> tuple[Any, list[Any]]:
    """The result and the statistics of elements without weights."""
    order, back, sizes, rows, kept = arrangement_of(layout.form, layout.over)
    out, *statistics = fused.standardized((x if order is None else copied(x.transpose(order))).reshape(rows), eps)
    if order is not None:
        out = copied(out.reshape(sizes).transpose(back))
    return out, [each.reshape(kept) for each in statistics]


def statistics_of_channels(x: Any, layout: Layout, eps: float) -> list[Any]:
    """Mean, one divided by the standard deviation, and variance."""
    order, _, _, rows, kept = arrangement_of(layout.form, layout.over)
    if order is None or x.size <= FEW:  # a copy costs less than to put together what is known of rows
        whole = (x if order is None else copied(x.transpose(order))).reshape(rows)
        return [each.reshape(kept) for each in fused.deviations(whole, eps)]
    # those of the rows, put together
    sums, squares = [each.astype(np.float64) for each in fused.moments(x)]
    rest, n = layout.over[:-1], count_of(layout.form, layout.over)
    mean = np.add.reduce(sums, rest, keepdims=True) / n
    away = sums / layout.form[-1] - mean
    variance = np.add.reduce(squares + away * away * layout.form[-1], rest, keepdims=True) / n
    return [each.astype(x.dtype) for each in (mean, 1 / np.sqrt(variance + eps), variance)]


def gradients_of_rows(
    g: Any, input: Any, weight: Any, layout: Layout, statistics: Any, needs: Any
) -> tuple[Any, Any, Any]:
    """The gradients of input, weight and bias where rows are contiguous."""
    mean, rstd, _ = statistics
    if layout.of_rows:
        g, x = as_rows(g, layout), as_rows(input, layout)
        if weight is None and not needs[2]:
            out = fused.standardized_backward(g, x, mean, rstd)
            return out if out.shape == input.shape else out.reshape(input.shape), None, None
        ones = np.ones(layout.form[1], x.dtype) if weight is None else weight.reshape(-1).astype(x.dtype, copy=False)
        gradients = fused.layer_norm_backward(g, x, ones, mean, rstd)
        shapes = (input.shape, layout.shape, layout.shape)
        fitting = [each if each.shape == shape else each.reshape(shape) for each, shape in zip(gradients, shapes)]
        return fitting[0], fitting[1] if needs[1] else None, fitting[2] if needs[2] else None
    g, x = in_layout(g, layout), in_layout(input, layout)
    rest, n = layout.over[:-1], count_of(layout.form, layout.over)
    own = for_rows(mean, layout, x.dtype)
    sums, products = [each.astype(np.float64) for each in fused.products_with_distance(g, x, own)]
    of_input = None
    if needs[0]:
        factor = np.ones((), x.dtype) if weight is None else weight.reshape(layout.factors)
        sum_of_g = np.add.reduce(sums * factor, rest, keepdims=True)
        sum_of_products = np.add.reduce(products * factor, rest, keepdims=True)
        parts = (rstd * factor, sum_of_products * rstd**3 / -n, sum_of_g * rstd / -n)
        of_input = fused.scaled_rows_backward(g, x, own, *[for_rows(each, layout, x.dtype) for each in parts])
        of_input = of_input.reshape(input.shape)
    return of_input, *factors_of_rows(sums, products * rstd, needs, layout, x.dtype)


def gradients_by_known(
    g: Any, x: Any, weight: Any, mean: Any, variance: Any, eps: float, needs: Any, layout: Layout
) -> Any:
    """The gradients of input, weight and bias where channels are standardized by statistics that are known."""
    mean, rstd, shape = mean.reshape(layout.factors), reciprocal_deviation(variance, eps, layout), x.shape
    g, x = in_layout(g, layout), in_layout(x, layout)
    of_input = scaled_channels(g, 0, rstd, weight, None, layout).reshape(shape) if needs[0] else None
    if not (needs[1] or needs[2]):
        return of_input, None, None
    own = for_rows(mean, layout, x.dtype)
    sums, products = [each.astype(np.float64) for each in fused.products_with_distance(g, x, own)]
    return of_input, *factors_of_rows(sums, products * rstd, needs, layout, x.dtype)


def reciprocal_deviation(variance: Any, eps: float, layout: Layout) -> Any:
    return 1 / np.sqrt(variance.reshape(layout.factors) + eps)


def factors_of_rows(sums: Any, products: Any, needs: Any, layout: Layout, kind: Any) -> tuple[Any, Any]:
    """The gradients of weight and bias, of what each row adds to them."""
    dims = tuple([dim for dim, size in enumerate(layout.factors) if size == 1])
    of_weight = np.add.reduce(products, dims).reshape(layout.shape).astype(kind) if needs[1] else None
    of_bias = np.add.reduce(sums, dims).reshape(layout.shape).astype(kind) if needs[2] else None
    return of_weight, of_bias


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
    if kind is F32 or kind is F64:
        for each in parameters:
            if each is not None and each.array.dtype is not kind:
                break
        else:
            return
    given = [p.array.dtype for p in parameters if p is not None]
    if not given or given[0] == kind:
        if kind.kind in "biuc":
            raise refused(kernel, input)
        for each in given:
            if each != kind:
                wanted, found = [from_numpy_dtype(which).alias for which in (kind, each)]
                raise errors.mistake(RuntimeError, f"expected scalar type {wanted} but found {found}")
        return
    single = all([each == F32 for each in given])
    if not single or not is_half(kind):
        dtypes = [str(from_numpy_dtype(each)) for each in (kind, *given)]
        rows = ("dtypes", f"{dtypes[0]}, and of parameters {', '.join(dtypes[1:])}")
        why = "all inputs must share same datatype." if single else "expect parameter to have scalar type of Float"
        raise errors.mistake(RuntimeError, f"mixed dtype (CPU): {why}", rows)
