"""The Gumbel distribution."""

from __future__ import annotations

import math
from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.transformed_distribution import TransformedDistribution
from leafgrad.distributions.transforms import AffineTransform, ExpTransform
from leafgrad.distributions.uniform import Uniform
from leafgrad.distributions.utils import euler_constant

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """Gumbel(loc, scale): the distribution of maxima, loc - scale * log(-log(u)) of uniform numbers."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    loc: Tensor
    scale: Tensor

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self._broadcast(loc=loc, scale=scale)
        finfo = torch.finfo(self.loc.dtype)
        low, high = torch.full_like(self.loc, finfo.tiny), torch.full_like(self.loc, 1 - finfo.eps)
        base = Uniform(low, high, validate_args=validate_args)
        super().__init__(base, self._transforms(), validate_args=validate_args)

    def _transforms(self) -> list[Any]:
        turned = AffineTransform(loc=0, scale=-torch.ones_like(self.scale))
        return [ExpTransform().inv, turned, ExpTransform().inv, AffineTransform(loc=self.loc, scale=-self.scale)]

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def log_prob(self, value: Tensor) -> Tensor:
        y = (self.loc - self._checked(value)) / self.scale
        return (y - y.exp()) - self.scale.log()

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + euler_constant)
