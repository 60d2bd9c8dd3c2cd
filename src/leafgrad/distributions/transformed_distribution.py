"""TransformedDistribution: the distribution of a function of what another one draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.distribution import Distribution, Size
from leafgrad.distributions.independent import Independent
from leafgrad.distributions.transforms import ComposeTransform, Transform
from leafgrad.distributions.utils import _sum_rightmost, is_own

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """TransformedDistribution(base_distribution, transforms): what it draws goes through the transforms."""

    arg_constraints: Any = {}
    base_dist: Any

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None) -> None:
        if isinstance(transforms, Transform):
            transforms = [transforms]
        elif not isinstance(transforms, list):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        elif not all(isinstance(t, Transform) for t in transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        self.transforms: list[Any] = transforms
        shape = base_distribution.batch_shape + base_distribution.event_shape
        base_events = len(base_distribution.event_shape)
        whole = ComposeTransform(transforms)
        events = whole.domain.event_dim
        if len(shape) < events:
            raise ValueError(f"base_distribution needs to have shape with size at least {events}, but got {shape}.")
        forward = whole.forward_shape(shape)
        before = whole.inverse_shape(forward)  # parameters of transforms may make the batch larger
        if shape != before:
            base_distribution = base_distribution.expand(before[: len(before) - base_events])
        if events > base_events:
            base_distribution = Independent(base_distribution, events - base_events)
        self.base_dist = base_distribution
        cut = len(forward) - max(whole.codomain.event_dim, base_events + whole.codomain.event_dim - events)
        super().__init__(forward[:cut], forward[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        own = next(cls for cls in type(self).__mro__ if is_own(cls))
        new = self._get_checked_instance(own, _instance)
        batch = Size(batch_shape)
        shape: Any = batch + self.event_shape
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        known = self.arg_constraints
        for name, value in self.__dict__.items():
            if name in known and isinstance(value, Tensor):
                value = value.expand(batch + value.shape[value.dim() - known[name].event_dim :])
            new.__dict__[name] = value
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        new.transforms = new._transforms()
        Distribution.__init__(new, batch, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _transforms(self) -> list[Any]:
        """Those of a distribution whose parameters are set."""
        return self.transforms

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        more = len(self.event_shape) - support.event_dim
        return constraints.independent(support, more) if more > 0 else support

    @property
    def has_rsample(self) -> Any:
        return self.base_dist.has_rsample

    def _forward(self, x: Any) -> Any:
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with torch.no_grad():
            drawn: Tensor = self._forward(self.base_dist.sample(sample_shape))
            return drawn

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        drawn: Tensor = self._forward(self.base_dist.rsample(sample_shape))
        return drawn

    def log_prob(self, value: Tensor) -> Tensor:
        y = self._checked(value)
        events = len(self.event_shape)
        log_prob: Any = 0.0
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            events += transform.domain.event_dim - transform.codomain.event_dim
            jacobian = transform.log_abs_det_jacobian(x, y)
            log_prob = log_prob - _sum_rightmost(jacobian, events - transform.domain.event_dim)
            y = x
        base: Tensor = _sum_rightmost(self.base_dist.log_prob(y), events - len(self.base_dist.event_shape))
        result: Tensor = log_prob + base
        return result

    def _in_order(self, probability: Any) -> Any:
        """A probability of values up to some, or 1 - that, if the transforms turn the order round."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return probability if isinstance(sign, int) and sign == 1 else sign * (probability - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        found: Tensor = self._in_order(self.base_dist.cdf(value))
        return found

    def icdf(self, value: Tensor) -> Tensor:
        found: Tensor = self._forward(self.base_dist.icdf(self._in_order(value)))
        return found
