"""The categorical distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.distribution import ByProbsOrLogits, Size

__all__ = ["Categorical"]


class Categorical(ByProbsOrLogits):
    """Categorical(probs=None, logits=None): indices 0, 1, ..., with probabilities along the last dimension, which need
    not be normalised."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    is_binary = False

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        given = self._take(probs, logits)
        if given.dim() < 1:
            raise ValueError(f"`{self._given}` parameter must be at least one-dimensional.")
        normal = given - given.logsumexp(-1, keepdim=True) if probs is None else given / given.sum(-1, keepdim=True)
        self.__dict__[self._given] = normal
        super().__init__(normal.shape[:-1], validate_args=validate_args)

    @property
    def _num_events(self) -> int:
        result: int = self._param.shape[-1]
        return result

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        return torch.full(self.batch_shape, torch.nan, dtype=self.probs.dtype)

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Tensor:
        return self.mean

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with torch.no_grad():
            rows = self.probs.reshape(-1, self._num_events)
            drawn = torch.multinomial(rows, Size(sample_shape).numel(), True).T
            return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value).long().unsqueeze(-1)
        value, log_probs = torch.broadcast_tensors(value, self.logits)
        return log_probs.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        logits = torch.clamp(self.logits, min=torch.finfo(self.logits.dtype).min)  # 0 * -inf would be nan
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._enumerated(torch.arange(self._num_events), expand)
