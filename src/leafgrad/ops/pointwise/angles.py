"""Angles: of the points whose coordinates two tensors have."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad._dtypes import COMPLEX
from leafgrad.kernels import native
from leafgrad.ops.creation.fresh import zeros_like
from leafgrad.ops.pointwise.elementwise import Binary
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.registry import op
from leafgrad.ops.samples import pairs

A = Any  # an array, or a tensor under create_graph


def _over_square_of_distance(x: A, input: A, other: A) -> A:
    """x / (input**2 + other**2); 0 at the origin, where no direction is the steepest."""
    square = input * input + other * other
    at_origin = square == 0
    return where(at_origin, zeros_like(square), x / where(at_origin, zeros_like(square) + 1, square))


@op
class atan2(Binary):
    """atan2(input, other): the angle from the axis of `other` to the point (other, input), between -pi and pi."""

    kernel = native(np.arctan2)
    as_float = True
    refuses = (COMPLEX,)
    takes = ("Tensor", "Tensor")
    aliases = ("arctan2",)
    samples = pairs(0.3, 3, numbers=False)

    def vjp_input(g: A, input: A, other: A) -> A:
        return g * _over_square_of_distance(other, input, other)

    def vjp_other(g: A, input: A, other: A) -> A:
        return g * -_over_square_of_distance(input, input, other)
