"""Exponential families, whose entropy is a Bregman divergence."""

from __future__ import annotations

from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions.distribution import ByProbsOrLogits, Distribution, Parametric

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Distributions with a density exp(<t(x), natural parameters> - log normaliser + carrier measure)."""

    _mean_carrier_measure: Any = NotImplemented

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Tensor:
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """entropy(): by the gradient of the log normaliser, which is the mean of the statistics t(x)."""
        if self._mean_carrier_measure is NotImplemented:
            raise NotImplementedError
        parameters, normalizer, means = gradient_of_normalizer(self)
        entropy = normalizer - self._mean_carrier_measure
        for parameter, mean in zip(parameters, means):
            entropy = entropy - (parameter * mean).reshape((*self._batch_shape, -1)).sum(-1)
        result: Tensor = entropy
        return result


def gradient_of_normalizer(family: Any) -> tuple[list[Tensor], Tensor, tuple[Tensor, ...]]:
    """Natural parameters as leaves, the log normaliser of them, and its gradients."""
    parameters = [p.detach().requires_grad_() for p in family._natural_params]
    normalizer = family._log_normalizer(*parameters)
    return parameters, normalizer, torch.autograd.grad(normalizer.sum(), parameters, create_graph=True)


class ParametricFamily(Parametric, ExponentialFamily):
    """Exponential families of leafgrad whose parameters are attributes."""


class ProbsOrLogitsFamily(ByProbsOrLogits, ExponentialFamily):
    """The same, with the parameter `probs` or `logits`."""
