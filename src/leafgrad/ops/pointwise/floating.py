"""Signs, exponents and neighbours of floats, and the step function."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind_many
from leafgrad._dtypes import BOOL, COMPLEX, INTEGER
from leafgrad.kernels.fused import elements
from leafgrad.ops.creation.fresh import zeros_like
from leafgrad.ops.out import Castable
from leafgrad.ops.pointwise.elementwise import Binary, broadcast_binary
from leafgrad.ops.pointwise.exponentials import exp2
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.reduce.common import raw
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S, pairs
from leafgrad.ops.signature import Tensor

A = Any  # an array, or a tensor under create_graph


@op
class copysign(Binary):
    """copysign(input, other): the size of input with the sign of other, element by element."""

    kernel = elements.copysign
    writes_into = True
    as_float = True
    refuses = (COMPLEX,)
    takes = ("Tensor", "Tensor | Number")
    number_name = "CopysignBackward1(input)"

    def vjp_input(g: A, input: A, out: A) -> A:
        at_zero = input == 0
        return where(at_zero, zeros_like(g), g * (out / where(at_zero, zeros_like(input) + 1, input)))

    def vjp_other(g: A) -> A:
        return zeros_like(g)


def _neighbour(x: Any, y: Any) -> Any:
    return np.nextafter(x, y)


@op
class nextafter(Binary):
    """nextafter(input, other): the next float after input in the direction of other."""

    kernel = _neighbour
    refuses = (BOOL, INTEGER, COMPLEX)
    takes = ("Tensor", "Tensor")
    samples = pairs(numbers=False)

    def vjp_input(g: A, input: A, other: A) -> A:
        return where(input == other, zeros_like(g), g)

    def vjp_other(g: A) -> A:
        return zeros_like(g)


# -- mantissa and exponent --------------------------------------------------------------------------------------------


def _scaled_by_power(x: Any, y: Any) -> Any:
    if x.dtype.itemsize == 2:  # 16-bit floats are rounded once, at the end
        return (x.astype(np.float32) * np.exp2(y.astype(np.float32))).astype(x.dtype)
    return x * np.exp2(y)


def _scaled(core: Any, input: Any, other: Any) -> Any:
    """PyTorch multiplies integers by powers that lie in memory row by row."""
    return broadcast_binary(core, input, other.contiguous() if input.array.dtype.kind in "biu" else other)


@op
class ldexp(Binary):
    """ldexp(input, other): input * 2**other, element by element."""

    out = Castable("ldexp can't be cast to the desired output type {given.alias}")
    kernel = _scaled_by_power
    apply = _scaled
    as_float = True
    takes = ("Tensor", "Tensor")
    in_place_function = True
    samples = pairs(numbers=False)

    def vjp_input(g: A, other: A) -> A:
        return g * exp2(other)

    def vjp_other(g: A, out: A) -> A:
        return g * (out * math.log(2))


@op
class frexp(Family):
    """frexp(input): a named tuple (mantissa, exponent) of which input is mantissa * 2**exponent, element by element,
    with mantissas between 0.5 and 1 (or -1 and -0.5)."""

    results = 2
    result_names = ("mantissa", "exponent")
    vmap = "elementwise"
    follows_layout = True
    out = (
        "torch.frexp() expects mantissa to have dtype {wanted.cpp} but got {given.cpp}",
        "torch.frexp() expects exponent to have int dtype but got {given.cpp}",
    )

    def kernel(x: A) -> Any:
        wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
        mantissa, exponent = np.frexp(wide)
        return mantissa.astype(x.dtype, copy=False), np.where(np.isfinite(wide), exponent, 0).astype(np.int32)

    def call(input: Tensor) -> tuple[Tensor, Tensor]:
        if input.array.dtype.kind in "biuc":
            raise errors.mistake(RuntimeError, "torch.frexp() only supports floating-point dtypes")
        return frexp.result_of(bind_many(frexp.core, (input,)))  # type: ignore[no-any-return]

    def vjp(g: A, out1: A) -> A:
        return g[0] / np.exp2(raw(out1).astype(raw(g[0]).dtype))

    saved_as = {"out1": "exponent"}
    samples = lambda t: [S(t(3, 4, low=0.55, high=0.95)), S(t(low=1.1, high=1.9)), S(t(0))]


# -- the step function ------------------------------------------------------------------------------------------------


@op
class heaviside(Family):
    """heaviside(input, values): 0 below zero, 1 above, and `values` at zero. It has no derivative, as in PyTorch."""

    inputs = ("input", "values")
    vmap = "elementwise"
    follows_layout = True
    in_place = True
    out = "heaviside is not yet implemented for tensors with different dtypes."
    node_name = "NotImplemented"
    samples = staticmethod(
        lambda t: [
            S(t(3, 4, dtype="int64", low=-2, high=3), t(4, dtype="int64", low=0, high=5)),
            S(t(0, dtype="int64"), t(dtype="int64")),
            S(t(dtype="int64"), t(dtype="int64")),
        ]
    )

    def call(input: Tensor, values: Tensor) -> Tensor:
        kinds = input.array.dtype, values.array.dtype
        if "c" in (kinds[0].kind, kinds[1].kind):
            raise errors.mistake(RuntimeError, "heaviside is not yet implemented for complex tensors.")
        if kinds[0] != kinds[1]:
            first = "heaviside is not yet implemented for tensors with different dtypes."
            raise errors.mistake(RuntimeError, first)
        return broadcast_binary(heaviside.core, input, values)

    def kernel(x: A, values: A) -> A:
        one, zero = np.ones((), x.dtype), np.zeros((), x.dtype)
        return np.where(x == 0, values, np.where(x > 0, one, zero))

    def vjp_input(g: A) -> A:
        raise RuntimeError("derivative for aten::heaviside is not implemented")

    vjp_values = vjp_input
