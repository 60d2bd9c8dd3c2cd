"""A line search: how far to go in a direction, so that the loss falls enough and the slope is no longer steep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Number = Any  # a number, or a tensor of one element
Vector = Any

ENOUGH = 1e-4  # of the decrease that the slope at the start promises
FLAT = 0.9  # of the slope at the start
CLOSE = 1e-9  # ends of an interval that need no further search


class Point(NamedTuple):
    """After the part `t` of the way."""

    t: Number
    loss: float
    gradient: Vector
    slope: Number


def strong_wolfe(
    at: Callable[[Number], tuple[float, Vector]],
    direction: Vector,
    t: Number,
    loss: float,
    gradient: Vector,
    slope: Number,
    most: int,
) -> tuple[float, Vector, Number, int]:
    """The loss, the gradient and the part of the way of a point that satisfies the strong Wolfe conditions, and how
    often the loss was computed: about `most` times at most. `at` computes loss and gradient after a part of the way."""
    calls = 0

    def point(t: Number) -> Point:
        nonlocal calls
        calls += 1
        loss, gradient = at(t)
        return Point(t, loss, gradient.clone(), gradient.dot(direction))

    start = Point(0, loss, gradient.clone(), slope)

    def too_high(p: Point) -> bool:
        return bool(p.loss > loss + ENOUGH * p.t * slope)

    def flat(p: Point) -> bool:
        return bool(abs(p.slope) <= -FLAT * slope)

    # first an interval that has such a point in it: further and further away
    before, now = start, point(t)
    turns = 0
    while turns < most:
        if too_high(now) or (turns > 1 and now.loss >= before.loss):
            break
        if flat(now):
            return now.loss, now.gradient, now.t, calls
        if now.slope >= 0:
            break
        further = (now.t + 0.01 * (now.t - before.t), now.t * 10)
        before, now = now, point(lowest_between(before, now, further))
        turns += 1
    ends = [start if turns == most else before, now]
    low, high = (0, 1) if ends[0].loss <= ends[1].loss else (1, 0)
    # then the point, in smaller and smaller intervals
    length, hesitated = direction.abs().max(), False
    while turns < most and not abs(ends[1].t - ends[0].t) * length < CLOSE:
        t, hesitated = inside(lowest_between(ends[0], ends[1]), ends, hesitated)
        now = point(t)
        turns += 1
        if too_high(now) or now.loss >= ends[low].loss:
            ends[high] = now
            low, high = (0, 1) if ends[0].loss <= ends[1].loss else (1, 0)
            continue
        done = flat(now)
        if not done and now.slope * (ends[high].t - ends[low].t) >= 0:
            ends[high] = ends[low]
        ends[low] = now
        if done:
            break
    best = ends[low]
    return best.loss, best.gradient, best.t, calls


def lowest_between(a: Point, b: Point, limits: tuple[Number, Number] | None = None) -> Number:
    """Where the cubic polynomial with these values and slopes is lowest, within limits."""
    low, high = limits or (min(a.t, b.t), max(a.t, b.t))
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1**2 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    d2 = square.sqrt()
    left, right = (a, b) if a.t <= b.t else (b, a)
    part = (right.slope + d2 - d1) / (right.slope - left.slope + 2 * d2)
    return min(max(right.t - (right.t - left.t) * part, low), high)


def inside(t: Number, ends: list[Point], hesitated: bool) -> tuple[Number, bool]:
    """A point that is not too close to an end for the second time, nor at an end; and whether it is close."""
    low, high = min(ends[0].t, ends[1].t), max(ends[0].t, ends[1].t)
    margin = 0.1 * (high - low)
    if min(high - t, t - low) >= margin:
        return t, False
    if not hesitated and low < t < high:
        return t, True
    return (high - margin if abs(t - high) < abs(t - low) else low + margin), False
