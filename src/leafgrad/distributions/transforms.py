"""Transforms of numbers; those of vectors and matrices, and what is common to all, come from the modules beside."""

from __future__ import annotations

import math
from numbers import Number
from typing import Any

import leafgrad as torch
from leafgrad.distributions import constraints
from leafgrad.distributions._transform import (
    ComposeTransform,
    IndependentTransform,
    Transform,
    identity_transform,
    inside_unit_interval,
)
from leafgrad.distributions._transform import _InverseTransform as _InverseTransform
from leafgrad.distributions._transforms_of_vectors import (
    CatTransform,
    CorrCholeskyTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    ReshapeTransform,
    SoftmaxTransform,
    StackTransform,
    StickBreakingTransform,
)
from leafgrad.distributions.utils import broadcast_all, lazy_property, softplus

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
    "SoftplusTransform", "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform",
]  # fmt: skip


class ExpTransform(Transform):
    """exp(x)."""

    domain, codomain = constraints.real, constraints.positive
    bijective = is_function_of_type = True
    sign = +1

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x


class PowerTransform(Transform):
    """x ** exponent."""

    domain = codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def _with(self, cache_size: int) -> Any:
        return PowerTransform(self.exponent, cache_size=cache_size)

    @lazy_property
    def sign(self) -> Any:
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all())

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Any:
        return torch.broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


class SigmoidTransform(Transform):
    """1 / (1 + exp(-x))."""

    domain, codomain = constraints.real, constraints.unit_interval
    bijective = is_function_of_type = True
    sign = +1

    def _call(self, x: Any) -> Any:
        return inside_unit_interval(torch.sigmoid(x))

    def _inverse(self, y: Any) -> Any:
        y = inside_unit_interval(y)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(Transform):
    """log(1 + exp(x))."""

    domain, codomain = constraints.real, constraints.positive
    bijective = is_function_of_type = True
    sign = +1

    def _call(self, x: Any) -> Any:
        return softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -softplus(-x)


class TanhTransform(Transform):
    """tanh(x)."""

    domain, codomain = constraints.real, constraints.interval(-1.0, 1.0)
    bijective = is_function_of_type = True
    sign = +1

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return torch.atanh(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AbsTransform(Transform):
    """|x|, whose inverse is one of two."""

    domain, codomain = constraints.real, constraints.positive
    is_function_of_type = True

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class AffineTransform(Transform):
    """loc + scale * x."""

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc = loc
        self.scale = scale
        self._event_dim = event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return constraints.independent(constraints.real, self._event_dim) if self._event_dim else constraints.real

    codomain = domain

    def _with(self, cache_size: int) -> Any:
        return AffineTransform(self.loc, self.scale, self._event_dim, cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        pairs = [(self.loc, other.loc), (self.scale, other.scale)]
        return all([bool(torch.as_tensor(a == b).all()) for a, b in pairs])

    __hash__ = object.__hash__

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Number):
            return int(self.scale > 0) - int(self.scale < 0)  # type: ignore[operator]
        return self.scale.sign()

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        shape = x.shape
        if isinstance(self.scale, Number):
            result = torch.full_like(x, math.log(abs(self.scale)))  # type: ignore[arg-type]
        else:
            result = self.scale.abs().log()
        if self._event_dim:
            result = result.reshape((*result.shape[: -self._event_dim], -1)).sum(-1)
            shape = shape[: -self._event_dim]
        return result.expand(shape)

    def forward_shape(self, shape: Any) -> Any:
        shapes = [getattr(each, "shape", ()) for each in (self.loc, self.scale)]
        return torch.broadcast_shapes(shape, *shapes)

    inverse_shape = forward_shape


class CumulativeDistributionTransform(Transform):
    """The probability of values up to x, by a distribution of single numbers: uniform, if x is drawn from it."""

    bijective = True
    codomain = constraints.unit_interval
    sign = +1

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        return self.distribution.support

    def _with(self, cache_size: int) -> Any:
        return CumulativeDistributionTransform(self.distribution, cache_size=cache_size)

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self.distribution.log_prob(x)
