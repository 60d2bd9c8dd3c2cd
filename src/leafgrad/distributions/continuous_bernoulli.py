"""The continuous Bernoulli distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.exp_family import ProbsOrLogitsFamily
from leafgrad.distributions.utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs
from leafgrad.nn.functional import binary_cross_entropy_with_logits

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(ProbsOrLogitsFamily):
    """ContinuousBernoulli(probs=None, logits=None, lims=(0.499, 0.501)): numbers between zero and one with density
    proportional to probs ** x * (1 - probs) ** (1 - x). Between `lims` series are used, where formulas are 0 / 0."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        given = self._take(probs, logits)
        if probs is not None:
            if validate_args is not None and not self.arg_constraints["probs"].check(given).all():
                raise ValueError("The parameter probs has invalid values")
            self.__dict__["probs"] = clamp_probs(given)
        self._lims = lims
        super().__init__(given.shape, validate_args=validate_args)

    @lazy_property
    def probs(self) -> Tensor:
        """Probabilities."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _regular(self) -> tuple[Tensor, Tensor]:
        """Where the formulas hold, and the probabilities with others in place of the rest."""
        holds = (self.probs <= self._lims[0]) | (self.probs > self._lims[1])
        return holds, torch.where(holds, self.probs, self._lims[0] * torch.ones_like(self.probs))

    def _cont_bern_log_norm(self) -> Tensor:
        holds, p = self._regular()
        low = torch.where(p <= 0.5, p, torch.zeros_like(p))
        high = torch.where(p >= 0.5, p, torch.ones_like(p))
        gap = torch.where(p <= 0.5, torch.log1p(-2.0 * low), torch.log(2.0 * high - 1.0))
        x = torch.pow(self.probs - 0.5, 2)
        series = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return torch.where(holds, torch.log(torch.abs(torch.log1p(-p) - torch.log(p))) - gap, series)

    @property
    def mean(self) -> Tensor:
        holds, p = self._regular()
        x = self.probs - 0.5
        series = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * torch.pow(x, 2)) * x
        return torch.where(holds, p / (2.0 * p - 1.0) + 1.0 / (torch.log1p(-p) - torch.log(p)), series)

    @property
    def variance(self) -> Tensor:
        holds, p = self._regular()
        x = torch.pow(self.probs - 0.5, 2)
        series = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        formula = p * (p - 1.0) / torch.pow(1.0 - 2.0 * p, 2) + 1.0 / torch.pow(torch.log1p(-p) - torch.log(p), 2)
        return torch.where(holds, formula, series)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(torch.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        logits, value = broadcast_all(self.logits, self._checked(value))
        return -binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    def cdf(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        holds, p = self._regular()
        formula = (torch.pow(p, value) * torch.pow(1.0 - p, 1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        inside = torch.where(holds, formula, value)
        above = torch.where(value >= 1.0, torch.ones_like(value), inside)
        return torch.where(value <= 0.0, torch.zeros_like(value), above)

    def icdf(self, value: Tensor) -> Tensor:
        holds, p = self._regular()
        moved = torch.log1p(-p + value * (2.0 * p - 1.0)) - torch.log1p(-p)
        return torch.where(holds, moved / (torch.log(p) - torch.log1p(-p)), value)

    def entropy(self) -> Tensor:
        log_zero, log_one = torch.log1p(-self.probs), torch.log(self.probs)
        return self.mean * (log_zero - log_one) - self._cont_bern_log_norm() - log_zero

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        low, high = self._lims[0] - 0.5, self._lims[1] - 0.5
        holds = (x <= low) | (x > high)
        cut = torch.where(holds, x, low * torch.ones_like(x))
        formula = torch.log(torch.abs(torch.expm1(cut))) - torch.log(torch.abs(cut))
        return torch.where(holds, formula, 0.5 * x + torch.pow(x, 2) / 24.0 - torch.pow(x, 4) / 2880.0)
