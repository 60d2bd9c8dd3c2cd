"""segment_reduce: reductions of the segments that a dimension is cut into, of any lengths."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import is_meta
from leafgrad._dtypes import FLOAT, INTEGER, from_numpy_dtype
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.reduce.common import F32, is_half, raw
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.signature import Dim, Number, Tensor

A = Any  # an array, or a tensor under create_graph
Array = Any


def combination(reduce: str) -> tuple[Any, float] | None:
    """How two numbers become one, and what an empty segment is; None if there is no such reduction."""
    match reduce:
        case "sum" | "mean":
            return np.add, 0.0
        case "prod":
            return np.multiply, 1.0
        case "max" | "amax":
            return np.maximum, -math.inf
        case "min" | "amin":
            return np.minimum, math.inf
    return None


def rows(data: Array, lengths: Any, offsets: Any, axis: int) -> tuple[Array, Array]:
    """The data in rows, each of which is cut by itself, and where its segments begin and end."""
    if offsets is None:
        first = np.zeros((*lengths.shape[:-1], 1), lengths.dtype)
        offsets = np.concatenate([first, np.cumsum(lengths, -1)], -1)
    outer = math.prod(data.shape[:axis])
    return data.reshape((outer, *data.shape[axis:])), offsets.reshape((outer, offsets.shape[-1]))


def of_segments(x: Array, ends: Array, reduce: str, initial: Any) -> Array:
    """The reductions of one row."""
    combine, neutral = combination(reduce) or (np.add, 0.0)
    counts = np.diff(ends)
    start = neutral if initial is None else initial
    out = np.full((len(counts), *x.shape[1:]), start, x.dtype)
    full = counts > 0
    if full.any():
        out[full] = combine(out[full], combine.reduceat(x[: ends[-1]], ends[:-1][full], axis=0))
    if reduce == "mean":
        sizes = counts.reshape((-1,) + (1,) * (x.ndim - 1)).astype(x.dtype)
        out = np.where(sizes > 0, out / sizes, np.nan if initial is None else out)
    return out


def gradient_of_segments(g: Array, x: Array, out: Array, ends: Array, reduce: str, initial: Any) -> Array:
    """The gradient of one row. Elements that are the largest share what their segment has."""
    counts = np.diff(ends)
    spread: Any = lambda values: np.repeat(values, counts, axis=0)
    result = np.zeros_like(x)
    inside = slice(int(ends[0]), int(ends[-1]))
    part = x[inside]
    if reduce in ("sum", "mean"):
        if reduce == "mean":
            g = g / np.maximum(counts, 1).reshape((-1,) + (1,) * (x.ndim - 1)).astype(x.dtype)
        result[inside] = spread(g)
    elif reduce in ("max", "min"):
        equal = ((part == spread(out)) | (np.isnan(part) & np.isnan(spread(out)))).astype(x.dtype)
        shared = of_segments(equal, ends - ends[0], "sum", None)
        result[inside] = equal * spread(g / np.maximum(shared, 1))
    else:
        result[inside] = spread(g) * products_of_others(part, spread(out), ends - ends[0], initial)
    return result


def products_of_others(x: Array, products: Array, ends: Array, initial: Any) -> Array:
    """For each element the product of the others of its segment: the whole one over it, unless that is zero."""
    others = np.divide(products, x, out=np.empty_like(x), where=x != 0)
    start = 1.0 if initial is None else initial
    for at in np.argwhere((x == 0) | np.isnan(x)):
        first = ends[np.searchsorted(ends, at[0], "right") - 1]
        last = ends[np.searchsorted(ends, at[0], "right")]
        segment = x[(slice(first, last), *at[1:])].copy()
        segment[at[0] - first] = 1
        others[tuple(at)] = start * segment.prod()
    return others


class OfSegments(Family, family=True):
    options: tuple[str, ...] = ("reduce", "axis", "initial")
    method = False
    holomorphic = False

    def vmap(batch: A, *args: Any) -> A:
        return batch.by_sample()


@op
class segment_reduce(OfSegments):
    """segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    the 'sum', 'mean', 'max', 'min' or 'prod' of each segment along a dimension. Their lengths are given, or where they
    begin, with the end of the last; in the dimensions before, each row has segments of its own."""

    inputs = ("data", "lengths", "offsets")
    saved_as = {"out": "result"}
    aliases = ("_segment_reduce",)
    derivatives = 1

    def kernel(data: Array, lengths: Any, offsets: Any, reduce: str, axis: int, initial: Any) -> Array:
        x, ends = rows(data.astype(F32) if is_half(data.dtype) else data, lengths, offsets, axis)
        made = [of_segments(row, cut, reduce, initial) for row, cut in zip(x, ends, strict=True)]
        shape = (*data.shape[:axis], ends.shape[-1] - 1, *data.shape[axis + 1 :])
        return np.array(made, data.dtype).reshape(shape)

    def call(
        data: Tensor,
        reduce: str,
        *,
        lengths: Tensor | None = None,
        indices: Tensor | None = None,
        offsets: Tensor | None = None,
        axis: Dim = 0,
        unsafe: bool = False,
        initial: Number | None = None,
    ) -> Tensor:
        axis = wrap_dim(axis, data.array.ndim)
        if combination(reduce) is None:
            first = f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
            raise errors.mistake(RuntimeError, first)
        _check(data, lengths, indices, offsets, axis, unsafe)
        given = (lengths, None) if offsets is None else (None, offsets)
        return segment_reduce.record(data, *given, reduce.removeprefix("a"), axis, initial)

    def vjp_data(g: A, data: A, lengths: A, offsets: A, out: A, reduce: A, axis: A, initial: A) -> A:
        return segment_reduce_backward(g, data, lengths, offsets, out, reduce, axis, initial)

    samples = lambda t: [
        S(t(6), "sum", lengths=t(2, dtype="int64", low=3, high=4)),
        S(t(6, 2), "max", offsets=_ends(t)),
        S(t(2, 6), "mean", offsets=_ends(t, 2), axis=1),
        S(t(6), "prod", offsets=_ends(t), initial=2.0),
        S(t(6), "min", offsets=_ends(t), initial=0.5),
    ]


def _ends(t: Any, *shape: int) -> Any:
    made = t(*shape, 4, dtype="int64")
    made.array = np.broadcast_to(np.array([0, 2, 3, 6]), made.array.shape).copy()
    return made


def _check(data: Any, lengths: Any, indices: Any, offsets: Any, axis: int, unsafe: bool) -> None:
    kind = from_numpy_dtype(data.array.dtype)
    wrong = None
    if not data.array.size:
        wrong = "Expected data.numel() > 0"
    elif indices is not None:
        wrong = "indices based reduction is not supported yet."
    elif lengths is None and offsets is None:
        wrong = "Either lengths or offsets must be defined."
    if wrong is not None:
        raise errors.mistake(RuntimeError, f"segment_reduce(): {wrong}")
    name, cut = ("lengths", lengths) if offsets is None else ("offsets", offsets)
    numbers = cut.array
    if axis != numbers.ndim - 1:
        wrong = f"Expected axis to be the last dimension of {name} but got {axis}."
        raise errors.mistake(RuntimeError, f"segment_reduce(): {wrong}")
    if from_numpy_dtype(numbers.dtype).category != INTEGER:
        words = f"\"_segment_reduce_{name}_cpu_kernel1\" not implemented for '{from_numpy_dtype(numbers.dtype).alias}'"
        raise errors.mistake(NotImplementedError, words)
    if name == "lengths" and not unsafe and not is_meta(numbers):
        if (numbers < 0).any():
            raise errors.mistake(RuntimeError, "lengths contains negative value!")
        if (numbers.sum(-1) != data.array.shape[axis]).any():
            wrong = "Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe."
            raise errors.mistake(RuntimeError, f"segment_reduce(): {wrong}")
    if kind.category != FLOAT:
        raise errors.mistake(NotImplementedError, f"\"_segment_reduce_cpu\" not implemented for '{kind.alias}'")


def _gradient(torch: Any, g: Any, x: Any, ends: Any, reduce: str) -> Any:
    leaf = x.detach().requires_grad_()
    with torch.enable_grad():
        return torch.autograd.grad(torch.segment_reduce(leaf, reduce, offsets=ends), leaf, g.detach())[0]


@op
class segment_reduce_backward(OfSegments):
    """segment_reduce_backward(grad, data, lengths, offsets, out, reduce, axis, initial): the gradient of data."""

    inputs = ("grad", "data", "lengths", "offsets", "out")
    public_name = ""
    aten = "_segment_reduce_backward"
    node_name = "NotImplemented"
    derivatives = 0

    def kernel(
        g: Array, data: Array, lengths: Any, offsets: Any, out: Array, reduce: str, axis: int, initial: Any
    ) -> Array:
        wide = [each.astype(F32) if is_half(each.dtype) else each for each in (g, data, out)]
        x, ends = rows(wide[1], lengths, offsets, axis)
        count = len(x)
        by, of = [each.reshape((count, *each.shape[axis:])) for each in (wide[0], wide[2])]
        made = [gradient_of_segments(by[i], x[i], of[i], ends[i], reduce, initial) for i in range(count)]
        return np.array(made, data.dtype).reshape(data.shape)

    def vjp_grad(g: A, data: A, lengths: A, offsets: A, out: A, grad_shape: A, reduce: A, axis: A, initial: A) -> A:
        # it is linear in the gradient: what forward mode needs to know
        ones = np.ones(grad_shape, raw(data).dtype)
        shares = segment_reduce_backward(ones, data, lengths, offsets, out, reduce, axis, initial)
        return segment_reduce(g * shares, lengths, offsets, "sum", axis, None)

    def vjp_data(g: A) -> A:
        raise errors.mistake(RuntimeError, "derivative for aten::_segment_reduce_backward is not implemented")

    samples = ValuesOnly(
        "has no derivative",
        lambda t: [
            S(t(3, dtype="float64"), t(6, dtype="float64"), _ends(t), reduce) for reduce in ("mean", "max", "prod")
        ],
        _gradient,
    )
