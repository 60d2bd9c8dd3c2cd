"""LU decompositions with partial pivoting. NumPy hands out none, so they are computed here, all matrices of a stack at
once and in blocks of columns, between which the work is a product of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors, return_types
from leafgrad._core.tensor import wrap
from leafgrad.kernels.moving import in_rows
from leafgrad.ops.index.masks import tril, triu
from leafgrad.ops.index.slices import slice_
from leafgrad.ops.linalg.matrices import (
    NO_HALF,
    OfMatrices,
    added,
    adjoint,
    alias_of,
    broadcast,
    check_equation,
    check_floats,
    check_kernel,
    check_success,
    dominant,
    flat_stack,
    in_columns,
    times,
)
from leafgrad.ops.linalg.products import matmul
from leafgrad.ops.linalg.triangular import solve_triangular, triangular
from leafgrad.ops.reduce.common import raw
from leafgrad.ops.registry import composite, op
from leafgrad.ops.samples import S
from leafgrad.ops.shape.join import cat
from leafgrad.ops.signature import Tensor
from leafgrad.return_types import named_result

A = Any  # an array, or a tensor under create_graph
Array = Any

BLOCK = 32  # columns

# -- kernels ----------------------------------------------------------------------------------------------------------


def sizes(x: Array) -> Array:
    """What LAPACK compares when it looks for a pivot."""
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)


def eliminate(a: Array, first: int, last: int, pivots: Array, info: Array) -> None:
    """Gaussian elimination in the columns first to last of a stack (batch, m, n), in place; rows are swapped as a
    whole."""
    which = np.arange(a.shape[0])
    for k in range(first, last):
        at = sizes(a[:, k:, k]).argmax(1) + k
        pivots[:, k] = at + 1
        above = a[:, k].copy()
        a[:, k] = a[which, at]
        a[which, at] = above
        pivot = a[:, k, k]
        zero = pivot == 0
        info[zero & (info == 0)] = k + 1
        a[:, k + 1 :, k] /= np.where(zero, 1, pivot)[:, None]
        a[:, k + 1 :, k + 1 : last] -= a[:, k + 1 :, k, None] * a[:, k, None, k + 1 : last]


def factorized(x: Array) -> tuple[Array, Array, Array]:
    """L and U in one matrix, the rows with which each was swapped (counted from one), and where U is singular."""
    m, n = x.shape[-2:]
    a = flat_stack(np.array(x, order="C"))
    count = min(m, n)
    pivots, info = np.zeros((a.shape[0], count), np.int32), np.zeros(a.shape[0], np.int32)
    for first in range(0, count if a.shape[0] else 0, BLOCK):
        last = min(first + BLOCK, count)
        eliminate(a, first, last, pivots, info)
        if last < n:
            corner, right = a[:, first:last, first:last], a[:, first:last, last:]
            right[...] = triangular(corner, right, False, True, True)
            a[:, last:, last:] -= a[:, last:, first:last] @ right
    lead = x.shape[:-2]
    return in_columns(a.reshape(x.shape)), pivots.reshape((*lead, count)), info.reshape(lead)


def permutations(pivots: Array, m: int) -> Array:
    """The order of rows that swapping one after the other leads to."""
    flat = pivots.reshape((int(np.prod(pivots.shape[:-1], dtype=np.int64)), pivots.shape[-1]))
    order = np.tile(np.arange(m), (flat.shape[0], 1))
    which = np.arange(flat.shape[0])
    for k in range(flat.shape[1]):
        at = flat[:, k].astype(np.int64) - 1
        above = order[:, k].copy()
        order[:, k] = order[which, at]
        order[which, at] = above
    return order.reshape((*pivots.shape[:-1], m))


def permutation_matrices(order: Array, kind: Any) -> Array:
    """P of P L U: row order[k] of the product is row k of L U."""
    m = order.shape[-1]
    return (np.arange(m)[:, None] == order[..., None, :]).astype(kind)


# -- rules ------------------------------------------------------------------------------------------------------------


def lower_of(lu: A) -> A:
    """L, whose diagonal is one."""
    k = min(lu.shape[-2:])
    left = lu if lu.shape[-1] == k else slice_(lu, (..., slice(0, k)))
    return tril(left, -1) + np.eye(lu.shape[-2], k, dtype=raw(lu).dtype)


def upper_of(lu: A) -> A:
    k = min(lu.shape[-2:])
    return triu(lu if lu.shape[-2] == k else slice_(lu, (..., slice(0, k), slice(None))), 0)


def lu_rule(g_lower: A, g_upper: A, lower: A, upper: A, p: Array) -> A:
    """The gradient of the matrix that is P L U. Where it is not square, its square part is decomposed as any, and what
    is beside or below it solves a triangular system: these carry their gradients to the factors first."""
    m, n = lower.shape[-2], upper.shape[-1]
    k = min(m, n)
    beside = below = None
    corner = (..., slice(0, k), slice(0, k))
    rest = (..., slice(k, None), slice(None)) if m > k else (..., slice(None), slice(k, None))
    if n > k:  # U2 solves L U2 = P* A2
        if g_upper is not None:
            beside = solve_triangular(adjoint(lower), slice_(g_upper, rest), True, True, True)
            g_lower = added(g_lower, -times(beside, adjoint(slice_(upper, rest))))
            g_upper = slice_(g_upper, corner)
        upper = slice_(upper, corner)
    elif m > k:  # L2 solves L2 U = (P* A)2
        if g_lower is not None:
            below = solve_triangular(adjoint(upper), slice_(g_lower, rest), False, False)
            g_upper = added(g_upper, -times(adjoint(slice_(lower, rest)), below))
            g_lower = slice_(g_lower, corner)
        lower = slice_(lower, corner)
    inner = added(
        None if g_lower is None else tril(times(adjoint(lower), g_lower), -1),
        None if g_upper is None else triu(times(g_upper, adjoint(upper)), 0),
    )
    inner = solve_triangular(adjoint(lower), inner, True, True, True)
    inner = solve_triangular(adjoint(upper), inner, False, False)
    if n > k:
        beside = zero_part(inner, k, n - k) if beside is None else beside
        inner = joined(inner, beside, inner.ndim - 1)
    elif m > k:
        below = zero_part(inner, m - k, k) if below is None else below
        inner = joined(inner, below, inner.ndim - 2)
    return matmul(p, inner)


def zero_part(x: A, rows: int, columns: int) -> A:
    zeros = np.zeros((*x.shape[:-2], rows, columns), raw(x).dtype)
    return wrap(zeros) if x is not raw(x) else zeros


def joined(one: A, two: A, dim: int) -> A:
    return cat(one, two, dim, (one.shape[dim], two.shape[dim]))


@op
class matrix_of_pivots(OfMatrices):
    """matrix_of_pivots(pivots, m, kind): the permutation P of P L U, as a matrix of m rows."""

    inputs = ("pivots",)
    options = ("m", "kind")
    aten = "lu_unpack"
    differentiable = False
    samples = lambda t: [S(t(3, dtype="int32", low=3, high=4), 3, np.float64)]
    reference = lambda torch, pivots, m, kind: torch.lu_unpack(torch.ones(m, m, dtype=torch.float64), pivots)[0]

    def kernel(pivots: Array, m: int, kind: Any) -> Array:
        return permutation_matrices(permutations(pivots, m), kind)


def order_of_rows(lu: A, pivots: A) -> A:
    """P as an array: it has no derivative."""
    return matrix_of_pivots(raw(pivots), lu.shape[-2], raw(lu).dtype)


def _check(name: str, t: Any, pivot: bool) -> None:
    if t.array.ndim < 2:
        first = f"{name}: Expected tensor with 2 or more dimensions. Got size: {errors.size(t.array.shape)} instead"
        raise errors.mistake(RuntimeError, first)
    if not pivot:
        called = "linalg.lu_factor" if "factor" in name else name
        raise errors.mistake(RuntimeError, f"{called}: LU without pivoting is not implemented on the CPU")
    check_kernel("lu_cpu", t)


def _shapes(t: Any) -> list[Any]:
    return [S(dominant(t(*shape))) for shape in [(3, 3), (2, 3, 2), (2, 4), (0, 0), (0, 2, 2)]]


@op
class linalg_lu_factor_ex(OfMatrices):
    """linalg.lu_factor_ex(A, *, pivot=True, check_errors=False): L and U in one matrix, the rows that were swapped, and
    a code that is not zero where U is singular."""

    shows = {"pivot": True}
    inputs = ("A",)
    results = 3
    result_names = ("LU", "pivots", "info")
    saved_as = {"out": "LU", "out1": "pivots"}
    kernel = factorized
    places = ("linalg.lu_factor_ex",)
    out = True
    samples = _shapes

    def call(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> return_types.linalg_lu_factor_ex:
        _check("torch.lu_factor", A, pivot)
        results = linalg_lu_factor_ex.record(A)
        if check_errors:
            check_success(results[2], _singular, "torch.linalg.lu_factor_ex", RuntimeError)
        return linalg_lu_factor_ex.result_of(results)  # type: ignore[no-any-return]

    def vjp(g: A, out: A, out1: A) -> A:
        k = min(out.shape[-2:])
        g_lower = slice_(tril(g[0], -1), (..., slice(0, k)))
        g_upper = slice_(triu(g[0], 0), (..., slice(0, k), slice(None)))
        return lu_rule(g_lower, g_upper, lower_of(out), upper_of(out), order_of_rows(out, out1))


def _singular(k: int) -> str:
    return (
        f"U[{k},{k}] is zero and using it on lu_solve would result in a division by zero. If you still want to perform "
        "the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
    )


_linalg_lu_factor = named_result("linalg_lu_factor", "LU", "pivots")


@composite(_shapes, places=("linalg.lu_factor",), public_name="", out=True, exempt=NO_HALF)
def linalg_lu_factor(A: Tensor, *, pivot: bool = True) -> return_types.linalg_lu_factor:
    """linalg.lu_factor(A, *, pivot=True): L and U in one matrix, and the rows that were swapped."""
    lu, pivots, info = linalg_lu_factor_ex.function(A, pivot=pivot)
    check_success(info, _singular, "torch.linalg.lu_factor", RuntimeError)
    return _linalg_lu_factor((lu, pivots))  # type: ignore[return-value]


@op
class lu_parts(OfMatrices):
    """lu_parts(A): L, U, and the rows that were swapped."""

    shows = {"pivot": True}
    inputs = ("A",)
    results = 3
    aten = "linalg_lu"
    node_name = "LinalgLuBackward0"
    saved_as = {"out": "L", "out1": "U", "out2": ""}
    reference = lambda torch, x: (*torch.linalg.lu(x)[1:], torch.linalg.lu_factor(x)[1])
    samples = _shapes

    def kernel(x: Array) -> Any:
        lu, pivots, _ = factorized(x)
        return lower_of(lu), upper_of(lu), pivots

    def call(A: Any) -> Any:
        check_kernel("lu_cpu", A)
        return lu_parts.record(A)

    def vjp(g: A, out: A, out1: A, out2: A) -> A:
        return lu_rule(g[0], g[1], out, out1, order_of_rows(out, out2))


_linalg_lu = named_result("linalg_lu", "P", "L", "U")


PERMUTATION = {"first result": "a permutation, which has no derivative"}


@composite(_shapes, places=("linalg.lu",), public_name="", out=True, exempt=NO_HALF | PERMUTATION)
def linalg_lu(A: Tensor, *, pivot: bool = True) -> return_types.linalg_lu:
    """linalg.lu(A, *, pivot=True): P, L and U, whose product is A: the order of its rows, and triangular matrices."""
    _check("linalg.lu", A, pivot)
    lower, upper, pivots = lu_parts.function(A)
    return _linalg_lu((wrap(order_of_rows(lower, pivots)), lower, upper))  # type: ignore[return-value]


adjoint_of = adjoint  # which is the name of an option below


def substituted_twice(lu: Array, p: Array, b: Array, adjoint: bool) -> Array:
    """The solution of AX = B, where A is P L U, or of A* X = B."""
    if adjoint:
        turned = adjoint_of(lu)
        return p @ triangular(turned, triangular(turned, b, False, True, False), True, True, True)
    return triangular(lu, triangular(lu, p.swapaxes(-1, -2) @ b, False, True, True), True, True, False)


@op
class linalg_lu_solve(OfMatrices):
    """linalg.lu_solve(LU, pivots, B, *, left=True, adjoint=False): the solution X of AX = B, with left=False of XA = B,
    for the matrix A of which lu_factor has made LU and pivots, or for its adjoint."""

    inputs = ("LU", "pivots", "B")
    options = ("left", "adjoint")
    places = ("linalg.lu_solve",)
    out = True

    def kernel(lu: Array, pivots: Array, b: Array, left: bool, adjoint: bool) -> Array:
        p = permutation_matrices(permutations(pivots, lu.shape[-1]), lu.dtype)
        if left:
            return in_columns(substituted_twice(lu, p, b, adjoint))
        # XA = B is A* X* = B*
        return np.ascontiguousarray(adjoint_of(substituted_twice(lu, p, adjoint_of(b), not adjoint)))

    def call(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
        name = "linalg.lu_solve"
        check_floats(name, LU, None)
        if LU.array.dtype != B.array.dtype:
            kinds = f"LU of type {alias_of(LU)} and B of type {alias_of(B)}"
            first = f"{name}: Expected LU and B to have the same dtype, but found {kinds} instead"
            raise errors.mistake(RuntimeError, first)
        if pivots.array.dtype != np.int32:
            raise errors.mistake(RuntimeError, f"{name}: pivots should be a Tensor of scalar type torch.int32")
        check_equation(name, LU, B, left)
        check_kernel("linalg.lu_solve_cpu", LU)
        if pivots.array.shape != LU.array.shape[:-1]:
            first = f"{name}: Number of pivots per batch should be same as the dimension of the matrix"
            raise errors.mistake(RuntimeError, first)
        lu, b = broadcast(LU, B)
        if pivots.array.shape != lu.array.shape[:-1]:
            pivots = wrap(np.broadcast_to(pivots.array, lu.array.shape[:-1]))
        return linalg_lu_solve.record(lu, pivots, b, left, adjoint)

    def vjp_LU(g: A, LU: A, pivots: A, out: A, left: A, adjoint: A) -> A:
        if not left:
            g, out, adjoint = adjoint_of(g), adjoint_of(out), not adjoint
        p = order_of_rows(LU, pivots)
        if adjoint:  # U* V = B, L* W = V, X = P W
            w = matmul(adjoint_of(p), out)
            v = matmul(adjoint_of(lower_of(LU)), w)
            g_v = solve_triangular(LU, matmul(adjoint_of(p), g), False, True, True)
            g_b = solve_triangular(LU, g_v, True)
            return -(tril(times(w, adjoint_of(g_v)), -1) + triu(times(v, adjoint_of(g_b)), 0))
        # L Y = P* B, U X = Y
        y = matmul(upper_of(LU), out)
        g_y = solve_triangular(adjoint_of(LU), g, False)
        g_b = solve_triangular(adjoint_of(LU), g_y, True, True, True)
        return -(tril(times(g_b, adjoint_of(y)), -1) + triu(times(g_y, adjoint_of(out)), 0))

    def vjp_B(g: A, LU: A, pivots: A, left: A, adjoint: A) -> A:
        return linalg_lu_solve(LU, pivots, g, left, not adjoint)

    samples = lambda t: [
        S(dominant(t(3, 3)), t(3, dtype="int32", low=3, high=4), t(3, 2)),
        S(dominant(t(2, 2)), t(2, dtype="int32", low=2, high=3), t(3, 2), left=False),
        S(dominant(t(2, 2)), t(2, dtype="int32", low=2, high=3), t(2, 1), adjoint=True),
        S(dominant(t(2, 2, 2)), t(2, 2, dtype="int32", low=2, high=3), t(2, 3, 2), left=False, adjoint=True),
    ]


@composite(
    lambda t: [S(t(3, 2), dominant(t(3, 3)), t(3, dtype="int32", low=3, high=4))],
    out=True,
    exempt=NO_HALF,
    autocast="float32",
)
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """lu_solve(b, LU_data, LU_pivots): the solution of AX = b for the matrix A that lu_factor has decomposed."""
    errors.warn_once(
        "torch.lu_solve is deprecated in favor of torch.linalg.lu_solveand will be removed in a future PyTorch "
        "release.\nNote that torch.linalg.lu_solve has its arguments reversed.\nX = torch.lu_solve(B, LU, pivots)\n"
        "should be replaced with\nX = torch.linalg.lu_solve(LU, pivots, B)"
    )
    return linalg_lu_solve.function(LU_data, LU_pivots, input)


@op
class lu_triangles(OfMatrices):
    """lu_triangles(LU_data): L and U of the matrix that holds both."""

    shows = {"LU_data_sym_argsize_minus_2": ..., "LU_data_sym_argsize_minus_1": ...}
    saved_as = {"LU_data_shape": ""}
    inputs = ("LU_data",)
    results = 2
    node_name = "LuUnpackBackward0"
    aten = "lu_unpack"
    holomorphic = True
    reference = lambda torch, x: torch.lu_unpack(x, torch.ones(*x.shape[:-2], min(x.shape[-2:]), dtype=torch.int32))[1:]
    samples = lambda t: [S(t(3, 3)), S(t(2, 3, 2)), S(t(2, 4))]
    exempt: Any = {}

    def kernel(lu: Array) -> Any:
        return lower_of(lu), in_rows(upper_of(lu))

    def call(LU_data: Any) -> Any:
        return lu_triangles.record(LU_data)

    def vjp(g: A, LU_data_shape: A) -> A:
        lower = None if g[0] is None else tril(g[0], -1)
        upper = None if g[1] is None else triu(g[1], 0)
        m, n = LU_data_shape[-2:]
        if lower is not None and n > m:
            lower = joined(lower, zero_part(lower, m, n - m), lower.ndim - 1)
        if upper is not None and m > n:
            upper = joined(upper, zero_part(upper, m - n, n), upper.ndim - 2)
        return added(lower, upper)


_lu_unpack = named_result("lu_unpack", "P", "L", "U")


@composite(
    lambda t: [
        S(dominant(t(3, 3)), t(3, dtype="int32", low=3, high=4)),
        S(t(2, 3, 2), t(2, 2, dtype="int32", low=2, high=4)),
        S(t(2, 4), t(2, dtype="int32", low=2, high=3)),
    ],
    method=False,
    out=True,
    exempt=PERMUTATION,
)
def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> return_types.lu_unpack:
    """lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True): P, L and U of what lu_factor returns; empty
    tensors for what is not wanted."""
    if unpack_pivots and LU_pivots.array.dtype != np.int32:
        first = (
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\nNote: this "
            "function is intended to be used with the output produced by torch.linalg.lu_factor"
        )
        raise errors.mistake(RuntimeError, first)
    nothing = wrap(np.empty(0, LU_data.array.dtype))
    p = wrap(order_of_rows(LU_data, LU_pivots)) if unpack_pivots else nothing
    if not unpack_data:
        return _lu_unpack((p, nothing, nothing))  # type: ignore[return-value]
    return _lu_unpack((p, *lu_triangles.function(LU_data)))  # type: ignore[return-value]


@composite(
    _shapes,
    public_name="lu",
    exempt=NO_HALF,
    in_python=("function", "method"),
    autocast="float32",
    aten_function="_lu_with_info",
)
def lu(input: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> tuple[Tensor, ...]:
    """lu(A, pivot=True, get_infos=False): what torch.linalg.lu_factor returns, or lu_factor_ex."""
    errors.warn_once(
        "torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and will be removed in "
        "a future PyTorch release.\nLU, pivots = torch.lu(A, compute_pivots)\nshould be replaced with\nLU, pivots = "
        "torch.linalg.lu_factor(A, compute_pivots)\nand\nLU, pivots, info = torch.lu(A, compute_pivots, "
        "get_infos=True)\nshould be replaced with\nLU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)"
    )
    found = linalg_lu_factor_ex.function(input, pivot=pivot)  # singular matrices are not refused, nor by PyTorch
    results = tuple(found) if get_infos else tuple(found)[:2]
    if out is None:
        return results
    if len(out) != len(results):
        raise errors.mistake(TypeError, f"expected tuple of {len(results)} elements but got {len(out)}")
    if not isinstance(out, (tuple, list)):
        raise errors.mistake(TypeError, f"argument 'out' must be tuple of Tensors, not {type(out).__name__}")
    for target, result in zip(out, results):
        target.resize_as_(result).copy_(result)
    return out  # type: ignore[return-value]
