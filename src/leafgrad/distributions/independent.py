"""Independent: dimensions of the batch as dimensions of the event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.distribution import Distribution, Size
from leafgrad.distributions.utils import _sum_rightmost

__all__ = ["Independent"]


class Independent(Distribution):
    """Independent(base_distribution, reinterpreted_batch_ndims): the last so many dimensions of the batch belong to the
    event, and log_prob is the sum over them."""

    arg_constraints = {}

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        known = len(base_distribution.batch_shape)
        if reinterpreted_batch_ndims > known:
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {known}"
            )
        shape = base_distribution.batch_shape + base_distribution.event_shape
        cut = known - reinterpreted_batch_ndims
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(Independent, _instance)
        batch = Size(batch_shape)
        new.base_dist = self.base_dist.expand(batch + self.event_shape[: self.reinterpreted_batch_ndims])
        new.reinterpreted_batch_ndims = self.reinterpreted_batch_ndims
        Distribution.__init__(new, batch, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def has_rsample(self) -> Any:
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> Any:
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        support = self.base_dist.support
        dims = self.reinterpreted_batch_ndims
        return constraints.independent(support, dims) if dims else support

    @property
    def mean(self) -> Tensor:
        mean: Tensor = self.base_dist.mean
        return mean

    @property
    def mode(self) -> Tensor:
        mode: Tensor = self.base_dist.mode
        return mode

    @property
    def variance(self) -> Tensor:
        variance: Tensor = self.base_dist.variance
        return variance

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        drawn: Tensor = self.base_dist.sample(sample_shape)
        return drawn

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        drawn: Tensor = self.base_dist.rsample(sample_shape)
        return drawn

    def log_prob(self, value: Tensor) -> Tensor:
        return _sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        values: Tensor = self.base_dist.enumerate_support(expand=expand)
        return values

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"
