"""Where numbers may lie: the parameters of a distribution, what it may draw, what a transform takes and gives.

`constraint.check(value)` says so for each event, and `event_dim` how many of the last dimensions are one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import leafgrad as torch
from leafgrad import Tensor

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property",
    "greater_than", "greater_than_eq", "half_open_interval", "independent", "integer_interval", "interval",
    "is_dependent", "less_than", "lower_cholesky", "lower_triangular", "multinomial", "nonnegative",
    "nonnegative_integer", "one_hot", "positive", "positive_definite", "positive_integer", "positive_semidefinite",
    "real", "real_vector", "simplex", "square", "stack", "symmetric", "unit_interval",
]  # fmt: skip


class Constraint:
    """A region in which values are valid."""

    is_discrete: Any = False
    event_dim: Any = 0
    shown: tuple[str, ...] = ()  # the attributes that its printed form names

    def check(self, value: Tensor) -> Tensor:
        """check(value): for each event, whether it is valid."""
        raise NotImplementedError

    def __repr__(self) -> str:
        name = type(self).__name__.removeprefix("_")
        return f"{name}({', '.join([f'{each}={getattr(self, each)}' for each in self.shown])})"


class _Dependent(Constraint):
    """A constraint that depends on other values, and cannot be checked without them."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._known = {"is_discrete": is_discrete, "event_dim": event_dim}

    def _fact(self, name: str) -> Any:
        if self._known[name] is NotImplemented:
            raise NotImplementedError(f".{name} cannot be determined statically")
        return self._known[name]

    is_discrete = property(lambda self: self._fact("is_discrete"))
    event_dim = property(lambda self: self._fact("event_dim"))

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        """What is known of it after all: dependent(is_discrete=True, event_dim=1)."""
        given = {"is_discrete": is_discrete, "event_dim": event_dim}
        return _Dependent(**{key: self._known[key] if new is NotImplemented else new for key, new in given.items()})

    def check(self, value: Tensor) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


class _DependentProperty(property, _Dependent):
    """A property whose value is a constraint, and which on the class is one that depends on the object."""

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        *,
        is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ) -> None:
        property.__init__(self, fn)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, fn: Callable[..., Any]) -> _DependentProperty:  # type: ignore[override]
        return _DependentProperty(fn, **self._known)


def is_dependent(constraint: Any) -> bool:
    """is_dependent(constraint): does it depend on other values?"""
    return isinstance(constraint, _Dependent)


def _all_of(checked: Tensor, dims: int) -> Tensor:
    return checked.reshape((*checked.shape[: checked.dim() - dims], -1)).all(-1)


class _Around(Constraint):
    """A constraint on something of which `base_constraint` is one."""

    def __init__(self, base_constraint: Constraint) -> None:
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(f"base_constraint must be a Constraint, got {type(base_constraint).__name__}")
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> bool:
        return bool(self.base_constraint.is_discrete)


class _IndependentConstraint(_Around):
    """Several values are one event, valid if all of them are."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        super().__init__(base_constraint)
        if not isinstance(reinterpreted_batch_ndims, int):
            found = type(reinterpreted_batch_ndims).__name__
            raise AssertionError(f"reinterpreted_batch_ndims must be an int, got {found}")
        if reinterpreted_batch_ndims < 0:
            raise AssertionError(f"reinterpreted_batch_ndims must be >= 0, got {reinterpreted_batch_ndims}")
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def event_dim(self) -> int:
        return int(self.base_constraint.event_dim) + self.reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        checked = self.base_constraint.check(value)
        if checked.dim() < self.reinterpreted_batch_ndims:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return _all_of(checked, self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(_Around):
    """What a mixture may draw: what all its components may, of which there are several for each value."""

    @property
    def event_dim(self) -> int:
        return int(self.base_constraint.event_dim)

    def check(self, value: Tensor) -> Tensor:
        checked = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        if value.dim() < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        kept = value.dim() - self.event_dim
        return checked.reshape((*checked.shape[:kept], -1)).all(-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


# -- single numbers ---------------------------------------------------------------------------------------------------


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _Real(Constraint):
    def check(self, value: Tensor) -> Tensor:
        return value == value  # all but nan


class _Below(Constraint):
    shown = ("upper_bound",)

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound


class _Above(Constraint):
    shown = ("lower_bound",)

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound


class _Between(Constraint):
    shown = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound


class _IntegerInterval(_Between):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1).eq(0) & value.ge(self.lower_bound) & value.le(self.upper_bound)


class _IntegerLessThan(_Below):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1).eq(0) & value.le(self.upper_bound)


class _IntegerGreaterThan(_Above):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1).eq(0) & value.ge(self.lower_bound)


class _GreaterThan(_Above):
    def check(self, value: Tensor) -> Tensor:
        return value.gt(self.lower_bound)


class _GreaterThanEq(_Above):
    def check(self, value: Tensor) -> Tensor:
        return value.ge(self.lower_bound)


class _LessThan(_Below):
    def check(self, value: Tensor) -> Tensor:
        return value.lt(self.upper_bound)


class _Interval(_Between):
    def check(self, value: Tensor) -> Tensor:
        return value.ge(self.lower_bound) & value.le(self.upper_bound)


class _HalfOpenInterval(_Between):
    def check(self, value: Tensor) -> Tensor:
        return value.ge(self.lower_bound) & value.lt(self.upper_bound)


# -- vectors ----------------------------------------------------------------------------------------------------------


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return boolean.check(value).all(-1) & (value.sum(-1) == 1)


class _Simplex(Constraint):
    """Numbers that are not negative and add up to one."""

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Counts with a sum of at most `upper_bound`."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & value.sum(-1).le(self.upper_bound)


# -- matrices ---------------------------------------------------------------------------------------------------------


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return _all_of(value.tril() == value, 2)


class _LowerCholesky(Constraint):
    """Lower triangular, with positive numbers on the diagonal."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return lower_triangular.check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(Constraint):
    """Cholesky factors of correlations: their rows have length one."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        tolerance = torch.finfo(value.dtype).eps * value.size(-1) * 10
        lengths = value.detach().square().sum(-1).sqrt()
        return lower_cholesky.check(value) & ((lengths - 1).abs() <= tolerance).all(-1)


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return torch.full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=torch.bool)


class _Symmetric(_Square):
    def check(self, value: Tensor) -> Tensor:
        is_square = super().check(value)
        return torch.isclose(value, value.mT, atol=1e-6).all(-2).all(-1) if is_square.all() else is_square


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        is_symmetric = super().check(value)
        return torch.linalg.eigvalsh(value).ge(0).all(-1) if is_symmetric.all() else is_symmetric


class _PositiveDefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        is_symmetric = super().check(value)
        return torch.linalg.cholesky_ex(value).info.eq(0) if is_symmetric.all() else is_symmetric


# -- several, side by side --------------------------------------------------------------------------------------------


class _Several(Constraint):
    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        if not all(isinstance(c, Constraint) for c in cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.cseq = list(cseq)
        self.dim = dim

    @property
    def is_discrete(self) -> bool:
        return any(c.is_discrete for c in self.cseq)

    def _check_dim(self, value: Tensor) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for value with {value.dim()} dimensions")


class _Cat(_Several):
    """Parts of a dimension, each with a constraint of its own."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})")

    @property
    def event_dim(self) -> int:
        return int(max(c.event_dim for c in self.cseq))

    def check(self, value: Tensor) -> Tensor:
        self._check_dim(value)
        parts = value.split(self.lengths, self.dim)
        return torch.cat([c.check(part) for c, part in zip(self.cseq, parts)], self.dim)


class _Stack(_Several):
    """The slices of a dimension, each with a constraint of its own."""

    @property
    def event_dim(self) -> int:
        dim: int = max(c.event_dim for c in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Tensor) -> Tensor:
        self._check_dim(value)
        return torch.stack([c.check(part) for c, part in zip(self.cseq, value.unbind(self.dim))], self.dim)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
