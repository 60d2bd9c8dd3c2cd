"""The LDL decomposition of symmetric and Hermitian matrices, and systems of equations with it. D is a matrix of blocks
of size one and two: pivots are chosen as Bunch and Kaufman do it, and written down in the form that LAPACK has (sytrf,
hetrf): of a single pivot, the row that it came from, counted from one; of a block, minus the row, twice."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad import errors, return_types
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.linalg.matrices import (
    NO_HALF,
    OfMatrices,
    alias_of,
    broadcast,
    check_floats,
    check_square,
    check_success,
    dominant,
    flat_stack,
    in_columns,
)
from leafgrad.ops.registry import composite, op
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.signature import Tensor
from leafgrad.return_types import named_result

A = Any  # an array, or a tensor under create_graph
Array = Any

GROWTH = (1 + math.sqrt(17)) / 8  # how much smaller than its column a pivot may be


def size(x: Array) -> Array:
    """What pivots are compared by."""
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)


def pivot(a: Array, k: int) -> tuple[int, int] | None:
    """Which row is the next pivot, and of which size the block is; None if the column is zero."""
    own = size(a[k, k])
    below = size(a[k + 1 :, k])
    largest = below.max(initial=0)
    if max(own, largest) == 0:
        return None
    if own >= GROWTH * largest:
        return k, 1
    row = k + 1 + int(np.argmax(below))
    beside = max(size(a[row, k:row]).max(), size(a[row + 1 :, row]).max(initial=0))
    if own >= GROWTH * largest * (largest / beside):
        return k, 1
    return (row, 1) if size(a[row, row]) >= GROWTH * beside else (row, 2)


def exchange(a: Array, k: int, other: int, hermitian: bool) -> None:
    """Rows and columns k and other, which is larger, of a symmetric matrix of which the lower triangle is there."""
    a[other + 1 :, [k, other]] = a[other + 1 :, [other, k]]
    between, beside = a[k + 1 : other, k].copy(), a[other, k + 1 : other].copy()
    a[k + 1 : other, k] = beside.conj() if hermitian else beside
    a[other, k + 1 : other] = between.conj() if hermitian else between
    if hermitian:
        a[other, k] = a[other, k].conj()
    a[k, k], a[other, other] = a[other, other], a[k, k]


def adjoint(x: Array, hermitian: bool) -> Array:
    return x.T.conj() if hermitian else x.T


def block_solved(a: Array, k: int, step: int, b: Array, hermitian: bool) -> Array:
    """The solution of DX = B for the block of D at k."""
    if step == 1:
        return b / a[k, k]
    beside = a[k + 1, k]
    above = beside.conj() if hermitian else beside
    one, two = a[k, k] / above, a[k + 1, k + 1] / beside
    first, second = b[0] / above, b[1] / beside
    return np.stack([two * first - second, one * second - first]) / (one * two - 1)


def one_factored(x: Array, hermitian: bool) -> tuple[Array, Array, int]:
    """L below the diagonal of D, the pivots, and zero or the place of the first pivot that is zero."""
    a = np.tril(x)
    n, info = len(a), 0
    pivots = np.zeros(n, np.int32)
    k = 0
    while k < n:
        if hermitian:
            a.imag[np.diag_indices(n)] = 0
        chosen = pivot(a, k)
        row, step = chosen or (k, 1)
        info = info or (0 if chosen else k + 1)
        last, rest = k + step - 1, slice(k + step, n)
        if row != last:
            exchange(a, last, row, hermitian)
            if step == 2:
                a[k + 1, k], a[row, k] = a[row, k], a[k + 1, k]
        if chosen is not None:
            below = adjoint(a[rest, k : k + step], hermitian).copy()
            factor = adjoint(block_solved(a, k, step, below, hermitian), hermitian)
            a[rest, rest] -= np.tril(factor @ below)
            a[rest, k : k + step] = factor
        pivots[k : k + step] = row + 1 if step == 1 else -(row + 1)
        k += step
    return a, pivots, info


def factored(x: Array, hermitian: bool) -> tuple[Array, Array, Array]:
    made = [one_factored(each, hermitian and x.dtype.kind == "c") for each in flat_stack(x)]
    parts = [np.array([m[i] for m in made], kind) for i, kind in enumerate((x.dtype, np.int32, np.int32))]
    matrix, pivots, info = [
        part.reshape(shape) for part, shape in zip(parts, (x.shape, x.shape[:-1], x.shape[:-2]), strict=True)
    ]
    return in_columns(matrix), pivots, info


@op
class linalg_ldl_factor_ex(OfMatrices):
    """linalg.ldl_factor_ex(A, *, hermitian=False, check_errors=False): L and D of a symmetric (or Hermitian) matrix in
    one, the pivots, and a code that is not zero where a pivot is."""

    inputs = ("A",)
    options = ("hermitian",)
    results = 3
    result_names = ("LD", "pivots", "info")
    node_name = "NotImplemented"
    places = ("linalg.ldl_factor_ex",)
    derivatives = 0
    out = True
    kernel = factored

    def call(A: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> return_types.linalg_ldl_factor_ex:
        found = _checked(A, hermitian)
        if check_errors:
            check_success(found[2], _is_zero, "torch.linalg.ldl_factor_ex", RuntimeError)
        return linalg_ldl_factor_ex.result_of(found)  # type: ignore[no-any-return]

    def vjp(g: A) -> A:
        raise errors.mistake(RuntimeError, "derivative for aten::linalg_ldl_factor_ex is not implemented")

    samples = ValuesOnly(
        "has no derivative",
        lambda t: [S(t(4, 4)), S(t(2, 3, 3)), S(t(0, 0))],
        lambda torch, x: [
            torch.linalg.ldl_factor_ex((x + x.mT).detach()),
            torch.linalg.ldl_factor_ex((x + x.mH).detach(), hermitian=True),
        ],
    )


def _checked(a: Any, hermitian: bool) -> Any:
    check_square("torch.linalg.ldl_factor_ex", a)
    check_floats("torch.linalg.ldl_factor_ex", a, "ldl_factor_kernel_cpu")
    return linalg_ldl_factor_ex.record(a, hermitian)


def _is_zero(code: int) -> str:
    return f"Unknown error code: {code}.\n  pivot {code} is zero, so that D has no inverse"


_ldl_factor = named_result("linalg_ldl_factor", "LD", "pivots")


@composite(
    ValuesOnly(
        "has no derivative",
        lambda t: [S(t(3, 3)), S(t(2, 2, 2))],
        lambda torch, x: torch.linalg.ldl_factor((x + x.mT).detach()),
    ),
    places=("linalg.ldl_factor",),
    public_name="",
    out=True,
    exempt=NO_HALF,
)
def linalg_ldl_factor(A: Tensor, *, hermitian: bool = False) -> return_types.linalg_ldl_factor:
    """linalg.ldl_factor(A, *, hermitian=False): L and D of a symmetric (or Hermitian) matrix in one, and the pivots."""
    matrix, pivots, info = _checked(A, hermitian)
    check_success(info, _is_zero, "torch.linalg.ldl_factor", RuntimeError)
    return _ldl_factor((matrix, pivots))  # type: ignore[return-value]


# -- equations --------------------------------------------------------------------------------------------------------


def one_solved(a: Array, pivots: Array, b: Array, hermitian: bool) -> Array:
    """The solution of L D L* X = B, with the rows exchanged that the pivots name."""
    x = b.copy()
    n = len(a)
    steps = []
    k = 0
    while k < n:
        step = 1 if pivots[k] > 0 else 2
        steps.append((k, step, abs(int(pivots[k])) - 1))
        k += step
    for k, step, row in steps:
        last, rest = k + step - 1, slice(k + step, n)
        x[[last, row]] = x[[row, last]]
        x[rest] -= a[rest, k : k + step] @ x[k : k + step]
        x[k : k + step] = block_solved(a, k, step, x[k : k + step], hermitian)
    for k, step, row in reversed(steps):
        last, rest = k + step - 1, slice(k + step, n)
        x[k : k + step] -= adjoint(a[rest, k : k + step], hermitian) @ x[rest]
        x[[last, row]] = x[[row, last]]
    return x


@op
class linalg_ldl_solve(OfMatrices):
    """linalg.ldl_solve(LD, pivots, B, *, hermitian=False): the solution of AX = B, where A is given as
    linalg.ldl_factor returns it."""

    inputs = ("LD", "pivots", "B")
    options = ("hermitian",)
    node_name = "NotImplemented"
    places = ("linalg.ldl_solve",)
    derivatives = 0
    out = True

    def kernel(a: Array, pivots: Array, b: Array, hermitian: bool) -> Array:
        conjugate = hermitian and a.dtype.kind == "c"
        rows = pivots.reshape(-1, a.shape[-1]) if a.size else np.empty((0, a.shape[-1]), np.int32)
        if not b.size:
            return in_columns(np.zeros_like(b))
        solved = [one_solved(*one, conjugate) for one in zip(flat_stack(a), rows, flat_stack(b), strict=True)]
        return in_columns(np.array(solved).reshape(b.shape))

    def call(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
        _check_solve(LD, pivots, B)
        columns = pivots.unsqueeze(-1)
        a, p, b = broadcast(LD, columns, B)
        return linalg_ldl_solve.record(a, p.squeeze(-1), b, hermitian)

    def vjp_LD(g: A) -> A:
        raise errors.mistake(RuntimeError, "derivative for aten::linalg_ldl_solve is not implemented")

    vjp_B = vjp_LD

    samples = ValuesOnly(
        "has no derivative",
        lambda t: [S(dominant(t(4, 4), 2), t(4, 2)), S(t(2, 3, 3), t(2, 3, 1)), S(t(0, 0), t(0, 2))],
        lambda torch, x, b: [
            torch.linalg.ldl_solve(*torch.linalg.ldl_factor((x + x.mT).detach()), b.detach()),
            torch.linalg.ldl_solve(
                *torch.linalg.ldl_factor((x + x.mH).detach(), hermitian=True), b.detach(), hermitian=True
            ),
        ],
    )


def _check_solve(a: Any, pivots: Any, b: Any) -> None:
    name = "torch.linalg.ldl_solve"
    wrap_dim(-2, b.array.ndim)
    check_square(name, a)
    if a.array.shape[-1] != b.array.shape[-2]:
        own, other = [f"{x.array.shape[-2]} by {x.array.shape[-1]}" for x in (a, b)]
        words = f"each A matrix is {own} but each b matrix is {other}"
        raise errors.mistake(RuntimeError, f"Incompatible matrix sizes for {name}: {words}")
    if pivots.array.shape != a.array.shape[:-1]:
        words = "Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape"
        raise errors.mistake(RuntimeError, f"{name}: {words} {errors.size(pivots.array.shape)} instead")
    if pivots.array.dtype.kind not in "iu":
        raise errors.mistake(RuntimeError, f"{name}: Expected pivots to be integers. Got {alias_of(pivots)}")
    if a.array.dtype != b.array.dtype:
        found = f"found b of type {alias_of(b)} and A of type {alias_of(a)} instead."
        raise errors.mistake(RuntimeError, f"Expected b and A to have the same dtype, but {found}")
    check_floats(name, a, "ldl_solve_cpu")
