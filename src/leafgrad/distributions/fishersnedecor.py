"""The distribution of Fisher and Snedecor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.distribution import Parametric
from leafgrad.distributions.gamma import Gamma

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Parametric):
    """FisherSnedecor(df1, df2): ratios of two mean squares of normal numbers, of `df1` and `df2` of them."""

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True
    df1: Tensor
    df2: Tensor

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        shape = self._broadcast(df1=df1, df2=df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(shape, validate_args=validate_args)

    def _above(self, limit: float) -> Tensor:
        """df2, where it is above a limit."""
        return torch.where(self.df2 <= limit, torch.nan, self.df2)

    @property
    def mean(self) -> Tensor:
        df2 = self._above(2)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Tensor:
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        mode[self.df1 <= 2] = torch.nan
        return mode

    @property
    def variance(self) -> Tensor:
        df2 = self._above(4)
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        above, below = self._gamma1.rsample(sample_shape), self._gamma2.rsample(sample_shape)
        tiny = torch.finfo(below.dtype).tiny
        return (above / below.clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        a, b, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        normalizer = (a + b).lgamma() - a.lgamma() - b.lgamma() + a * ratio.log()
        return normalizer + (a - 1) * torch.log(value) - (a + b) * torch.log1p(ratio * value)
