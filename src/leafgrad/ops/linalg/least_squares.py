"""Pseudo-inverses, least squares and ranks: what is computed by singular values, of which the small ones count as
zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors, return_types
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad.ops.linalg.matrices import (
    NO_HALF,
    OfMatrices,
    adjoint,
    alias_of,
    broadcast,
    check_floats,
    check_kernel,
    check_matrices,
    check_square,
    dominant,
    in_columns,
    times,
)
from leafgrad.ops.linalg.products import matmul
from leafgrad.ops.linalg.spectra import converging
from leafgrad.ops.out import castable
from leafgrad.ops.reduce.common import is_half, raw
from leafgrad.ops.registry import composite, op
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.shape.views import squeeze
from leafgrad.ops.signature import Tensor
from leafgrad.return_types import named_result

A = Any  # an array, or a tensor under create_graph
Array = Any

# -- kernels ----------------------------------------------------------------------------------------------------------


def limits(x: Array, largest: Array, atol: Any, rtol: Any) -> Array:
    """Up to where singular values count as zero."""
    if rtol is None:
        nothing_given = atol is None or (not isinstance(atol, np.ndarray) and atol == 0)
        rtol = np.finfo(x.dtype).eps * max(x.shape[-2:]) if nothing_given else 0.0
        if isinstance(atol, np.ndarray):
            rtol = np.where(atol > 0, 0.0, np.finfo(x.dtype).eps * max(x.shape[-2:]))
    return np.maximum(0.0 if atol is None else atol, rtol * largest)


def kept(x: Array, s: Array, atol: Any, rtol: Any) -> Array:
    """Which singular values count."""
    largest = s.max(-1, initial=0) if s.size else np.zeros(s.shape[:-1], s.dtype)
    return s > limits(x, largest, atol, rtol)[..., None]


def pseudo_inverse(x: Array, atol: Any, rtol: Any, hermitian: bool) -> Array:
    if not x.size:
        return np.zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    if hermitian:
        values, u = converging(np.linalg.eigh, x)
        vh = u.conj().swapaxes(-1, -2)
        inverse = np.where(kept(x, np.abs(values), atol, rtol), 1 / values, 0)
    else:
        u, values, vh = converging(np.linalg.svd, x, False)
        inverse = np.where(kept(x, values, atol, rtol), 1 / values, 0)
    v, uh = vh.conj().swapaxes(-1, -2), u.conj().swapaxes(-1, -2)
    return (v * inverse[..., None, :].astype(values.dtype)) @ uh


def rank_of(x: Array, atol: Any, rtol: Any, hermitian: bool) -> Array:
    if not x.size:
        return np.zeros(x.shape[:-2], np.int64)
    if hermitian:
        s = np.abs(converging(np.linalg.eigvalsh, x))
    else:
        s = converging(np.linalg.svd, x, compute_uv=False)
    return np.asarray(kept(x, s, atol, rtol).sum(-1), np.int64)


# -- pseudo-inverses --------------------------------------------------------------------------------------------------


def tolerance(value: Any) -> Any:
    """A tolerance as an option of the kernel: a number, or an array with one for each matrix."""
    return value.array if isinstance(value, TensorBase) else value


def pinv_rule(g: A, inverse: A, a: A) -> A:
    """The gradient of a matrix whose rank does not change. In what is between, the smaller side counts."""
    h, gh = adjoint(inverse), adjoint(g)
    if raw(a).shape[-2] <= raw(a).shape[-1]:
        k = times(gh, inverse)
        kh = times(k, h)
        rest = times(times(h, inverse), gh - times(k, a))
        return -adjoint(times(inverse, k)) + kh - times(times(a, inverse), kh) + rest
    k = times(inverse, gh)
    hk = times(h, k)
    rest = times(times(gh - times(a, k), inverse), h)
    return -adjoint(times(k, inverse)) + rest + hk - times(times(hk, inverse), a)


@op
class linalg_pinv(OfMatrices):
    """linalg.pinv(A, *, atol=None, rtol=None, hermitian=False): the pseudo-inverse of matrices, in which singular
    values up to max(atol, rtol * the largest) count as zero."""

    options = ("atol", "rtol", "hermitian")
    kernel = pseudo_inverse
    places = ("linalg.pinv",)
    out = castable("linalg.pinv")

    def call(
        input: Tensor,
        rcond: float | Tensor | None = None,
        hermitian: bool = False,
        *,
        atol: float | Tensor | None = None,
        rtol: float | Tensor | None = None,
    ) -> Tensor:
        x = input.array
        if x.ndim < 2 or x.dtype.kind in "biu" or is_half(x.dtype):
            matrices = f"{alias_of(input)}{{{errors.size(x.shape)}}}"
            first = f"linalg.pinv({matrices}): expected a tensor with 2 or more dimensions of float, double, cfloat or "
            raise errors.mistake(RuntimeError, f"{first}cdouble types")
        if hermitian:
            check_square("linalg.pinv", input)
        tolerances: dict[str, Any] = {"rcond": rcond, "atol": atol, "rtol": rtol}
        for name, given in tolerances.items():
            if isinstance(given, TensorBase) and given.array.dtype.kind == "c":
                first = f"torch.linalg.pinv: {name} tensor of complex type is not supported. Got {alias_of(given)}"
                raise errors.mistake(RuntimeError, first)
        if rcond is not None:  # the older name
            atol, rtol = 0.0, rcond
        return linalg_pinv.record(input, tolerance(atol), tolerance(rtol), hermitian)

    def vjp(g: A, input: A, out: A) -> A:
        return pinv_rule(g, out, input)

    samples = lambda t: [
        *[S(dominant(t(*shape))) for shape in [(3, 3), (2, 3, 2), (2, 4), (0, 2)]],
        S(dominant(t(3, 2)), atol=0.1),
        S(dominant(t(2, 2)), 0.01),
    ]


@composite(lambda t: [S(dominant(t(3, 3))), S(dominant(t(2, 3, 2)), 0.1)], exempt=NO_HALF, autocast="float32")
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """pinverse(input, rcond=1e-15): the pseudo-inverse, in which singular values up to rcond times the largest count as
    zero."""
    return linalg_pinv.function(input, rcond)


def _check_precision(a: Any) -> None:
    if a.array.dtype.kind in "biu" or is_half(a.array.dtype):
        raise errors.mistake(RuntimeError, "This function doesn't handle types other than float and double")


def _check_spectrum(a: Any, hermitian: bool) -> None:
    """Refuse matrices that have no eigenvalues, or no singular values, in PyTorch."""
    if hermitian:
        check_square("linalg.eigh", a)
        check_kernel("linalg_eigh_cpu", a)
    check_floats("linalg.svd", a, "linalg_svd_cpu")


@op
class linalg_matrix_rank(OfMatrices):
    """linalg.matrix_rank(A, *, atol=None, rtol=None, hermitian=False): how many singular values are larger than
    max(atol, rtol * the largest)."""

    autocast = "float32"
    options = ("atol", "rtol", "hermitian")
    kernel = rank_of
    differentiable = False
    places = ("linalg.matrix_rank",)
    out = castable("torch.linalg.matrix_rank")

    def call(
        input: Tensor,
        tol: float | Tensor | None = None,
        hermitian: bool = False,
        *,
        atol: float | Tensor | None = None,
        rtol: float | Tensor | None = None,
    ) -> Tensor:
        name = "torch.linalg.matrix_rank"
        check_matrices(name, input, "input")
        for called, value in (("atol", atol), ("rtol", rtol)):
            if isinstance(value, TensorBase) and value.array.dtype.kind == "c":
                first = f"{name}: {called} tensor of complex type is not supported. Got {alias_of(value)}"
                raise errors.mistake(RuntimeError, first)
        if tol is not None:  # the older name
            atol, rtol = tol, 0.0
        if rtol is None:  # the default is made of the precision
            _check_precision(input)
        if input.array.size:
            _check_spectrum(input, hermitian)
        return linalg_matrix_rank.record(input, tolerance(atol), tolerance(rtol), hermitian)

    samples = lambda t: [S(t(3, 3)), S(t(2, 3, 2)), S(t(2, 4), 0.5), S(t(2, 2), atol=1.5, rtol=0.0), S(t(0, 2))]


# -- least squares ----------------------------------------------------------------------------------------------------


@op
class least_squares(OfMatrices):
    """least_squares(A, B, rcond): the shortest X for which the squares of AX - B are least."""

    inputs = ("A", "B")
    options = ("rcond",)
    aten = "linalg_lstsq"
    node_name = "LinalgLstsqBackward0"
    reference = lambda torch, a, b, rcond: torch.linalg.lstsq(a, b)[0]

    def kernel(a: Array, b: Array, rcond: Any) -> Array:
        solution = pseudo_inverse(a, 0.0, rcond, False) @ b
        rows, columns = a.shape[-2:]
        if rows <= columns:
            return in_columns(solution)
        # LAPACK leaves it at the top of the right-hand sides
        whole = np.zeros((*solution.shape[:-2], solution.shape[-1], rows), solution.dtype).swapaxes(-1, -2)
        whole[..., :columns, :] = solution
        return whole[..., :columns, :]

    def call(A: Any, B: Any, rcond: Any) -> Any:
        _check_precision(A)
        return least_squares.record(A, B, rcond)

    def vjp_A(g: A, A: A, B: A, rcond: A) -> A:
        inverse = linalg_pinv(A, 0.0, rcond, False)
        return pinv_rule(times(g, adjoint(B)), inverse, A)

    def vjp_B(g: A, A: A, rcond: A) -> A:
        return times(adjoint(linalg_pinv(A, 0.0, rcond, False)), g)

    samples = lambda t: [
        S(dominant(t(*a)), t(*b), None) for a, b in [((3, 3), (3, 2)), ((2, 4, 2), (2, 4, 1)), ((2, 3), (2, 2))]
    ]


_linalg_lstsq = named_result("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
DRIVERS = ("gels", "gelsy", "gelsd", "gelss")
WITH_VALUES = ("gelsd", "gelss")  # which compute singular values


def _check_lstsq(a: Any, b: Any, driver: str | None) -> bool:
    """Refuse what does not fit together; is B a vector, or a stack of them?"""
    name = "torch.linalg.lstsq"
    x, y = a.array, b.array
    first = None
    is_vector = bool(y.ndim == 1 or (x.ndim - 1 == y.ndim and y.shape == x.shape[:-1]))
    if x.ndim < 2:
        first = "input must have at least 2 dimensions."
    elif y.ndim < 1:
        first = "other must have at least 1 dimension."
    elif x.dtype != y.dtype:
        first = (
            f"Expected input and other to have the same dtype, but got input's dtype {alias_of(a)} and other's dtype "
            f"{alias_of(b)}"
        )
    elif x.shape[-2] != y.shape[-1 if is_vector else -2]:
        first = f"input.size(-2) should match other.size({-1 if is_vector else -2})"
    elif driver is not None and driver not in DRIVERS:
        first = f"parameter `driver` should be one of ({', '.join(DRIVERS)})"
    if first is not None:
        raise errors.mistake(RuntimeError, f"{name}: {first}")
    _check_precision(a)
    return is_vector


@composite(
    ValuesOnly(
        "has results without a gradient beside those that have one",
        lambda t: [
            *[S(dominant(t(*a)), t(*b)) for a, b in [((3, 3), (3, 2)), ((2, 4, 2), (2, 4, 1)), ((2, 3), (2, 2))]],
            S(dominant(t(3, 2)), t(3)),
        ],
        lambda torch, a, b: [
            torch.linalg.lstsq(a, b)[0],
            torch.linalg.lstsq(a, b, driver="gels")[: 1 + (a.shape[-2] > a.shape[-1])],
            torch.linalg.lstsq(a.detach(), b.detach(), driver="gelsd")[1:],
        ],
    ),
    places=("linalg.lstsq",),
    public_name="",
    out=tuple(
        [castable("torch.linalg.lstsq", which) for which in ("solution", "residuals", "rank", "singular_values")]
    ),
    exempt=NO_HALF,
    autocast="float32",
)
def linalg_lstsq(
    input: Tensor, b: Tensor, rcond: float | None = None, *, driver: str | None = None
) -> return_types.linalg_lstsq:
    """linalg.lstsq(A, B, rcond=None, *, driver=None): the X for which the squares of AX - B are least, the sums of
    these squares, the rank of A, and its singular values, if the driver computes them."""
    is_vector = _check_lstsq(input, b, driver)
    y = b.unsqueeze(-1) if is_vector else b
    a, y = broadcast(input, y)
    solution = least_squares.record(a, y, rcond)
    kind = input.array.dtype
    rank = linalg_matrix_rank.record(input.detach(), 0.0, rcond, False)
    rows, columns = input.array.shape[-2:]
    singular_values = wrap(np.empty(0, kind.type(0).real.dtype))
    residuals = solution.flatten().narrow(0, 0, 0).abs()  # none, but of the graph
    if rows > columns and (driver == "gels" or (driver in WITH_VALUES and bool((rank == columns).all()))):
        residuals = (matmul.function(a, solution) - y).abs().pow(2).sum(-2)
    if driver in WITH_VALUES:
        singular_values = wrap(converging(np.linalg.svd, input.array, compute_uv=False))
    if driver == "gels":
        rank = wrap(np.empty(0, np.int64))
    solution = squeeze.function(solution, -1) if is_vector else solution
    return _linalg_lstsq((solution, residuals, rank, singular_values))  # type: ignore[return-value]
