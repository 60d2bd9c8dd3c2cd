"""Distances between all vectors of two sets, or of one, and vectors made shorter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import wrap
from leafgrad._dtypes import FLOAT, from_numpy_dtype
from leafgrad.ops.linalg.matrices import not_implemented
from leafgrad.ops.linalg.products import matmul
from leafgrad.ops.pointwise.convert import contiguous
from leafgrad.ops.pointwise.elementwise import mul, sub
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.reduce.common import is_half
from leafgrad.ops.reduce.norms import vector_norm
from leafgrad.ops.registry import composite
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Dim, Number, Tensor

NO_HALF = {"half precision": "PyTorch has no distances of it either, but by products of matrices"}
MATRIX_PRODUCT_FROM = 25  # vectors, from which on PyTorch computes Euclidean distances by a product of matrices
MODES = {
    None: 0, "use_mm_for_euclid_dist_if_necessary": 0, "use_mm_for_euclid_dist": 1,
    "donot_use_mm_for_euclid_dist": 2,
}  # fmt: skip


@composite(lambda t: [S(t(3), t(3)), S(t(2, 3), t(3), 1), S(t(2, 3), t(2, 3), math.inf), S(t(3), t(3), 3)])
def dist(input: Tensor, other: Tensor, p: Number = 2) -> Tensor:
    """dist(input, other, p=2): the p-norm of input - other."""
    return vector_norm.function(sub.function(input, other), p)


def check_vectors(name: str, t: Any, which: str) -> None:
    kind = from_numpy_dtype(t.array.dtype)
    if t.array.ndim < 2:
        first = f"{name} only supports at least 2D tensors, {which} got: {t.array.ndim}D"
        raise errors.mistake(RuntimeError, first)
    if kind.category != FLOAT:
        first = f"{name} only supports floating-point dtypes, {which} got: {kind.alias}"
        raise errors.mistake(RuntimeError, first)


def lengths_of(rows: Any, p: float) -> Any:
    """The p-norms of rows: zero for those without elements, whatever p."""
    return vector_norm.function(rows, p if rows.shape[-1] else 2, -1)


def check_precision(name: str, *tensors: Any) -> None:
    """Half precision is refused where there is something to compute."""
    for t in tensors:
        if is_half(t.array.dtype) and all([u.array.size for u in tensors]):
            raise not_implemented(name, t)


def euclidean(a: Any, b: Any) -> Any:
    """Roots of a a + b b - 2 a b, which rounding may have made negative. Where a distance is zero, so is its gradient:
    the root itself has none there."""
    squares = [mul.function(t, t).sum(-1, keepdim=True) for t in (a, b)]
    both = squares[0] + squares[1].mT - 2 * matmul.function(a, b.mT)
    near = wrap(both.array <= 0)
    if near.array.__class__ is np.ndarray and not near.array.any():
        return both.sqrt()
    return where.function(near, 0.0, where.function(near, 1.0, both).sqrt())


def _of_rows(torch: Any, x: Any, y: Any, p: float = 2.0) -> Any:
    """What cdist is in PyTorch, which cannot differentiate its own twice, and refuses complex numbers."""
    kind = torch.cdist(x.detach(), y.detach(), p).dtype
    return torch.linalg.vector_norm(x[..., :, None, :] - y[..., None, :, :], p, -1).to(kind)


def _of_pairs(torch: Any, x: Any, p: float = 2.0) -> Any:
    torch.pdist(x.detach(), p)
    first, second = torch.triu_indices(len(x), len(x), 1)
    return torch.linalg.vector_norm(x[first] - x[second], p, -1)


@composite(
    lambda t: [
        *[S(t(3, 2), t(4, 2)), S(t(2, 3, 2), t(4, 2), 1), S(t(3, 2), t(2, 2), math.inf), S(t(3, 2), t(2, 2), 3)],
        *[S(t(2, 2), t(3, 2), 0), S(t(0, 2), t(3, 2)), S(t(3, 2), t(4, 2), 1.5)],
    ],
    method=False,
    in_python=("function",),
    reference=_of_rows,
    exempt=NO_HALF,
    autocast="float32",
)
def cdist(
    x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str | None = "use_mm_for_euclid_dist_if_necessary"
) -> Tensor:
    """cdist(x1, x2, p=2.0, compute_mode='use_mm_for_euclid_dist_if_necessary'): the distances between all rows of two
    matrices."""
    check_vectors("cdist", x1, "X1")
    check_vectors("cdist", x2, "X2")
    if compute_mode not in MODES:
        raise errors.mistake(ValueError, f"{compute_mode} is not a valid value for compute_mode")
    if x1.array.shape[-1] != x2.array.shape[-1]:
        sizes = x1.array.shape[-1], x2.array.shape[-1]
        first = f"X1 and X2 must have the same number of columns. X1: {sizes[0]} X2: {sizes[1]}"
        raise errors.mistake(RuntimeError, first)
    if p < 0:
        raise errors.mistake(RuntimeError, "cdist only supports non-negative p values")
    mode = MODES[compute_mode]
    many = max(x1.array.shape[-2], x2.array.shape[-2]) > MATRIX_PRODUCT_FROM
    if p == 2 and x1.array.size and x2.array.size and (mode == 1 or (mode == 0 and many)):
        return euclidean(x1, x2)
    check_precision("cdist", x1, x2)
    return lengths_of(sub.function(x1.unsqueeze(-2), x2.unsqueeze(-3)), p)


@composite(
    lambda t: [S(t(4, 3)), S(t(3, 2), 1), S(t(3, 2), math.inf), S(t(1, 2))],
    method=False,
    places=("nn.functional.pdist",),
    reference=_of_pairs,
    exempt=NO_HALF,
)
def pdist(input: Tensor, p: float = 2) -> Tensor:
    """pdist(input, p=2): the distances between each two rows of a matrix."""
    if input.array.ndim != 2:
        first = f"pdist only supports 2D tensors, got: {input.array.ndim}D"
        raise errors.mistake(RuntimeError, first)
    if from_numpy_dtype(input.array.dtype).category != FLOAT:
        raise errors.mistake(RuntimeError, "pdist only supports floating-point dtypes")
    if p < 0:
        raise errors.mistake(RuntimeError, "pdist only supports non-negative p values")
    if input.array.shape[0] > 1 and input.array.size:  # there is something to compute
        check_precision("pdist", input)
    first, second = [wrap(at) for at in np.triu_indices(input.array.shape[0], 1)]
    return lengths_of(sub.function(input[first], input[second]), p)


@composite(
    lambda t: [S(t(3, 4), 2, 0, 1.5), S(t(2, 3, 2), 1, -1, 2.0), S(t(3, 4), 3, 1, 100.0)], out=True, in_place=True
)
def renorm(input: Tensor, p: Number, dim: Dim, maxnorm: Number) -> Tensor:
    """renorm(input, p, dim, maxnorm): input with each slice along a dimension made smaller whose p-norm is above
    maxnorm."""
    ndim = input.array.ndim
    if ndim < 2:
        first = f"renorm: input needs at least 2 dimensions, got {ndim} dimensions"
        raise errors.mistake(RuntimeError, first)
    others = tuple([d for d in range(ndim) if d != dim % ndim])
    input = contiguous(input)
    lengths = vector_norm.function(input, p, others, True)
    smaller = maxnorm / (lengths + 1e-7)
    return mul.function(
        input.contiguous(), where.function(lengths > maxnorm, smaller, wrap(np.ones((), lengths.array.dtype)))
    )
