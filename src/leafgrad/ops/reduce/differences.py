"""Differences, areas under curves, slopes and covariances of samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import binary
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._core.views import bind_view
from leafgrad._dtypes import FLOAT, INTEGER, from_numpy_dtype, get_default_dtype
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.index.slices import slice_
from leafgrad.ops.linalg.products import mm
from leafgrad.ops.pointwise.comparison import logical_xor
from leafgrad.ops.pointwise.complex import complex_
from leafgrad.ops.pointwise.elementwise import BY_A_NUMBER, mul, sub, true_div
from leafgrad.ops.pointwise.fill import copy_like
from leafgrad.ops.registry import composite
from leafgrad.ops.samples import S
from leafgrad.ops.shape.join import cat
from leafgrad.ops.signature import Dim, DimOrDims, Number, Tensor


def times(t: Any, number: Any) -> Any:
    """A tensor times a number that is no argument, as PyTorch's graph shows it."""
    return binary(mul.named[BY_A_NUMBER], t, number)


def over(t: Any, number: Any) -> Any:
    return binary(true_div.named["DivBackward1(input)"], t, number)


@composite(
    lambda t: [
        *[S(t(5)), S(t(3, 4), 2, 0), S(t(3, 4), 0), S(t(2, 3), 1, -1, t(2, 1), t(2, 2)), S(t(2, 2), 4)],
    ],
    out="expected scalar_type {wanted.alias} but found {given.alias}",
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
    if prepend is not None:
        _check_end(input.array.shape, prepend.array.shape, at)
    if append is not None:
        _check_end(input.array.shape, append.array.shape, at)
    if n == 0:
        return copy_like.record(input.detach(), input)
    x = input
    if prepend is not None or append is not None:
        x = cat.function([t for t in (prepend, input, append) if t is not None], at)
    is_bool = x.array.dtype.kind == "b"
    lead, size = (slice(None),) * at, x.array.shape[at]
    for length in range(size - 1, size - 1 - min(n, size), -1):
        behind, before = (*lead, slice(1, 1 + length), ...), (*lead, slice(0, length), ...)
        next_ones, own = bind_view(slice_.core, slice_, x, (behind,)), bind_view(slice_.core, slice_, x, (before,))
        x = logical_xor.function(next_ones, own) if is_bool else binary(sub.core, next_ones, own)
    return x


def _check_end(own: tuple[int, ...], other: tuple[int, ...], at: int) -> None:
    """What is to stand before or behind the elements along a dimension has their shape but for that dimension."""
    if len(other) != len(own):
        raise errors.mistake(RuntimeError, "diff expects prepend or append to be the same dimension as input")
    for dim, (size, wanted) in enumerate(zip(other, own)):
        if size != wanted and dim != at:
            raise errors.mistake(
                RuntimeError,
                "diff expects the shape of tensor to prepend or append to match that of input except along the "
                f"differencing dimension; input.size({dim}) = {wanted}, but got tensor.size({dim}) = {size}",
            )


def _checked_step(name: str, y: Any, x: Any, dx: Any) -> float:
    if x is None and y.array.dtype.kind == "b":
        raise errors.mistake(RuntimeError, f"{name}: received a bool input for `y`, but bool is not supported")
    if x is not None and "b" in (x.array.dtype.kind, y.array.dtype.kind):
        raise errors.mistake(RuntimeError, f"{name}: received a bool input for `x` or `y`, but bool is not supported")
    if isinstance(dx, complex):
        raise errors.mistake(RuntimeError, f"{name}: Currently, we only support dx as a real number.")
    return 1.0 if dx is None else float(dx)


def _check_combination(name: str, x: Any, dx: Any) -> None:
    if x is not None and dx is not None:
        raise errors.mistake(TypeError, f"{name}() received an invalid combination of arguments")


def _neighbours(t: Any, dim: int) -> tuple[Any, Any]:
    """All elements along a dimension but the first, and all but the last."""
    size = max(t.array.shape[dim] - 1, 0)
    return t.narrow(dim, min(1, t.array.shape[dim]), size), t.narrow(dim, 0, size)


def _sums(y: Any, dim: int) -> Any:
    later, earlier = _neighbours(y, dim)
    return earlier + later


def _steps(name: str, y: Any, x: Any, at: int) -> Any:
    """How far the points are apart, in a shape that fits to those along a dimension."""
    ndim, shape = y.array.ndim, x.array.shape
    if len(shape) == 1:
        if shape[0] != y.array.shape[at]:
            raise errors.mistake(RuntimeError, f"{name}: There must be one `x` value for each sample point")
        x = x.reshape([shape[0] if d == at else 1 for d in range(ndim)])
    elif len(shape) < ndim:
        x = x.reshape((*[1] * (ndim - len(shape)), *shape))
    later, earlier = _neighbours(x, at)
    return later - earlier


def _areas(t: Any) -> list[Any]:
    return [S(t(5)), S(t(3, 4), dx=0.5), S(t(3, 4), dim=0), S(t(3, 4), t(4)), S(t(3, 4), t(3, 4), dim=0)]


@composite(_areas, method=False, aliases=("trapz",))
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Number | None = None, dim: Dim = -1) -> Tensor:
    """trapezoid(y, x=None, *, dx=None, dim=-1): the area under a curve through points y, at x or dx apart."""
    _check_combination("trapezoid", x, dx)
    if not y.array.ndim:
        raise errors.mistake(IndexError, f"Dimension specified as {dim} but tensor has no dimensions")
    at = wrap_dim(dim, y.array.ndim)
    if not y.array.shape[at]:
        return wrap(np.zeros((*y.array.shape[:at], *y.array.shape[at + 1 :]), y.array.dtype))
    step = _checked_step("trapezoid", y, x, dx)
    if x is not None:
        return over((_sums(y, at) * _steps("trapezoid", y, x, at)).sum(at), 2.0)
    ends = y.select(at, 0) + y.select(at, -1)
    return times(y.sum(at) - times(ends, 0.5), step)


@composite(_areas, method=False)
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Number | None = None, dim: Dim = -1) -> Tensor:
    """cumulative_trapezoid(y, x=None, *, dx=None, dim=-1): the areas under a curve up to each of its points."""
    name = "cumulative_trapezoid"
    _check_combination(name, x, dx)
    step = _checked_step(name, y, x, dx)
    if not y.array.ndim:
        raise errors.mistake(IndexError, "slice() cannot be applied to a 0-dim tensor.")
    at = wrap_dim(dim, y.array.ndim)
    if x is not None:
        return over((_sums(y, at) * _steps(name, y, x, at)).cumsum(at), 2.0)
    return times(_sums(y, at), step / 2).cumsum(at)


# -- slopes -----------------------------------------------------------------------------------------------------------


def _slope(t: Any, dim: int, spacing: Any, edge_order: int) -> Any:
    """Central differences of second order, also where points are not equally far apart; one-sided ones at the ends."""
    count = t.array.shape[dim]

    def part(first: int, size: int) -> Any:
        return t.narrow(dim, first, size)

    if not isinstance(spacing, TensorBase):
        middle = over(over(part(2, count - 2) - part(0, count - 2), spacing), 2)
        points = [part(0, 1), part(1, 1), part(count - 1, 1), part(count - 2, 1)]
        if edge_order == 1:
            start, stop = points[1] - points[0], points[2] - points[3]
        else:
            start = times(points[0], -1.5) + times(points[1], 2) - times(part(2, 1), 0.5)
            stop = times(points[2], 1.5) - times(points[3], 2) + times(part(count - 3, 1), 0.5)
        return cat.function([over(start, spacing), middle, over(stop, spacing)], dim)
    steps = diff(spacing, 1, 0)
    before, behind = [steps.narrow(0, at, count - 2).reshape((-1, *[1] * (t.array.ndim - 1 - dim))) for at in (0, 1)]
    weights = -behind / (before * (before + behind)), (behind - before) / (before * behind)
    middle = weights[0] * part(0, count - 2) + weights[1] * part(1, count - 2)
    middle = middle + before / (behind * (before + behind)) * part(2, count - 2)
    if edge_order == 1:
        start = (part(1, 1) - part(0, 1)) / steps[0]
        stop = (part(count - 1, 1) - part(count - 2, 1)) / steps[-1]
    else:
        start = _edge(part(0, 1), part(1, 1), part(2, 1), steps[0], steps[1])
        stop = -_edge(part(count - 1, 1), part(count - 2, 1), part(count - 3, 1), steps[-1], steps[-2])
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
    if input.array.dtype == np.uint8:
        raise errors.mistake(RuntimeError, "torch.gradient does not support uint8 input.")
    for d in dims:
        if dims.count(d) > 1:
            raise errors.mistake(RuntimeError, f"dim {d} appears multiple times in the list of dims")
    if isinstance(spacing, Sequence):
        if len(spacing) != len(dims) and dim is not None:
            first = (
                "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have "
                f"the same length, but got a spacing argument of length {len(spacing)} and a dim argument of length "
                f"{len(dims)}."
            )
            raise errors.mistake(RuntimeError, first)
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
    kind = from_numpy_dtype(weights.array.dtype)
    wanted = (INTEGER, "integral") if name == "fweights" else (FLOAT, "floating point")
    if kind.category != wanted[0]:
        first = f"cov(): expected {name} to have {wanted[1]} dtype but got {name} with {kind.alias} dtype"
        raise errors.mistake(RuntimeError, first)
    if weights.array.size != count:
        first = f"cov(): expected {name} to have the same numel as there are observations in the input but got "
        raise errors.mistake(RuntimeError, f"{first}{weights.array.size} != {count}")
    if weights.array.__class__ is np.ndarray and (weights.array < 0).any():
        raise errors.mistake(RuntimeError, f"cov(): {name} cannot be negative")


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
    if weights is not None and total.array.__class__ is np.ndarray and not total.array.any():
        raise errors.mistake(RuntimeError, "cov(): weights sum to zero, can't be normalized")
    mean = (x if weights is None else x * weights).sum(1) / total
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
    off = x - mean.unsqueeze(1)
    other = off if weights is None else off * weights
    products = mm.function(off, other.t().conj())
    if products.array.dtype.kind == "c" and products.array.size == 1:  # a variance, which is real
        products = complex_.function(products.real, wrap(np.zeros_like(products.array.real)))
    return (products / norm).squeeze()


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
    ratios = covariance / spread.view((-1, 1)) / spread.view((1, -1))
    if ratios.array.dtype.kind != "c":
        return ratios.clamp(-1, 1)  # which rounding may have left
    return complex_.function(ratios.real.clamp(-1, 1), ratios.imag.clamp(-1, 1))
