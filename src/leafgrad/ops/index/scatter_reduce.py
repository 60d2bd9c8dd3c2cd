"""scatter_reduce and index_reduce: several elements of a source brought together in one place of a tensor."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.refused_gradient import delayed_error
from leafgrad._core.tensor import TensorBase
from leafgrad.ops.creation.fresh import zero_like
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.index.checks import LONG_OR_INT, alias, check_along, check_index, check_range
from leafgrad.ops.index.gather import gather
from leafgrad.ops.index.overwrite import same_dtype, zero
from leafgrad.ops.index.scatter import scatter, scatter_at, used_part, vector, with_unused
from leafgrad.ops.index.slices import slice_
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.reduce.common import raw
from leafgrad.ops.registry import Family, composite, op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Dim, Tensor

A = Any  # an array, or a tensor under create_graph
Array = Any

_UFUNCS: dict[str, Any] = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


def _neutral(reduce: str, kind: Any) -> Any:
    """What a reduction starts from where the tensor's own value does not count."""
    if reduce not in ("amax", "amin"):
        return int(reduce == "prod")
    if kind.kind == "b":
        return reduce == "amin"
    if kind.kind in "iu":
        return np.iinfo(kind).min if reduce == "amax" else np.iinfo(kind).max
    return -np.inf if reduce == "amax" else np.inf


def _counts(shape: Any, index: A, dim: int, include_self: bool, kind: Any) -> Array:
    """How many elements come together in each place."""
    counts = np.full(tuple(shape), include_self, kind)
    scatter_at(counts, raw(index), np.ones((), kind), dim, np.add)
    return np.maximum(counts, 1)


def check_kind(kernel: str, x: Array, reduce: str) -> None:
    if (x.dtype.kind == "b" and reduce == "mean") or (x.dtype.kind == "c" and reduce in ("amax", "amin")):
        raise errors.mistake(NotImplementedError, f"\"{kernel}\" not implemented for '{alias(x)}'")


def _used(src: A, index: A) -> A:
    return slice_(src, used_part(raw(index))) if len(src.shape) else src


def _shares(input: A, index: A, src: A, out: A, dim: int) -> tuple[Array, Array, Array]:
    """For amax and amin: where the input and src are the result (1, otherwise 0), and how many of them are in each
    place: none where the result is nan, whose gradient is nan as well."""
    x, at, result = raw(input), raw(index), raw(out)
    kind = zero(out).dtype
    own = np.asarray(x == result, kind)
    theirs = np.asarray(raw(_used(src, index)) == gather(result, at, dim), kind)
    count = np.array(own, np.float64)
    scatter_at(count, at, theirs.astype(np.float64), dim, np.add)
    return own, theirs, count.astype(kind)


def _samples(t: Any, *shape: int, reductions: tuple[str, ...]) -> list[S]:
    made = []
    for reduce, own in itertools.product(reductions, (True, False)):
        call = S(t(3, 4), 0, t(*shape, dtype="int64", low=0, high=3), t(5, 4), reduce, include_self=own)
        made.append(call.exempt_from("integers") if reduce == "mean" else call)  # which is rounded down
    return made


@op
class scatter_reduce(Family):
    """scatter_reduce(input, dim, index, src, reduce, *, include_self=True): the elements of src that `scatter` would
    write to one place, brought together by their sum, prod, mean, amax or amin."""

    saved_as = {"src_shape": ""}
    inputs = ("input", "index", "src")
    options = ("dim", "reduce", "include_self")
    vmap = "gather"
    in_place = True
    out = True
    node_names = ("IndexReduceBackward0",)  # what index_reduce records

    def kernel(x: A, at: A, src: A, dim: int, reduce: str, include_self: bool) -> A:
        out = np.array(x, order="C")
        if not include_self:
            scatter_at(out, at, np.asarray(_neutral(reduce, x.dtype)), dim, None)
        scatter_at(out, at, src, dim, _UFUNCS[reduce])
        if reduce != "mean":
            return out
        integers = x.dtype.kind in "iu"
        counts = _counts(x.shape, at, dim, include_self, x.dtype if integers else np.float64)
        return out // counts if integers else (out / counts).astype(x.dtype)

    def call(input: Tensor, dim: Dim, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True) -> Tensor:
        if reduce not in _UFUNCS:
            raise errors.mistake(
                RuntimeError, f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
            )
        check_index(index, LONG_OR_INT, "scatter(): Expected dtype int32/int64 for index")
        dim = wrap_dim(dim, input.array.ndim)
        check_along(index.array, dim, input.array, "self", src.array)
        same_dtype(input.array, src.array, "scatter(): Expected self.dtype to be equal to src.dtype")
        check_kind(f"scatter_gather_tensor_cpu_reduce_{reduce}", input.array, reduce)
        return scatter_reduce.record(input, index, src, dim, reduce, include_self)

    def vjp_input(g: A, input: A, index: A, src: A, dim: A, reduce: A, include_self: A, out: A) -> A:
        if not include_self:
            return scatter(g, index, zero(g), dim, "")  # where something was written the input does not count
        if reduce == "sum":
            return g
        if reduce == "mean":
            return g / _counts(g.shape, index, dim, True, zero(g).dtype)
        if reduce == "prod":
            none = input == 0
            whole = where(none, 1.0 + zero_like(g), input)
            return g * scatter_reduce(whole, index, src, dim, "prod", True) / whole
        own, _, count = _shares(input, index, src, out, dim)
        return own * (g / count)

    def vjp_src(g: A, input: A, index: A, src: A, dim: A, reduce: A, include_self: A, out: A, src_shape: A) -> A:
        if reduce == "mean":
            g = g / _counts(g.shape, index, dim, include_self, zero(g).dtype)
        if reduce in ("sum", "mean"):
            back = gather(g, index, dim)
        elif reduce == "prod":
            back = _prod_src(g, input, index, src, dim, include_self, out)
        else:
            _, theirs, count = _shares(input, index, src, out, dim)
            back = theirs * gather(g / count, index, dim)
        return with_unused(back, index, src_shape)

    samples = lambda t: [
        *_samples(t, 5, 4, reductions=("sum", "prod", "mean", "amax", "amin")),
        S(t(), 0, t(dtype="int64", low=0, high=1), t(), "sum"),
    ]


def _prod_src(g: A, input: A, index: A, src: A, dim: int, include_self: bool, out: A) -> A:
    """The product of the others, for each factor. A zero that is alone in its place is the one case where the result
    cannot be divided by the factor and the product of the others is not zero."""
    src, at = _used(src, index), raw(index)
    none = raw(src) == 0
    zeros = np.zeros(tuple(g.shape), np.float64)
    scatter_at(zeros, at, none.astype(np.float64), dim, np.add)
    alone = none & (gather(zeros, at, dim) == 1)
    one = 1.0 + zero_like(g)
    without = scatter_reduce(input, at, where(alone, one, src), dim, "prod", include_self)
    divided = gather(g * out, at, dim) / where(none, one, src)
    back = where(alone, gather(g * without, at, dim), divided)
    if isinstance(back, TensorBase) and zeros.max(initial=0) > 1:
        return delayed_error(back, _SEVERAL_ZEROS)
    return back


_SEVERAL_ZEROS = (
    "scatter_reduce(): Double backward is unsupported for src when >1 zeros in src are scattered to the same position "
    "in self"
)


@composite(lambda t: _samples(t, 5, reductions=("prod", "mean", "amax", "amin")), in_place=True, out=True)
def index_reduce(
    input: Tensor, dim: Dim, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """index_reduce(input, dim, index, source, reduce, *, include_self=True): the slices of source that the vector
    `index` assigns to one slice of input, brought together by their prod, mean, amax or amin."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise errors.mistake(
            RuntimeError, f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}."
        )
    check_index(index, LONG_OR_INT, "index_reduce_(): Expected dtype int32/int64 for index but got: {}")
    x: Any = input
    dim = wrap_dim(dim, x.array.ndim)
    at: Any = index
    check_range(at.array, 0, vector(x.array).shape[dim], dim, x.array.shape)
    src: Any = source
    length = vector(src.array).shape[dim]
    if at.array.size != length:
        raise errors.mistake(
            RuntimeError,
            f"index_reduce_(): Number of indices ({at.array.size}) should be equal to source.size(dim): ({length}), "
            f"for dim: {dim}",
        )
    if not src.array.ndim:
        at = at.reshape(())
    else:
        at = at.reshape((1,) * dim + (-1,) + (1,) * (src.array.ndim - dim - 1)).expand(src.array.shape)
    check_along(at.array, dim, x.array, "self", src.array)
    same_dtype(x.array, src.array, "index_reduce_(): self and source expected to have the same dtype")
    if x.array.dtype.kind in "bc" and not include_self:
        first = f"\"index_reduce_func_exclude_input_init\" not implemented for '{alias(x.array)}'"
        raise errors.mistake(NotImplementedError, first)
    check_kind("index_func_", x.array, reduce)
    return bind(scatter_reduce.named["IndexReduceBackward0"], (x, at, src), (dim, reduce, include_self))
