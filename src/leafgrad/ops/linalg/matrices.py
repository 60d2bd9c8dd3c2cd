"""What functions of matrices, or of stacks of them, have in common: checks of their arguments in PyTorch's words, steps
of their gradient rules, and the family of their blocks. The matrices lie in the last two dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import TensorBase, is_meta
from leafgrad._core.views import bind_view
from leafgrad._dtypes import FLOAT, from_numpy_dtype
from leafgrad.kernels.moving import in_rows
from leafgrad.ops.linalg.products import matmul
from leafgrad.ops.pointwise.convert import conj
from leafgrad.ops.reduce.common import is_half, raw
from leafgrad.ops.registry import Family, unseen
from leafgrad.ops.samples import S
from leafgrad.ops.shape.diagonals import diag_embed
from leafgrad.ops.shape.split import diagonal
from leafgrad.ops.shape.views import expand, transpose, unsqueeze

A = Any  # an array, or a tensor under create_graph
Array = Any

NO_HALF = {"half precision": "PyTorch has no decompositions of it either"}


class _LinAlgError(RuntimeError):
    """A matrix that is singular, or not positive-definite, where that must not be."""

    __module__ = "leafgrad.linalg"


LinAlgError = _LinAlgError  # the public name; programs print the other one


def samples_in_front(batch: Any, *args: Any) -> Any:
    """How matrices of many samples are computed: they are stacks with one more dimension in front."""
    return batch.apply(batch.values(*batch.arrays), batch.options)


class OfMatrices(Family, family=True):
    """Functions of the matrices in the last two dimensions. Where there are several inputs, they have the same leading
    dimensions."""

    vmap: Any = samples_in_front
    holomorphic = False
    public_name = ""
    exempt: Any = NO_HALF


# -- steps of rules ---------------------------------------------------------------------------------------------------


def is_complex(x: A) -> bool:
    return bool(raw(x).dtype.kind == "c")


def adjoint(x: A) -> A:
    """Transposed and conjugated."""
    n = x.ndim
    turned = transpose(x, n - 2, n - 1)
    return conj(turned) if is_complex(x) else turned


def adjoint_view(t: Any) -> Any:
    """The adjoint of a tensor of the user's: a view, where it is real."""
    seen = transpose.function(t, -2, -1)
    return conj.function(seen) if is_complex(t) else seen


def times(*factors: A) -> A:
    """The product of matrices, from the left."""
    result = factors[0]
    for factor in factors[1:]:
        result = matmul(result, factor)
    return result


def row(x: A) -> A:
    """A vector as a matrix of one row, for broadcasting."""
    return unsqueeze(x, x.ndim - 1)


def column(x: A) -> A:
    return unsqueeze(x, x.ndim)


def diagonal_of(x: A) -> A:
    return diagonal(x, 0, x.ndim - 2, x.ndim - 1)


def diagonal_matrix(x: A) -> A:
    return diag_embed(x, 0, x.ndim - 1, x.ndim)


def added(*parts: A) -> A:
    """The sum of those that are there, or None."""
    found = [part for part in parts if part is not None]
    return None if not found else found[0] if len(found) == 1 else found[0] + added(*found[1:])


def identity_like(x: A) -> Array:
    """The identity as a matrix of the size and dtype of x."""
    return np.eye(raw(x).shape[-1], dtype=raw(x).dtype)


def off_diagonal(x: A) -> Array:
    """One where row and column differ, in the real dtype of x."""
    kind = raw(x).real.dtype
    n = raw(x).shape[-1]
    return np.ones((n, n), kind) - np.eye(n, dtype=kind)


def in_columns(x: Array) -> Array:
    """Matrices that lie in memory column by column, as those that LAPACK returns."""
    return in_rows(x.swapaxes(-1, -2)).swapaxes(-1, -2)


# -- checks -----------------------------------------------------------------------------------------------------------


def alias_of(t: TensorBase) -> str:
    return from_numpy_dtype(t.array.dtype).alias


def check_matrices(name: str, t: TensorBase, arg: str = "A") -> None:
    if t.array.ndim < 2:
        first = f"{name}: The input tensor {arg} must have at least 2 dimensions."
        raise errors.mistake(RuntimeError, first, ("tensor", errors.describe(t)))


def check_square(name: str, t: TensorBase, arg: str = "A") -> None:
    check_matrices(name, t, arg)
    rows, columns = t.array.shape[-2:]
    if rows != columns:
        first = f"{name}: {arg} must be batches of square matrices, but they are {rows} by {columns} matrices"
        raise errors.mistake(RuntimeError, first, ("tensor", errors.describe(t)))


def check_floats(name: str, t: TensorBase, kernel_name: str | None = "") -> None:
    """Floating point or complex; half precision is refused: in the words of a kernel, if it has a name, and not at all
    if that is None."""
    kind = from_numpy_dtype(t.array.dtype)
    if kind.category < FLOAT:
        first = f"{name}: Expected a floating point or complex tensor as input. Got {kind.alias}"
        raise errors.mistake(RuntimeError, first, fix="convert first, x.float()")
    if is_half(kind.np) and kernel_name is not None:
        if kernel_name:
            raise not_implemented(kernel_name, t)
        raise errors.mistake(RuntimeError, f"{name}: Low precision dtypes not supported. Got {kind.alias}")


def check_kernel(kernel_name: str, t: TensorBase) -> None:
    """Single or double precision: PyTorch's kernel knows nothing else."""
    if t.array.dtype.kind in "biu" or is_half(t.array.dtype):
        raise not_implemented(kernel_name, t)


def not_implemented(kernel_name: str, t: TensorBase) -> NotImplementedError:
    return errors.mistake(NotImplementedError, f"\"{kernel_name}\" not implemented for '{alias_of(t)}'")


def check_same_dtype(name: str, a: TensorBase, b: TensorBase, names: tuple[str, str] = ("A", "B")) -> None:
    if a.array.dtype != b.array.dtype:
        one, two = names
        first = (
            f"{name}: Expected {one} and {two} to have the same dtype, but found {one} of type {alias_of(a)} and {two} "
            f"of type {alias_of(b)} instead"
        )
        raise errors.mistake(RuntimeError, first)


def check_equation(name: str, a: TensorBase, b: TensorBase, left: bool = True) -> None:
    """Do the matrices A and B fit into AX = B, or XA = B?"""
    check_square(name, a)
    check_matrices(name, b, "B")
    m, n = a.array.shape[-1], b.array.shape[-2 if left else -1]
    if m != n:
        rows, columns = b.array.shape[-2:]
        equation = "AX = B" if left else "XA = B"
        first = f"{name}: Incompatible shapes of A and B for the equation {equation} ({m}x{m} and {rows}x{columns})"
        raise errors.mistake(RuntimeError, first)


def check_success(info: TensorBase, message: Any, name: str, error: type[RuntimeError] = LinAlgError) -> None:
    """Raise the error about the first matrix for which the code of a kernel is not zero."""
    codes = info.array
    if is_meta(codes):
        return
    while codes.__class__ is not np.ndarray:  # of many samples
        codes = codes.value
    if codes.any():
        at = int(np.flatnonzero(codes)[0])
        batch = f"(Batch element {at}): " if codes.ndim else ""
        raise errors.mistake(error, f"{name}: {batch}{message(int(codes.reshape(-1)[at]))}")


def broadcast(*tensors: TensorBase) -> list[Any]:
    """Stacks of matrices with the same leading dimensions."""
    leading = [t.array.shape[:-2] for t in tensors]
    if all([one == leading[0] for one in leading]):
        return list(tensors)
    try:
        full = np.broadcast_shapes(*leading)
    except ValueError:
        stacks = [np.broadcast_to(np.zeros(()), shape) for shape in leading]
        raise errors.broadcast_mismatch("matrices", stacks[:2]) from None
    return [
        t if one == full else bind_view(unseen(expand), expand, t, ((*full, *t.array.shape[-2:]),))
        for t, one in zip(tensors, leading, strict=True)
    ]


def flat_stack(x: Array) -> Array:
    """A stack of matrices with one leading dimension."""
    return x.reshape((int(np.prod(x.shape[:-2], dtype=np.int64)), *x.shape[-2:]))


# -- samples ----------------------------------------------------------------------------------------------------------


def dominant(x: Any, by: float = 6) -> Any:
    """A tensor of the samples with a large diagonal, so that its matrices are far from singular."""
    if x.array.size and 0 in x.array.strides:  # repeated elements
        x.array = x.array.copy()
    at = np.arange(min(x.array.shape[-2:]))
    x.array[..., at, at] += np.asarray(by, x.array.dtype)
    return x


def squares(t: Any) -> list[Any]:
    """Square matrices, stacks of them, and empty ones."""
    return [S(dominant(t(*shape))) for shape in [(3, 3), (2, 2, 2), (1, 1), (0, 0), (0, 2, 2)]]
