# Written by tools/make_stubs.py from the declarations of the operations: not to be edited.

import builtins
from collections.abc import Sequence
from typing import Any, Literal, overload

from leafgrad import return_types
from leafgrad._tensor.tensor import Tensor
from leafgrad.ops.signature import Device, Dim, DimOrDims, Dtype, Layout, MemoryFormat, Number, Rounding, Shape
from leafgrad.random import Generator

def airy_ai(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Airy's function Ai."""
def bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Bessel's function of the first kind, of order 0."""
def bessel_j1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Bessel's function of the first kind, of order 1."""
def bessel_y0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Bessel's function of the second kind, of order 0."""
def bessel_y1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Bessel's function of the second kind, of order 1."""
def chebyshev_polynomial_t(input: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev's polynomial of the first kind of degree n, element by element."""
def chebyshev_polynomial_u(input: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev's polynomial of the second kind of degree n, element by element."""
def chebyshev_polynomial_v(input: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev's polynomial of the third kind of degree n, element by element."""
def chebyshev_polynomial_w(input: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev's polynomial of the fourth kind of degree n, element by element."""
def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the derivative of lgamma at each element."""
def entr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """-x log(x) of each element; zero for zero, and -inf for negative ones."""
def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the error function of each element."""
def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """1 - erf(x) of each element, precise where that is small."""
def erfcx(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(x**2) erfc(x) of each element, also where the two parts overflow and underflow."""
def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the number whose error function is each element."""
def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """2 to the power of each element."""
def expit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """1 / (1 + exp(-x)) of each element."""
def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(x) - 1 of each element, precise near zero."""
def gammainc(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the regularized lower incomplete gamma function P(input, other)."""
def gammaincc(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the regularized upper incomplete gamma function Q(input, other) = 1 - P(input, other)."""
def gammaln(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the logarithm of the absolute value of the gamma function of each element."""
def hermite_polynomial_h(input: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """the physicists' Hermite polynomial of degree n, element by element."""
def hermite_polynomial_he(input: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """the probabilists' Hermite polynomial of degree n, element by element."""
def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the modified Bessel function of the first kind, of order 0, of each element."""
def i0e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(-|x|) i0(x) of each element."""
def i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the modified Bessel function of the first kind, of order 1, of each element."""
def i1e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(-|x|) i1(x) of each element."""
def laguerre_polynomial_l(input: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Laguerre's polynomial of degree n, element by element."""
def legendre_polynomial_p(input: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Legendre's polynomial of degree n, element by element."""
def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """log(1 + x) of each element, precise near zero."""
def log_ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the logarithm of the probability that a standard normal variable is below each element."""
def log_softmax(input: Tensor, dim: Dim, dtype: Dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(softmax(input)), without the loss of precision."""
def logit(input: Tensor, eps: builtins.float | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(x / (1 - x)) of each element, which is first clamped to [eps, 1 - eps]."""
def logsumexp(input: Tensor, dim: DimOrDims, keepdim: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """log(sum(exp(input))) along dimensions."""
def modified_bessel_i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the modified Bessel function of the first kind, of order 0."""
def modified_bessel_i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the modified Bessel function of the first kind, of order 1."""
def modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the modified Bessel function of the second kind, of order 0."""
def modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the modified Bessel function of the second kind, of order 1."""
def multigammaln(input: Tensor, p: builtins.int, *, out: Tensor | None = None) -> Tensor:
    """the logarithm of the multivariate gamma function of dimension p of each element."""
def ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the probability that a standard normal variable is below each element."""
def ndtri(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the number below which a standard normal variable is with each probability."""
def polygamma(n: builtins.int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the n-th derivative of digamma at each element."""
def psi(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the derivative of lgamma at each element."""
def round(input: Tensor, *, decimals: builtins.int = 0, out: Tensor | None = None) -> Tensor:
    """each element rounded to so many decimals, halves to the even neighbour."""
def scaled_modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(x) times that of the second kind, of order 0."""
def scaled_modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(x) times that of the second kind, of order 1."""
def shifted_chebyshev_polynomial_t(input: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev's polynomial of the first kind at 2x - 1, of degree n, element by element."""
def shifted_chebyshev_polynomial_u(input: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev's polynomial of the second kind at 2x - 1, of degree n, element by element."""
def shifted_chebyshev_polynomial_v(input: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev's polynomial of the third kind at 2x - 1, of degree n, element by element."""
def shifted_chebyshev_polynomial_w(input: Tensor | Number, n: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Chebyshev's polynomial of the fourth kind at 2x - 1, of degree n, element by element."""
def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """sin(pi x) / (pi x) of each element, and 1 for zero."""
def softmax(input: Tensor, dim: Dim, dtype: Dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """exp(input) divided by its sum along a dimension."""
def spherical_bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """sin(x) / x, the spherical Bessel function of order 0."""
def xlog1py(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """input * log1p(other), and zero where input is zero."""
def xlogy(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """input * log(other), and zero where input is zero."""
def zeta(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Hurwitz' zeta function, the sum of 1 / (k + other)**input for k = 0, 1, ..."""
