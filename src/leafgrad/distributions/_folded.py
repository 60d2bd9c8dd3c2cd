"""What the distributions of |x| share, for an x whose distribution is symmetric about zero."""

from __future__ import annotations

import math

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.distribution import Distribution
from leafgrad.distributions.transformed_distribution import TransformedDistribution
from leafgrad.distributions.transforms import AbsTransform


class Folded(TransformedDistribution):
    """Folded(base_distribution): its density at x > 0 is twice that of the base."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, base_distribution: Distribution, validate_args: bool | None = None) -> None:
        super().__init__(base_distribution, AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Tensor:
        """The scale of the base distribution."""
        scale: Tensor = self.base_dist.scale
        return scale

    @property
    def mode(self) -> Tensor:
        return torch.zeros_like(self.scale)

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
