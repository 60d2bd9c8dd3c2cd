"""What transforms are, their inverses and compositions: functions with log |det Jacobian|, which map a domain to a
codomain."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

import leafgrad as torch
from leafgrad.distributions import constraints
from leafgrad.distributions.utils import _sum_rightmost, lazy_property


class Transform:
    """A function x -> y with log |det dy/dx|. With cache_size=1 the last pair is kept, so that an inverse is exact."""

    bijective: Any = False
    domain: Any
    codomain: Any
    is_function_of_type = False  # are all transforms of this class equal?

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._inv: Any = None
        self._cached_x_y: tuple[Any, Any] = (None, None)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inv": None}

    @property
    def event_dim(self) -> int:
        """How many dimensions are one event, before and after."""
        if self.domain.event_dim == self.codomain.event_dim:
            return int(self.domain.event_dim)
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Any:
        """The inverse."""
        if self._inv is None:
            self._inv = _InverseTransform(self)
        return self._inv

    @property
    def sign(self) -> Any:
        """Of the derivative, where it is the same everywhere."""
        raise NotImplementedError

    def _with(self, cache_size: int) -> Any:
        """The same transform with a cache of another size."""
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        raise NotImplementedError(f"{type(self)}.with_cache is not implemented")

    def with_cache(self, cache_size: int = 1) -> Any:
        """with_cache(cache_size=1): the same transform, which keeps the last pair or does not."""
        return self if self._cache_size == cache_size else self._with(cache_size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) if self.is_function_of_type else self is other

    __hash__ = object.__hash__

    def __call__(self, x: Any) -> Any:
        if self._cache_size == 0:
            return self._call(x)
        last, y = self._cached_x_y
        if x is not last:
            y = self._call(x)
            self._cached_x_y = x, y
        return y

    def _inv_call(self, y: Any) -> Any:
        if self._cache_size == 0:
            return self._inverse(y)
        x, last = self._cached_x_y
        if y is not last:
            x = self._inverse(y)
            self._cached_x_y = x, y
        return x

    def _call(self, x: Any) -> Any:
        raise NotImplementedError

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log_abs_det_jacobian(x, y): log |det dy/dx|."""
        raise NotImplementedError

    def forward_shape(self, shape: Any) -> Any:
        """forward_shape(shape): that of the result."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """inverse_shape(shape): that of what it was made of."""
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _InverseTransform(Transform):
    """The inverse of a transform, whose cache it uses."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform

    domain = constraints.dependent_property(lambda self: self._inv.codomain, is_discrete=False)
    codomain = constraints.dependent_property(lambda self: self._inv.domain, is_discrete=False)
    bijective = property(lambda self: self._inv.bijective)
    sign = property(lambda self: self._inv.sign)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()

    def with_cache(self, cache_size: int = 1) -> Any:
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and bool(self._inv == other._inv)

    __hash__ = object.__hash__

    def __call__(self, x: Any) -> Any:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._inv.forward_shape(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"


class ComposeTransform(Transform):
    """Several transforms, one after the other."""

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = object.__hash__

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return self._end([(p.domain, p.codomain) for p in reversed(self.parts)])

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        return self._end([(p.codomain, p.domain) for p in self.parts])

    @staticmethod
    def _end(steps: list[tuple[Any, Any]]) -> Any:
        """The constraint at the end of steps (after, before), for events as large as any step needs."""
        if not steps:
            return constraints.real
        event_dim = steps[0][1].event_dim
        for after, before in steps:
            event_dim = max(event_dim + after.event_dim - before.event_dim, after.event_dim)
        last = steps[-1][0]
        return constraints.independent(last, event_dim - last.event_dim) if event_dim > last.event_dim else last

    @lazy_property
    def bijective(self) -> bool:
        return all(p.bijective for p in self.parts)

    @lazy_property
    def sign(self) -> Any:
        return functools.reduce(operator.mul, [p.sign for p in self.parts], 1)

    @property
    def inv(self) -> Any:
        if self._inv is None:
            self._inv = ComposeTransform([p.inv for p in reversed(self.parts)])
            self._inv._inv = self
        return self._inv

    def _with(self, cache_size: int) -> Any:
        return ComposeTransform(self.parts, cache_size=cache_size)

    def __call__(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if not self.parts:
            return torch.zeros_like(x)
        between = [x]
        for part in self.parts[:-1]:
            between.append(part(between[-1]))
        terms = []
        event_dim = self.domain.event_dim
        for part, before, after in zip(self.parts, between, [*between[1:], y]):
            term = part.log_abs_det_jacobian(before, after)
            terms.append(_sum_rightmost(term, event_dim - part.domain.event_dim))
            event_dim += part.codomain.event_dim - part.domain.event_dim
        return functools.reduce(operator.add, terms)

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}(\n    " + ",\n    ".join([repr(p) for p in self.parts]) + "\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform of several values that are one event."""

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def _with(self, cache_size: int) -> Any:
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size=cache_size)

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    bijective = property(lambda self: self.base_transform.bijective)
    sign = property(lambda self: self.base_transform.sign)

    def _call(self, x: Any) -> Any:
        if x.dim() < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        if y.dim() < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return _sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


def inside_unit_interval(x: Any) -> Any:
    """Away from zero and one, which have no finite logits."""
    finfo = torch.finfo(x.dtype)
    return x.clamp(min=finfo.tiny, max=1.0 - finfo.eps)
