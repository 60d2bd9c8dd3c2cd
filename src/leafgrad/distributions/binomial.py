"""The binomial distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.distribution import ByProbsOrLogits
from leafgrad.distributions.utils import broadcast_all

__all__ = ["Binomial"]


class Binomial(ByProbsOrLogits):
    """Binomial(total_count=1, probs=None, logits=None): how many of `total_count` trials succeed."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval, "logits": constraints.real,
    }  # fmt: skip
    has_enumerate_support = True
    total_count: Tensor

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        given = self._take(probs, logits)
        self.total_count, self.__dict__[self._given] = broadcast_all(total_count, given)
        self.total_count = self.total_count.type_as(given)
        super().__init__(self._param.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        ways = torch.lgamma(self.total_count + 1) - torch.lgamma(value + 1)
        ways = ways - torch.lgamma(self.total_count - value + 1)
        # n log(1 + exp(logits)), without overflow
        positive = (self.logits + self.logits.abs()) / 2
        normalizer = self.total_count * positive + self.total_count * torch.log1p(torch.exp(-self.logits.abs()))
        return value * self.logits + ways - normalizer

    def entropy(self) -> Tensor:
        if not self.total_count.min() == self.total_count.max():
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`.")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        total = int(self.total_count.max())
        if not self.total_count.min() == total:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        return self._enumerated(torch.arange(1 + total, dtype=self._param.dtype), expand)
