"""Exponentials over rows that cannot overflow, because the largest is taken out first."""

from __future__ import annotations

from leafgrad.kernels.language import (
    PerRow,
    Vector,
    elementwise,
    exp,
    exp_to_one,
    log,
    row_max,
    row_sum,
    rowwise,
    where,
)


@rowwise
def softmax(x: Vector) -> Vector:
    e = exp_to_one(x - row_max(x))
    return e * (1 / row_sum(e))


@rowwise
def softmax_backward(g: Vector, out: Vector) -> Vector:
    return out * (g - row_sum(g * out))


@rowwise
def log_softmax(x: Vector) -> Vector:
    below = x - row_max(x)
    return below - log(row_sum(exp_to_one(below)))


@rowwise
def log_softmax_backward(g: Vector, out: Vector) -> Vector:
    return g - exp_to_one(out) * row_sum(g)


@rowwise
def logsumexp(x: Vector) -> PerRow:
    largest = row_max(x)
    finite = where((largest - largest) == 0, largest, 0)  # inf - inf would not be a number
    return log(row_sum(exp(x - finite))) + finite


# -- the last steps of the same where what is added up does not lie side by side: `largest` and `total` are broadcast --


@elementwise
def exp_below(x: Vector, largest: Vector) -> Vector:
    return exp_to_one(x - largest)


@elementwise
def shares(e: Vector, total: Vector) -> Vector:
    return e / total


@elementwise
def log_shares(x: Vector, largest: Vector, log_total: Vector) -> Vector:
    return (x - largest) - log_total


@elementwise
def shares_backward(g: Vector, out: Vector, total: Vector) -> Vector:
    return out * (g - total)


@elementwise
def log_shares_backward(g: Vector, out: Vector, total: Vector) -> Vector:
    return g - exp_to_one(out) * total
