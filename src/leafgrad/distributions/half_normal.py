"""The half-normal distribution."""

from __future__ import annotations

import math
from typing import Any

from leafgrad import Tensor
from leafgrad.distributions._folded import Folded
from leafgrad.distributions.normal import Normal

__all__ = ["HalfNormal"]


class HalfNormal(Folded):
    """HalfNormal(scale): |x| of normal numbers around zero."""

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)
