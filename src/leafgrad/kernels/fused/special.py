"""Special functions that are written in C (special_kernels.h), apart from other kernels: few programs need them."""

from __future__ import annotations

from leafgrad.kernels import error_functions, gamma_functions
from leafgrad.kernels.language import Vector, written_in_c


@written_in_c
def lgamma(x: Vector) -> Vector:
    return gamma_functions.lgamma(x)


@written_in_c
def digamma(x: Vector) -> Vector:
    return gamma_functions.digamma(x)


@written_in_c
def erfinv(x: Vector) -> Vector:
    return error_functions.erfinv(x)
