"""Systems of equations with a triangular matrix, and what is solved by two of them: those of a Cholesky factor."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors, return_types
from leafgrad._core.tensor import wrap
from leafgrad.kernels.products import find_blas, substitute
from leafgrad.ops.index.masks import tril, triu
from leafgrad.ops.linalg.matrices import (
    OfMatrices,
    added,
    adjoint,
    broadcast,
    check_equation,
    check_kernel,
    check_same_dtype,
    check_square,
    check_success,
    dominant,
    in_columns,
    times,
)
from leafgrad.ops.out import castable
from leafgrad.ops.registry import op
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.shape.views import transpose
from leafgrad.ops.signature import Tensor

A = Any  # an array, or a tensor under create_graph
Array = Any


def triangular(a: Array, b: Array, upper: bool, left: bool, unitriangular: bool) -> Array:
    """The solution of AX = B, or of XA = B. It lies in memory column by column, as what LAPACK returns."""
    find_blas()
    x = np.array(b.swapaxes(-1, -2), order="C")
    return substitute(a, x, upper, left, unitriangular).swapaxes(-1, -2)


@op
class linalg_solve_triangular(OfMatrices):
    """linalg.solve_triangular(A, B, *, upper, left=True, unitriangular=False): the solution X of AX = B, or with
    left=False of XA = B, where A is a triangular matrix: the other triangle of it is not looked at."""

    inputs = ("A", "B")
    options = ("upper", "left", "unitriangular")
    saved_as = {"A": "self"}
    holomorphic = True
    kernel = triangular
    places = ("linalg.solve_triangular",)
    out = "expected scalar type {wanted.alias} but found {given.alias}"

    def call(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
        name = "linalg.solve_triangular"
        check_same_dtype(name, A, B)
        check_equation(name, A, B, left)
        check_kernel("triangular_solve_cpu", A)
        return linalg_solve_triangular.record(*broadcast(A, B), upper, left, unitriangular)

    def vjp_A(g: A, A: A, out: A, upper: A, left: A, unitriangular: A) -> A:
        back = solve_transposed(g, A, upper, left, unitriangular)
        change = -times(back, turned(out)) if left else -times(turned(out), back)
        beside = int(unitriangular)  # a diagonal that is not looked at has no gradient
        return triu(change, beside) if upper else tril(change, -beside)

    def vjp_B(g: A, A: A, upper: A, left: A, unitriangular: A) -> A:
        return solve_transposed(g, A, upper, left, unitriangular)

    samples = lambda t: [
        S(dominant(t(3, 3)), t(3, 2), upper=True),
        S(dominant(t(3, 3)), t(2, 3), upper=False, left=False),
        S(dominant(t(2, 2, 2)), t(2, 2, 1), upper=False, unitriangular=True),
        S(dominant(t(2, 2)), t(3, 4, 2), upper=True, left=False),
        S(t(0, 0), t(0, 2), upper=True),
    ]


def turned(x: A) -> A:
    return transpose(x, x.ndim - 2, x.ndim - 1)


def solve_transposed(g: A, a: A, upper: bool, left: bool, unitriangular: bool) -> A:
    return linalg_solve_triangular(turned(a), g, not upper, left, unitriangular)


def solve_triangular(a: A, b: A, upper: bool, left: bool = True, unitriangular: bool = False) -> A:
    """The operation for rules, on stacks of the same size."""
    return linalg_solve_triangular(a, b, upper, left, unitriangular)


@op
class triangular_solve(OfMatrices):
    """triangular_solve(b, A, upper=True, transpose=False, unitriangular=False): the solution of AX = b for a triangular
    A, or for its transpose, and a copy of A. torch.linalg.solve_triangular is the newer form."""

    autocast = "float32"
    inputs = ("input", "A")
    options = ("upper", "transpose", "unitriangular")
    results = 2
    result_names = ("solution", "cloned_coefficient")
    saved_as = {"out": "solution"}
    holomorphic = True
    public_name = "triangular_solve"
    out = True

    def kernel(b: Array, a: Array, upper: bool, transposed: bool, unitriangular: bool) -> Any:
        factor = a.swapaxes(-1, -2) if transposed else a
        return triangular(factor, b, upper != transposed, True, unitriangular), np.array(
            a.swapaxes(-1, -2), order="C"
        ).swapaxes(-1, -2)

    def call(
        input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
    ) -> return_types.triangular_solve:
        errors.warn_once(
            "torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangularand will be removed in a "
            "future PyTorch release.\ntorch.linalg.solve_triangular has its arguments reversed and does not return a "
            "copy of one of the inputs.\nX = torch.triangular_solve(B, A).solution\nshould be replaced with\nX = "
            "torch.linalg.solve_triangular(A, B)."
        )
        for name, x in (("b", input), ("A", A)):
            if x.array.ndim < 2:
                first = f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it has "
                raise errors.mistake(RuntimeError, f"{first}{x.array.ndim} dimensions instead")
        a, b = broadcast(A, input)
        check_equation("triangular_solve", a, b)
        check_kernel("triangular_solve_cpu", a)
        found = triangular_solve.record(b, a, upper, transpose, unitriangular)
        return triangular_solve.result_of(found)  # type: ignore[no-any-return]

    def vjp_input(g: A, A: A, upper: A, transpose: A, unitriangular: A) -> A:
        return None if g[0] is None else triangular_solve(g[0], A, upper, not transpose, unitriangular)[0]

    def vjp_A(g: A, A: A, out: A, upper: A, transpose: A, unitriangular: A) -> A:
        if g[0] is None:
            return g[1]
        back = triangular_solve(g[0], A, upper, not transpose, unitriangular)[0]
        change = -times(out, turned(back)) if transpose else -times(back, turned(out))
        beside = int(unitriangular)
        return added(triu(change, beside) if upper else tril(change, -beside), g[1])

    samples = lambda t: [S(t(3, 2), dominant(t(3, 3))), S(t(2, 2), dominant(t(2, 2)), False, True, True)]


def _check_factor(b: Any, factor: Any) -> None:
    for name, x in (("b", b), ("u", factor)):
        if x.array.ndim < 2:
            first = f"{name} should have at least 2 dimensions, but has {x.array.ndim} dimensions instead"
            raise errors.mistake(RuntimeError, first)
    if factor.array.shape[-2] != factor.array.shape[-1]:
        rows, columns = factor.array.shape[-2:]
        first = f"A must be batches of square matrices, but they are {rows} by {columns} matrices"
        raise errors.mistake(RuntimeError, first)
    if b.array.shape[-2] != factor.array.shape[-1]:
        rows, columns = factor.array.shape[-2:]
        first = (
            f"Incompatible matrix sizes for cholesky_solve: each A matrix is {rows} by {columns} but each b matrix is "
            f"{b.array.shape[-2]} by {b.array.shape[-1]}"
        )
        raise errors.mistake(RuntimeError, first)


def _factor(torch: Any, x: Any) -> Any:
    return torch.linalg.cholesky(x @ x.mH + torch.eye(x.shape[-1], dtype=x.dtype))


OF_FACTORS = "is given a triangular matrix, and has the gradient of a function of all its elements"


@op
class cholesky_solve(OfMatrices):
    """cholesky_solve(B, L, upper=False): the solution of AX = B, where A is L L* (or L* L, if that is upper)."""

    autocast = "float32"
    inputs = ("input", "input2")
    options = ("upper",)
    public_name = "cholesky_solve"
    out = castable("cholesky_solve")

    def kernel(b: Array, factor: Array, upper: bool) -> Array:
        other = factor.conj().swapaxes(-1, -2)
        one, two = (other, factor) if upper else (factor, other)
        return triangular(two, triangular(one, b, False, True, False), True, True, False)

    def call(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
        _check_factor(input, input2)
        check_same_dtype("cholesky_solve", input, input2, ("b", "A"))
        check_kernel("cholesky_solve_cpu", input)
        return cholesky_solve.record(*broadcast(input, input2), upper)

    def vjp_input(g: A, input2: A, upper: A) -> A:
        return cholesky_solve(g, input2, upper)

    def vjp_input2(g: A, input2: A, out: A, upper: A) -> A:
        change = times(cholesky_solve(g, input2, upper), adjoint(out))
        change = -(change + adjoint(change))
        return times(input2, change) if upper else times(change, input2)

    samples = ValuesOnly(
        OF_FACTORS,
        lambda t: [S(t(3, 2), t(3, 3)), S(t(2, 2, 1), t(2, 2)), S(t(0, 2), t(0, 0))],
        lambda torch, b, x: [
            torch.cholesky_solve(b, _factor(torch, x)),
            torch.cholesky_solve(b, _factor(torch, x).mH.contiguous(), True),
        ],
    )


def no_inverse(k: int) -> str:
    return (
        f"The diagonal element {k} is zero, the inversion could not be completed because the input matrix is singular."
    )


@op
class cholesky_inverse(OfMatrices):
    """cholesky_inverse(L, upper=False): the inverse of L L*, or of L* L, if L is upper."""

    autocast = "float32"
    options = ("upper",)
    public_name = "cholesky_inverse"
    out = castable("cholesky_inverse")

    def kernel(x: Array, upper: bool) -> Array:
        unit = np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape)
        inverse = triangular(x, unit, upper, True, False)
        other = inverse.conj().swapaxes(-1, -2)
        return in_columns(inverse @ other if upper else other @ inverse)

    def call(input: Tensor, upper: bool = False) -> Tensor:
        check_square("cholesky_inverse", input)
        check_kernel("cholesky_inverse_out_cpu", input)
        if input.array.__class__ is np.ndarray and input.array.size:
            zeros = np.diagonal(input.array, 0, -2, -1) == 0
            info = np.where(zeros.any(-1), zeros.argmax(-1) + 1, 0)
            check_success(wrap(np.asarray(info)), no_inverse, "cholesky_inverse")
        return cholesky_inverse.record(input, upper)

    def vjp(g: A, input: A, out: A, upper: A) -> A:
        change = -times(out, g + adjoint(g), out)
        return times(input, change) if upper else times(change, input)

    samples = ValuesOnly(
        OF_FACTORS,
        lambda t: [S(t(3, 3)), S(t(2, 2, 2)), S(t(0, 0))],
        lambda torch, x: [
            torch.cholesky_inverse(_factor(torch, x)),
            torch.cholesky_inverse(_factor(torch, x).mH.contiguous(), True),
        ],
    )
