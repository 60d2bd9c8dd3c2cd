"""Singular values and principal components of matrices whose rank is low, or nearly so: by a random projection, which
is turned towards the largest singular vectors a few times (Halko, Martinsson and Tropp, 2009)."""

from __future__ import annotations

from typing import Any

from leafgrad import errors
from leafgrad._dtypes import FLOAT, float32
from leafgrad.ops.linalg.matrices import NO_HALF
from leafgrad.ops.linalg.qr import linalg_qr
from leafgrad.ops.linalg.spectra import linalg_svd
from leafgrad.ops.random.functions import randn
from leafgrad.ops.registry import composite
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.signature import Tensor


def basis(a: Any, q: int, niter: int, mean: Any) -> Any:
    """Columns that span nearly what the columns of the matrix do, from which `mean` is taken away."""

    def orthonormal(matrix: Any, less: Any, columns: Any) -> Any:
        image = matrix @ columns
        return linalg_qr.function(image if less is None else image - less @ columns).Q

    kind = a.dtype if a.dtype.category >= FLOAT else float32
    found = orthonormal(a, mean, randn(a.array.shape[-1], q, dtype=kind))
    for _ in range(niter):
        found = orthonormal(a.mH, None if mean is None else mean.mH, found)
        found = orthonormal(a, mean, found)
    return found


def decomposed(a: Any, q: int, niter: int, mean: Any) -> tuple[Any, Any, Any]:
    """U, S and V of the part of the matrix that is in the span of a basis."""
    rows, columns = a.array.shape[-2:]
    if mean is not None:
        mean = mean.broadcast_to(a.array.shape)
    if wide := rows < columns:
        a, mean = a.mH, None if mean is None else mean.mH
    span = basis(a, q, niter, mean)
    small = span.mH @ a
    if mean is not None:
        small = small - span.mH @ mean
    u, s, vh = linalg_svd.function(small, full_matrices=False)
    u, v = span @ u, vh.mH
    return (v, s, u) if wide else (u, s, v)


def check_matrix(a: Any) -> tuple[int, int]:
    if a.array.ndim < 2:
        raise errors.mistake(ValueError, f"not enough values to unpack (expected 2, got {a.array.ndim})")
    rows, columns = a.array.shape[-2:]
    return rows, columns


def _values(name: str, rank: int) -> Any:
    """The singular values, and the matrix again; of a stack of matrices with their whole rank, because what is left out
    makes gradients large."""

    def run(torch: Any, x: Any, *args: Any, **options: Any) -> Any:
        torch.manual_seed(0)
        u, s, v = getattr(torch, name)(x, *args, **options)
        return [s, (u * s.unsqueeze(-2)) @ v.mH]

    samples = lambda t: [S(t(4, 3), 2), S(t(2, 3, 5), rank, niter=1)]
    return ValuesOnly("draws random numbers, and vectors have any phase", samples, run)


@composite(_values("svd_lowrank", 3), method=False, exempt=NO_HALF, in_python=("function",))
def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """svd_lowrank(A, q=6, niter=2, M=None): U, S and V of the q largest singular values, or nearly so, of A, or of
    A - M: A is about U diag(S) V*."""
    check_matrix(A)
    return decomposed(A, 6 if q is None else q, 2 if niter is None else niter, M)


@composite(_values("pca_lowrank", 2), method=False, exempt=NO_HALF, in_python=("function",))
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """pca_lowrank(A, q=None, center=True, niter=2): U, S and V of the q largest principal components of the rows of A,
    from which their mean is taken away if `center` says so."""
    smallest = min(check_matrix(A))
    count = min(6, smallest) if q is None else q
    if not 0 <= count <= smallest:
        first = f"q(={q}) must be non-negative integer and not greater than min(m, n)={smallest}"
        raise errors.mistake(ValueError, first)
    if niter < 0:
        raise errors.mistake(ValueError, f"niter(={niter}) must be non-negative integer")
    return decomposed(A - A.mean((-2,), keepdim=True) if center else A, count, niter, None)
