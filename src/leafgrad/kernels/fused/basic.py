"""Elementwise functions of several steps that every program uses, and the rules of such functions."""

from __future__ import annotations

from leafgrad.kernels.language import Mask, Number, Vector, clipped, elementwise, exp, not_below, sign, sqrt, where


@elementwise
def sigmoid(x: Vector) -> Vector:
    return 1 / (1 + exp(-x))  # exp of a large positive number overflows to inf, and 1 / inf is the right 0


@elementwise
def sigmoid_backward(g: Vector, out: Vector) -> Vector:
    return g * (out * (1 - out))


@elementwise
def tanh_backward(g: Vector, out: Vector) -> Vector:
    return g * (1 - out * out)


@elementwise
def sqrt_backward(g: Vector, out: Vector) -> Vector:
    return g / (2 * out)


@elementwise
def reciprocal_backward(g: Vector, out: Vector) -> Vector:
    return -g * (out * out)


@elementwise
def rsqrt(x: Vector) -> Vector:
    return 1 / sqrt(x)


@elementwise
def rsqrt_backward(g: Vector, out: Vector) -> Vector:
    return g * (-0.5 * out * out * out)


@elementwise
def division_backward(g: Vector, x: Vector, other: Vector) -> Vector:
    """The gradient of a quotient by its denominator."""
    return -g * ((x / other) / other)


@elementwise
def abs_backward(g: Vector, x: Vector) -> Vector:
    return g * sign(x)


@elementwise
def relu(x: Vector) -> Vector:
    return not_below(x, 0)  # not maximum: -0.0 stays


@elementwise
def square_backward(g: Vector, x: Vector) -> Vector:
    return g * (2 * x)


@elementwise
def relu_backward(g: Vector, out: Vector) -> Vector:
    return where(out <= 0, 0, g)  # not g * 0: g may be infinite


@elementwise
def clamp(x: Vector, low: Number, high: Number) -> Vector:
    return clipped(x, low, high)


@elementwise
def clamp_backward(g: Vector, x: Vector, low: Number, high: Number) -> Vector:
    return where((x >= low) & (x <= high), g, 0)


@elementwise
def select(condition: Mask, yes: Vector, no: Vector) -> Vector:
    return where(condition, yes, no)


@elementwise
def weighted_sum(x: Vector, y: Vector, a: Number, b: Number) -> Vector:
    return x * a + y * b
