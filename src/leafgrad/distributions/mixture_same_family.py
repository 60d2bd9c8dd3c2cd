"""Mixtures of distributions of one family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.categorical import Categorical
from leafgrad.distributions.distribution import Distribution, Size

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """MixtureSameFamily(mixture_distribution, component_distribution): a categorical distribution chooses along the
    last dimension of the batch of components."""

    arg_constraints = {}

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
        self._mixture_distribution: Any = mixture_distribution
        self._component_distribution: Any = component_distribution
        mixtures, batch = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        for own, other in zip(reversed(mixtures), reversed(batch)):
            if own != 1 and other != 1 and own != other:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({mixtures}) is not compatible with "
                    f"`component_distribution.batch_shape`({batch})"
                )
        self._num_component = mixture_distribution.logits.shape[-1]
        components = component_distribution.batch_shape[-1]
        if self._num_component != components:
            raise ValueError(
                f"`mixture_distribution component` ({self._num_component}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({components})"
            )
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(batch, component_distribution.event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        batch = Size(batch_shape)
        new._component_distribution = self._component_distribution.expand((*batch, self._num_component))
        new._mixture_distribution = self._mixture_distribution.expand(batch)
        new._num_component, new._event_ndims = self._num_component, self._event_ndims
        Distribution.__init__(new, batch, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Any:
        """What chooses."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """Between which it chooses."""
        return self._component_distribution

    def _pad(self, x: Any) -> Any:
        """With a dimension for the components."""
        return x.unsqueeze(-1 - self._event_ndims)

    def _weights(self) -> Any:
        """The probabilities of the components, with the dimensions of events."""
        probs = self._mixture_distribution.probs
        known = len(self._mixture_distribution.batch_shape)
        more = 0 if known == 1 else len(self.batch_shape) - known
        return probs.reshape((*probs.shape[:-1], *[1] * more, probs.shape[-1], *[1] * self._event_ndims))

    @property
    def mean(self) -> Tensor:
        mean: Tensor = (self._weights() * self._component_distribution.mean).sum(-1 - self._event_ndims)
        return mean

    @property
    def variance(self) -> Tensor:
        weights, components = self._weights(), self._component_distribution
        spread = components.variance + (components.mean - self._pad(self.mean)).pow(2.0)
        variance: Tensor = (weights * spread).sum(-1 - self._event_ndims)
        return variance

    def cdf(self, value: Tensor) -> Tensor:
        of_components = self._component_distribution.cdf(self._pad(value))
        found: Tensor = (of_components * self._mixture_distribution.probs).sum(-1)
        return found

    def log_prob(self, value: Tensor) -> Tensor:
        of_components = self._component_distribution.log_prob(self._pad(self._checked(value)))
        weights = torch.log_softmax(self._mixture_distribution.logits, -1)
        return torch.logsumexp(of_components + weights, -1)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with torch.no_grad():
            dim = len(sample_shape) + len(self.batch_shape)
            chosen = self._mixture_distribution.sample(sample_shape)
            drawn: Tensor = self._component_distribution.sample(sample_shape)
            index = chosen.reshape((*chosen.shape, *[1] * (self._event_ndims + 1)))
            index = index.expand((*chosen.shape, 1, *self.event_shape))
            return torch.gather(drawn, dim, index).squeeze(dim)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"
