"""Inverses, determinants and systems of equations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad import errors, return_types
from leafgrad._core.tensor import wrap
from leafgrad._core.views import bind_view
from leafgrad.ops.linalg.lu import factorized, permutations
from leafgrad.ops.linalg.matrices import (
    NO_HALF,
    OfMatrices,
    broadcast,
    check_equation,
    check_floats,
    check_same_dtype,
    check_square,
    check_success,
    column,
    dominant,
    in_columns,
    is_complex,
    not_implemented,
    row,
    squares,
    times,
)
from leafgrad.ops.linalg.spectra import linalg_svd
from leafgrad.ops.linalg.triangular import no_inverse, triangular, turned
from leafgrad.ops.pointwise.convert import conj, imag_part
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.reduce.common import is_half, raw
from leafgrad.ops.reduce.products import prod
from leafgrad.ops.registry import composite, op, unseen
from leafgrad.ops.samples import S
from leafgrad.ops.shape.views import expand
from leafgrad.ops.signature import Tensor
from leafgrad.return_types import named_result

A = Any  # an array, or a tensor under create_graph
Array = Any


def solved(a: Array, b: Array, left: bool) -> tuple[Array, Array]:
    """The solution of AX = B, or of XA = B, and for each matrix zero, or where elimination came upon a zero. B may be a
    vector for each matrix."""
    if b.ndim < a.ndim:
        x, info = solved(a, b[..., None], True)
        return in_columns(x[..., 0]) if b.ndim > 1 else x[..., 0], info  # so do vectors of a batch in PyTorch
    if not left:
        x, info = solved(a.swapaxes(-1, -2), b.swapaxes(-1, -2), True)
        return np.ascontiguousarray(x.swapaxes(-1, -2)), info
    try:
        return in_columns(np.linalg.solve(a, b)), np.zeros(a.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        lu, pivots, info = factorized(a)
        order = permutations(pivots, a.shape[-1])
        half_way = triangular(lu, np.take_along_axis(b, order[..., None], -2), False, True, True)
        return triangular(lu, half_way, True, True, False), info


# -- systems of equations ---------------------------------------------------------------------------------------------


@op
class linalg_solve_ex(OfMatrices):
    """linalg.solve_ex(A, B, *, left=True, check_errors=False): the solution of AX = B, or with left=False of XA = B,
    and a code that is not zero where A is singular."""

    inputs = ("A", "B")
    options = ("left",)
    results = 2
    result_names = ("result", "info")
    holomorphic = True
    kernel = solved
    places = ("linalg.solve_ex",)
    out = True

    def call(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> return_types.linalg_solve_ex:
        found = _solved(A, B, left)
        if check_errors:
            check_success(found[1], _no_solution, "torch.linalg.solve_ex")
        return linalg_solve_ex.result_of(found)  # type: ignore[no-any-return]

    def vjp_A(g: A, A: A, out: A, left: A) -> A:
        back = linalg_solve_ex(turned(A), g[0], left)[0]
        if out.ndim < A.ndim:
            return -column(back) * row(out)
        return -times(back, turned(out)) if left else -times(turned(out), back)

    def vjp_B(g: A, A: A, left: A) -> A:
        return linalg_solve_ex(turned(A), g[0], left)[0]

    samples = lambda t: [
        S(dominant(t(3, 3)), t(3, 2)),
        S(dominant(t(3, 3)), t(3)),
        S(dominant(t(2, 3, 3)), t(2, 3)),
        S(dominant(t(2, 1, 2, 2)), t(3, 2, 1)),
        S(dominant(t(2, 2)), t(3, 2), left=False),
        S(t(0, 0), t(0, 2)),
    ]


def _solved(a: Any, b: Any, left: bool) -> Any:
    """Solution and codes, where B may be vectors."""
    name = "linalg.solve"
    check_floats(name, a, None)
    check_same_dtype(name, a, b)
    check_square(name, a)
    is_vector = b.array.ndim == 1 or (a.array.ndim - 1 == b.array.ndim and b.array.shape == a.array.shape[:-1])
    if is_vector:
        if not left:
            first = (
                f"{name}: Vector broadcasting of the left hand side is not supported for left=False. In this case "
                "linalg.solve is equivalent to B / A.squeeze(-1)"
            )
            raise errors.mistake(RuntimeError, first)
    check_equation(name, a, b.unsqueeze(-1) if is_vector else b, left)
    if is_half(a.array.dtype):
        raise not_implemented("lu_cpu", a)
    if not is_vector:
        a_each, b = broadcast(a, b)
    elif (a_each := a).array.shape[:-1] != b.array.shape:
        b = bind_view(unseen(expand), expand, b, (a.array.shape[:-1],))
    result, info = linalg_solve_ex.record(a_each, b, left)
    if info.array.shape != a.array.shape[:-2]:
        info = _codes_of(a.array.shape[:-2], info)
    return result, info


def _codes_of(leading: tuple[int, ...], info: Any) -> Any:
    """The codes of the matrices A, which were repeated for several B."""
    if 0 in info.shape:
        return wrap(np.zeros(leading, np.int32))
    for dim in range(info.ndim):
        at = dim - info.ndim + len(leading)
        if at < 0 or leading[at] == 1:
            info = info.narrow(dim, 0, 1)
    return info.reshape(leading)


def _no_solution(k: int) -> str:
    return "The solver failed because the input matrix is singular."


@composite(
    linalg_solve_ex.samples, places=("linalg.solve",), public_name="", out=True, exempt=NO_HALF, autocast="float32"
)
def linalg_solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """linalg.solve(A, B, *, left=True): the solution X of AX = B, or with left=False of XA = B."""
    result, info = _solved(A, B, left)
    check_success(info, _no_solution, "torch.linalg.solve")
    return result


# -- inverses ---------------------------------------------------------------------------------------------------------


@op
class linalg_inv_ex(OfMatrices):
    """linalg.inv_ex(A, *, check_errors=False): the inverse, and a code that is not zero where there is none."""

    autocast = "float32"
    inputs = ("A",)
    results = 2
    result_names = ("inverse", "info")
    saved_as = {"out": "inverse"}
    holomorphic = True
    places = ("linalg.inv_ex",)
    out = True
    samples = squares

    def kernel(x: Array) -> Any:
        try:
            return in_columns(np.linalg.inv(x)), np.zeros(x.shape[:-2], np.int32)
        except np.linalg.LinAlgError:
            return solved(x, np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape), True)

    def call(A: Tensor, *, check_errors: bool = False) -> return_types.linalg_inv_ex:
        check_square("linalg.inv", A)
        check_floats("linalg.inv", A)
        found = linalg_inv_ex.record(A)
        if check_errors:
            check_success(found[1], no_inverse, "linalg.inv_ex")
        return linalg_inv_ex.result_of(found)  # type: ignore[no-any-return]

    def vjp(g: A, out: A) -> A:
        return -times(turned(out), g[0], turned(out))


@composite(squares, public_name="", places=("linalg.inv",), out=True, exempt=NO_HALF, autocast="float32")
def linalg_inv(A: Tensor) -> Tensor:
    """linalg.inv(A): the inverse of a square matrix."""
    result, info = linalg_inv_ex.function(A)
    check_success(info, no_inverse, "linalg.inv")
    return result


@composite(squares, out=True, exempt=NO_HALF, autocast="float32")
def inverse(input: Tensor) -> Tensor:
    """inverse(input): the inverse of a square matrix, as linalg.inv."""
    return linalg_inv(input)


# -- determinants -----------------------------------------------------------------------------------------------------


def of_all_samples(x: Array) -> Array:
    while x.__class__ is not np.ndarray:
        x = x.value
    return x


def any_zero(x: Array) -> bool:
    return not of_all_samples(x).all()


def all_finite(x: Array) -> bool:
    return bool(np.isfinite(of_all_samples(x)).all())


def cofactors(a: A) -> A:
    """The derivative of the determinant where that may be zero. The determinant is that of the singular vectors times
    the product of the singular values, each of which has the others as its derivative."""
    u, s, vh = linalg_svd(a, False)
    n = raw(a).shape[-1]
    unit = np.eye(n, dtype=raw(s).dtype)
    others = prod(row(s) * (1 - unit) + unit, (raw(s).ndim,), False)
    phase = linalg_det(u) * linalg_det(vh)
    product = times(u * row(others), vh)
    return (conj(product) if is_complex(a) else product) * column(column(phase))


@op
class linalg_det(OfMatrices):
    """det(A): the determinant of a square matrix."""

    inputs = ("A",)
    holomorphic = True
    public_name = "det"
    places = ("linalg.det",)
    out = True
    samples = squares

    def kernel(x: Array) -> Array:
        return np.asarray(np.linalg.det(x), x.dtype)

    def call(A: Tensor) -> Tensor:
        check_square("linalg.det", A)
        check_floats("linalg.det", A, "lu_cpu")
        return linalg_det.record(A)

    def vjp(g: A, A: A, out: A) -> A:
        if any_zero(raw(out)) and all_finite(raw(A)):
            return column(column(g)) * cofactors(A)
        return column(column(g * out)) * turned(linalg_inv_ex(A)[0])


@op
class linalg_slogdet(OfMatrices):
    """linalg.slogdet(A): the sign of the determinant (or what it is to its absolute value, if complex), and the
    logarithm of the absolute value."""

    inputs = ("A",)
    results = 2
    result_names = ("sign", "logabsdet")
    saved_as = {"out": "sign"}
    places = ("linalg.slogdet",)
    out = True
    samples = squares

    def kernel(x: Array) -> Any:
        sign, size = np.linalg.slogdet(x)
        return np.asarray(sign, x.dtype), np.asarray(size, x.real.dtype)

    def call(A: Tensor) -> return_types.linalg_slogdet:
        check_square("linalg.slogdet", A)
        check_floats("linalg.slogdet", A)
        return linalg_slogdet.result_of(linalg_slogdet.record(A))  # type: ignore[no-any-return]

    def vjp(g: A, A: A, out: A) -> A:
        g_sign, g_size = g
        if not is_complex(A):
            if g_size is None:
                return None
            return column(column(g_size)) * turned(linalg_inv_ex(A)[0])
        weight = g_size
        if g_sign is not None:
            turn = imag_part(conj(g_sign) * out) * -1j
            weight = turn if g_size is None else g_size + turn
        return column(column(weight)) * conj(turned(linalg_inv_ex(A)[0]))


_slogdet = named_result("slogdet", "sign", "logabsdet")


@composite(squares, out=True, exempt=NO_HALF)
def slogdet(input: Tensor) -> return_types.slogdet:
    """slogdet(A): the sign of the determinant, and the logarithm of its absolute value."""
    return _slogdet(linalg_slogdet.function(input))  # type: ignore[return-value]


@composite(squares, exempt=NO_HALF)
def logdet(input: Tensor) -> Tensor:
    """logdet(A): the logarithm of the determinant of a square matrix; nan if that is negative."""
    check_square("logdet", input)
    check_floats("logdet", input)
    sign, size = linalg_slogdet.record(input)
    if is_complex(input):
        return sign.log() + size
    return where.function(sign == -1.0, math.nan, size)
