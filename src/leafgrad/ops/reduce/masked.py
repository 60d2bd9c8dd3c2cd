"""torch.masked: reductions and normalizations that leave out the elements where a mask is False. Those are replaced by
a value that changes nothing: 0 in a sum, 1 in a product."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import wrap
from leafgrad._dtypes import COMPLEX, FLOAT, INTEGER, bool_, float32, from_numpy_dtype, int8, int16, int32, int64, uint8
from leafgrad._dtypes import dtype as Dtype
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.pointwise.exponentials import logaddexp
from leafgrad.ops.reduce.norms import vector_norm
from leafgrad.ops.reduce.softmax import log_softmax, softmax
from leafgrad.ops.registry import composite
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.signature import Dim, DimOrDims, Tensor

# -- what is left out -------------------------------------------------------------------------------------------------


def full_mask(input: Any, mask: Any) -> Any:
    """The mask in the shape of the input, as bools."""
    if mask.array.shape != input.array.shape:
        if mask.array.ndim > input.array.ndim:
            words = "expected broadcastable mask (got mask dimensionality higher than of the input)"
            raise errors.mistake(IndexError, f"_input_mask {words}")
        mask = mask.clone().expand(input.array.shape)  # a copy: who changes the mask later does no harm
    return mask.to(bool_)


def kept(name: str, input: Any, mask: Any, neutral: Any) -> Any:
    """The input with `neutral` where the mask is False."""
    if mask is None:
        return input
    kind = from_numpy_dtype(input.array.dtype)
    value = neutral(kind) if callable(neutral) else neutral
    if value is None:
        raise errors.mistake(NotImplementedError, f"identity of {name} on {kind} input")
    return input.where(full_mask(input, mask), wrap(np.asarray(value, kind.np)))


def lowest(kind: Dtype) -> Any:
    return limit(kind, -1)


def highest(kind: Dtype) -> Any:
    return limit(kind, 1)


def limit(kind: Dtype, sign: int) -> Any:
    """The end of the numbers of a dtype; None if it has none."""
    if kind.category == FLOAT:
        return sign * math.inf
    if kind.category == COMPLEX:
        first = "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'"
        raise errors.mistake(TypeError, first)
    if kind.category != INTEGER or (kind.np.kind == "u" and kind.itemsize > 1):
        return None
    return np.iinfo(kind.np).max if sign > 0 else np.iinfo(kind.np).min


def dims_of(input: Any, dim: Any) -> tuple[int, ...]:
    ndim = input.array.ndim
    if dim is None or dim == ():
        return tuple(range(ndim))
    found: list[int] = []
    for d in (dim,) if isinstance(dim, int) else dim:
        if d in found:
            raise errors.mistake(RuntimeError, f"dim={d} appears multiple times in the list of dims")
        found.append(wrap_dim(d, ndim))
    return tuple(sorted(found))


SMALL = (bool_, uint8, int8, int16, int32)


def wide(input: Any, dtype: Dtype | None) -> Dtype:
    """The dtype of sums and products: small integers and bools are added up as int64."""
    own = from_numpy_dtype(input.array.dtype)
    return dtype or (int64 if own in SMALL else own)


def own_dtype(input: Any, dtype: Dtype | None) -> Dtype:
    return dtype or from_numpy_dtype(input.array.dtype)


def public(samples: Any, **known: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes a function of the namespace a public one."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__.removeprefix("masked_")
        return composite(samples, places=(f"masked.{name}",), public_name="", method=False, **known)(function)

    return register


def _mask(t: Any, *shape: int) -> Any:
    """A mask that keeps something of each row and of each column."""
    made = t(*shape, dtype="bool")
    made.array = made.array.copy()
    made.array[..., 0] = made.array[0] = True
    return made


def _reduced(t: Any) -> list[Any]:
    return [
        S(t(3, 4), 1, mask=_mask(t, 3, 4)),
        S(t(2, 3, 2), (0, 2), keepdim=True, mask=_mask(t, 3, 2)),
        S(t(3)),
    ]


def _along(t: Any) -> list[Any]:
    return [S(t(3, 4), 1, mask=_mask(t, 3, 4)), S(t(2, 3), 0, mask=_mask(t, 2, 1)), S(t(3), -1)]


# -- sums and products ------------------------------------------------------------------------------------------------


@public(_reduced)
def masked_sum(
    input: Tensor,
    dim: DimOrDims | None = None,
    *,
    keepdim: bool = False,
    dtype: Dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """masked.sum(input, dim=None, *, keepdim=False, dtype=None, mask=None): the sum of the elements that are kept."""
    dims, kind = dims_of(input, dim), wide(input, dtype)
    return kept("sum", input, mask, 0).sum(dims, keepdim, dtype=kind)


@public(_reduced)
def masked_prod(
    input: Tensor,
    dim: DimOrDims | None = None,
    *,
    keepdim: bool = False,
    dtype: Dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """masked.prod(input, dim=None, *, keepdim=False, dtype=None, mask=None): the product of those that are kept."""
    dims, kind = dims_of(input, dim), wide(input, dtype)
    result = kept("prod", input, mask, 1).to(kind)
    for d in reversed(dims):
        result = result.prod(d, keepdim)
    return result


@public(_along)
def masked_cumsum(input: Tensor, dim: Dim, *, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.cumsum(input, dim, *, dtype=None, mask=None): the sums of the elements up to each that are kept."""
    (at,), kind = dims_of(input, dim), own_dtype(input, dtype)
    return kept("sum", input, mask, 0).cumsum(at, dtype=kind)


@public(_along)
def masked_cumprod(input: Tensor, dim: Dim, *, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.cumprod(input, dim, *, dtype=None, mask=None): the products of the elements up to each that are kept."""
    (at,), kind = dims_of(input, dim), own_dtype(input, dtype)
    return kept("prod", input, mask, 1).cumprod(at, dtype=kind)


# -- extremes ---------------------------------------------------------------------------------------------------------


@public(_reduced)
def masked_amax(
    input: Tensor,
    dim: DimOrDims | None = None,
    *,
    keepdim: bool = False,
    dtype: Dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """masked.amax(input, dim=None, *, keepdim=False, dtype=None, mask=None): the largest element that is kept."""
    found = kept("amax", input, mask, lowest)
    return found.amax(dims_of(input, dim), keepdim).to(own_dtype(input, dtype))


@public(_reduced)
def masked_amin(
    input: Tensor,
    dim: DimOrDims | None = None,
    *,
    keepdim: bool = False,
    dtype: Dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """masked.amin(input, dim=None, *, keepdim=False, dtype=None, mask=None): the smallest element that is kept."""
    found = kept("amin", input, mask, highest)
    return found.amin(dims_of(input, dim), keepdim).to(own_dtype(input, dtype))


@public(_along, differentiable=False)
def masked_argmax(
    input: Tensor,
    dim: Dim | None = None,
    *,
    keepdim: bool = False,
    dtype: Dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """masked.argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None): the place of the largest element that is
    kept, in the dtype of the input."""
    return kept("argmax", input, mask, lowest).argmax(dim, keepdim).to(own_dtype(input, dtype))


@public(_along, differentiable=False)
def masked_argmin(
    input: Tensor,
    dim: Dim | None = None,
    *,
    keepdim: bool = False,
    dtype: Dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """masked.argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None): the place of the smallest element
    that is kept, in the dtype of the input."""
    return kept("argmin", input, mask, highest).argmin(dim, keepdim).to(own_dtype(input, dtype))


@public(lambda t: _along(lambda *shape, dtype="float64": t(*shape, dtype=dtype)))
def masked_median(
    input: Tensor, dim: Dim = -1, *, keepdim: bool = False, dtype: Dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """masked.median(input, dim=-1, *, keepdim=False, dtype=None, mask=None): the lower median of those that are
    kept."""
    (at,) = dims_of(input, dim)
    is_float = from_numpy_dtype(input.array.dtype).category == FLOAT
    values = input if is_float else input.to(float32)
    found = kept("median", values, mask, math.nan).nanmedian(at, keepdim).values
    if is_float:
        return found
    if found.isnan().any():
        first = "masked median expects no fully masked out rows if dtype is not floating point"
        raise errors.mistake(ValueError, first)
    return found.to(own_dtype(input, dtype))


# -- averages and norms -----------------------------------------------------------------------------------------------


def total_and_count(input: Any, dim: Any, keepdim: bool, dtype: Dtype, mask: Any) -> tuple[Any, Any]:
    """The sum of the elements that are kept, and how many they are."""
    inside = None if mask is None else full_mask(input, mask)
    count = (wrap(np.ones(input.array.shape, np.int64)) if inside is None else inside).sum(dims_of(input, dim), keepdim)
    return masked_sum(input, dim, keepdim=keepdim, dtype=dtype, mask=inside), count


@public(_reduced)
def masked_mean(
    input: Tensor,
    dim: DimOrDims | None = None,
    *,
    keepdim: bool = False,
    dtype: Dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """masked.mean(input, dim=None, *, keepdim=False, dtype=None, mask=None): the average of those that are kept."""
    kind = own_dtype(input, dtype)
    if kind.category < FLOAT:
        first = (
            f"mean(): Could not infer output dtype. {'Input' if dtype is None else 'Optional'} dtype must be either a "
            f"floating point or complex dtype. Got: {kind}"
        )
        raise errors.mistake(ValueError, first)
    total, count = total_and_count(input, dim, keepdim, kind, mask)
    return total / count


def spread(input: Any, dim: Any, unbiased: Any, correction: Any, keepdim: bool, dtype: Any, mask: Any) -> Any:
    """The variance of those that are kept."""
    if unbiased is not None and correction is not None:
        raise errors.mistake(AssertionError, "Only one of unbiased and correction may be given")
    less = float(correction) if correction is not None else float(unbiased is None or unbiased)
    own = own_dtype(input, dtype)
    kind = float32 if dtype is None and own.category < FLOAT else own
    computed = float32 if kind.category < FLOAT else kind
    total, count = total_and_count(input, dim, True, kind, mask)
    apart = input - total / count
    squares = apart * apart.conj()
    inside = None if mask is None else full_mask(input, mask)
    sums = masked_sum(squares, dim, keepdim=keepdim, dtype=computed, mask=inside)
    count = count if keepdim else count.reshape(sums.array.shape)
    if less:
        count = (count.to(from_numpy_dtype(np.empty(0, computed.np).real.dtype)) - less).clamp(0)
    return (sums / count).to(kind)


def _spreads(t: Any) -> list[Any]:
    return [*_reduced(t)[1:], S(t(3, 4), 1, False, mask=_mask(t, 3, 4)), S(t(3, 4), 0, correction=0.5)]


@public(_spreads)
def masked_var(
    input: Tensor,
    dim: DimOrDims | None = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """masked.var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None): the
    variance of those that are kept."""
    return spread(input, dim, unbiased, correction, keepdim, dtype, mask)


@public(_spreads)
def masked_std(
    input: Tensor,
    dim: DimOrDims | None = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """masked.std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None): the
    standard deviation of those that are kept."""
    return spread(input, dim, unbiased, correction, keepdim, dtype, mask).sqrt()


def _norms(t: Any) -> list[Any]:
    return [S(t(3, 4), 2, 1, mask=_mask(t, 3, 4)), S(t(2, 3, 2), 3, (0, 2), keepdim=True, mask=_mask(t, 3, 2)), S(t(3))]


@public(_norms)
def masked_norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: DimOrDims | None = None,
    *,
    keepdim: bool = False,
    dtype: Dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """masked.norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None): the norm of those that are
    kept."""
    found = kept("norm", input, mask, math.inf if ord == -math.inf else 0)
    return vector_norm.function(found, ord, dims_of(input, dim), keepdim, dtype=own_dtype(input, dtype))


# -- exponentials, and what makes sums one ----------------------------------------------------------------------------


def without_weight(kind: Dtype) -> Any:
    """Of what the exponential function makes zero."""
    return -math.inf if kind.category == COMPLEX else lowest(kind)


@public(_reduced)
def masked_logsumexp(
    input: Tensor,
    dim: DimOrDims | None = None,
    *,
    keepdim: bool = False,
    dtype: Dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """masked.logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None): log(sum(exp(x))) of those that are
    kept."""
    dims = dims_of(input, dim)
    return kept("logsumexp", input, mask, without_weight).logsumexp(dims, keepdim).to(own_dtype(input, dtype))


@public(
    lambda t: [S(t(3, 4), t(3, 4), input_mask=_mask(t, 3, 4)), S(t(3, 1), t(4), other_mask=_mask(t, 4))],
    derivatives=1,  # the second one is infinity by infinity where the mask is False, as in PyTorch
)
def masked_logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: Dtype | None = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """masked.logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None): log(exp(x) + exp(y)), of that
    which is kept."""
    both = [kept("logaddexp", x, mask, lowest) for x, mask in ((input, input_mask), (other, other_mask))]
    return logaddexp.function(*both).to(own_dtype(input, dtype))


@public(_along)
def masked_softmax(input: Tensor, dim: Dim, *, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.softmax(input, dim, *, dtype=None, mask=None): exp(x) / sum(exp(x)) of those that are kept."""
    (at,) = dims_of(input, dim)
    return softmax.function(kept("amax", input, mask, lowest), at, dtype=own_dtype(input, dtype))


@public(
    ValuesOnly(
        "is infinite where the mask is False",
        _along,
        lambda torch, x, dim, mask=None: torch.masked.log_softmax(x, dim, mask=mask).clamp(-100),
    )
)
def masked_log_softmax(input: Tensor, dim: Dim, *, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.log_softmax(input, dim, *, dtype=None, mask=None): the logarithm of the softmax of those that are kept."""
    (at,) = dims_of(input, dim)
    return log_softmax.function(kept("amax", input, mask, lowest), at, dtype=own_dtype(input, dtype))


@public(_along)
def masked_softmin(input: Tensor, dim: Dim, *, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.softmin(input, dim, *, dtype=None, mask=None): exp(-x) / sum(exp(-x)) of those that are kept."""
    (at,) = dims_of(input, dim)
    return softmax.function(-kept("amin", input, mask, highest), at, dtype=own_dtype(input, dtype))


@public(lambda t: [S(t(3, 4), 2.0, 1, mask=_mask(t, 3, 4)), S(t(2, 3), 1.0, 0, eps=1e-6)])
def masked_normalize(
    input: Tensor, ord: float, dim: Dim, *, eps: float = 1e-12, dtype: Dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """masked.normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None): those that are kept over their norm,
    which counts as eps if it is less."""
    size = masked_norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return kept("sum", input, mask, 0) / size.maximum(size.new_full((), eps))
