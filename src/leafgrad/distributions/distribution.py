"""The base of distributions: shapes, checks of arguments, and what follows from other methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import leafgrad as torch
from leafgrad import Tensor, errors
from leafgrad.distributions import constraints
from leafgrad.distributions.utils import (
    all_true,
    broadcast_all,
    is_own,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
)

__all__ = ["Distribution"]

Size = torch.Size


class Distribution:
    """A probability distribution, or a batch of them. A sample has the shape `sample_shape + batch_shape +
    event_shape`."""

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args: bool = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """set_default_validate_args(value): shall arguments be checked, where a distribution is not told?"""
        if value not in [True, False]:
            raise ValueError
        Distribution._validate_args = value

    def __init__(
        self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = (), validate_args: bool | None = None
    ) -> None:
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    def _check_parameters(self) -> None:
        try:
            known = self.arg_constraints
        except NotImplementedError:
            known = {}
            errors.warn(
                f"{self.__class__} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or "
                "initialize the distribution with `validate_args=False` to turn off validation."
            )
        for name, constraint in known.items():
            computed = isinstance(getattr(type(self), name, None), lazy_property) and name not in self.__dict__
            if computed or constraints.is_dependent(constraint):
                continue
            value = getattr(self, name)
            if not all_true(constraint.check(value)):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    # -- how distributions are made of parameters ----------------------------------------------------------------------

    def _broadcast(self, **parameters: Any) -> Size:
        """Take parameters, numbers or tensors, as tensors of one shape, which is returned."""
        values = broadcast_all(*parameters.values())
        self.__dict__.update(zip(parameters, values))
        return values[0].shape

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        """expand(batch_shape): the same distribution for a larger batch, without copies."""
        raise NotImplementedError

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method "
                "must also define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    def _expanded(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        """What `expand` is for a distribution whose parameters and parts (other distributions) are attributes."""
        own = next(cls for cls in type(self).__mro__ if is_own(cls))
        new = self._get_checked_instance(own, _instance)
        batch = Size(batch_shape)
        known = self.arg_constraints
        for name, value in self.__dict__.items():
            if isinstance(value, Distribution):
                value = value.expand(batch + value.batch_shape[len(self._batch_shape) :])
            elif name in known and isinstance(value, Tensor):
                value = value.expand(batch + value.shape[value.dim() - known[name].event_dim :])
            elif isinstance(getattr(type(self), name, None), lazy_property):
                continue  # computed anew when it is needed
            new.__dict__[name] = value
        Distribution.__init__(new, batch, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    # -- facts ---------------------------------------------------------------------------------------------------------

    @property
    def batch_shape(self) -> Size:
        """The shape of the batch of distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of what one of them draws."""
        return self._event_shape

    @property
    def arg_constraints(self) -> Mapping[str, Any]:
        """Where the parameters may lie."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """Where samples lie."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    # -- samples -------------------------------------------------------------------------------------------------------

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """sample(sample_shape=()): random values, without a graph."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """rsample(sample_shape=()): random values as functions of the parameters, which may get gradients."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """sample_n(n): sample((n,))."""
        errors.warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning)
        return self.sample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """log_prob(value): the logarithm of the density, or of the probability of a discrete value."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """cdf(value): the probability of values up to this."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """icdf(value): the quantile, the inverse of cdf."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """enumerate_support(expand=True): all values of a discrete distribution, along dimension 0."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """entropy(): the expectation of -log_prob, for each distribution of the batch."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """perplexity(): exp(entropy())."""
        return torch.exp(self.entropy())

    def _extended_shape(self, sample_shape: Sequence[int] = ()) -> Size:
        return Size(sample_shape) + self._batch_shape + self._event_shape

    def _enumerated(self, values: Tensor, expand: bool) -> Tensor:
        """Values of a discrete distribution, along dimension 0."""
        values = values.reshape((-1, *[1] * len(self._batch_shape)))
        return values.expand((-1, *self._batch_shape)) if expand else values

    def _validate_sample(self, value: Tensor) -> None:
        """Refuse what is no sample, where arguments are checked."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        shape, expected = value.shape, self._batch_shape + self._event_shape
        if shape[len(shape) - len(self._event_shape) :] != self._event_shape:
            raise ValueError(f"The right-most size of value must match event_shape: {shape} vs {self._event_shape}.")
        for own, wanted in zip(reversed(shape), reversed(expected)):
            if own != 1 and wanted != 1 and own != wanted:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {shape} vs {expected}.")
        try:
            support = self.support
        except NotImplementedError:
            errors.warn(
                f"{self.__class__} does not define `support` to enable sample validation. Please initialize the "
                "distribution with `validate_args=False` to turn off validation."
            )
            return
        if not all_true(support.check(value)):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(shape)}) to be within the support "
                f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def _checked(self, value: Tensor) -> Tensor:
        """A value, after the check if there is one."""
        if self._validate_args:
            self._validate_sample(value)
        return value

    def __repr__(self) -> str:
        given = {name: self.__dict__[name] for name in self.arg_constraints if name in self.__dict__}
        shown = [f"{name}: {value if value.numel() == 1 else value.size()}" for name, value in given.items()]
        return f"{type(self).__name__}({', '.join(shown)})"


class Parametric(Distribution):
    """Distributions of leafgrad whose parameters are attributes."""

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        return self._expanded(batch_shape, _instance)


class ByProbsOrLogits(Parametric):
    """Distributions with the parameter `probs` or, in its place, `logits`; the other is computed."""

    is_binary = True

    def _take(self, probs: Any, logits: Any) -> Tensor:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        self._given = "logits" if probs is None else "probs"
        (self.__dict__[self._given],) = broadcast_all(logits if probs is None else probs)
        return self._param

    @property
    def _param(self) -> Tensor:
        """The one that was given."""
        given: Tensor = self.__dict__[self._given]
        return given

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._param.shape

    @lazy_property
    def logits(self) -> Tensor:
        """Logarithms of odds, or of probabilities."""
        from_probs: Tensor = probs_to_logits(self.probs, self.is_binary)
        return from_probs

    @lazy_property
    def probs(self) -> Tensor:
        """Probabilities."""
        from_logits: Tensor = logits_to_probs(self.logits, self.is_binary)
        return from_logits
