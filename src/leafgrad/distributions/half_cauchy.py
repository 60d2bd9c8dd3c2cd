"""The half-Cauchy distribution."""

from __future__ import annotations

from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions._folded import Folded
from leafgrad.distributions.cauchy import Cauchy

__all__ = ["HalfCauchy"]


class HalfCauchy(Folded):
    """HalfCauchy(scale): |x| of Cauchy numbers around zero."""

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return torch.full(self._extended_shape(), torch.inf, dtype=self.scale.dtype)

    @property
    def variance(self) -> Tensor:
        variance: Tensor = self.base_dist.variance
        return variance

    def log_prob(self, value: Tensor) -> Tensor:
        return super().log_prob(torch.as_tensor(self._checked(value), dtype=self.scale.dtype))
