"""The half-normal distribution."""

from __future__ import annotations

import math
from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.normal import Normal
from leafgrad.distributions.transformed_distribution import TransformedDistribution
from leafgrad.distributions.transforms import AbsTransform

__all__ = ["HalfNormal"]


class HalfNormal(TransformedDistribution):
    """HalfNormal(scale): |x| of normal numbers around zero."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Tensor:
        """The standard deviation of the normal numbers."""
        scale: Tensor = self.base_dist.scale
        return scale

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Tensor:
        return torch.zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
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
