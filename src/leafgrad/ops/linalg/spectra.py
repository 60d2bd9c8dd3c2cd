"""Eigenvalues and singular values. Their vectors are determined up to a sign, or up to a complex number of size one; a
function that depends on the choice has no derivative, and its gradient is refused, as far as that can be noticed."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors, return_types
from leafgrad._core.tensor import wrap
from leafgrad.ops.index.slices import slice_
from leafgrad.ops.linalg.matrices import (
    NO_HALF,
    LinAlgError,
    OfMatrices,
    added,
    adjoint,
    adjoint_view,
    check_floats,
    check_kernel,
    check_matrices,
    check_square,
    column,
    diagonal_matrix,
    diagonal_of,
    in_columns,
    is_complex,
    off_diagonal,
    row,
    times,
)
from leafgrad.ops.pointwise.convert import imag_part
from leafgrad.ops.reduce.common import raw
from leafgrad.ops.registry import composite, op
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.signature import Tensor
from leafgrad.return_types import named_result

A = Any  # an array, or a tensor under create_graph
Array = Any

VECTORS = "its vectors are determined up to a sign, which PyTorch's LAPACK may choose otherwise"
SVD_SHAPES = [(3, 3), (4, 2), (2, 2, 3), (0, 2), (2, 0, 3)]
SQUARE_SHAPES = [(3, 3), (2, 2, 2), (1, 1), (0, 0)]


def check_choice(name: str, what: str, phase: A) -> None:
    """Refuse gradients in which the phases of complex vectors count."""
    values = raw(imag_part(phase))
    while values.__class__ is not np.ndarray:  # of many samples
        values = values.value
    if values.size and np.abs(values).max() > 1e-2:
        ill = "so it is ill-defined." if "eig" in name else "making it ill-defined."
        first = (
            f"{name}: The {what} in the complex case are specified up to multiplication by e^{{i phi}}. The specified "
            f"loss function depends on this quantity, {ill}"
        )
        raise errors.mistake(RuntimeError, first)


def differences(s: A) -> A:
    """s_j - s_i in row i and column j, and one on the diagonal."""
    return row(s) - column(s) + np.eye(raw(s).shape[-1], dtype=raw(s).dtype)


def converging(function: Any, x: Array, *args: Any, **kwargs: Any) -> Any:
    """A decomposition by NumPy, which gives up, or returns nothing else, where something is not a number."""
    try:
        found = function(x, *args, **kwargs)
        if found.__class__ is np.ndarray and np.isnan(found).any():
            raise np.linalg.LinAlgError
        return found
    except np.linalg.LinAlgError:
        name = f"linalg.{function.__name__.removesuffix('vals')}"
        why = "because the input matrix contained non-finite values." if not np.isfinite(x).all() else ""
        raise errors.mistake(LinAlgError, f"{name}: The algorithm failed to converge {why}") from None


# -- singular values --------------------------------------------------------------------------------------------------


@op
class linalg_svd(OfMatrices):
    """linalg.svd(A, full_matrices=True, *, driver=None): U, S and Vh, whose product U diag(S) Vh is A: the singular
    values, falling, and unitary matrices."""

    autocast = "float32"
    inputs = ("A",)
    options = ("full_matrices",)
    results = 3
    result_names = ("U", "S", "Vh")
    saved_as = {"out": "U", "out1": "S", "out2": "Vh"}
    places = ("linalg.svd",)
    out = True

    def kernel(x: Array, full_matrices: bool) -> Any:
        u, values, vh = converging(np.linalg.svd, x, full_matrices)
        return in_columns(u), values, in_columns(vh)

    def call(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> return_types.linalg_svd:
        check_svd(A, driver)
        return linalg_svd.result_of(linalg_svd.record(A, full_matrices))  # type: ignore[no-any-return]

    def vjp(g: A, out: A, out1: A, out2: A) -> A:
        k = raw(out1).shape[-1]
        g_u, g_s, g_vh = g
        first_columns, first_rows = (..., slice(0, k)), (..., slice(0, k), slice(None))
        if raw(out).shape[-1] > k:
            out, g_u = slice_(out, first_columns), None if g_u is None else slice_(g_u, first_columns)
        if raw(out2).shape[-2] > k:
            out2, g_vh = slice_(out2, first_rows), None if g_vh is None else slice_(g_vh, first_rows)
        return svd_rule(g_u, g_s, g_vh, out, out1, out2)

    samples = ValuesOnly(
        VECTORS,
        lambda t: [S(t(*shape)) for shape in SVD_SHAPES],
        lambda torch, x: [
            (u[..., :1].abs() ** 2, s, vh[..., :1, :].abs() ** 2)
            for u, s, vh in [torch.linalg.svd(x, False), torch.linalg.svd(x)]
        ],
    )


def check_svd(a: Any, driver: str | None = None) -> None:
    check_matrices("linalg.svd", a)
    check_floats("linalg.svd", a, "linalg_svd_cpu")
    if driver is not None:
        first = "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        raise errors.mistake(RuntimeError, first)


def svd_rule(g_u: A, g_s: A, g_vh: A, u: A, s: A, vh: A) -> A:
    """How the matrix U S Vh follows the gradients of its thin decomposition, any of which may be missing."""
    if g_u is None and g_vh is None:
        return times(u * row(g_s), vh)
    m, k, n = raw(u).shape[-2], raw(s).shape[-1], raw(vh).shape[-1]
    by_u = None if g_u is None else times(adjoint(u), g_u)
    by_v = None if g_vh is None else times(vh, adjoint(g_vh))
    if is_complex(u):
        check_choice("svd_backward", "singular vectors", diagonal_of(added(by_u, by_v)))
    # between s_j**2 and s_i**2
    gaps = (row(s) - column(s)) * (row(s) + column(s)) + np.eye(k, dtype=raw(s).dtype)
    inner = added(
        None if by_u is None else (by_u - adjoint(by_u)) / gaps * row(s),
        None if by_v is None else column(s) * ((by_v - adjoint(by_v)) / gaps),
    )
    on_diagonal = g_s
    if is_complex(u) and by_u is not None:  # what turns both vectors at once shows in U alone
        inner = inner * off_diagonal(u)
        on_diagonal = added(g_s, diagonal_of(by_u - adjoint(by_u)) / (2 * s))
    if on_diagonal is not None:
        inner = inner + diagonal_matrix(on_diagonal)
    left = times(u, inner)
    if m > k and g_u is not None:
        left = left + (g_u - times(u, by_u)) / row(s)
    result = times(left, vh)
    if n > k and g_vh is not None:
        result = result + times(u / row(s), g_vh - times(adjoint(by_v), vh))
    return result


@op
class linalg_svdvals(OfMatrices):
    """linalg.svdvals(A, *, driver=None): the singular values of matrices, falling."""

    shows = {"full_matrices": False}
    autocast = "float32"
    inputs = ("A",)
    node_name = "LinalgSvdBackward0"
    saved_as = {"A": ""}
    places = ("linalg.svdvals",)
    out = True

    def kernel(x: Array) -> Array:
        return converging(np.linalg.svd, x, compute_uv=False)

    def call(A: Tensor, *, driver: str | None = None) -> Tensor:
        check_svd(A, driver)
        return linalg_svdvals.record(A)

    def vjp(g: A, A: A) -> A:
        u, _, vh = linalg_svd(A, False)
        return times(u * row(g), vh)

    samples = lambda t: [S(t(*shape)) for shape in SVD_SHAPES]


_svd = named_result("svd", "U", "S", "V")


@composite(
    ValuesOnly(
        VECTORS,
        lambda t: [S(t(*shape)) for shape in SVD_SHAPES],
        lambda torch, x: (torch.svd(x)[0].abs() ** 2, torch.svd(x, False, False), torch.svd(x)[2].abs() ** 2),
    ),
    out=True,
    exempt=NO_HALF,
    autocast="float32",
)
def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> return_types.svd:
    """svd(input, some=True, compute_uv=True): U, S and V, where U diag(S) V* is input. torch.linalg.svd is the newer
    form."""
    check_matrices("linalg.svd", input)
    check_floats("linalg.svd", input, "linalg_svd_cpu")
    if compute_uv:
        u, s, vh = linalg_svd.record(input, not some)
        return _svd((u, s, adjoint_view(vh)))  # type: ignore[return-value]
    x = input.array
    m, n = [wrap(np.zeros((*x.shape[:-2], size, size), x.dtype)) for size in x.shape[-2:]]
    return _svd((m, linalg_svdvals.record(input), n))  # type: ignore[return-value]


# -- of Hermitian matrices --------------------------------------------------------------------------------------------


def check_eigh(a: Any, uplo: str) -> str:
    check_square("linalg.eigh", a)
    half = uplo.upper()
    if half not in ("L", "U"):
        raise errors.mistake(RuntimeError, f"Expected UPLO argument to be 'L' or 'U', but got {uplo}")
    check_kernel("linalg_eigh_cpu", a)
    return half


_lapack: Any = getattr(np.linalg, "_umath_linalg", None)
_eigh: dict[str, Any] = {"L": getattr(_lapack, "eigh_lo", None), "U": getattr(_lapack, "eigh_up", None)}


def eigh(x: Array, half: str) -> tuple[Array, Array]:
    """np.linalg.eigh by the function beneath it: in single precision, where that is what x has."""
    decompose = _eigh[half]
    if decompose is None or x.__class__ is not np.ndarray or not x.size:
        return np.linalg.eigh(x, half)  # type: ignore[call-overload, no-any-return]
    values, vectors = decompose(x)
    if np.isnan(values).any():
        raise np.linalg.LinAlgError
    return values, vectors


@op
class linalg_eigh(OfMatrices):
    """linalg.eigh(A, UPLO='L'): the eigenvalues, rising, and eigenvectors of Hermitian matrices, of which only the
    lower or upper triangle is looked at."""

    autocast = "float32"
    inputs = ("A",)
    options = ("half",)
    results = 2
    result_names = ("eigenvalues", "eigenvectors")
    saved_as = {"out": "eigenvalues", "out1": "eigenvectors"}
    places = ("linalg.eigh",)
    out = True

    def kernel(x: Array, half: Any) -> Any:
        values, vectors = converging(eigh, x, half)
        return values, in_columns(vectors)

    def call(A: Tensor, UPLO: str = "L") -> return_types.linalg_eigh:
        return linalg_eigh.result_of(linalg_eigh.record(A, check_eigh(A, UPLO)))  # type: ignore[no-any-return]

    def vjp(g: A, out: A, out1: A) -> A:
        g_values, g_vectors = g
        inner = None if g_values is None else diagonal_matrix(g_values)
        if g_vectors is not None:
            by_vectors = times(adjoint(out1), g_vectors)
            if is_complex(out1):
                check_choice("linalg_eigh_backward", "eigenvectors", diagonal_of(by_vectors))
            # a rotation of the vectors has no Hermitian part, and so the gradient is Hermitian, as the matrix is
            turning = 0.5 * (by_vectors - adjoint(by_vectors))
            inner = added(inner, turning * off_diagonal(out1) / differences(out))
        return times(out1, inner, adjoint(out1))

    samples = ValuesOnly(
        VECTORS,
        lambda t: [S(t(*shape)) for shape in SQUARE_SHAPES],
        lambda torch, x: [
            (values, vectors[..., :1].abs() ** 2)
            for values, vectors in [torch.linalg.eigh(x + x.mH), torch.linalg.eigh(x + x.mH, UPLO="u")]
        ],
    )


@op
class linalg_eigvalsh(OfMatrices):
    """linalg.eigvalsh(A, UPLO='L'): the eigenvalues of Hermitian matrices, rising."""

    autocast = "float32"
    inputs = ("A",)
    options = ("half",)
    node_name = "LinalgEighBackward0"
    places = ("linalg.eigvalsh",)
    out = True

    def kernel(x: Array, half: Any) -> Array:
        return converging(np.linalg.eigvalsh, x, half)

    def call(A: Tensor, UPLO: str = "L") -> Tensor:
        return linalg_eigvalsh.record(A, check_eigh(A, UPLO))

    def vjp(g: A, A: A, half: A) -> A:
        vectors = linalg_eigh(A, half)[1]
        return times(vectors * row(g), adjoint(vectors))

    samples = ValuesOnly(
        "is a function of one triangle only, and its gradient one of symmetric matrices",
        lambda t: [S(t(*shape)) for shape in SQUARE_SHAPES],
        lambda torch, x: torch.linalg.eigvalsh(x + x.mH, UPLO="U"),
    )
