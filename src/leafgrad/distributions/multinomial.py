"""The multinomial distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions._over_categories import OverCategories
from leafgrad.distributions.binomial import Binomial
from leafgrad.distributions.categorical import Categorical
from leafgrad.distributions.utils import broadcast_all

__all__ = ["Multinomial"]


class Multinomial(OverCategories):
    """Multinomial(total_count=1, probs=None, logits=None): how often each category is drawn, of `total_count` times."""

    total_count: int

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        drawn = self._categorical.sample((self.total_count, *sample_shape))  # the draws that are counted come first
        indices = drawn.permute((*range(1, drawn.dim()), 0))
        counts = torch.zeros(self._extended_shape(sample_shape), dtype=indices.dtype)
        counts.scatter_add_(-1, indices, torch.ones_like(indices))
        return counts.type_as(self.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        logits, value = broadcast_all(self.logits, self._checked(value))
        logits = logits.clone(memory_format=torch.contiguous_format)
        ways = torch.lgamma(value.sum(-1) + 1) - torch.lgamma(value + 1).sum(-1)
        logits[(value == 0) & (logits == -torch.inf)] = 0
        return ways + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        each = self.total_count * self._categorical.entropy() - math.lgamma(self.total_count + 1)
        counts = self._binomial.enumerate_support(expand=False)[1:]
        weighted = torch.exp(self._binomial.log_prob(counts)) * torch.lgamma(counts + 1)
        return each + weighted.sum((0, -1))
