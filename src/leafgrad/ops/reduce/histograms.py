"""histogramdd: how many points, or how much weight, lie in each of the boxes of a grid."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad import errors, return_types
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._dtypes import float32, float64, from_numpy_dtype
from leafgrad.ops.creation.ranges import spaced
from leafgrad.ops.reduce.binning import NO_ENDS, not_implemented, outer_edges
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.signature import Tensor
from leafgrad.return_types import named_result

A = Any  # an array, or a tensor under create_graph

_result = named_result("histogramdd", "hist", "bin_edges")


@op
class histogramdd(Family):
    """histogramdd(input, bins, range=None, weight=None, density=False): how many of the points, whose coordinates are
    the last dimension, lie in each box of a grid, and the ends of its intervals in each dimension: `bins` are those
    ends, or how many intervals of equal length there are."""

    inputs = ("input", "weight")
    options = ("edges", "density")
    node_name = "NotImplemented"
    method = False
    signatures = (
        "(input: Tensor, bins: int | Sequence[int] | Sequence[Tensor], range: Sequence[float] | None = None, "
        "weight: Tensor | None = None, density: bool = False) -> return_types.histogramdd",
    )

    def kernel(x: A, weight: A, edges: Any, density: bool) -> A:
        points = x.reshape((math.prod(x.shape[:-1]), x.shape[-1])) if edges else x.reshape((0, 0))
        inside = np.ones(len(points), bool)
        shape = tuple([len(ends) - 1 for ends in edges])
        box: Any = np.zeros(len(points), np.int64)
        for column, ends in zip(points.T, edges, strict=True):
            place: Any = np.searchsorted(ends, column, "right") - 1
            place[column == ends[-1]] = len(ends) - 2
            inside &= (column >= ends[0]) & (column <= ends[-1])
            box = box * (len(ends) - 1) + place
        weights = None if weight is None else weight.reshape(-1)[inside]
        hist = np.bincount(box[inside], weights, int(np.prod(shape))).astype(x.dtype).reshape(shape)
        if not density:
            return hist
        hist = hist / hist.sum()
        for dim, ends in enumerate(edges):
            hist = hist / np.diff(ends).reshape((-1,) + (1,) * (len(shape) - 1 - dim))
        return hist.astype(x.dtype, copy=False)

    def vmap(batch: A, *args: Any) -> A:
        return batch.by_sample()

    def call(
        input: Tensor, bins: Any, range: Any = None, weight: Tensor | None = None, density: bool = False
    ) -> return_types.histogramdd:
        bins = bins if isinstance(bins, (list, tuple)) else [bins] * (input.array.shape or (1,))[-1]
        _check(input, bins, range, weight)
        edges = tuple([ends_of(input.array[..., dim], each, range, dim) for dim, each in enumerate(bins)])
        hist = histogramdd.record(input, weight, edges, density)
        parts: Any = (hist, tuple([wrap(ends) for ends in edges]))
        return _result(parts)  # type: ignore[return-value]

    def vjp_input(g: A) -> A:
        raise errors.mistake(RuntimeError, "derivative for aten::_histogramdd_from_bin_cts is not implemented")

    vjp_weight = vjp_input
    samples = ValuesOnly(
        "PyTorch refuses to differentiate it, and it takes floats only",
        lambda t: [S(t(6, 2, dtype="int64", high=9), t(6, dtype="int64", high=9))],
        lambda torch, x, weight: [
            *torch.histogramdd(x.float(), [2, 3])[1],
            torch.histogramdd(x.float(), 2, range=[1.0, 7.0, 0.0, 8.0], weight=weight.float())[0],
            torch.histogramdd(x.float(), [torch.tensor([0.0, 3.0, 9.0]), torch.tensor([1.0, 8.0])], density=True)[0],
        ],
    )


def ends_of(x: A, bins: Any, span: Any, dim: int) -> A:
    """The ends of the intervals in one dimension."""
    if isinstance(bins, TensorBase):
        return bins.array.copy()
    asked = None if span is None else (float(span[2 * dim]), float(span[2 * dim + 1]))
    low, high = outer_edges(x, asked, 0.5, f"histogramdd: dimension {dim}'s range")
    return spaced(low, high, bins + 1, from_numpy_dtype(x.dtype))


def _check(input: Any, bins: Any, span: Any, weight: Any) -> None:
    x, kind = input.array, from_numpy_dtype(input.array.dtype)
    name, wrong = "torch.histogramdd: ", None
    dims = x.shape[-1] if x.ndim else 0
    by_ends = bool(bins) and isinstance(bins[0], TensorBase)
    if x.ndim < 2:
        wrong = "input tensor should have at least 2 dimensions"
    elif by_ends and len(bins) != dims:
        wrong = f"expected {dims} sequences of bin edges for a {dims}-dimensional histogram but got {len(bins)}"
    elif not by_ends and len(bins) != dims:
        name, wrong = "histogramdd: ", "The size of bins must be equal to the innermost dimension of the input."
    elif by_ends and any([ends.array.dtype != x.dtype for ends in bins]):
        dim = [ends.array.dtype != x.dtype for ends in bins].index(True)
        wrong = (
            "input tensor and bins tensors should have the same dtype, but got input with dtype "
            f"{kind.cpp} and bins for dimension {dim} with dtype {from_numpy_dtype(bins[dim].array.dtype).cpp}"
        )
    elif by_ends and any([ends.array.ndim != 1 for ends in bins]):
        dim = [ends.array.ndim != 1 for ends in bins].index(True)
        wrong = (
            f"bins tensor should have one dimension, but got {bins[dim].array.ndim} dimensions in the bins tensor for "
            f"dimension {dim}"
        )
    elif by_ends and not all([ends.array.size for ends in bins]):
        wrong = NO_ENDS.format([ends.array.size for ends in bins].index(0))
    elif weight is not None and weight.array.dtype != x.dtype:
        wrong = (
            "if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got "
            f"input({kind.cpp}), and weight({from_numpy_dtype(weight.array.dtype).cpp})"
        )
    elif weight is not None and weight.array.shape != x.shape[:-1]:
        wrong = (
            "if weight tensor is provided it should have the same shape as the input tensor excluding its innermost "
            f"dimension, but got input with shape {errors.size(x.shape)} and weight with shape "
            f"{errors.size(weight.array.shape)}"
        )
    elif span is not None and len(span) != 2 * dims:
        wrong = f"for a {dims}-dimensional histogram range should have {2 * dims} elements, but got {len(span)}"
    if wrong is not None:
        raise errors.mistake(RuntimeError, name + wrong)
    for dim, each in enumerate(bins):
        count = each.array.size - 1 if by_ends else each
        if count <= 0:
            first = f"torch.histogram(): bins must be > 0, but got {count} for dimension {dim}"
            raise errors.mistake(RuntimeError, first)
        if span is not None and span[2 * dim] > span[2 * dim + 1]:
            words = f"but got min {span[2 * dim]:g} max {span[2 * dim + 1]:g} for dimension {dim}"
            raise errors.mistake(RuntimeError, f"torch.histogramdd: min should not exceed max, {words}")
    if kind not in (float32, float64):
        raise not_implemented("histogramdd", kind)
