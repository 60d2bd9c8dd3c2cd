"""The Cholesky decomposition of positive-definite matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors, return_types
from leafgrad.ops.index.masks import tril
from leafgrad.ops.linalg.matrices import (
    NO_HALF,
    OfMatrices,
    adjoint,
    check_floats,
    check_square,
    check_success,
    flat_stack,
    in_columns,
    times,
)
from leafgrad.ops.linalg.triangular import solve_triangular
from leafgrad.ops.out import castable
from leafgrad.ops.registry import composite, op
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.signature import Tensor

A = Any  # an array, or a tensor under create_graph
Array = Any

SHAPES = [(3, 3), (2, 2, 2), (1, 1), (0, 0)]


def positive(torch: Any, x: Any) -> Any:
    """A positive-definite matrix."""
    return x @ x.mH + torch.eye(x.shape[-1], dtype=x.dtype)


def _samples(function: Any) -> Any:
    shapes = lambda t: [S(t(*shape)) for shape in SHAPES]
    return ValuesOnly("takes positive-definite matrices only", shapes, function)


def decomposed(x: Array, upper: bool) -> tuple[Array, Array]:
    """L, or its adjoint, and for each matrix zero, or the order of the first minor that is not positive."""
    if upper:
        lower, info = decomposed(x.conj().swapaxes(-1, -2), False)
        return in_columns(lower.conj().swapaxes(-1, -2)), info
    try:
        return in_columns(np.linalg.cholesky(x)), np.zeros(x.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        made = [one_decomposed(each) for each in flat_stack(x)]
        return in_columns(np.stack([m[0] for m in made]).reshape(x.shape)), np.array(
            [m[1] for m in made], np.int32
        ).reshape(x.shape[:-2])


def one_decomposed(x: Array) -> tuple[Array, int]:
    """One matrix, as far as it can be decomposed."""
    lower = np.tril(x)
    for k in range(x.shape[-1]):
        left = lower[k:, k] - lower[k:, :k] @ lower[k, :k].conj()
        if not left[0].real > 0:
            lower[k, k] = left[0]
            return lower, k + 1
        lower[k:, k] = left / np.sqrt(left[0].real)
    return lower, 0


@op
class linalg_cholesky_ex(OfMatrices):
    """linalg.cholesky_ex(A, *, upper=False, check_errors=False): the triangular matrix L of A = L L*, or its adjoint,
    and a code that is not zero where A is not positive-definite."""

    autocast = "float32"
    inputs = ("A",)
    options = ("upper",)
    results = 2
    result_names = ("L", "info")
    kernel = decomposed
    places = ("linalg.cholesky_ex",)
    out = True

    def call(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> return_types.linalg_cholesky_ex:
        found = _checked(A, upper)
        if check_errors:
            check_success(found[1], _not_positive, "linalg.cholesky_ex")
        return linalg_cholesky_ex.result_of(found)  # type: ignore[no-any-return]

    def vjp(g: A, out: A, upper: A) -> A:
        lower, g_lower = (adjoint(out), adjoint(g[0])) if upper else (out, g[0])
        below = tril(times(adjoint(lower), g_lower), 0)
        inner = (below + adjoint(tril(below, -1))) * 0.5  # the diagonal counts once
        inner = solve_triangular(adjoint(lower), inner, True)
        return solve_triangular(lower, inner, False, False)

    samples = _samples(
        lambda torch, x: [torch.linalg.cholesky_ex(positive(torch, x), upper=up)[0] for up in (False, True)]
    )


def _checked(a: Any, upper: bool) -> Any:
    check_square("linalg.cholesky", a)
    check_floats("linalg.cholesky", a, "cholesky_cpu")
    return linalg_cholesky_ex.record(a, bool(upper))


def _not_positive(k: int) -> str:
    return (
        "The factorization could not be completed because the input is not positive-definite (the leading minor of "
        f"order {k} is not positive-definite)."
    )


@composite(
    _samples(lambda torch, x: torch.linalg.cholesky(positive(torch, x))),
    places=("linalg.cholesky",),
    public_name="",
    out=True,
    exempt=NO_HALF,
    autocast="float32",
)
def linalg_cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """linalg.cholesky(A, *, upper=False): the triangular matrix L of A = L L*, or its adjoint."""
    result, info = _checked(A, upper)
    check_success(info, _not_positive, "linalg.cholesky")
    return result


@composite(
    _samples(lambda torch, x: torch.cholesky(positive(torch, x), True)),
    out=castable("cholesky"),
    exempt=NO_HALF,
    autocast="float32",
)
def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """cholesky(input, upper=False): the triangular matrix L of A = L L*, or its adjoint. torch.linalg.cholesky is the
    newer form."""
    errors.warn_once(
        "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a future PyTorch "
        "release.\nL = torch.cholesky(A)\nshould be replaced with\nL = torch.linalg.cholesky(A)\nand\nU = "
        "torch.cholesky(A, upper=True)\nshould be replaced with\nU = torch.linalg.cholesky(A).mH\nThis transform will "
        "produce equivalent results for all valid (symmetric positive definite) inputs."
    )
    result, info = _checked(input, upper)
    check_success(info, _not_positive, "cholesky")
    return result
