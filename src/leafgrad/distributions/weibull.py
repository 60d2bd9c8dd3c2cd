"""The Weibull distribution."""

from __future__ import annotations

from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.exponential import Exponential
from leafgrad.distributions.transformed_distribution import TransformedDistribution
from leafgrad.distributions.transforms import AffineTransform, PowerTransform
from leafgrad.distributions.utils import euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """Weibull(scale, concentration): powers of waiting times, scale * x ** (1 / concentration)."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    has_rsample = True
    scale: Tensor
    concentration: Tensor

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self._broadcast(scale=scale, concentration=concentration)
        base = Exponential(torch.ones_like(self.scale), validate_args=validate_args)
        super().__init__(base, self._transforms(), validate_args=validate_args)

    def _transforms(self) -> list[Any]:
        return [PowerTransform(self.concentration.reciprocal()), AffineTransform(loc=0, scale=self.scale)]

    @property
    def mean(self) -> Tensor:
        return self.scale * torch.exp(torch.lgamma(1 + self.concentration.reciprocal()))

    @property
    def mode(self) -> Tensor:
        k = self.concentration
        return self.scale * ((k - 1) / k) ** k.reciprocal()

    @property
    def variance(self) -> Tensor:
        inverse = self.concentration.reciprocal()
        second = torch.exp(torch.lgamma(1 + 2 * inverse))
        return self.scale.pow(2) * (second - torch.exp(2 * torch.lgamma(1 + inverse)))

    def entropy(self) -> Tensor:
        inverse = self.concentration.reciprocal()
        return euler_constant * (1 - inverse) + torch.log(self.scale * inverse) + 1
