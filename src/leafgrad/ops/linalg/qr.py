"""The QR decomposition, and products of the Householder reflections that it is made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors, return_types
from leafgrad._core.tensor import wrap
from leafgrad.ops.index.masks import tril, triu
from leafgrad.ops.index.slices import slice_
from leafgrad.ops.linalg.lu import joined
from leafgrad.ops.linalg.matrices import (
    NO_HALF,
    OfMatrices,
    added,
    adjoint,
    alias_of,
    check_floats,
    check_kernel,
    check_matrices,
    column,
    dominant,
    identity_like,
    in_columns,
    is_complex,
    times,
)
from leafgrad.ops.linalg.triangular import solve_triangular
from leafgrad.ops.out import castable
from leafgrad.ops.pointwise.convert import conj
from leafgrad.ops.reduce.common import raw
from leafgrad.ops.reduce.reductions import sum as sum_op
from leafgrad.ops.registry import composite, op
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.shape.join import cat
from leafgrad.ops.signature import Tensor
from leafgrad.return_types import named_result

A = Any  # an array, or a tensor under create_graph
Array = Any

MODES = ("reduced", "complete", "r")


def qr_rule(g_q: A, g_r: A, q: A, r: A) -> A:
    """How the matrix Q R follows the gradients of its factors, either of which may be missing. Columns beyond a square
    are Q* times those of the matrix, and carry their gradients there and to Q."""
    m, n = raw(q).shape[-2], raw(r).shape[-1]
    if m < n:
        first, rest = (..., slice(0, m)), (..., slice(m, None))
        if g_r is None:
            beside = slice_(r, rest) * 0
        else:
            g_rest = slice_(g_r, rest)
            beside = times(q, g_rest)
            g_q = added(g_q, times(q, slice_(r, rest), adjoint(g_rest)))
            g_r = slice_(g_r, first)
        square = qr_rule(g_q, g_r, q, slice_(r, first))
        return joined(square, beside, square.ndim - 1)
    inner = added(None if g_r is None else times(g_r, adjoint(r)), None if g_q is None else -times(adjoint(q), g_q))
    inner = triu(inner, 0)
    inner = (inner + adjoint(inner)) * (1 - 0.5 * identity_like(r).real)  # the diagonal counts once
    return solve_triangular(adjoint(r), added(g_q, times(q, inner)), False, False)


def _check(a: Any, mode: str) -> None:
    if mode not in MODES:
        first = f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        raise errors.mistake(RuntimeError, first)
    check_matrices("linalg.qr", a)
    check_floats("linalg.qr", a, "geqrf_cpu")


# What np.linalg.qr computes with, for double precision; it spends half its time on the way there. Other versions of
# NumPy may have other names for it.
_lapack: Any = getattr(np.linalg, "_umath_linalg", None)
_packed_qr: Any = getattr(_lapack, "qr_r_raw", None)


def decomposed(x: Array, mode: str) -> tuple[Array, Array]:
    """Q and R, "reduced" or "complete"."""
    if _packed_qr is None or x.__class__ is not np.ndarray or not x.size:
        return np.linalg.qr(x, mode)  # type: ignore[call-overload, no-any-return]
    packed = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64, order="C")
    tau = _packed_qr(packed)
    whole = mode == "complete" and x.shape[-2] > x.shape[-1]
    q = (_lapack.qr_complete if whole else _lapack.qr_reduced)(packed, tau)
    r = triu.kernel(packed[..., : q.shape[-1], :], 0)
    return q.astype(x.dtype, copy=False), r.astype(x.dtype, copy=False)


@op
class linalg_qr(OfMatrices):
    """linalg.qr(A, mode='reduced'): Q and R, whose product is A: a matrix with orthonormal columns, and an upper
    triangular one. 'complete' makes Q square, 'r' leaves it out."""

    autocast = "float32"
    inputs = ("A",)
    options = ("mode",)
    results = 2
    result_names = ("Q", "R")
    saved_as = {"out": "Q", "out1": "R"}
    places = ("linalg.qr",)
    out = True

    def kernel(x: Array, mode: Any) -> Any:
        return tuple([in_columns(part) for part in decomposed(x, mode)])

    def call(A: Tensor, mode: str = "reduced") -> return_types.linalg_qr:
        _check(A, mode)
        if mode == "r":
            found = wrap(np.empty(0, A.array.dtype)), upper_of_qr.record(A)
        else:
            found = linalg_qr.record(A, mode)
        return linalg_qr.result_of(found)  # type: ignore[no-any-return]

    def vjp(g: A, out: A, out1: A, mode: A) -> A:
        if mode == "complete" and raw(out1).shape[-2] > raw(out1).shape[-1]:
            first = "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
            raise errors.mistake(RuntimeError, first)
        return qr_rule(g[0], g[1], out, out1)

    samples = lambda t: [
        *[S(dominant(t(*shape))) for shape in [(3, 3), (2, 3, 2), (2, 4), (0, 0), (3, 0)]],
        S(dominant(t(3, 3)), "complete"),
        S(dominant(t(2, 3)), "complete"),
    ]


@op
class upper_of_qr(OfMatrices):
    """upper_of_qr(A): R of the QR decomposition."""

    inputs = ("A",)
    node_name = "LinalgQrBackward0"
    derivatives = 0

    def kernel(x: Array) -> Array:
        return in_columns(np.linalg.qr(x, "r"))

    def vjp(g: A) -> A:
        first = (
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, "
            "mode='reduced') if you are going to differentiate through linalg.qr."
        )
        raise errors.mistake(RuntimeError, first)

    samples = ValuesOnly(
        "has no derivative",
        lambda t: [S(dominant(t(3, 3))), S(dominant(t(4, 2)))],
        lambda torch, x: torch.linalg.qr(x.detach(), "r")[1],
    )


_qr = named_result("qr", "Q", "R")


@composite(
    lambda t: [S(dominant(t(3, 3))), S(dominant(t(2, 3, 2))), S(dominant(t(3, 3)), False)],
    out=True,
    exempt=NO_HALF,
    autocast="float32",
)
def qr(input: Tensor, some: bool = True) -> return_types.qr:
    """qr(input, some=True): Q and R, whose product is input. torch.linalg.qr is the newer form."""
    errors.warn_once(
        "torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future PyTorch release.\nThe "
        "boolean parameter 'some' has been replaced with a string parameter 'mode'.\nQ, R = torch.qr(A, some)\nshould "
        "be replaced with\nQ, R = torch.linalg.qr(A, 'reduced' if some else 'complete')"
    )
    return _qr(linalg_qr.function(input, "reduced" if some else "complete"))  # type: ignore[return-value]


@op
class geqrf(OfMatrices):
    """geqrf(input): the QR decomposition as LAPACK has it: R with the vectors of the reflections below it, and their
    factors, as linalg.householder_product takes them."""

    autocast = "float32"
    results = 2
    public_name = "geqrf"
    result_names = ("a", "tau")
    derivatives = 0
    out = (castable("torch.geqrf", "a"), castable("torch.geqrf", "tau"))

    def kernel(x: Array) -> Any:
        packed, tau = np.linalg.qr(x, "raw")
        return in_columns(packed.swapaxes(-1, -2)), tau

    def call(input: Tensor) -> return_types.geqrf:
        check_matrices("torch.geqrf", input, "input")
        check_kernel("geqrf_cpu", input)
        return geqrf.result_of(geqrf.record(input))  # type: ignore[no-any-return]

    def vjp(g: A) -> A:
        raise errors.mistake(NotImplementedError, "the derivative for 'geqrf' is not implemented.")

    samples = ValuesOnly(
        "has no derivative",
        lambda t: [S(dominant(t(3, 3))), S(dominant(t(2, 3, 2))), S(dominant(t(2, 4)))],
        lambda torch, x: torch.geqrf(x.detach()),
    )


# -- reflections ------------------------------------------------------------------------------------------------------


def vectors_of(x: A) -> A:
    """The vectors of the reflections, in the columns below the diagonal, on which there are ones."""
    return tril(x, -1) + np.eye(*raw(x).shape[-2:], dtype=raw(x).dtype)


def part(x: A, i: int) -> A:
    """Column i, as a matrix of one column."""
    return slice_(x, (..., slice(i, i + 1)))


def reflected(z: A, v: A, tau: A) -> A:
    """z - tau v v* z."""
    return z - times(column(tau) * v, times(adjoint(v), z))


def reflections(z: A, vectors: A, factors: A, order: Any) -> list[A]:
    """A matrix, and what it is after each of some reflections, in an order."""
    found = [z]
    for i in order:
        found.append(reflected(found[-1], part(vectors, i), part(factors, i)))
    return found


def reflected_back(g: A, vectors: A, factors: A, order: Any, states: list[A]) -> tuple[A, A, A]:
    """The gradients of the matrix, of the vectors and of the factors, if g is that of the last of the states."""
    by_vector, by_factor = {}, {}
    for i, z in zip(reversed(order), reversed(states[:-1]), strict=True):
        v, factor = part(vectors, i), part(factors, i)
        back = conj(factor) if is_complex(factor) else factor
        w, u = times(adjoint(v), z), times(adjoint(v), g)
        by_factor[i] = -sum_op(u * (conj(w) if is_complex(w) else w), (w.ndim - 1,), False)
        by_vector[i] = -column(back) * times(g, adjoint(w)) - column(factor) * times(z, adjoint(u))
        g = reflected(g, v, back)
    count, ndim = len(order), raw(vectors).ndim
    if not count:
        return g, vectors * 0, factors * 0
    columns = [by_vector[i] for i in range(count)]
    if missing := raw(vectors).shape[-1] - count:
        columns.append(slice_(vectors, (..., slice(0, missing))) * 0)
    sizes = tuple([raw(x).shape[-1] for x in columns])
    below = tril(cat(*columns, ndim - 1, sizes), -1)  # the ones on the diagonal are not looked at
    return g, below, cat(*[by_factor[i] for i in range(count)], ndim - 2, (1,) * count)


def columns_of_identity(vectors: A) -> Array:
    shape = raw(vectors).shape
    return np.broadcast_to(np.eye(*shape[-2:], dtype=raw(vectors).dtype), shape)


@op
class linalg_householder_product(OfMatrices):
    """linalg.householder_product(A, tau): the first columns of the product of reflections 1 - tau v v*, whose vectors v
    stand in the columns of A below the diagonal."""

    autocast = "float32"
    inputs = ("input", "tau")
    saved_as = {"input": "input"}
    places = ("linalg.householder_product",)
    out = castable("torch.linalg.householder_product")

    def kernel(x: Array, tau: Array) -> Array:
        vectors = vectors_of(x)
        states = reflections(columns_of_identity(vectors), vectors, tau, range(tau.shape[-1])[::-1])
        return in_columns(np.array(states[-1]))

    def call(input: Tensor, tau: Tensor) -> Tensor:
        _check_reflections(input, tau)
        return linalg_householder_product.record(input, tau)

    def vjp_all(g: A, needs: A, input: A, tau: A) -> A:
        vectors, order = vectors_of(input), range(raw(tau).shape[-1])[::-1]
        states = reflections(columns_of_identity(vectors), vectors, tau, order)
        return list(reflected_back(g, vectors, tau, order, states)[1:])

    samples = lambda t: [
        S(t(*a, low=-0.6, high=0.6), t(*b, low=-0.6, high=0.6))
        for a, b in [((3, 3), (3,)), ((2, 4, 3), (2, 2)), ((3, 2), (2,)), ((3, 2), (0,))]
    ]


def _check_reflections(a: Any, tau: Any) -> None:
    name = "torch.linalg.householder_product"
    x, factors = a.array, tau.array
    wrong = None
    if x.ndim < 2:
        wrong = "input must have at least 2 dimensions."
    elif x.shape[-2] < x.shape[-1]:
        wrong = "input.shape[-2] must be greater than or equal to input.shape[-1]"
    elif factors.ndim == 0 or x.shape[-1] < factors.shape[-1]:
        wrong = "input.shape[-1] must be greater than or equal to tau.shape[-1]"
    elif x.ndim - factors.ndim != 1:
        wrong = (
            "Expected tau to have one dimension less than input, but got tau.ndim equal to "
            f"{factors.ndim} and input.ndim is equal to {x.ndim}"
        )
    elif x.shape[:-2] != factors.shape[:-1]:
        shown, wanted = errors.size(factors.shape[:-1]), errors.size(x.shape[:-2])
        wrong = f"Expected batch dimensions of tau to be equal to input.shape[:-2] ({wanted}), but got {shown}"
    elif x.dtype != factors.dtype:
        wrong = f"tau dtype {alias_of(tau)} does not match input dtype {alias_of(a)}"
    if wrong is not None:
        raise errors.mistake(RuntimeError, f"{name}: {wrong}")
    check_kernel("orgqr_cpu", a)


@composite(
    lambda t: [S(t(3, 3, high=0.5, low=-0.5), t(3, high=0.5, low=-0.5))], out=True, exempt=NO_HALF, autocast="float32"
)
def orgqr(input: Tensor, input2: Tensor) -> Tensor:
    """orgqr(input, tau): what torch.linalg.householder_product returns, by its older name."""
    return linalg_householder_product.function(input, input2)


# -- the product of reflections with another matrix -------------------------------------------------------------------


def order_and_factors(tau: A, backwards: bool) -> tuple[range, A]:
    """Q z begins with the last reflection; Q* z with the first, and the factors are conjugated."""
    order = range(raw(tau).shape[-1])
    return (order, conj(tau) if is_complex(tau) else tau) if backwards else (order[::-1], tau)


def on_left(z: A, left: bool) -> A:
    return z if left else adjoint(z)


@op
class ormqr(OfMatrices):
    """ormqr(input, tau, other, left=True, transpose=False): Q times other, where Q is the product of the reflections in
    input and tau, as geqrf returns them; or with left=False other times Q, or with transpose=True the adjoint of Q."""

    autocast = "float32"
    inputs = ("input", "input2", "input3")
    options = ("left", "transpose")
    saved_as = {"input": "self"}
    exempt = {
        **NO_HALF,
        "observed bits": "products of tensors have other strides, and BLAS adds them up in another order",
    }
    public_name = "ormqr"
    out = (
        "torch.ormqr: Expected input and result to have the same dtype, but input has dtype{wanted.alias} and result "
        "has dtype {given.alias}"
    )

    def kernel(x: Array, tau: Array, other: Array, left: bool, transpose: bool) -> Array:
        order, factors = order_and_factors(tau, left == transpose)
        z = reflections(on_left(other, left), vectors_of(x), factors, order)[-1]
        return in_columns(np.array(on_left(z, left)))

    def call(input: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
        _check_product(input, input2, input3, left)
        return ormqr.record(input, input2, input3, left, transpose)

    def vjp_all(g: A, needs: A, input: A, input2: A, input3: A, left: A, transpose: A) -> A:
        vectors = vectors_of(input)
        order, factors = order_and_factors(input2, left == transpose)
        states = reflections(on_left(input3, left), vectors, factors, order)
        back, by_vectors, by_factors = reflected_back(on_left(g, left), vectors, factors, order, states)
        if left == transpose and is_complex(by_factors):
            by_factors = conj(by_factors)
        return [by_vectors, by_factors, on_left(back, left)]

    samples = lambda t: [
        S(t(*a, low=-0.6, high=0.6), t(*b, low=-0.6, high=0.6), t(*c), **options)
        for a, b, c, options in [
            ((3, 3), (3,), (3, 2), {}),
            ((2, 4, 3), (2, 3), (2, 4, 2), {"transpose": True}),
            ((4, 2), (2,), (3, 4), {"left": False}),
            ((3, 2), (2,), (1, 3), {"left": False, "transpose": True}),
        ]
    ]


def _check_product(a: Any, tau: Any, other: Any, left: bool) -> None:
    x, factors, z = a.array, tau.array, other.array
    wrong = None
    if x.ndim < 2:
        wrong = "input must have at least 2 dimensions."
    elif z.ndim < 2:
        wrong = "other must have at least 2 dimensions."
    elif z.shape[-2 if left else -1] != x.shape[-2]:
        wrong = f"other.shape[{-2 if left else -1}] must be equal to input.shape[-2]"
    elif factors.ndim == 0 or factors.shape[-1] != min(x.shape[-2:]):
        wrong = "tau.shape[-1] must be equal to min(other.shape[-2], input.shape[-1])"
    elif x.ndim - factors.ndim != 1:
        wrong = (
            f"Expected tau to have one dimension less than input, but got tau.ndim equal to {factors.ndim} and "
            f"input.ndim is equal to {x.ndim}"
        )
    elif x.ndim != z.ndim:
        wrong = (
            f"Expected other to have the same number of dimensions as input, but got other.ndim equal to {z.ndim} and "
            f"input.ndim is equal to {x.ndim}"
        )
    elif x.shape[:-2] != factors.shape[:-1]:
        shown = errors.size(factors.shape[:-1])
        wrong = f"Expected batch dimensions of tau to be equal to input.shape[:-2], but got {shown}"
    elif x.shape[:-2] != z.shape[:-2]:
        wrong = (
            f"Expected batch dimensions of other to be equal to input.shape[:-2], but got {errors.size(z.shape[:-2])}"
        )
    for name, t in (("tau", tau), ("other", other)):
        if wrong is None and t.array.dtype != x.dtype:
            dtypes = f"input has dtype{alias_of(a)} and {name} has dtype {alias_of(t)}"
            wrong = f"Expected input and {name} to have the same dtype, but {dtypes}"
    if wrong is not None:
        raise errors.mistake(RuntimeError, f"torch.ormqr: {wrong}")
    check_kernel("ormqr_cpu", a)
