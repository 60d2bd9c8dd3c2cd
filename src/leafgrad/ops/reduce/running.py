"""Running extremes and logarithms of sums, most frequent elements, and quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors, return_types
from leafgrad._core.tensor import TensorBase, is_meta, wrap
from leafgrad._dtypes import COMPLEX, FLOAT
from leafgrad.kernels import native_search
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.index.gather import gather_array, gather_sum
from leafgrad.ops.pointwise.elementwise import exp
from leafgrad.ops.pointwise.exponentials import log_of_sum
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.reduce.common import in_single, raw
from leafgrad.ops.reduce.ordering import comparable, order_of, sort
from leafgrad.ops.reduce.products import shifted
from leafgrad.ops.registry import Family, composite, op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Dim, Tensor

A = Any  # an array, or a tensor under create_graph
Array = Any

# -- extremes ---------------------------------------------------------------------------------------------------------


def running(x: Array, dim: int, accumulate: Any) -> tuple[Array, Array]:
    """The extreme of all elements so far, and where the last of those equal to it was; nan is the most extreme."""
    if not x.ndim:
        return x.copy(), np.zeros((), np.int64)
    values = accumulate.accumulate(comparable(x), dim).astype(x.dtype, copy=False)
    same = (values == x) | ((x != x) & (values != values))
    places = np.arange(x.shape[dim]).reshape((-1,) + (1,) * (x.ndim - 1 - dim))
    return values, np.maximum.accumulate(np.where(same, places, 0), dim)


class Running(Family, family=True):
    """cummax and cummin."""

    options = ("dim",)
    vmap = "dims"
    results = 2
    result_names: Any = ("values", "indices")
    saved_as = {"input_shape": ""}
    row_major = True
    refuses: Any = (COMPLEX,)
    out = "expected scalar_type {wanted.alias} but found {given.alias}"
    samples = lambda t: [S(t(5), 0), S(t(3, 4), 1), S(t(2, 3, 2), -2), S(t(), 0), S(t(0, 2), 0)]

    def vjp(g: A, out1: A, input_shape: A, dim: A) -> A:
        return gather_sum(g[0], raw(out1), input_shape, dim)


@op
class cummax(Running):
    """cummax(input, dim): the largest element up to each along a dimension, and its index."""

    kernel_name = "cummax_cpu"

    kernel = native_search("running_max")(lambda x, dim: running(x, dim, np.maximum))

    def call(input: Tensor, dim: Dim) -> return_types.cummax:
        cummax.check(input.dtype)
        return cummax.result_of(cummax.record(input, wrap_dim(dim, input.array.ndim)))  # type: ignore[no-any-return]


@op
class cummin(Running):
    """cummin(input, dim): the smallest element up to each along a dimension, and its index."""

    kernel_name = "cummin_cpu"

    kernel = native_search("running_min")(lambda x, dim: running(x, dim, np.minimum))

    def call(input: Tensor, dim: Dim) -> return_types.cummin:
        cummin.check(input.dtype)
        return cummin.result_of(cummin.record(input, wrap_dim(dim, input.array.ndim)))  # type: ignore[no-any-return]


@op
class logcumsumexp(Family):
    """logcumsumexp(input, dim): log(cumsum(exp(input))) along a dimension, computed without overflow."""

    options = ("dim",)
    vmap = "dims"
    kernel_name = "logcumsumexp_out_cpu"
    row_major = True
    out = "expected scalar_type {wanted.alias} but found {given.alias}"

    @in_single
    def kernel(x: A, dim: int) -> A:
        if not x.ndim or not x.size:
            return x.copy()
        if x.dtype.kind != "c":
            return np.logaddexp.accumulate(x, dim)
        out = np.empty_like(x)
        source, target = np.moveaxis(x, dim, 0), np.moveaxis(out, dim, 0)
        total = np.full(source.shape[1:], -np.inf, x.dtype)
        for i in range(len(source)):
            target[i] = total = log_of_sum(source[i], total)
        return out

    def call(input: Tensor, dim: Dim) -> Tensor:
        if input.dtype.category < FLOAT:
            words = f"\"{logcumsumexp.kernel_name}\" not implemented for '{input.dtype.alias}'"
            raise errors.mistake(NotImplementedError, words)
        return logcumsumexp.record(input, wrap_dim(dim, input.array.ndim))

    def vjp(g: A, input: A, out: A, dim: A) -> A:
        # The sum over later elements j of g[j] exp(x[i] - out[j]) is a recurrence, `later[k] = g[k] + ratio[k] *
        # later[k+1]`, whose ratios are at most one; in steps that double, as for cumprod.
        if not raw(input).ndim:
            return g
        size = raw(input).shape[dim]
        empty = raw(out).real == -np.inf
        last = (np.arange(size) == size - 1).reshape((-1,) + (1,) * (raw(input).ndim - 1 - dim))
        nothing = np.full((), -np.inf, raw(out).dtype)
        later, between = g, exp(where(empty | last, nothing, out - shifted(out, -1, dim)))
        step = 1
        while step < size:
            later = later + between * shifted(later, -step, dim, np.zeros)
            between = between * shifted(between, -step, dim)
            step *= 2
        return later * exp(where(empty, nothing, input - out))

    samples = lambda t: [S(t(5), 0), S(t(3, 4), 1), S(t(2, 3, 2), -2), S(t(), 0), S(t(0, 2), 0)]


# -- most frequent elements -------------------------------------------------------------------------------------------


@op
class mode(Family):
    """mode(input, dim=-1, keepdim=False): the most frequent element along a dimension, the smallest of several, and
    where it is last."""

    options = ("dim", "keepdim")
    vmap = "dims"
    results = 2
    result_names = ("values", "indices")
    refuses = (COMPLEX,)
    kernel_name = "mode_cpu"
    finds_any = True
    out = tuple(
        [
            f"expected scalar type '{{wanted.alias}}' but got '{{given.alias}}' for {which} output"
            for which in ("values", "indices")
        ]
    )

    def kernel(x: A, dim: int, keepdim: bool) -> Any:
        if not x.ndim:
            return x.copy(), np.zeros((), np.int64)
        order = order_of(x, dim, False)
        ordered = np.moveaxis(gather_array(x, order, dim), dim, -1)
        places = np.arange(x.shape[dim])
        new = np.ones(ordered.shape, bool)
        new[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
        first = np.maximum.accumulate(np.where(new, places, 0), -1)
        at = (places - first).argmax(-1)  # the last of the longest run
        found = np.take_along_axis(np.moveaxis(order, dim, -1), at[..., None], -1)
        values = np.take_along_axis(np.moveaxis(x, dim, -1), found, -1)
        results = [np.moveaxis(r, -1, dim) for r in (values, found)]
        return results if keepdim else [np.squeeze(r, dim) for r in results]

    def call(input: Tensor, dim: Dim = -1, keepdim: bool = False) -> return_types.mode:
        at = wrap_dim(dim, input.array.ndim)
        if input.array.ndim and not input.array.shape[at]:
            raise errors.mistake(IndexError, f"mode(): Expected reduction dim {at} to have non-zero size.")
        if input.array.ndim and input.array.size:  # else there is nothing to compare
            mode.check(input.dtype)
        return mode.result_of(mode.record(input, at, keepdim))  # type: ignore[no-any-return]

    def vjp(g: A, out1: A, input_shape: A, dim: A, keepdim: A) -> A:
        index, back = raw(out1), g[0]
        if input_shape and not keepdim:
            index = np.expand_dims(index, dim)
            back = back.reshape(index.shape)
        return gather_sum(back, index, input_shape, dim)

    samples = lambda t: [S(t(5)), S(t(3, 4), 0), S(t(2, 3), 1, True), S(t())]


# -- quantiles --------------------------------------------------------------------------------------------------------

INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _checked(name: str, t: Any, q: Any, interpolation: str) -> Any:
    """The fractions, as a tensor in the dtype of the input."""
    kind = t.array.dtype
    if not t.array.size:
        raise errors.mistake(RuntimeError, f"{name}() input tensor must be non-empty")
    if kind not in (np.float32, np.float64):
        raise errors.mistake(RuntimeError, f"{name}() input tensor must be either float or double dtype")
    if not isinstance(q, TensorBase):
        if not 0 <= q <= 1:
            raise errors.mistake(RuntimeError, f"{name}() q must be in the range [0, 1] but got {q}")
        q = wrap(np.asarray(q, kind))
    elif q.array.ndim > 1:
        raise errors.mistake(RuntimeError, f"{name}() q must be a scalar or 1D tensor")
    elif q.array.dtype != kind:
        raise errors.mistake(RuntimeError, f"{name}() q tensor must be same dtype as the input tensor")
    elif not ((q.array >= 0) & (q.array <= 1)).all():
        raise errors.mistake(RuntimeError, f"{name}() q values must be in the range [0, 1]")
    if interpolation not in INTERPOLATIONS:
        allowed = "linear, lower, higher, midpoint or nearest"
        raise errors.mistake(RuntimeError, f"{name}() interpolation must be one of {allowed}, but got {interpolation}")
    return q


def _quantile(name: str, t: Any, q: Any, dim: Any, keepdim: bool, interpolation: str) -> Any:
    q = _checked(name, t, q, interpolation)
    ndim, rest = t.array.ndim, list(t.array.shape)
    at = None if dim is None else wrap_dim(dim, ndim)
    if at is None or not ndim:
        x, rest = t if ndim == 1 else t.flatten(), [1] * ndim if keepdim else []
    else:
        x = t if at == ndim - 1 else t.unsqueeze(-1).transpose(at, -1)
        rest[at : at + 1] = [1] if keepdim else []
    count: Any = x.array.shape[-1]
    ordered = sort.function(x, -1)[0]
    if ordered.needs_grad or ordered.array.shape != (*rest, count):
        ordered = ordered.view((*rest, count))
    x = ordered.array
    fractions = q.reshape((-1,)) if q.needs_grad or q.array.ndim else wrap(q.array.reshape(1))
    if name == "nanquantile":
        count = (x == x).sum(-1)[..., None]
    last = np.maximum(count - 1, 0).astype(q.array.dtype) if name == "nanquantile" else float(count - 1)
    ranks = fractions * (last if isinstance(last, float) else wrap(last))
    is_nan = np.isnan(x[..., -1:])  # it is sorted to the end; where there is one, it is the result
    if name == "quantile" and not is_meta(x) and is_nan.any():
        ranks = where.function(wrap(is_nan), float(count - 1), ranks)
    at_ranks = np.broadcast_to(ranks.array, (*x.shape[:-1], fractions.array.shape[0]))
    if interpolation not in ("linear", "midpoint"):
        whole: Any = {"lower": np.floor, "higher": np.ceil, "nearest": np.round}[interpolation]
        at_ranks = whole(at_ranks)
    below = at_ranks.astype(np.int64)
    lower = ordered.gather(-1, wrap(below))
    if interpolation in ("linear", "midpoint"):
        half = wrap(np.full(below.shape, 0.5, q.array.dtype))
        weight = half if interpolation == "midpoint" else ranks - wrap(below)
        above = np.ceil(at_ranks).astype(np.int64)
        lower = lower.lerp(ordered.gather(-1, wrap(above)), weight)
    if q.array.ndim:
        lower = lower.unsqueeze_(0).transpose_(0, -1)
    return lower.squeeze_(-1)


def _quantile_samples(t: Any) -> list[Any]:
    return [
        *[
            S(t(5, dtype="float64"), 0.3),
            S(t(3, 4, dtype="float64"), 0.5, 1),
            S(t(2, 3, dtype="float64"), 0.25, 0, True),
        ],
        *[S(t(6, dtype="float64"), 0.3, interpolation=how) for how in INTERPOLATIONS[1:]],
    ]


@composite(_quantile_samples, out="quantile() out tensor must be same dtype as the input tensor", autocast="float32")
def quantile(
    input: Tensor, q: float | Tensor, dim: Dim | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """quantile(input, q, dim=None, keepdim=False, *, interpolation='linear'): the value below which a fraction q of the
    elements lies; of all of them, or along a dimension."""
    return _quantile("quantile", input, q, dim, keepdim, interpolation)


@composite(_quantile_samples, out="quantile() out tensor must be same dtype as the input tensor", autocast="float32")
def nanquantile(
    input: Tensor, q: float | Tensor, dim: Dim | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """nanquantile(input, q, dim=None, keepdim=False, *, interpolation='linear'): quantile of those elements that are
    not nan."""
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation)
