"""The half-Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.cauchy import Cauchy
from leafgrad.distributions.transformed_distribution import TransformedDistribution
from leafgrad.distributions.transforms import AbsTransform

__all__ = ["HalfCauchy"]


class HalfCauchy(TransformedDistribution):
    """HalfCauchy(scale): |x| of Cauchy numbers around zero."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Tensor:
        """That of the Cauchy numbers."""
        scale: Tensor = self.base_dist.scale
        return scale

    @property
    def mean(self) -> Tensor:
        return torch.full(self._extended_shape(), torch.inf, dtype=self.scale.dtype)

    @property
    def mode(self) -> Tensor:
        return torch.zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        variance: Tensor = self.base_dist.variance
        return variance

    def log_prob(self, value: Tensor) -> Tensor:
        value = torch.as_tensor(self._checked(value), dtype=self.scale.dtype)
        log_prob = self.base_dist.log_prob(value) + math.log(2)
        return torch.where(value >= 0, log_prob, -torch.inf)

    def cdf(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        result: Tensor = 2 * self.base_dist.cdf(value) - 1
        return result

    def icdf(self, value: Tensor) -> Tensor:
        found: Tensor = self.base_dist.icdf((value + 1) / 2)
        return found

    def entropy(self) -> Tensor:
        result: Tensor = self.base_dist.entropy() - math.log(2)
        return result
