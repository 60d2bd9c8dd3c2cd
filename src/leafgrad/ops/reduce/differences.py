"""Differences, areas under curves, slopes and covariances of samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._dtypes import BOOL, from_numpy_dtype, get_default_dtype
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.linalg.products import matmul
from leafgrad.ops.pointwise.comparison import logical_xor
from leafgrad.ops.pointwise.elementwise import sub
from leafgrad.ops.registry import composite
from leafgrad.ops.samples import S
from leafgrad.ops.shape.join import cat
from leafgrad.ops.signature import Dim, DimOrDims, Number, Tensor


@composite(
    lambda t: [
        *[S(t(5)), S(t(3, 4), 2, 0), S(t(3, 4), 0), S(t(2, 3), 1, -1, t(2, 1), t(2, 2)), S(t(2, 2), 4)],
    ],
    out=True,
)
def diff(
    input: Tensor, n: int = 1, dim: Dim = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """diff(input, n=1, dim=-1, prepend=None, append=None): the differences of neighbours along a dimension, n times;
    what is to stand before and behind may be given."""
    if not input.array.ndim:
        raise errors.mistake(RuntimeError, "diff expects input to be at least one-dimensional")
    if n < 0:
        raise errors.mistake(RuntimeError, f"order must be non-negative but got {n}")
    at = wrap_dim(dim, input.array.ndim)
    if n == 0:
        return input.clone()
    parts = [t for t in (prepend, input, append) if t is not None]
    x = cat.function(parts, at) if len(parts) > 1 else input
    minus = logical_xor.function if from_numpy_dtype(x.array.dtype).category == BOOL else sub.function
    for _ in range(min(n, x.array.shape[at])):
        size = max(x.array.shape[at] - 1, 0)
        x = minus(x.narrow(at, min(1, x.array.shape[at]), size), x.narrow(at, 0, size))
    return x


def _trapezoids(name: str, y: Any, x: Any, dx: Any, dim: int) -> tuple[Any, int]:
    """The sums of neighbours times how far they are apart, along a dimension."""
    at = wrap_dim(dim, y.array.ndim)
    if y.array.ndim == 0:
        raise errors.mistake(IndexError, f"Dimension specified as {dim} but tensor has no dimensions")
    size = max(y.array.shape[at] - 1, 0)
    sums = y.narrow(at, min(1, y.array.shape[at]), size) + y.narrow(at, 0, size)
    if x is None:
        return sums * dx, at
    if x.array.dtype.kind == "b" or y.array.dtype.kind == "b":
        raise errors.mistake(RuntimeError, f"{name}: received a bool input for `x` or `y`, but bool is not supported")
    if x.array.ndim == 1:
        x = x.reshape((-1, *[1] * (y.array.ndim - 1 - at)))
        steps = diff(x, 1, 0)
    else:
        steps = diff(x, 1, dim)
    return sums * steps, at


def _areas(t: Any) -> list[Any]:
    made = [S(t(5)), S(t(3, 4), dx=0.5), S(t(3, 4), dim=0), S(t(3, 4), t(4)), S(t(3, 4), t(3, 4), dim=0)]
    return [sample.exempt_from("integers") for sample in made]  # the sum of two bools is one


def _checked_steps(x: Any, dx: Any) -> Any:
    if x is not None and dx is not None:
        raise errors.mistake(TypeError, "trapezoid() received an invalid combination of arguments")
    return 1 if dx is None else dx


@composite(_areas, method=False, aliases=("trapz",))
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Number | None = None, dim: Dim = -1) -> Tensor:
    """trapezoid(y, x=None, *, dx=None, dim=-1): the area under a curve through points y, at x or dx apart."""
    parts, at = _trapezoids("trapezoid", y, x, _checked_steps(x, dx), dim)
    return parts.sum(at) / 2.0


@composite(_areas, method=False)
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Number | None = None, dim: Dim = -1) -> Tensor:
    """cumulative_trapezoid(y, x=None, *, dx=None, dim=-1): the areas under a curve up to each of its points."""
    parts, at = _trapezoids("cumulative_trapezoid", y, x, _checked_steps(x, dx), dim)
    return parts.cumsum(at) / 2.0


# -- slopes -----------------------------------------------------------------------------------------------------------


def _slope(t: Any, dim: int, spacing: Any, edge_order: int) -> Any:
    """Central differences of second order, also where points are not equally far apart; one-sided ones at the ends."""
    count = t.array.shape[dim]

    def part(first: int, size: int) -> Any:
        return t.narrow(dim, first, size)

    if isinstance(spacing, TensorBase):
        steps = diff(spacing, 1, 0)
        shaped = [steps.narrow(0, at, count - 2).reshape((-1, *[1] * (t.array.ndim - 1 - dim))) for at in (0, 1)]
        before, behind = shaped
        first, last = steps[0], steps[-1]
        weights = -behind / (before * (before + behind)), (behind - before) / (before * behind)
        middle = weights[0] * part(0, count - 2) + weights[1] * part(1, count - 2)
        middle = middle + before / (behind * (before + behind)) * part(2, count - 2)
        ends = (steps[0], steps[1]), (steps[-1], steps[-2])
    else:
        first = last = spacing
        middle = (part(2, count - 2) - part(0, count - 2)) / (2 * spacing)
        ends = (spacing, spacing), (spacing, spacing)
    if edge_order == 1:
        start = (part(1, 1) - part(0, 1)) / first
        stop = (part(count - 1, 1) - part(count - 2, 1)) / last
    else:
        start = _edge(part(0, 1), part(1, 1), part(2, 1), *ends[0])
        stop = -_edge(part(count - 1, 1), part(count - 2, 1), part(count - 3, 1), *ends[1])
    return cat.function([start, middle, stop], dim)


def _edge(at: Any, near: Any, far: Any, one: Any, two: Any) -> Any:
    """The slope at the first of three points."""
    both = one + two
    return -(one + both) / (one * both) * at + both / (one * two) * near - one / (two * both) * far


@composite(
    lambda t: [S(t(5)), S(t(3, 4), spacing=0.5, dim=0), S(t(4, 3), edge_order=2), S(t(3, 3), spacing=[0.5, 2.0])],
    method=False,
)
def gradient(
    input: Tensor, *, spacing: Any = 1, dim: DimOrDims | None = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """gradient(input, *, spacing=1, dim=None, edge_order=1): the slopes along each dimension, by central differences;
    `spacing` is how far points are apart, or a tensor with the coordinates for each dimension."""
    ndim = input.array.ndim
    given = tuple(range(ndim)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    dims = [wrap_dim(d, ndim) for d in given]
    if isinstance(spacing, Sequence):
        if len(spacing) != len(dims):
            first = (
                "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() "
                f"= {ndim}', since dim argument was not given, but got a list of length {len(spacing)}"
            )
            raise errors.mistake(RuntimeError, first)
        steps = list(spacing)
    else:
        steps = [1 if spacing is None else spacing] * len(dims)
    if edge_order not in (1, 2):
        raise errors.mistake(RuntimeError, "torch.gradient only supports edge_order=1 and edge_order=2.")
    for d in dims:
        if input.array.shape[d] < edge_order + 1:
            first = "torch.gradient expected each dimension size to be at least edge_order+1"
            raise errors.mistake(RuntimeError, first)
    return tuple([_slope(input, d, step, edge_order) for d, step in zip(dims, steps, strict=True)])


# -- covariances ------------------------------------------------------------------------------------------------------


def _checked_weights(name: str, weights: Any, count: int) -> None:
    if weights.array.ndim > 1:
        ndim = weights.array.ndim
        first = f"cov(): expected {name} to have one or fewer dimensions but got {name} with {ndim} dimensions"
        raise errors.mistake(RuntimeError, first)
    if weights.array.size != count:
        first = f"cov(): expected {name} to have the same numel as there are observations in the input but got "
        raise errors.mistake(RuntimeError, f"{first}{weights.array.size} != {count}")


@composite(
    lambda t: [
        *[S(t(3, 4)), S(t(5)), S(t(2, 4), correction=0)],
        S(t(2, 3), fweights=t(3, dtype="int64", low=1, high=4)),
    ],
)
def cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """cov(input, *, correction=1, fweights=None, aweights=None): the covariances of variables, which are rows, over
    observations, which are columns: each so many times, or of such weight."""
    if input.array.ndim > 2:
        ndim = input.array.ndim
        first = f"cov(): expected input to have two or fewer dimensions but got an input with {ndim} dimensions"
        raise errors.mistake(RuntimeError, first)
    if input.array.dtype.kind == "b":
        raise errors.mistake(RuntimeError, "cov(): bool dtype is not supported for input")
    x = input if input.array.ndim == 2 else input.reshape((1, -1))
    x = x.to(get_default_dtype()) if x.array.dtype.kind in "iu" else x
    count = x.array.shape[1]
    weights = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is not None:
            _checked_weights(name, given, count)
            weights = given if weights is None else weights * given
    total = wrap(np.asarray(count)) if weights is None else weights.sum()
    mean = x.mean(1, True) if weights is None else (x * weights).sum(1, keepdim=True) / total
    norm: Any
    if weights is not None and aweights is not None and correction != 0:
        norm = total - correction * (weights * aweights).sum() / total
    else:
        norm = total - correction
    freedom = norm.array
    if freedom.__class__ is np.ndarray and (freedom <= 0).any():
        errors.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations."
        )
        norm = norm * 0
    off = x - mean
    other = off if weights is None else off * weights
    return (matmul.function(off, other.mH) / norm).squeeze()


@composite(lambda t: [S(t(3, 4)), S(t(2, 5))])
def corrcoef(input: Tensor) -> Tensor:
    """corrcoef(input): the correlations of variables, which are rows."""
    if input.array.ndim > 2:
        ndim = input.array.ndim
        first = f"corrcoef(): expected input to have two or fewer dimensions but got an input with {ndim} dimensions"
        raise errors.mistake(RuntimeError, first)
    covariance = cov(input)
    if not covariance.array.ndim:
        return covariance / covariance
    spread = covariance.diagonal().real.sqrt()
    return covariance / spread.unsqueeze(1) / spread.unsqueeze(0)
