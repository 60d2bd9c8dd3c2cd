"""Trigonometric and hyperbolic functions and their inverses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad._dtypes import COMPLEX
from leafgrad.kernels import native
from leafgrad.ops.creation.fresh import zeros_like
from leafgrad.ops.pointwise.elementwise import Unary, cos, is_complex, rsqrt, sin
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.registry import op
from leafgrad.ops.samples import real

A = Any  # an array, or a tensor under create_graph


@op
class tan(Unary):
    """tan(input): the tangent of each element."""

    keeps_zero = True
    kernel = native(np.tan)
    samples = real(-1.2, 1.2)

    def vjp(g: A, out: A) -> A:
        return g * (1 + out * out)


@op
class sinh(Unary):
    """sinh(input): the hyperbolic sine of each element."""

    keeps_zero = True
    kernel = native(np.sinh)

    def vjp(g: A, input: A) -> A:
        return g * cosh(input)


@op
class cosh(Unary):
    """cosh(input): the hyperbolic cosine of each element."""

    kernel = native(np.cosh)

    def vjp(g: A, input: A) -> A:
        return g * sinh(input)


# -- inverses ---------------------------------------------------------------------------------------------------------


@op
class asin(Unary):
    """asin(input): the angle whose sine is each element."""

    keeps_zero = True
    kernel = native(np.arcsin)
    aliases = ("arcsin",)
    samples = real(-0.9, 0.9)

    def vjp(g: A, input: A) -> A:
        return g * rsqrt(1 - input * input)


@op
class acos(Unary):
    """acos(input): the angle whose cosine is each element."""

    kernel = native(np.arccos)
    aliases = ("arccos",)
    samples = real(-0.9, 0.9)

    def vjp(g: A, input: A) -> A:
        return g * -rsqrt(1 - input * input)


@op
class atan(Unary):
    """atan(input): the angle whose tangent is each element."""

    keeps_zero = True
    kernel = native(np.arctan)
    aliases = ("arctan",)
    samples = real(-0.9, 3)

    def vjp(g: A, input: A) -> A:
        return g / (1 + input * input)


@op
class asinh(Unary):
    """asinh(input): the number whose hyperbolic sine is each element."""

    keeps_zero = True
    kernel = native(np.arcsinh)
    aliases = ("arcsinh",)
    samples = real(-0.9, 3)

    def vjp(g: A, input: A) -> A:
        return g * rsqrt(1 + input * input)


@op
class acosh(Unary):
    """acosh(input): the number whose hyperbolic cosine is each element."""

    kernel = native(np.arccosh)
    aliases = ("arccosh",)
    samples = real(1.2, 4)

    def vjp(g: A, input: A) -> A:
        if is_complex(input):  # two roots, of which the product is on the right branch
            return g * (rsqrt(input - 1) * rsqrt(input + 1))
        return g * rsqrt(input * input - 1)


@op
class atanh(Unary):
    """atanh(input): the number whose hyperbolic tangent is each element."""

    keeps_zero = True
    kernel = native(np.arctanh)
    aliases = ("arctanh",)
    samples = real(-0.9, 0.9)

    def vjp(g: A, input: A) -> A:
        return g / (1 - input * input)


# -- sines with pi ----------------------------------------------------------------------------------------------------


def _sinc(x: Any) -> Any:
    if x.dtype.itemsize == 2:  # 16-bit floats are rounded once, at the end
        return _sinc(x.astype(np.float32)).astype(x.dtype)
    angle = x * x.dtype.type(math.pi)
    at_zero = angle == 0
    return np.where(at_zero, x.dtype.type(1), np.sin(angle) / np.where(at_zero, x.dtype.type(1), angle))


@op
class sinc(Unary):
    """sinc(input): sin(pi x) / (pi x) of each element, and 1 for zero."""

    kernel = _sinc
    places = ("special.sinc",)
    samples = real(0.1, 2.5)

    def vjp(g: A, input: A) -> A:
        angle = input * math.pi
        below = angle * input  # which is zero for small numbers as well
        at_zero = below == 0
        slope = (angle * cos(angle) - sin(angle)) / where(at_zero, zeros_like(input) + 1, below)
        return where(at_zero, g * (input * (-(math.pi**2) / 3)), g * slope)  # zero there, with the slope that it has


def _scaled(x: Any, factor: float) -> Any:
    return np.multiply(x, np.float32(factor)).astype(x.dtype) if x.dtype.itemsize == 2 else x * x.dtype.type(factor)


@op
class deg2rad(Unary):
    """deg2rad(input): angles in degrees as angles in radians."""

    keeps_zero = True
    node_name = "Deg2RadBackward0"
    refuses = {COMPLEX: (RuntimeError, "deg2rad is not supported for complex tensors.")}

    def kernel(x: A) -> A:
        return _scaled(x, math.pi / 180)

    def vjp(g: A) -> A:
        return g * (math.pi / 180)


@op
class rad2deg(Unary):
    """rad2deg(input): angles in radians as angles in degrees."""

    keeps_zero = True
    node_name = "Rad2DegBackward0"
    refuses = {COMPLEX: (RuntimeError, "rad2deg is not supported for complex tensors.")}

    def kernel(x: A) -> A:
        return _scaled(x, 180 / math.pi)

    def vjp(g: A) -> A:
        return g * (180 / math.pi)
