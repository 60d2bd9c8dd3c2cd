"""Elementwise operations of a few steps: of one tensor, of two and of three."""

from __future__ import annotations

import math

import numpy as np

from leafgrad.kernels import language
from leafgrad.kernels.language import (
    Number,
    Vector,
    abs,
    elementwise,
    exp,
    exp_to_one,
    log,
    log1p,
    maximum,
    where,
    written_in_c,
)

LOG_2 = math.log(2)


@elementwise
def sign(x: Vector) -> Vector:
    return language.sign(x)


@elementwise
def copysign(x: Vector, y: Vector) -> Vector:
    return language.copysign(x, y)


@elementwise
def fraction(x: Vector) -> Vector:
    return x - language.trunc(x)


@elementwise
def cube(x: Vector) -> Vector:
    return x * x * x


@elementwise
def in_place_of_nan(x: Vector, nan: Number, posinf: Number, neginf: Number, most: Number) -> Vector:
    """These numbers in place of nan and of infinities, which are beyond the largest number. One after the other:
    conditions within conditions took two thirds longer."""
    bounded = where(x > most, posinf, x)
    bounded = where(x < -most, neginf, bounded)
    return where(x != x, nan, bounded)


@elementwise
def log_of_sum(x: Vector, y: Vector) -> Vector:
    """log(exp(x) + exp(y)); of two equal infinities their difference would be nan."""
    return where(x == y, x + LOG_2, maximum(x, y) + log1p(exp_to_one(-abs(x - y))))


@elementwise
def times_logarithm(x: Vector, y: Vector) -> Vector:
    """x * log(y), which is zero where x is, unless y is nan."""
    return where(y != y, y, where(x == 0, 0, x * log(y)))


@elementwise
def gated(x: Vector, gate: Vector) -> Vector:
    return x / (1 + exp(-gate))


@elementwise
def weighted_below(x: Vector, weight: Vector) -> Vector:
    """x above zero, weight * x below."""
    return where(x > 0, x, weight * x)


@elementwise
def both(x: Vector, y: Vector) -> Vector:
    """Are both different from zero?"""
    return (x != 0) & (y != 0)


@elementwise
def either(x: Vector, y: Vector) -> Vector:
    return (x != 0) | (y != 0)


@elementwise
def only_one(x: Vector, y: Vector) -> Vector:
    return ((x != 0) & (y == 0)) | ((x == 0) & (y != 0))


# -- in C: what goes different ways for different elements ------------------------------------------------------------


@written_in_c
def hypot(x: Vector, y: Vector) -> Vector:
    return np.hypot(x, y)


@written_in_c
def fmod(x: Vector, y: Vector) -> Vector:
    """What a quotient that is rounded towards zero leaves, with the sign of x."""
    return np.fmod(x, y)


@written_in_c
def remainder(x: Vector, y: Vector) -> Vector:
    """What a quotient that is rounded down leaves, with the sign of y, but that of x if it is zero."""
    rest = np.fmod(x, y)
    return np.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)


@written_in_c
def floor_quotient(x: Vector, y: Vector) -> Vector:
    return np.floor_divide(x, y)


# -- three operands ---------------------------------------------------------------------------------------------------


@elementwise
def product_added(x: Vector, a: Vector, b: Vector, value: Number) -> Vector:
    return x + a * value * b


@elementwise
def quotient_added(x: Vector, a: Vector, b: Vector, value: Number) -> Vector:
    return x + a * value / b


@elementwise
def between(x: Vector, goal: Vector, weight: Number, far: Number) -> Vector:
    """x + weight * (goal - x), counted from the nearer end."""
    return goal - (goal - x) * (1 - weight) if far else x + weight * (goal - x)


@elementwise
def between_by_weights(x: Vector, goal: Vector, weight: Vector) -> Vector:
    return where(abs(weight) >= 0.5, goal - (goal - x) * (1 - weight), x + weight * (goal - x))
