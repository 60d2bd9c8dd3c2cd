"""The normal distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.exp_family import ParametricFamily
from leafgrad.distributions.utils import _standard_normal

__all__ = ["Normal"]

LOG_ROOT_2PI = math.log(math.sqrt(2 * math.pi))


class Normal(ParametricFamily):
    """Normal(loc, scale): with mean `loc` and standard deviation `scale`."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _mean_carrier_measure = 0
    loc: Tensor
    scale: Tensor

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(self._broadcast(loc=loc, scale=scale), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return (
            self.loc
            + _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device) * self.scale
        )

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        return -((value - self.loc) ** 2) / (2 * self.scale**2) - self.scale.log() - LOG_ROOT_2PI

    def cdf(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        return 0.5 * (1 + torch.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * torch.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + torch.log(self.scale)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return -0.25 * x.pow(2) / y + 0.5 * torch.log(-math.pi / y)
