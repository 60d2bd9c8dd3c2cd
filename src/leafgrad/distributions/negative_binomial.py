"""The negative binomial distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.distribution import ByProbsOrLogits
from leafgrad.distributions.gamma import Gamma
from leafgrad.distributions.utils import broadcast_all, lazy_property
from leafgrad.nn.functional import logsigmoid

__all__ = ["NegativeBinomial"]


class NegativeBinomial(ByProbsOrLogits):
    """NegativeBinomial(total_count, probs=None, logits=None): how many trials succeed, with probability `probs`, before
    `total_count` fail."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0), "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }  # fmt: skip
    support = constraints.nonnegative_integer
    total_count: Tensor

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        given = self._take(probs, logits)
        self.total_count, self.__dict__[self._given] = broadcast_all(total_count, given)
        self.total_count = self.total_count.type_as(given)
        super().__init__(self._param.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * torch.exp(self.logits)

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / torch.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Gamma:
        """Of rates, by which it is a mixture of Poisson distributions."""
        return Gamma(concentration=self.total_count, rate=torch.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with torch.no_grad():
            return torch.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        unnormalized = self.total_count * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        ways = -torch.lgamma(self.total_count + value) + torch.lgamma(1.0 + value) + torch.lgamma(self.total_count)
        ways = ways.masked_fill(self.total_count + value == 0.0, 0.0)
        return unnormalized - ways
