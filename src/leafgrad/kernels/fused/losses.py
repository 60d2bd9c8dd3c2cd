"""Losses, element by element and in total, and their gradients by the first argument."""

from __future__ import annotations

from typing import Any

from leafgrad.kernels.language import (
    Index,
    Number,
    PerRow,
    Total,
    Vector,
    abs,
    elementwise,
    exp_to_one,
    less_at,
    log,
    log1p,
    maximum,
    minimum,
    pick,
    row_max,
    row_sum,
    rowwise,
    sigmoid,
    sign,
    summed,
    total,
    total_of_squares,
    where,
)


@rowwise
def cross_entropy(x: Vector, target: Index) -> Any:
    """-log(softmax(x)) at the target; and the largest number of a row, and the sum of exp(x - largest)."""
    largest = row_max(x)
    whole = row_sum(exp_to_one(x - largest))
    return log(whole) - (pick(x, target) - largest), largest, whole


@rowwise
def cross_entropy_backward(g: PerRow, x: Vector, target: Index, largest: PerRow, whole: PerRow) -> Vector:
    return less_at(exp_to_one(x - largest) * (g / whole), target, g)


@elementwise
def squared_error(x: Vector, y: Vector) -> Vector:
    return (x - y) * (x - y)


@summed
def sum_of_squared_errors(x: Vector, y: Vector) -> Total:
    return total_of_squares(x - y)


@elementwise
def scaled_difference(g: Vector, x: Vector, y: Vector, factor: Number) -> Vector:
    return g * factor * (x - y)


@elementwise
def smooth_l1(x: Vector, y: Vector, beta: Number) -> Vector:
    size = abs(x - y)
    return where(size < beta, size * size * (0.5 / beta), size - 0.5 * beta)


@summed
def sum_of_smooth_l1(x: Vector, y: Vector, beta: Number) -> Total:
    return total(smooth_l1(x, y, beta))


@elementwise
def huber(x: Vector, y: Vector, delta: Number) -> Vector:
    size = abs(x - y)
    return where(size <= delta, 0.5 * size * size, delta * (size - 0.5 * delta))


@summed
def sum_of_huber(x: Vector, y: Vector, delta: Number) -> Total:
    return total(huber(x, y, delta))


@elementwise
def parabola_then_line(g: Vector, x: Vector, y: Vector, factor: Number, limit: Number, steepness: Number) -> Vector:
    """The gradient of a parabola of x - y that goes on as a straight line from a limit on."""
    off = x - y
    slope = where(abs(off) >= limit, sign(off) * (limit * steepness), off * steepness)  # nan stays nan
    return g * factor * slope


@elementwise
def binary_cross_entropy(x: Vector, y: Vector) -> Vector:
    return (y - 1) * maximum(log1p(-x), -100) - y * maximum(log(x), -100)


@summed
def sum_of_binary_cross_entropy(x: Vector, y: Vector) -> Total:
    return total(binary_cross_entropy(x, y))


@elementwise
def logits_cross_entropy(x: Vector, y: Vector) -> Vector:
    return (1 - y) * x - (minimum(x, 0) - log1p(exp_to_one(-abs(x))))


@summed
def sum_of_logits_cross_entropy(x: Vector, y: Vector) -> Total:
    return total(logits_cross_entropy(x, y))


@elementwise
def logits_cross_entropy_backward(g: Vector, x: Vector, y: Vector, factor: Number) -> Vector:
    return g * factor * (sigmoid(x) - y)
