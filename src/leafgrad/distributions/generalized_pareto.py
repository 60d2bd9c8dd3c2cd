"""The generalised Pareto distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.distribution import Parametric

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Parametric):
    """GeneralizedPareto(loc, scale, concentration): what exceeds a high threshold `loc`; exponential if the
    concentration is zero."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True
    loc: Tensor
    scale: Tensor
    concentration: Tensor

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        shape = self._broadcast(loc=loc, scale=scale, concentration=concentration)
        super().__init__(shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        end = torch.where(self.concentration < 0, self.loc - self.scale / self.concentration, torch.inf)
        return constraints.interval(self.loc, end)

    def _shape(self) -> tuple[Tensor, Tensor]:
        """Where the concentration is zero, and the concentration with one in these places."""
        is_zero = torch.isclose(self.concentration, torch.zeros_like(self.concentration))
        return is_zero, torch.where(is_zero, torch.ones_like(self.concentration), self.concentration)

    def _moment(self, limit: float, inside: float) -> tuple[Tensor, Tensor]:
        """Where a moment exists, and the concentration with a harmless number elsewhere."""
        exists = self.concentration < limit
        return exists, torch.where(exists, self.concentration, inside)

    @property
    def mean(self) -> Tensor:
        exists, k = self._moment(1, 0.5)
        return torch.where(exists, self.loc + self.scale / (1 - k), torch.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        exists, k = self._moment(0.5, 0.25)
        return torch.where(exists, self.scale**2 / ((1 - k) ** 2 * (1 - 2 * k)), torch.nan)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(torch.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        z = (self._checked(value) - self.loc) / self.scale
        is_zero, k = self._shape()
        power = 1 / k + torch.ones_like(z)
        other = torch.where(power == 0, power, power * torch.log1p(k * z))
        return -self.scale.log() - torch.where(is_zero, z, other)

    def log_survival_function(self, value: Tensor) -> Tensor:
        """log_survival_function(value): log(1 - cdf(value))."""
        z = (self._checked(value) - self.loc) / self.scale
        is_zero, k = self._shape()
        return torch.where(is_zero, -z, -torch.log1p(k * z) / k)

    def log_cdf(self, value: Tensor) -> Tensor:
        """log_cdf(value): log(cdf(value))."""
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value: Tensor) -> Tensor:
        return torch.exp(self.log_cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        is_zero, k = self._shape()
        log_left = torch.log1p(-value)
        other = self.loc + self.scale / k * torch.expm1(-k * log_left)
        return torch.where(is_zero, self.loc - self.scale * log_left, other)

    def entropy(self) -> Tensor:
        return (torch.log(self.scale) + self.concentration + 1).expand(self.batch_shape)
