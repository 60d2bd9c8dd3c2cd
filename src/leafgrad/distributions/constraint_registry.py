"""Which transform leads from all real numbers to a constraint: `biject_to`, which has an inverse, and `transform_to`,
which may do without, and is better for optimisation."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any

from leafgrad.distributions import constraints, transforms
from leafgrad.distributions.transforms import Transform

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]

Factory = Callable[[Any], Transform]


class ConstraintRegistry:
    """Transforms by the class of a constraint."""

    def __init__(self) -> None:
        self._registry: dict[type, Factory] = {}

    def register(self, constraint: Any, factory: Factory | None = None) -> Any:
        """register(constraint, factory): the transform to it is what factory(constraint) returns. Without a factory
        it decorates one."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        cls = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not isinstance(cls, type) or not issubclass(cls, constraints.Constraint):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}")
        self._registry[cls] = factory
        return factory

    def __call__(self, constraint: Any) -> Transform:
        try:
            factory = self._registry[type(constraint)]
        except KeyError:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints") from None
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def to_half_line(bound: Any, sign: int) -> Transform:
    """exp, turned and moved."""
    moved = [transforms.ExpTransform(), transforms.AffineTransform(bound, sign)]
    return transforms.ComposeTransform(moved)


def to_interval(constraint: Any) -> Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    are_numbers = isinstance(low, Number) and isinstance(high, Number)
    if are_numbers and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)])


def register_parts(registry: ConstraintRegistry) -> None:
    """Constraints that are made of others."""
    registry.register(
        constraints.independent,
        lambda c: transforms.IndependentTransform(registry(c.base_constraint), c.reinterpreted_batch_ndims),
    )
    registry.register(
        constraints.cat, lambda c: transforms.CatTransform([registry(part) for part in c.cseq], c.dim, c.lengths)
    )
    registry.register(
        constraints.stack, lambda c: transforms.StackTransform([registry(part) for part in c.cseq], c.dim)
    )


BOTH: list[tuple[Any, Factory]] = [
    (constraints.real, lambda c: transforms.identity_transform),
    (constraints.greater_than, lambda c: to_half_line(c.lower_bound, 1)),
    (constraints.greater_than_eq, lambda c: to_half_line(c.lower_bound, 1)),
    (constraints.less_than, lambda c: to_half_line(c.upper_bound, -1)),
    (constraints.interval, to_interval),
    (constraints.half_open_interval, to_interval),
    (constraints.corr_cholesky, lambda c: transforms.CorrCholeskyTransform()),
]
for _registry in (biject_to, transform_to):
    register_parts(_registry)
    for _constraint, _factory in BOTH:
        _registry.register(_constraint, _factory)
biject_to.register(constraints.simplex, lambda c: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda c: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda c: transforms.LowerCholeskyTransform())
transform_to.register(constraints.positive_definite, lambda c: transforms.PositiveDefiniteTransform())
transform_to.register(constraints.positive_semidefinite, lambda c: transforms.PositiveDefiniteTransform())
