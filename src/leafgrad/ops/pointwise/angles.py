"""Angles and distances: of the points whose coordinates two tensors have, or of complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad._dtypes import BOOL, COMPLEX, INTEGER
from leafgrad.kernels import native
from leafgrad.kernels.fused import elements
from leafgrad.ops.creation.fresh import zeros_like
from leafgrad.ops.pointwise.elementwise import Binary, Unary, is_complex
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.registry import op
from leafgrad.ops.samples import pairs, real

A = Any  # an array, or a tensor under create_graph


def _over_square_of_distance(x: A, input: A, other: A) -> A:
    """x / (input**2 + other**2); 0 at the origin, where no direction is the steepest."""
    square = input * input + other * other
    at_origin = square == 0
    return where(at_origin, zeros_like(square), x / where(at_origin, zeros_like(square) + 1, square))


@op
class atan2(Binary):
    """atan2(input, other): the angle from the axis of `other` to the point (other, input), between -pi and pi."""

    kernel = native(np.arctan2, fills=True)
    as_float = True
    refuses = (COMPLEX,)
    takes = ("Tensor", "Tensor")
    aliases = ("arctan2",)
    samples = pairs(0.3, 3, numbers=False)

    def vjp_input(g: A, input: A, other: A) -> A:
        return g * _over_square_of_distance(other, input, other)

    def vjp_other(g: A, input: A, other: A) -> A:
        return g * -_over_square_of_distance(input, input, other)


@op
class hypot(Binary):
    """hypot(input, other): the square root of input**2 + other**2, element by element."""

    kernel = elements.hypot
    writes_into = True
    refuses = (BOOL, INTEGER, COMPLEX)
    takes = ("Tensor", "Tensor")
    samples = pairs(0.3, 3, numbers=False)

    def vjp_input(g: A, input: A, out: A) -> A:
        return g * (input / out)

    def vjp_other(g: A, other: A, out: A) -> A:
        return g * (other / out)


def _angle(x: Any) -> Any:
    if x.dtype.kind == "c":
        return np.angle(x)
    return np.where(np.isnan(x), x, np.where(x < 0, x.dtype.type(np.pi), x.dtype.type(0)))


@op
class angle(Unary):
    """angle(input): the angle of each complex number from the axis of the real ones; pi for negative real numbers."""

    kernel = _angle
    in_place = False
    holomorphic = False
    jvp = "transpose"
    samples = real(0.3, 3)

    def vjp(g: A, input: A) -> A:
        if not is_complex(input):
            return zeros_like(g)
        at_zero = input == 0
        slope = input * 1j / where(at_zero, 1.0, input.real * input.real + input.imag * input.imag)
        return where(at_zero, zeros_like(slope), g * slope)
