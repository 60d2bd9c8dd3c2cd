"""Student's t-distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.chi2 import Chi2
from leafgrad.distributions.distribution import Parametric
from leafgrad.distributions.utils import _standard_normal

__all__ = ["StudentT"]


class StudentT(Parametric):
    """StudentT(df, loc=0.0, scale=1.0): normal numbers over estimates of their standard deviation."""

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    df: Tensor
    loc: Tensor
    scale: Tensor

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        shape = self._broadcast(df=df, loc=loc, scale=scale)
        self._chi2 = Chi2(self.df)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        mean = self.loc.clone(memory_format=torch.contiguous_format)
        mean[self.df <= 1] = torch.nan
        return mean

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        variance = self.df.clone(memory_format=torch.contiguous_format)
        finite = self.df > 2
        df = self.df[finite]
        variance[finite] = self.scale[finite].pow(2) * df / (df - 2)
        variance[~finite & (self.df > 1)] = torch.inf
        variance[self.df <= 1] = torch.nan
        return variance

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        normal = _standard_normal(self._extended_shape(sample_shape), self.df.dtype, self.df.device)
        chi2 = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (normal * torch.rsqrt(chi2 / self.df))

    def log_prob(self, value: Tensor) -> Tensor:
        y = (self._checked(value) - self.loc) / self.scale
        normalizer = self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi)
        normalizer = normalizer + torch.lgamma(0.5 * self.df) - torch.lgamma(0.5 * (self.df + 1.0))
        return -0.5 * (self.df + 1.0) * torch.log1p(y**2.0 / self.df) - normalizer

    def entropy(self) -> Tensor:
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        beta = torch.lgamma(half) + math.lgamma(0.5) - torch.lgamma(more)
        return self.scale.log() + more * (torch.digamma(more) - torch.digamma(half)) + 0.5 * self.df.log() + beta
