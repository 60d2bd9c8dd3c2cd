"""Elements counted and placed by intervals: histogram, histc, bincount, searchsorted, bucketize."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.tensor import TensorBase, is_batched
from leafgrad._dtypes import BOOL, COMPLEX, FLOAT, INTEGER, dtype, float32, float64, from_numpy_dtype
from leafgrad.kernels.moving import in_rows, native_move
from leafgrad.ops.arguments import matched
from leafgrad.ops.creation.ranges import spaced
from leafgrad.ops.promotion import as_tensor_operand, cast, common_dtype
from leafgrad.ops.registry import Family, composite, op
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.signature import Number, Tensor

A = Any  # an array, or a tensor under create_graph


def not_implemented(kernel: str, kind: dtype) -> Exception:
    return errors.mistake(NotImplementedError, f"\"{kernel}\" not implemented for '{kind.alias}'")


HISTOGRAM_OUT = (
    "torch.histogram: input tensor and hist tensor should have the same dtype, but got input {wanted.cpp} and hist "
    "{given.cpp}"
)

NO_ENDS = "bins tensor should have at least 1 element, but got 0 elements in the bins tensor for dimension {}"


# -- histograms -------------------------------------------------------------------------------------------------------


def outer_edges(x: A, ends: Any, margin: float, what: str) -> tuple[float, float]:
    """The ends of the first and the last interval: those asked for, or the smallest and the largest element. Where they
    are the same, there is a margin on both sides."""
    low, high = ends or ((float(x.min()), float(x.max())) if x.size else (0.0, 1.0))
    if not (math.isfinite(low) and math.isfinite(high)):
        raise errors.mistake(RuntimeError, f"torch.{what} [{low:g}, {high:g}] is not finite")
    return (low - margin, high + margin) if low == high else (low, high)


@op
class histogram(Family):
    """histogram(input, bins, *, range=None, weight=None, density=False): how many elements (or how much weight) lie in
    each interval, and the ends of the intervals: `bins` are those ends, or how many of equal length there are."""

    inputs = ("input", "bins", "weight")
    options = ("count", "ends", "density")
    results = 2
    result_names = ("hist", "bin_edges")
    node_name = "NotImplemented"
    out = HISTOGRAM_OUT
    signatures = (
        "(input: Tensor, bins: int = 100, *, range: Sequence[float] | None = None, weight: Tensor | None = None, "
        "density: bool = False) -> return_types.histogram",
        "(input: Tensor, bins: Tensor, *, weight: Tensor | None = None, "
        "density: bool = False) -> return_types.histogram",
    )

    def kernel(x: A, bins: A, weight: A, count: Any, ends: Any, density: bool) -> Any:
        x = x.reshape(-1)
        if bins is None:
            low, high = outer_edges(x, ends, 0.5, "histogramdd: dimension 0's range")
            edges = spaced(low, high, count + 1, from_numpy_dtype(x.dtype))
        else:
            edges = bins.copy()
        place: Any = np.searchsorted(edges, x, "right") - 1
        place[x == edges[-1]] = len(edges) - 2
        inside = (x >= edges[0]) & (x <= edges[-1])
        weights = None if weight is None else weight.reshape(-1)[inside]
        hist = np.bincount(place[inside], weights, len(edges) - 1).astype(x.dtype)
        return (hist / (np.diff(edges) * hist.sum()) if density else hist), edges

    def vmap(batch: A, *args: Any) -> A:
        return batch.by_sample()

    def call(
        input: Tensor,
        bins: Tensor | int = 100,
        *,
        range: Any = None,
        weight: Tensor | None = None,
        density: bool = False,
    ) -> Any:
        kind = from_numpy_dtype(input.array.dtype)
        check_histogram(input.array, kind, bins, range, weight)
        if isinstance(bins, TensorBase):
            if range is not None:
                matched(histogram.function, (bins,), {"range": range})  # which raises
            return histogram.result_of(histogram.record(input, bins, weight, None, None, density))
        if range is not None and range[0] > range[1]:
            words = f"but got min {range[0]:g} max {range[1]:g} for dimension 0"
            raise errors.mistake(RuntimeError, f"torch.histogramdd: min should not exceed max, {words}")
        return histogram.result_of(histogram.record(input, None, weight, bins, range, density))

    def vjp_input(g: A) -> A:
        raise errors.mistake(RuntimeError, "derivative for aten::histogram is not implemented")

    vjp_weight = vjp_input
    samples = ValuesOnly(
        "PyTorch refuses to differentiate it, and it takes floats only",
        lambda t: [
            S(t(3, 4, dtype="int64", high=9), 3),
            S(t(9, dtype="int64", high=9), 4, range=(1.0, 7.0), density=True),
            S(t(5, dtype="int64", high=9), 2, weight=t(5, dtype="int64", high=9)),
        ],
        lambda torch, x, *args, weight=None, **options: torch.histogram(
            x.to(torch.float32), *args, weight=None if weight is None else weight.to(torch.float32), **options
        ),
    )


def check_histogram(x: A, kind: dtype, bins: Any, ends: Any, weight: Any) -> None:
    if isinstance(bins, TensorBase):
        own = from_numpy_dtype(bins.array.dtype)
        if own is not kind:
            raise errors.mistake(
                RuntimeError,
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype "
                f"{kind.cpp} and bins for dimension 0 with dtype {own.cpp}",
            )
        if bins.array.ndim != 1:
            raise errors.mistake(
                RuntimeError,
                f"torch.histogramdd: bins tensor should have one dimension, but got {bins.array.ndim} dimensions in "
                "the bins tensor for dimension 0",
            )
        if not bins.array.size:
            raise errors.mistake(RuntimeError, f"torch.histogramdd: {NO_ENDS.format(0)}")
    count = bins.array.size - 1 if isinstance(bins, TensorBase) else bins
    if count <= 0:
        raise errors.mistake(RuntimeError, f"torch.histogram(): bins must be > 0, but got {count} for dimension 0")
    if weight is not None:
        other = from_numpy_dtype(weight.array.dtype)
        if other is not kind:
            raise errors.mistake(
                RuntimeError,
                "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same "
                f"dtype, but got input({kind.cpp}), and weight({other.cpp})",
            )
        if weight.array.shape != x.shape:
            raise errors.mistake(
                RuntimeError,
                "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor "
                f"excluding its innermost dimension, but got input with shape [{x.size}, 1] and weight with shape "
                f"{errors.size(weight.array.shape)}",
            )
    if ends is not None and len(ends) != 2:
        raise errors.mistake(
            RuntimeError,
            f"torch.histogramdd: for a 1-dimensional histogram range should have 2 elements, but got {len(ends)}",
        )
    if kind not in (float32, float64):
        raise not_implemented("histogramdd", kind)


@op
class histc(Family):
    """histc(input, bins=100, min=0, max=0): how many elements lie in each of some intervals of equal length between min
    and max; if these are the same, between the smallest and the largest element."""

    options = ("bins", "ends")
    differentiable = False
    out = HISTOGRAM_OUT

    def kernel(x: A, bins: int, ends: Any) -> A:
        low, high = outer_edges(x, ends, 1, "histc: range of")
        x = x.reshape(-1)
        if ends is not None:  # otherwise all of them are inside
            x = x[(x >= low) & (x <= high)]
        place = ((x - x.dtype.type(low)) * x.dtype.type(bins) / x.dtype.type(high - low)).astype(np.int64)
        return np.bincount(np.minimum(place, bins - 1), None, bins).astype(x.dtype)

    def vmap(batch: A, x: A, bins: int, ends: Any) -> A:
        return batch.by_sample()

    def call(input: Tensor, bins: int = 100, min: Number = 0, max: Number = 0) -> Tensor:
        kind = from_numpy_dtype(input.array.dtype)
        if bins <= 0:
            raise errors.mistake(RuntimeError, f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
        ends: Any = None if min == max and input.array.size else (min, max)
        if kind.is_complex and ends is None:
            raise not_implemented("aminmax_cpu", kind)
        if ends is not None:
            outer_edges(input.array, ends, 1, "histc: range of")
            if min > max:  # type: ignore[operator]
                raise errors.mistake(RuntimeError, "torch.histc: max must be larger than min")
        if kind.category != FLOAT:
            raise not_implemented("histogram_cpu", kind)
        return histc.record(input.array, bins, ends)

    samples = lambda t: [S(t(3, 4), 3, -1, 1), S(t(20), bins=4), S(t(0), 2)]


COUNTABLE = "bincount only supports 1-d non-negative integral inputs."


@native_move("occurrences")
def occurrences(x: A, minlength: int) -> A:
    """How often each of the numbers 0, 1, ... occurs in a vector."""
    return summed(x, None, minlength)


def summed(x: A, weights: A, minlength: int) -> A:
    try:
        return np.bincount(x, weights, minlength)
    except ValueError:  # there are negative numbers
        raise errors.mistake(RuntimeError, COUNTABLE) from None


@op
class bincount(Family):
    """bincount(input, weights=None, minlength=0): how often each of the numbers 0, 1, ... occurs among non-negative
    integers, or the sum of the weights there."""

    inputs = ("input", "weights")
    options = ("minlength",)
    node_name = "NotImplemented"
    exempt = {"vmap": "dynamic shape"}

    def kernel(x: A, weights: A, minlength: int) -> A:
        if weights is None:
            return occurrences(x, minlength)
        return summed(x, cast(weights, float64), minlength).astype(np.float32 if weights.dtype == np.float32 else float)

    meta = "refused"

    def vmap(batch: A, x: A, weights: A, minlength: int) -> A:
        raise batch.dynamic_shape()

    def call(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
        x, kind = input.array, from_numpy_dtype(input.array.dtype)
        if kind.category != INTEGER:
            raise not_implemented("bincount_cpu", kind)
        if minlength < 0:
            raise errors.mistake(RuntimeError, "minlength should be >= 0")
        if x.ndim != 1:
            raise errors.mistake(RuntimeError, COUNTABLE)
        if weights is not None and weights.array.shape != x.shape:
            raise errors.mistake(RuntimeError, "weights should be 1-d and have the same length as input")
        return bincount.record(input, weights if x.size else None, minlength)

    def vjp_weights(g: A) -> A:
        raise errors.mistake(RuntimeError, "derivative for aten::bincount is not implemented")

    samples = lambda t: [
        S(t(6, dtype="int64", low=0, high=4)),
        S(t(6, dtype="int64", low=0, high=4), t(6, dtype="int64"), 5),
        S(t(0, dtype="int64"), minlength=2),
    ]


# -- places in an order -----------------------------------------------------------------------------------------------

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)


@native_move("places")
def bisected(sequence: A, x: A, right: bool, kind: Any) -> A:
    """How many elements of a sequence come before each of x; with `right`, those that are equal too. What is left of
    the sequence is halved where PyTorch halves it, which decides if it is in no order or has nan in it."""
    size = sequence.shape[-1]
    start = np.zeros(x.shape, np.int64)
    left = np.full(x.shape, size)
    for _ in range(size.bit_length()):
        half = left >> 1
        middle = np.minimum(start + half, size - 1)
        other = sequence[middle] if sequence.ndim == 1 else np.take_along_axis(sequence, middle, -1)
        behind = (left > 0) & ~(other > x if right else other >= x)
        start, left = np.where(behind, middle + 1, start), np.where(behind, left - half - 1, half)
    return start.astype(kind)


@op
class places(Family):
    """places(sorted_sequence, input, sorter, right, out_int32): where elements would have to be inserted into a
    sequence that is in order, or that `sorter` puts in order, to keep it in order."""

    inputs = ("sorted_sequence", "input", "sorter")
    options = ("right", "out_int32")
    public_name = ""
    differentiable = False
    reference = lambda torch, sequence, input, sorter, right, out_int32: torch.searchsorted(
        sequence, input, sorter=sorter, right=right, out_int32=out_int32
    )
    aten = "searchsorted"

    def kernel(sequence: A, x: A, sorter: A, right: bool, out_int32: bool) -> A:
        if sorter is not None:
            sequence = np.take_along_axis(sequence, sorter, -1)
        if sequence.dtype.itemsize == 2 and sequence.dtype.kind != "i":  # half precision: compared as float32
            sequence, x = sequence.astype(np.float32), x.astype(np.float32)
        return bisected(in_rows(sequence), in_rows(x), right, INT32 if out_int32 else INT64)

    def vmap(batch: A, *args: Any) -> A:
        return batch.by_sample()

    samples = lambda t: [S(t(4), t(3, 2), None, False, False)]


PLACES_OUT = (
    "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on "
    "whether out_int32 flag is True, but we got output tensor's dtype {given.alias}"
)


def found_places(sequence: Any, input: Any, sorter: Any, right: bool, out_int32: bool) -> Any:
    values = as_tensor_operand(input, sequence)
    own, other = sequence.array, values.array
    check_places(own, other, sorter)
    arrays = [own, other]
    if own.dtype is not other.dtype or own.dtype.char not in "fd":
        kind = common_dtype(sequence, input)
        if kind.category in (BOOL, COMPLEX):
            raise not_implemented("searchsorted_out_cpu", kind)
        arrays = [cast(array, kind) for array in arrays]
    if sorter is None and own.__class__ is np.ndarray is other.__class__:
        if own.flags.c_contiguous and other.flags.c_contiguous:  # nothing to warn of
            return bind(places.core, (None, None, None), (right, out_int32), (*arrays, None))
    for what, t in (("boundary", sequence), ("input value", values), ("sorter", sorter)):
        if t is not None and not is_batched(t.array) and not t.array.flags.c_contiguous:
            errors.warn_once(
                f"torch.searchsorted(): {what} tensor is non-contiguous, this will lower the performance due to extra "
                f"data copy when converting non-contiguous tensor to contiguous, please use contiguous {what} tensor "
                "if possible. This message will only appear once per program."
            )
    return places.record(*arrays, sorter, right, out_int32)


def check_places(sequence: A, values: A, sorter: Any) -> None:
    name = "torch.searchsorted():"
    if sequence.ndim == 0:
        first = f"{name} boundaries tensor should have positive dimension, but got 0 dimension"
        raise errors.mistake(RuntimeError, first)
    if values.ndim == 0 and sequence.ndim != 1:
        raise errors.mistake(
            RuntimeError,
            f"{name} input value can be a scalar only when boundaries tensor dimension is 1, but we got boundaries "
            f"tensor dim({sequence.ndim}) and input value's dim(0) numel(1)",
        )
    if sequence.ndim != 1 and sequence.shape[:-1] != values.shape[:-1]:
        raise errors.mistake(
            RuntimeError,
            f"{name} boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and "
            f"input value tensor must match, but we got boundaries tensor {errors.size(sequence.shape)} and input "
            f"value tensor {errors.size(values.shape)}",
        )
    if sorter is None:
        return
    order = sorter.array
    if order.shape != sequence.shape:
        raise errors.mistake(
            RuntimeError,
            f"{name} boundary and sorter must have the same size, but got boundary tensor "
            f"{errors.size(sequence.shape)}and got sorter tensor {errors.size(order.shape)}",
        )
    if order.dtype != np.int64:
        alias = from_numpy_dtype(order.dtype).alias
        raise errors.mistake(RuntimeError, f"{name} sorter must be a tensor of long dtype but got dtype {alias}")
    if order.size and not (order.min() >= 0 and order.max() < sequence.shape[-1]):
        raise errors.mistake(RuntimeError, f"{name} sorter index out of range")


@composite(
    lambda t: [
        S(t(4), t(3, 2)),
        S(t(2, 4), t(2, 3), right=True),
        S(t(4), 0.5, side="right", out_int32=True),
    ],
    method=False,
    differentiable=False,
    out=PLACES_OUT,
)
def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor | Number,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None): where elements
    would have to be inserted into a sequence to keep it in order; with right=True behind those that are equal."""
    if side not in (None, "left", "right"):
        first = f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}"
        raise errors.mistake(RuntimeError, first)
    if side == "left" and right:
        first = "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        raise errors.mistake(RuntimeError, first)
    return found_places(sorted_sequence, input, sorter, right or side == "right", out_int32)


@composite(
    lambda t: [S(t(3, 2), t(4)), S(0.5, t(4), out_int32=True, right=True)],
    method=False,
    differentiable=False,
    out=PLACES_OUT,
)
def bucketize(input: Tensor | Number, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """bucketize(input, boundaries, *, out_int32=False, right=False): the number of the interval in which each element
    lies, between boundaries in order; with right=True an element on a boundary is in the interval behind it."""
    if boundaries.array.ndim != 1:
        first = f"boundaries tensor must be 1 dimension, but got dim({boundaries.array.ndim})"
        raise errors.mistake(RuntimeError, first)
    return found_places(boundaries, input, None, right, out_int32)
