"""The inverse gamma distribution."""

from __future__ import annotations

from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.gamma import Gamma
from leafgrad.distributions.transformed_distribution import TransformedDistribution
from leafgrad.distributions.transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """InverseGamma(concentration, rate): 1 / x of gamma numbers."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        turned = PowerTransform(-base.rate.new_ones(()))
        super().__init__(base, turned, validate_args=validate_args)

    @property
    def concentration(self) -> Tensor:
        """That of the gamma numbers."""
        concentration: Tensor = self.base_dist.concentration
        return concentration

    @property
    def rate(self) -> Tensor:
        """That of the gamma numbers."""
        rate: Tensor = self.base_dist.rate
        return rate

    @property
    def mean(self) -> Tensor:
        result = self.rate / (self.concentration - 1)
        return torch.where(self.concentration > 1, result, torch.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        a = self.concentration
        return torch.where(a > 2, self.rate.square() / ((a - 1).square() * (a - 2)), torch.inf)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()
