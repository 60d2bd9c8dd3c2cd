"""The gamma function: its logarithm, the derivatives of that, Hurwitz' zeta function, and incomplete ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad._core.bind import bind
from leafgrad._core.op import Op
from leafgrad._core.tensor import TensorBase
from leafgrad._dtypes import BOOL, COMPLEX, FLOAT, HALF, INTEGER, from_numpy_dtype
from leafgrad.kernels import gamma_functions as kernels
from leafgrad.kernels.fused import special as fused
from leafgrad.ops.inplace import in_place
from leafgrad.ops.out import ELEMENTWISE
from leafgrad.ops.pointwise.elementwise import Binary, Unary, exp, log
from leafgrad.ops.promotion import float_input
from leafgrad.ops.public_forms import checked_methods
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S, ValuesOnly, pairs, real
from leafgrad.ops.signature import Tensor

A = Any  # an array, or a tensor under create_graph


@op
class lgamma(Unary):
    """lgamma(input): the logarithm of the absolute value of the gamma function of each element."""

    kernel = fused.lgamma
    writes_into = True
    kernel_name = "lgamma_vml_cpu"
    refuses = (COMPLEX,)
    in_place_function = False
    places = ("special.gammaln",)
    samples = real(0.3, 4)

    def vjp(g: A, input: A) -> A:
        return g * digamma(input)


@op
class digamma(Unary):
    """digamma(input): the derivative of lgamma at each element."""

    kernel = fused.digamma
    writes_into = True
    kernel_name = "digamma"
    refuses = (COMPLEX,)
    in_place_function = False
    places = ("special.digamma", "special.psi")
    samples = real(0.3, 4)

    def vjp(g: A, input: A) -> A:
        return g * polygamma(input, 1)


@op
class polygamma(Family):
    """polygamma(n, input): the n-th derivative of digamma at each element."""

    options = ("n",)
    node_names = ("PolygammaBackward1",)  # in place
    jvp = "elementwise"
    vmap = "elementwise"
    follows_layout = True
    refuses = (COMPLEX,)
    kernel_name = "polygamma"
    places = ("special.polygamma",)
    out = ELEMENTWISE

    def kernel(x: A, n: int) -> A:
        return kernels.polygamma(n, x)

    @staticmethod
    def call(n: int, input: Tensor) -> Tensor:
        return _polygamma(polygamma.core, input, n)

    def method(self: Tensor, n: int) -> Tensor:
        """polygamma(n): the n-th derivative of digamma at each element."""
        return polygamma.function(n, self)

    def vjp(g: A, input: A, n: A) -> A:
        return g * polygamma(input, n + 1)

    samples = lambda t: [
        *[S(n, t(3, 2, low=0.5, high=3)) for n in (0, 1, 2, 3)],
        S(1, t(low=0.5)),
        S(2, t(0)),
    ]


def _polygamma(core: Op, input: TensorBase, n: int) -> Any:
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    polygamma.check(from_numpy_dtype(input.array.dtype))
    return bind(core, (float_input(input),), (n,))


def polygamma_(self: Tensor, n: int) -> Tensor:
    """polygamma_(n): polygamma, in place."""
    return in_place(self, lambda x: _polygamma(polygamma.named["PolygammaBackward1"], x, n))


METHODS = checked_methods(polygamma_)


def _multivariate(x: Any, p: int) -> Any:
    if x.dtype.itemsize == 2:
        return _multivariate(x.astype(np.float32), p).astype(x.dtype)
    total = np.zeros_like(x) + x.dtype.type(p * (p - 1) / 4 * math.log(math.pi))
    for i in range(p):
        total += kernels.lgamma(x - x.dtype.type(i / 2))
    return total


@op
class mvlgamma(Family):
    """mvlgamma(input, p): the logarithm of the multivariate gamma function of dimension p of each element."""

    options = ("p",)
    kernel = _multivariate
    jvp = "elementwise"
    vmap = "elementwise"
    row_major = True
    in_place = True
    refuses = (COMPLEX,)
    places = ("special.multigammaln",)
    in_place_function = False
    out = ELEMENTWISE

    def call(input: Tensor, p: int) -> Tensor:
        if p < 1:
            raise RuntimeError("p has to be greater than or equal to 1")
        kind = from_numpy_dtype(input.array.dtype)
        if kind.category == BOOL:
            raise RuntimeError("The input tensor may not be a boolean tensor.")
        if kind.category not in (INTEGER, FLOAT):
            raise NotImplementedError(f"\"lgamma_vml_cpu\" not implemented for '{kind.alias}'")
        return bind(mvlgamma.core, (float_input(input),), (p,))

    def vjp(g: A, input: A, p: A) -> A:
        slope = digamma(input)
        for i in range(1, p):
            slope = slope + digamma(input - i / 2)
        return g * slope

    samples = lambda t: [
        S(t(3, 2, low=1.2, high=4), 2),
        S(t(3, low=1.2, high=4), p=1),
        S(t(low=1.6, high=4), 3),
        S(t(0), 1),
    ]


# -- two arguments ----------------------------------------------------------------------------------------------------


BY_SECOND = "PyTorch has no derivative by the first argument"


def not_differentiated(name: str) -> NotImplementedError:
    return NotImplementedError(f"the derivative for '{name}' is not implemented.")


@op
class special_zeta(Binary):
    """special_zeta(input, other): Hurwitz' zeta function, the sum of 1 / (k + other)**input for k = 0, 1, ..."""

    kernel = kernels.zeta
    kernel_name = "zeta_cpu"
    as_float = True
    refuses = (COMPLEX, HALF)
    public_name = ""
    places = ("special.zeta",)
    in_place = False
    number_name = "SpecialZetaBackward2(input)"
    first_number_name = "SpecialZetaBackward1(other)"
    hides = {"SpecialZetaBackward2": ("other",), "SpecialZetaBackward1": ("input",)}
    constants = ("input",)
    exempt = {"half precision": "PyTorch does not have it either"}
    samples = ValuesOnly(BY_SECOND, pairs(1.5, 4, numbers=False))

    def vjp_input(g: A) -> A:
        raise not_differentiated("zeta")

    def vjp_other(g: A, input: A, other: A) -> A:
        return g * (-input * special_zeta(input + 1, other))


class IncompleteGamma(Binary, family=True):
    """Of the order `input` and the point `other`; PyTorch has the derivative by the point only."""

    refuses = (BOOL, INTEGER, COMPLEX)
    takes = ("Tensor", "Tensor")
    constants = ("input",)
    samples = ValuesOnly(BY_SECOND, pairs(0.4, 4, numbers=False))


def _density(input: A, other: A) -> A:
    """The derivative of P(input, other) by the point: x**(a - 1) exp(-x) / gamma(a)."""
    return exp((input - 1) * log(other) - other - lgamma(input))


@op
class igamma(IncompleteGamma):
    """igamma(input, other): the regularized lower incomplete gamma function P(input, other)."""

    kernel = kernels.igamma
    places = ("special.gammainc",)

    def vjp_input(g: A) -> A:
        raise not_differentiated("igamma: input")

    def vjp_other(g: A, input: A, other: A) -> A:
        return g * _density(input, other)


@op
class igammac(IncompleteGamma):
    """igammac(input, other): the regularized upper incomplete gamma function Q(input, other) = 1 - P(input, other)."""

    kernel = kernels.igammac
    places = ("special.gammaincc",)

    def vjp_input(g: A) -> A:
        raise not_differentiated("igammac: input")

    def vjp_other(g: A, input: A, other: A) -> A:
        return -g * _density(input, other)
