"""New values for many arrays at once, in their own memory: gradients that are clipped, averages of parameters.

leafgrad/_core/fused.py runs them: change_together."""

from __future__ import annotations

from typing import Any

from leafgrad.kernels.language import Number, Updated, Vector, copied, elementwise, where


@elementwise
def scaled(x: Updated, factor: Number) -> Any:
    return x * factor


@elementwise
def clipped(x: Updated, limit: Number) -> Any:
    x = where(x < -limit, -limit, x)  # a comparison with nan is false: it stays
    return where(x > limit, limit, x)


@elementwise
def moved_towards(x: Updated, goal: Vector, weight: Number, far: Number) -> Any:
    """x + weight * (goal - x), counted from the nearer end, as lerp does."""
    return goal - (goal - x) * (1 - weight) if far else x + (goal - x) * weight


@elementwise
def averaged(x: Updated, new: Vector, count: Number) -> Any:
    """The mean of `count` numbers, of which one is new and x is the mean of the others."""
    return x + (new - x) / count


@elementwise
def advanced(x: Updated, way: Vector, length: Number) -> Any:
    return x + way * length


@elementwise
def replaced(x: Updated, new: Vector) -> Any:
    return copied(new)
