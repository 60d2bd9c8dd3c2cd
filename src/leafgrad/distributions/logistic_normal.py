"""The logistic-normal distribution."""

from __future__ import annotations

from typing import Any

from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.normal import Normal
from leafgrad.distributions.transformed_distribution import TransformedDistribution
from leafgrad.distributions.transforms import StickBreakingTransform

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """LogisticNormal(loc, scale): probabilities, made of normal numbers by StickBreakingTransform: one more than there
    are parameters."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        """The mean of the normal numbers."""
        loc: Tensor = self.base_dist.base_dist.loc
        return loc

    @property
    def scale(self) -> Tensor:
        """Their standard deviation."""
        scale: Tensor = self.base_dist.base_dist.scale
        return scale
