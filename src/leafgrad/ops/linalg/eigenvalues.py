"""Eigenvalues of matrices that need not be Hermitian: they, and the vectors, are complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors, return_types
from leafgrad.ops.linalg.matrices import (
    NO_HALF,
    OfMatrices,
    added,
    adjoint,
    alias_of,
    check_kernel,
    check_square,
    diagonal_matrix,
    diagonal_of,
    in_columns,
    off_diagonal,
    row,
    times,
)
from leafgrad.ops.linalg.products import matmul
from leafgrad.ops.linalg.solving import linalg_solve_ex
from leafgrad.ops.linalg.spectra import SQUARE_SHAPES, check_choice, differences
from leafgrad.ops.out import castable
from leafgrad.ops.pointwise.convert import conj, real_part
from leafgrad.ops.registry import composite, op
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.signature import Tensor

A = Any  # an array, or a tensor under create_graph
Array = Any


def in_complex(x: Array, like: Array) -> Array:
    """As complex numbers of the precision of a matrix."""
    return x.astype(np.result_type(like.dtype, np.complex64), copy=False)


def check_eig(name: str, a: Any) -> None:
    check_square(name, a)
    if a.array.dtype.kind in "biu":
        kind = alias_of(a)
        raise errors.mistake(RuntimeError, f"Unknown Complex ScalarType for {kind}")
    check_kernel("linalg_eig_out_cpu", a)
    if a.array.__class__ is np.ndarray and not np.isfinite(a.array).all():
        raise errors.mistake(RuntimeError, "torch.linalg.eig: input tensor should not contain infs or NaNs.")


@op
class linalg_eig(OfMatrices):
    """linalg.eig(A): the eigenvalues and eigenvectors of square matrices, as complex numbers."""

    autocast = "float32"
    inputs = ("A",)
    results = 2
    result_names = ("eigenvalues", "eigenvectors")
    places = ("linalg.eig",)
    out = tuple([castable("torch.linalg.eig", which) for which in ("eigenvalues", "eigenvectors")])

    def kernel(x: Array) -> Any:
        values, vectors = np.linalg.eig(x)
        return in_complex(values, x), in_columns(in_complex(vectors, x))

    def call(A: Tensor) -> return_types.linalg_eig:
        check_eig("linalg.eig", A)
        return linalg_eig.result_of(linalg_eig.record(A))  # type: ignore[no-any-return]

    def vjp(g: A, out: A, out1: A) -> A:
        g_values, g_vectors = g
        inner = None if g_values is None else diagonal_matrix(g_values)
        vectors_adjoint = adjoint(out1)
        if g_vectors is not None:
            by_vectors = times(vectors_adjoint, g_vectors)
            phases = diagonal_of(by_vectors)
            check_choice("linalg_eig_backward", "eigenvectors", phases)
            # eigenvectors have length one
            along = times(vectors_adjoint, out1 * row(real_part(phases)))
            inner = added(inner, (by_vectors - along) * off_diagonal(out1) / conj(differences(out)))
        return linalg_solve_ex(vectors_adjoint, matmul(inner, vectors_adjoint), True)[0]

    samples = ValuesOnly(
        "its eigenvalues have no order, and its vectors are determined up to a complex factor",
        lambda t: [S(t(*shape)) for shape in SQUARE_SHAPES],
        lambda torch, x: (
            (torch.linalg.eig(x)[0] ** 3).sum(-1),
            (torch.linalg.eig(x)[1].abs() ** 4).sum(-1).sum(-1) if x.numel() else x,
        ),
    )


@composite(
    ValuesOnly(
        "its eigenvalues have no order",
        lambda t: [S(t(*shape)) for shape in SQUARE_SHAPES],
        lambda torch, x: (torch.linalg.eigvals(x) ** 3).sum(-1),
    ),
    places=("linalg.eigvals",),
    public_name="",
    out=castable("torch.linalg.eigvals", "eigenvalues"),
    exempt=NO_HALF,
    autocast="float32",
)
def linalg_eigvals(A: Tensor) -> Tensor:
    """linalg.eigvals(A): the eigenvalues of square matrices, as complex numbers, in no order."""
    check_eig("linalg.eigvals", A)
    return linalg_eig.record(A)[0]
