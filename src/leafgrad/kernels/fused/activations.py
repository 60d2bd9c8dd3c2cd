"""Elementwise functions between layers, and what their gradients are multiplied by."""

from __future__ import annotations

import math

from leafgrad.kernels.language import (
    Number,
    Vector,
    abs,
    elementwise,
    exp,
    exp_to_one,
    expm1,
    log1p,
    maximum,
    minimum,
    normal_cdf,
    normal_density,
    sigmoid,
    tanh,
    where,
)

ROOT = math.sqrt(2 / math.pi)
CUBIC = 0.044715 * ROOT


@elementwise
def gelu(x: Vector) -> Vector:
    return x * normal_cdf(x)


@elementwise
def gelu_backward(g: Vector, x: Vector) -> Vector:
    return g * (normal_cdf(x) + x * normal_density(x))


@elementwise
def gelu_tanh(x: Vector) -> Vector:
    return 0.5 * x * (1 + tanh(x * (ROOT + CUBIC * x * x)))


@elementwise
def gelu_tanh_backward(g: Vector, x: Vector) -> Vector:
    t = tanh(x * (ROOT + CUBIC * x * x))
    return g * 0.5 * (1 + t + (1 - t * t) * x * (ROOT + 3 * CUBIC * x * x))


@elementwise
def silu(x: Vector) -> Vector:
    return x / (1 + exp(-x))


@elementwise
def silu_backward(g: Vector, x: Vector) -> Vector:
    s = sigmoid(x)
    return g * (s * (1 + x * (1 - s)))


@elementwise
def mish_gate(x: Vector) -> Vector:
    """tanh(softplus(x)), by an exponential that is not too large. Each of its two forms has all derivatives at 0."""
    e = exp_to_one(where(x <= 0, x, -x))
    return where(x <= 0, e * (e + 2) / (e * (e + 2) + 2), (1 + 2 * e) / (1 + 2 * e * (1 + e)))


@elementwise
def mish(x: Vector) -> Vector:
    return x * mish_gate(x)


@elementwise
def mish_backward(g: Vector, x: Vector) -> Vector:
    gate = mish_gate(x)
    return g * (gate + x * sigmoid(x) * (1 - gate * gate))


@elementwise
def elu(x: Vector, alpha: Number, scale: Number, input_scale: Number) -> Vector:
    return where(x <= 0, expm1(minimum(x, 0) * input_scale) * (alpha * scale), x * scale)


@elementwise
def elu_backward(g: Vector, x: Vector, alpha: Number, scale: Number, input_scale: Number) -> Vector:
    below = where(x < 0, x, 0)  # without a slope at 0: the second derivative there is that from above
    return g * where(x <= 0, exp(below * input_scale) * (alpha * scale * input_scale), scale)


@elementwise
def softplus(x: Vector, beta: Number, threshold: Number) -> Vector:
    scaled = x * beta
    usual = log1p(exp(minimum(scaled, threshold))) / beta
    return where(scaled > threshold, x, usual)


@elementwise
def softplus_backward(g: Vector, x: Vector, beta: Number, threshold: Number) -> Vector:
    scaled = x * beta
    return where(scaled > threshold, g, g * sigmoid(scaled))


@elementwise
def log_sigmoid(x: Vector) -> Vector:
    return minimum(x, 0) - log1p(exp_to_one(-abs(x)))


@elementwise
def log_sigmoid_backward(g: Vector, x: Vector) -> Vector:
    """g * sigmoid(-x), by a sigmoid of at most a half: second derivatives have 1 minus that, which is exact."""
    small = sigmoid(where(x < 0, x, -x))
    return g * where(x < 0, 1 - small, small)


@elementwise
def hardswish(x: Vector) -> Vector:
    return x * minimum(maximum(x + 3, 0), 6) / 6


@elementwise
def hardswish_backward(g: Vector, x: Vector) -> Vector:
    return where(x <= -3, 0 * g, where(x < 3, g * (x / 3 + 0.5), g))


@elementwise
def hardsigmoid(x: Vector) -> Vector:
    return minimum(maximum(x + 3, 0), 6) / 6


@elementwise
def hardsigmoid_backward(g: Vector, x: Vector, sixth: Number) -> Vector:
    return where((x > -3) & (x < 3), g * sixth, 0 * g)


@elementwise
def leaky_relu(x: Vector, slope: Number) -> Vector:
    return where(x > 0, x, x * slope)


@elementwise
def leaky_relu_backward(g: Vector, x: Vector, slope: Number) -> Vector:
    return where(x > 0, g, g * slope)


@elementwise
def softshrink(x: Vector, limit: Number) -> Vector:
    return where(x > limit, x - limit, where(x < -limit, x + limit, x * 0))


@elementwise
def hardshrink(x: Vector, limit: Number) -> Vector:
    return where((x >= -limit) & (x <= limit), 0, x)


@elementwise
def shrink_backward(g: Vector, x: Vector, limit: Number) -> Vector:
    return where((x >= -limit) & (x <= limit), 0 * g, g)
