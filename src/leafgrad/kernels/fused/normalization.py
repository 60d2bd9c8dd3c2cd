"""Rows with the mean 0 and the variance 1, a weight and a bias, and the gradients of that."""

from __future__ import annotations

from typing import Any

from leafgrad.kernels.language import (
    Number,
    PerRow,
    Shared,
    Vector,
    column_sum,
    row_mean,
    row_sum,
    rowwise,
    sqrt,
)


@rowwise
def layer_norm(x: Vector, weight: Shared, bias: Shared, eps: Number) -> Any:
    """The result, and for each row its mean, one divided by the standard deviation, and the variance."""
    mean = row_mean(x)
    off = x - mean
    variance = row_mean(off * off)
    rstd = 1 / sqrt(variance + eps)
    return off * rstd * weight + bias, mean, rstd, variance


@rowwise
def layer_norm_backward(g: Vector, x: Vector, weight: Shared, mean: PerRow, rstd: PerRow) -> Any:
    """The gradients of input, weight and bias."""
    standard = (x - mean) * rstd
    own = g * weight
    of_input = (own - row_mean(own) - standard * row_mean(own * standard)) * rstd
    return of_input, column_sum(g * standard), column_sum(g)


@rowwise
def standardized(x: Vector, eps: Number) -> Any:
    """layer_norm without weight and bias."""
    mean = row_mean(x)
    off = x - mean
    variance = row_mean(off * off)
    rstd = 1 / sqrt(variance + eps)
    return off * rstd, mean, rstd, variance


@rowwise
def standardized_backward(g: Vector, x: Vector, mean: PerRow, rstd: PerRow) -> Vector:
    standard = (x - mean) * rstd
    return (g - row_mean(g) - standard * row_mean(g * standard)) * rstd


@rowwise
def rms_norm(x: Vector, weight: Shared, eps: Number) -> Any:
    """The result, and one divided by the root of the mean of squares of each row."""
    rate = 1 / sqrt(row_mean(x * x) + eps)
    return x * rate * weight, rate


@rowwise
def rms_norm_backward(g: Vector, x: Vector, weight: Shared, rate: PerRow) -> Any:
    """The gradients of input and weight."""
    standard = x * rate
    own = g * weight
    return (own - standard * row_mean(own * standard)) * rate, column_sum(g * standard)


@rowwise
def divided_by_rms(x: Vector, eps: Number) -> Any:
    """rms_norm without a weight."""
    rate = 1 / sqrt(row_mean(x * x) + eps)
    return x * rate, rate


@rowwise
def divided_by_rms_backward(g: Vector, x: Vector, rate: PerRow) -> Vector:
    standard = x * rate
    return (g - standard * row_mean(g * standard)) * rate


@rowwise
def deviations(x: Vector, eps: Number) -> Any:
    """For each row its mean, one divided by the standard deviation, and the variance."""
    mean = row_mean(x)
    off = x - mean
    variance = row_mean(off * off)
    return mean, 1 / sqrt(variance + eps), variance


@rowwise
def moments(x: Vector) -> Any:
    """The sum of a row, and that of the squares of the distances from its mean."""
    sum_of_row = row_sum(x)
    off = x - row_mean(x)
    return sum_of_row, row_sum(off * off)


@rowwise
def scaled_rows(x: Vector, mean: PerRow, factor: PerRow, offset: PerRow) -> Vector:
    return (x - mean) * factor + offset


@rowwise
def products_with_distance(g: Vector, x: Vector, mean: PerRow) -> Any:
    """What gradients need of each row: the sum of g, and that of g times the distance from a mean."""
    return row_sum(g), row_sum(g * (x - mean))


@rowwise
def scaled_rows_backward(g: Vector, x: Vector, mean: PerRow, of_g: PerRow, of_x: PerRow, offset: PerRow) -> Vector:
    return g * of_g + (x - mean) * of_x + offset
