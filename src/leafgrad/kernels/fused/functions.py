"""Functions of vector_math.h by themselves: `erf` for the operation, the others for tests, which measure errors."""

from __future__ import annotations

from leafgrad.kernels import language
from leafgrad.kernels.language import Vector, elementwise


@elementwise
def exp(x: Vector) -> Vector:
    return language.exp(x)


@elementwise
def expm1(x: Vector) -> Vector:
    return language.expm1(x)


@elementwise
def log(x: Vector) -> Vector:
    return language.log(x)


@elementwise
def log1p(x: Vector) -> Vector:
    return language.log1p(x)


@elementwise
def tanh(x: Vector) -> Vector:
    return language.tanh(x)


@elementwise
def erf(x: Vector) -> Vector:
    return language.erf(x)


@elementwise
def normal_cdf(x: Vector) -> Vector:
    return language.normal_cdf(x)


@elementwise
def normal_density(x: Vector) -> Vector:
    return language.normal_density(x)
