"""The error function, the normal distribution, and their inverses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad._dtypes import COMPLEX, HALF
from leafgrad.kernels import error_functions as kernels
from leafgrad.kernels.fused import functions, special
from leafgrad.ops.pointwise.elementwise import Unary, exp
from leafgrad.ops.registry import op
from leafgrad.ops.samples import real

A = Any  # an array, or a tensor under create_graph
TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)
ROOT_OF_HALF_PI = math.sqrt(math.pi / 2)


class Special(Unary, family=True):
    """Special functions of real numbers that are in leafgrad.special only. PyTorch has most of them not in half
    precision."""

    refuses: Any = (COMPLEX, HALF)
    public_name = ""
    in_place = False
    exempt = {"half precision": "PyTorch does not have it either"}


@op
class erf(Unary):
    """erf(input): the error function of each element."""

    keeps_zero = True
    kernel = functions.erf
    kernel_name = "erf_vml_cpu"
    refuses = (COMPLEX,)
    places = ("special.erf",)

    def vjp(g: A, input: A) -> A:
        return g * (TWO_OVER_ROOT_PI * exp(-(input * input)))


@op
class erfc(Unary):
    """erfc(input): 1 - erf(x) of each element, precise where that is small."""

    kernel = kernels.erfc
    kernel_name = "erfc_vml_cpu"
    refuses = (COMPLEX,)
    places = ("special.erfc",)

    def vjp(g: A, input: A) -> A:
        return g * (-TWO_OVER_ROOT_PI * exp(-(input * input)))


@op
class erfinv(Unary):
    """erfinv(input): the number whose error function is each element."""

    keeps_zero = True
    kernel = special.erfinv
    writes_into = True
    kernel_name = "erfinv_vml_cpu"
    refuses = (COMPLEX,)
    places = ("special.erfinv",)
    in_place_function = False
    samples = real(-0.9, 0.9)

    def vjp(g: A, input: A) -> A:
        root = erfinv(input)
        return g * (exp(root * root) / TWO_OVER_ROOT_PI)


@op
class special_erfcx(Special):
    """special_erfcx(input): exp(x**2) erfc(x) of each element, also where the two parts overflow and underflow."""

    kernel = kernels.erfcx
    kernel_name = "erfcx_cpu"
    places = ("special.erfcx",)

    def vjp(g: A, input: A, out: A) -> A:
        return g * (2 * input * out - TWO_OVER_ROOT_PI)


# -- the normal distribution ------------------------------------------------------------------------------------------


@op
class special_ndtr(Unary):
    """special_ndtr(input): the probability that a standard normal variable is below each element."""

    node_name = "MulBackward1(AddBackward1(ErfBackward0(MulBackward1(input))))"
    kernel_name = "erf_vml_cpu"
    refuses = (COMPLEX,)
    public_name = ""
    places = ("special.ndtr",)
    in_place = False
    saved_as = {"input": ""}
    passes_on = lambda name, g: g * 0.5

    def kernel(x: A) -> A:
        if x.dtype.itemsize == 2:
            return special_ndtr.kernel(x.astype(np.float32)).astype(x.dtype)
        # not precise far below zero, as in PyTorch
        return (kernels.erf(x * x.dtype.type(math.sqrt(0.5))) + 1) * x.dtype.type(0.5)

    def vjp(g: A, input: A) -> A:
        return g * (exp(input * input * -0.5) * (0.5 / ROOT_OF_HALF_PI))


@op
class special_ndtri(Special):
    """special_ndtri(input): the number below which a standard normal variable is with each probability."""

    kernel = kernels.ndtri
    kernel_name = "ndtri_cpu"
    places = ("special.ndtri",)
    samples = real(0.1, 0.9)

    def vjp(g: A, out: A) -> A:
        return g * (2 * ROOT_OF_HALF_PI * exp(out * out / 2))


@op
class special_log_ndtr(Special):
    """special_log_ndtr(input): the logarithm of the probability that a standard normal variable is below each
    element."""

    kernel = kernels.log_ndtr
    kernel_name = "log_ndtr_cpu"
    places = ("special.log_ndtr",)
    samples = real(-1, 2)

    def vjp(g: A, input: A) -> A:
        return g / (special_erfcx(input * -math.sqrt(0.5)) * ROOT_OF_HALF_PI)
