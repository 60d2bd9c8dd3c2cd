"""The Dirichlet distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.autograd import Function
from leafgrad.autograd.function import once_differentiable
from leafgrad.distributions import constraints
from leafgrad.distributions.exp_family import ParametricFamily
from leafgrad.ops.random import by_rejection

__all__ = ["Dirichlet"]


class _Dirichlet(Function):
    """Samples, with the gradient of the numbers as functions of the concentrations."""

    @staticmethod
    def forward(ctx: Any, concentration: Tensor) -> Tensor:
        sample = by_rejection._sample_dirichlet(concentration)
        ctx.save_for_backward(sample, concentration)
        result: Tensor = sample
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        sample, concentration = ctx.saved_tensors
        total = concentration.sum(-1, True).expand_as(concentration)
        slope = by_rejection._dirichlet_grad(sample, concentration, total)
        result: Tensor = slope * (grad - (sample * grad).sum(-1, True))
        return result


class Dirichlet(ParametricFamily):
    """Dirichlet(concentration): probabilities along the last dimension, which add up to one."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    concentration: Tensor

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        corner = (self.concentration < 1).all(-1)
        biggest = torch.eye(self.event_shape[0], dtype=mode.dtype)[mode[corner].argmax(-1)]
        mode[corner] = biggest.to(mode)
        return mode

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        drawn: Tensor = _Dirichlet.apply(self.concentration.expand(self._extended_shape(sample_shape)))
        return drawn

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        normalizer = torch.lgamma(self.concentration.sum(-1)) - torch.lgamma(self.concentration).sum(-1)
        return torch.xlogy(self.concentration - 1.0, value).sum(-1) + normalizer

    def entropy(self) -> Tensor:
        a, total, k = self.concentration, self.concentration.sum(-1), self.concentration.size(-1)
        normalizer = torch.lgamma(a).sum(-1) - torch.lgamma(total)
        return normalizer - (k - total) * torch.digamma(total) - ((a - 1.0) * torch.digamma(a)).sum(-1)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        normalizer: Tensor = x.lgamma().sum(-1) - torch.lgamma(x.sum(-1))
        return normalizer
