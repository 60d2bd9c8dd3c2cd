"""The Kumaraswamy distribution."""

from __future__ import annotations

from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.transformed_distribution import TransformedDistribution
from leafgrad.distributions.transforms import AffineTransform, PowerTransform
from leafgrad.distributions.uniform import Uniform
from leafgrad.distributions.utils import euler_constant

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """Kumaraswamy(concentration1, concentration0): much like Beta, but with a distribution function in closed form."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True
    concentration1: Tensor
    concentration0: Tensor

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self._broadcast(concentration1=concentration1, concentration0=concentration0)
        low, high = torch.full_like(self.concentration0, 0), torch.full_like(self.concentration0, 1)
        base = Uniform(low, high, validate_args=validate_args)
        super().__init__(base, self._transforms(), validate_args=validate_args)

    def _transforms(self) -> list[Any]:
        inner = PowerTransform(exponent=self.concentration0.reciprocal())
        outer = PowerTransform(exponent=self.concentration1.reciprocal())
        return [inner, AffineTransform(loc=1.0, scale=-1.0), outer]

    def _moment(self, n: int) -> Tensor:
        a, b = 1 + n / self.concentration1, self.concentration0
        return b * torch.exp(torch.lgamma(a) + torch.lgamma(b) - torch.lgamma(a + b))

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        log_mode = b.reciprocal() * (-b).log1p() - (-b * a).log1p()
        log_mode[(b < 1) | (a < 1)] = torch.nan
        return log_mode.exp()

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - torch.pow(self.mean, 2)

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = torch.digamma(b + 1) + euler_constant
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - torch.log(a) - torch.log(b)
