"""The Laplace distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.distribution import Parametric

__all__ = ["Laplace"]


class Laplace(Parametric):
    """Laplace(loc, scale): with density proportional to exp(-|x - loc| / scale)."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
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
    def variance(self) -> Tensor:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Tensor:
        return 2**0.5 * self.scale

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        eps = torch.finfo(self.loc.dtype).eps
        u = torch.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype).uniform_(eps - 1, 1)
        return self.loc - self.scale * u.sign() * torch.log1p(-u.abs())

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        return -torch.log(2 * self.scale) - torch.abs(value - self.loc) / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        far = self._checked(value) - self.loc
        return 0.5 - 0.5 * far.sign() * torch.expm1(-far.abs() / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        from_middle = value - 0.5
        return self.loc - self.scale * from_middle.sign() * torch.log1p(-2 * from_middle.abs())

    def entropy(self) -> Tensor:
        return 1 + torch.log(2 * self.scale)
