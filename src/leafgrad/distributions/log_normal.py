"""The log-normal distribution."""

from __future__ import annotations

from typing import Any

from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.normal import Normal
from leafgrad.distributions.transformed_distribution import TransformedDistribution
from leafgrad.distributions.transforms import ExpTransform

__all__ = ["LogNormal"]


class LogNormal(TransformedDistribution):
    """LogNormal(loc, scale): exp(x) of normal numbers."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args=validate_args), ExpTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        """The mean of the normal numbers."""
        loc: Tensor = self.base_dist.loc
        return loc

    @property
    def scale(self) -> Tensor:
        """Their standard deviation."""
        scale: Tensor = self.base_dist.scale
        return scale

    @property
    def mean(self) -> Tensor:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Tensor:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        squared = self.scale.pow(2)
        return squared.expm1() * (2 * self.loc + squared).exp()

    def entropy(self) -> Tensor:
        result: Tensor = self.base_dist.entropy() + self.loc
        return result
