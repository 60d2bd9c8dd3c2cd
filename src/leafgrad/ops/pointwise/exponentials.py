"""Exponentials and logarithms beside exp and log, and products with logarithms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad._core.bind import bind
from leafgrad._dtypes import BOOL, COMPLEX, INTEGER, from_numpy_dtype
from leafgrad.kernels import native
from leafgrad.kernels.fused import elements
from leafgrad.ops.creation.fresh import zeros_like
from leafgrad.ops.out import ELEMENTWISE
from leafgrad.ops.pointwise.elementwise import Binary, Unary, exp, log
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.promotion import float_input
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S, pairs, real
from leafgrad.ops.signature import Tensor

A = Any  # an array, or a tensor under create_graph
LOG_2, LOG_10 = math.log(2), math.log(10)


_log1p_of_reals = native(np.log1p)


def _log1p(x: Any, *out: Any) -> Any:
    """NumPy's is not precise for small complex numbers."""
    if x.dtype.kind != "c":
        return _log1p_of_reals(x, *out)
    a, b = x.real, x.imag
    result = np.empty_like(x)
    square = a * (2 + a) + b * b  # of |1 + x|, less one
    near = np.where(square == 0, a, np.log1p(square) / 2)
    result.real = np.where(np.abs(x) < 0.5, near, np.log(np.hypot(a + 1, b)))
    result.imag = np.arctan2(b, a + 1)
    if out:
        out[0][...] = result
    return result


@op
class log1p(Unary):
    """log1p(input): log(1 + x) of each element, precise near zero."""

    keeps_zero = True
    kernel = _log1p
    writes_into = True
    node_name = "Log1PBackward0"
    places = ("special.log1p",)
    samples = real(-0.9, 3)

    def vjp(g: A, input: A) -> A:
        return g / (input + 1)


@op
class log2(Unary):
    """log2(input): the logarithm of each element to base 2."""

    kernel = native(np.log2)
    samples = real(0.1, 4)

    def vjp(g: A, input: A) -> A:
        return g / (input * LOG_2)


@op
class log10(Unary):
    """log10(input): the logarithm of each element to base 10."""

    kernel = native(np.log10)
    samples = real(0.1, 4)

    def vjp(g: A, input: A) -> A:
        return g / (input * LOG_10)


@op
class expm1(Unary):
    """expm1(input): exp(x) - 1 of each element, precise near zero."""

    keeps_zero = True
    kernel = native(np.expm1)
    places = ("special.expm1",)

    def vjp(g: A, out: A) -> A:
        return g * (out + 1)


@op
class exp2(Unary):
    """exp2(input): 2 to the power of each element."""

    kernel = native(np.exp2)
    places = ("special.exp2",)

    def vjp(g: A, out: A) -> A:
        return g * (out * LOG_2)


# -- sums of exponentials ---------------------------------------------------------------------------------------------


def log_of_sum(x: Any, y: Any) -> Any:
    """log(exp(x) + exp(y)). Of two complex numbers with the same infinite real part, -inf is -inf, and the directions
    of +inf are added."""
    if x.dtype.kind != "c":
        return elements.log_of_sum(x, y)
    first = x.real >= y.real
    large, small = np.where(first, x, y), np.where(first, y, x)
    with_nan = np.isnan(x) | np.isnan(y)
    out = np.asarray(large + _log1p(np.asarray(np.exp(small - large))))
    alike = np.isinf(small.real) & (small.real == large.real)
    if alike.any():
        sums = np.log(_infinite(small[alike]) + _infinite(large[alike]))
        out[alike] = np.where(small[alike].real < 0, small[alike], sums)
    out[with_nan] = complex(np.nan, np.nan)
    return out


def _infinite(x: Any) -> Any:
    """exp(inf + i b), of which a part is zero where its direction is."""
    direction = np.exp(1j * x.imag).astype(x.dtype)
    out = np.empty_like(direction)
    out.real, out.imag = [np.where(part == 0, part, part * np.inf) for part in (direction.real, direction.imag)]
    return out


@op
class logaddexp(Binary):
    """logaddexp(input, other): log(exp(input) + exp(other)), without overflow."""

    kernel = log_of_sum
    refuses = (BOOL, INTEGER)
    takes = ("Tensor", "Tensor")
    in_place = False
    samples = pairs(numbers=False)

    def vjp_input(g: A, input: A, other: A) -> A:
        return g / (1 + exp(other - input))

    def vjp_other(g: A, input: A, other: A) -> A:
        return g / (1 + exp(input - other))


@op
class logaddexp2(Binary):
    """logaddexp2(input, other): log2(2**input + 2**other), without overflow."""

    kernel = native(np.logaddexp2)
    refuses = (BOOL, INTEGER, COMPLEX)
    takes = ("Tensor", "Tensor")
    in_place = False
    samples = pairs(numbers=False)

    def vjp_input(g: A, input: A, other: A) -> A:
        return g / (1 + exp2(other - input))

    def vjp_other(g: A, input: A, other: A) -> A:
        return g / (1 + exp2(input - other))


# -- products with logarithms -----------------------------------------------------------------------------------------


def _product(x: Any, y: Any, logarithm: Any) -> Any:
    """x * logarithm(y), which is zero where x is, unless y is nan."""
    if x.dtype.itemsize == 2:  # 16-bit floats are rounded once, at the end
        return _product(x.astype(np.float32), y.astype(np.float32), logarithm).astype(x.dtype)
    zero = x.dtype.type(0)
    return np.where(np.isnan(y), x.dtype.type(np.nan), np.where(x == 0, zero, x * logarithm(y)))


class ProductWithLogarithm(Binary, family=True):
    as_float = True
    refuses = (COMPLEX,)
    samples = staticmethod(pairs(0.3, 3))


@op
class xlogy(ProductWithLogarithm):
    """xlogy(input, other): input * log(other), and zero where input is zero."""

    number_name = "XlogyBackward2(input)"
    first_number_name = "XlogyBackward1(other)"
    hides = {"XlogyBackward2": ("other",), "XlogyBackward1": ("input",)}
    in_place_function = True
    places = ("special.xlogy",)

    def kernel(x: A, y: A) -> A:
        return elements.times_logarithm(x, y)

    def vjp_input(g: A, input: A, other: A) -> A:
        return where((input == 0) & (other <= 0), zeros_like(g), g * log(other))

    def vjp_other(g: A, input: A, other: A) -> A:
        return g * (input / other)


@op
class special_xlog1py(ProductWithLogarithm):
    """special_xlog1py(input, other): input * log1p(other), and zero where input is zero."""

    node_name = "SpecialXlog1PyBackward0"
    number_name = "SpecialXlog1PyBackward2(input)"
    first_number_name = "SpecialXlog1PyBackward1(other)"
    hides = {"SpecialXlog1PyBackward2": ("other",), "SpecialXlog1PyBackward1": ("input",)}
    kernel_name = "xlog1py_cpu"
    public_name = ""
    places = ("special.xlog1py",)
    in_place = False

    def kernel(x: A, y: A) -> A:
        return _product(x, y, np.log1p)

    def vjp_input(g: A, input: A, other: A) -> A:
        return where((input == 0) & (other <= -1), zeros_like(g), g * log1p(other))

    def vjp_other(g: A, input: A, other: A) -> A:
        return g * (input / (other + 1))


def _entropy(x: Any) -> Any:
    if x.dtype.itemsize == 2:
        return _entropy(x.astype(np.float32)).astype(x.dtype)
    zero, infinity = x.dtype.type(0), x.dtype.type(np.inf)
    return np.where(x > 0, -x * np.log(x), np.where(x == 0, zero, np.where(np.isnan(x), x, -infinity)))


@op
class special_entr(Unary):
    """special_entr(input): -x log(x) of each element; zero for zero, and -inf for negative ones."""

    kernel = _entropy
    refuses = (COMPLEX,)
    kernel_name = "entr_cpu"
    public_name = ""
    places = ("special.entr",)
    in_place = False
    samples = real(0.1, 3)

    def vjp(g: A, input: A) -> A:
        return g * (-log(input) - 1)


# -- log-odds ---------------------------------------------------------------------------------------------------------


def _log_odds(x: Any, eps: float | None) -> Any:
    if x.dtype.itemsize == 2:
        return _log_odds(x.astype(np.float32), eps).astype(x.dtype)
    if eps is not None:
        low, high = x.dtype.type(eps), x.dtype.type(1 - eps)
        x = np.where(x < low, low, np.where(x > high, high, x))
    return np.log(x / (1 - x))


@op
class logit(Family):
    """logit(input, eps=None): log(x / (1 - x)) of each element, which is first clamped to [eps, 1 - eps]."""

    options = ("eps",)
    kernel = _log_odds
    jvp = "elementwise"
    vmap = "elementwise"
    follows_layout = True
    in_place = True
    in_place_function = True
    out = ELEMENTWISE
    places = ("special.logit",)
    refuses = (COMPLEX,)

    def call(input: Tensor, eps: float | None = None) -> Tensor:
        logit.check(from_numpy_dtype(input.array.dtype))
        return bind(logit.core, (float_input(input),), (eps,))

    def vjp(g: A, input: A, eps: A) -> A:
        spread = input * (1 - input)
        slope = g / (spread + 0.0)  # which makes -0.0 a zero without sign
        if eps is None:
            return where((input < 0) | (input > 1), zeros_like(g) + math.nan, slope)
        return where((input < eps) | (input > 1 - eps), zeros_like(g), slope)

    samples = staticmethod(
        lambda t: [
            *[S(t(*shape, low=0.1, high=0.9)) for shape in [(3, 4), (), (0,)]],
            S(t(5, low=0.1, high=0.9), 0.05),
            S(t(5, low=-0.5, high=1.5), eps=0.25),
        ]
    )
