"""Norms of matrices, condition numbers, and `norm`, which is of matrices or of vectors, as its order says."""

from __future__ import annotations

import math
from typing import Any

from leafgrad import errors
from leafgrad._core.tensor import wrap
from leafgrad._dtypes import dtype as Dtype
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.linalg.matrices import NO_HALF, alias_of, check_matrices, check_square, dominant
from leafgrad.ops.linalg.solving import linalg_inv_ex
from leafgrad.ops.linalg.spectra import linalg_svd
from leafgrad.ops.out import castable
from leafgrad.ops.reduce.common import is_half
from leafgrad.ops.reduce.norms import as_checked, vector_norm
from leafgrad.ops.registry import composite
from leafgrad.ops.samples import S
from leafgrad.ops.signature import DimOrDims, Number, Shape, Tensor

ORDERS: tuple[Any, ...] = ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)


def matrices_in(t: Any, dims: tuple[int, int]) -> Any:
    """The tensor with the matrices that lie in two dimensions in its last ones."""
    return t.permute(*[d for d in range(t.ndim) if d not in dims], *dims)


def put_back(norms: Any, dims: tuple[int, int]) -> Any:
    """The norms in two dimensions of size one, back where the matrices were."""
    order = [d for d in range(norms.ndim) if d not in dims] + list(dims)
    return norms.permute(*[order.index(d) for d in range(norms.ndim)])


def checked_dims(dims: Any, ndim: int) -> tuple[int, int]:
    if len(dims) != 2:
        raise errors.mistake(RuntimeError, f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dims))}")
    first, second = [wrap_dim(d, ndim) for d in dims]
    if first == second:
        text = f"linalg.matrix_norm: dims must be different. Got ({dims[0]}, {dims[1]})"
        raise errors.mistake(RuntimeError, text)
    return first, second


def by_singular_values(t: Any, order: Any, dims: tuple[int, int], keepdim: bool) -> Any:
    if is_half(t.array.dtype):
        first = f"linalg.matrix_norm: Low precision dtypes not supported. Got {alias_of(t)}"
        raise errors.mistake(RuntimeError, first)
    values = linalg_svd.function(matrices_in(t, dims), False)[1]  # which is what PyTorch's graph shows
    reduce = values.sum if order == "nuc" else values.amax if order > 0 else values.amin
    result = reduce(-1, keepdim)
    return put_back(result.unsqueeze(-1), dims) if keepdim else result


def norm_of_matrices(t: Any, order: Any, dims: Any, keepdim: bool, dtype: Dtype | None) -> Any:
    name = "linalg.matrix_norm"
    check_matrices(name, t)
    if isinstance(order, complex):
        raise errors.mistake(RuntimeError, f"{name}: Expected a non-complex scalar as the order of norm.")
    if order not in ORDERS:
        shown = f"{order:g}" if isinstance(order, float) else order
        raise errors.mistake(RuntimeError, f"{name}: Order {shown} not supported.")
    first, second = checked_dims(dims, t.ndim)
    if order == "fro":
        as_checked(t, dtype, name)
        return vector_norm.function(t, 2, (first, second), keepdim, dtype=dtype)
    t = as_checked(t, dtype, name)
    if order in ("nuc", 2, -2):
        return by_singular_values(t, order, (first, second), keepdim)
    # the largest or smallest sum of a column, or of a row
    added, compared = (first, second) if order in (1, -1) else (second, first)
    sums = vector_norm.function(t, 1, (added,), keepdim)
    if compared > added and not keepdim:
        compared -= 1
    return sums.amax(compared, keepdim) if order > 0 else sums.amin(compared, keepdim)


@composite(
    lambda t: [
        *[S(t(3, 4), order) for order in ("fro", "nuc", 1, -1, math.inf, -math.inf)],
        *[S(t(2, 3, 2), 2, (2, 0)), S(t(2, 2, 3), -2, keepdim=True), S(t(2, 3, 4), 1, (0, 1), True), S(t(3, 2))],
    ],
    places=("linalg.matrix_norm",),
    public_name="",
    out="linalg.matrix_norm expected out tensor dtype {wanted.alias} but got: {given.alias}",
    exempt=NO_HALF,
)
def linalg_matrix_norm(
    A: Tensor, ord: Number | str = "fro", dim: Shape = (-2, -1), keepdim: bool = False, *, dtype: Dtype | None = None
) -> Tensor:
    """linalg.matrix_norm(A, ord='fro', dim=(-2, -1), keepdim=False, *, dtype=None): the norm of the matrices in two
    dimensions: 'fro' the root of the sum of squares, 'nuc' the sum of the singular values, 2 and -2 the largest and
    smallest of them, 1 and -1 those of the sums of columns, inf and -inf those of rows."""
    return norm_of_matrices(A, ord, dim, keepdim, dtype)


@composite(
    lambda t: [
        *[S(t(3, 4)), S(t(3, 4), 2), S(t(3, 4), "nuc"), S(t(5), 3), S(t(2, 3, 4), 1, (0, 1)), S(t(2, 3), 2, 0)],
        *[S(t(2, 3, 4), None, 1, True), S(t(2, 2, 2)), S(t(2, 3), math.inf, (1, 0), True)],
    ],
    places=("linalg.norm",),
    public_name="",
    out="linalg.norm expected out tensor dtype {wanted.alias} but got: {given.alias}",
    exempt=NO_HALF,
)
def linalg_norm(
    A: Tensor,
    ord: Number | str | None = None,
    dim: DimOrDims | None = None,
    keepdim: bool = False,
    *,
    dtype: Dtype | None = None,
) -> Tensor:
    """linalg.norm(A, ord=None, dim=None, keepdim=False, *, dtype=None): the norm of matrices, if there are two
    dimensions or the order is one of matrices only, otherwise of vectors."""
    ndim = A.array.ndim
    dims = None if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if isinstance(ord, str):
        return norm_of_matrices(A, ord, (-2, -1) if dims is None else dims, keepdim, dtype)
    if ord is not None and dims is not None and len(dims) not in (1, 2):
        first = f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {errors.size(dims)}"
        raise errors.mistake(RuntimeError, first)
    if ord is not None and dims is None and ndim not in (1, 2):
        first = f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {ndim}D."
        raise errors.mistake(RuntimeError, first)
    if ord is not None and (len(dims) == 2 if dims is not None else ndim == 2):
        return norm_of_matrices(A, ord, (0, 1) if dims is None else dims, keepdim, dtype)
    return vector_norm.function(A, 2 if ord is None else ord, dims, keepdim, dtype=dtype)


@composite(
    lambda t: [
        *[S(t(3, 4)), S(t(3, 4), "fro", 1), S(t(2, 3, 4), 2, (0, 1), True), S(t(3, 4), "nuc"), S(t(5), p=1), S(t())],
        *[S(t(3, 4), math.inf), S(t(3, 4), 3, dim=0, keepdim=True), S(t(2, 3, 4), "nuc", (2, 0))],
    ],
    out=True,
    in_python=("function", "method"),
    aten_function="linalg_vector_norm",
    exempt={"half precision": "PyTorch has no singular values of it either"},
)
def norm(
    input: Tensor,
    p: Number | str | None = "fro",
    dim: DimOrDims | None = None,
    keepdim: bool = False,
    dtype: Dtype | None = None,
) -> Tensor:
    """norm(input, p='fro', dim=None, keepdim=False, dtype=None): (sum of abs(x)**p) ** (1/p), of all elements or along
    dimensions; 'fro' is p = 2, and 'nuc' the sum of the singular values of the matrices in two dimensions."""
    if not isinstance(p, str):
        return vector_norm.function(input, 2 if p is None else p, dim, keepdim, dtype=dtype)
    if p == "fro" and (dim is None or isinstance(dim, int) or len(dim) <= 2):
        return vector_norm.function(input, 2, dim, keepdim, dtype=dtype)
    ndim = input.array.ndim
    given = tuple(range(ndim)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if p not in ("fro", "nuc"):
        raise errors.mistake(RuntimeError, f"linalg.matrix_norm: Order {p} not supported.")
    dims = checked_dims(given, ndim)
    if is_half(input.array.dtype):
        first = f"linalg.matrix_norm: Low precision dtypes not supported. Got {alias_of(input)}"
        raise errors.mistake(RuntimeError, first)
    return by_singular_values(as_checked(input, dtype, "linalg.matrix_norm"), "nuc", dims, keepdim)


def _cond(torch: Any, x: Any, p: Any = None) -> Any:
    """What cond is in PyTorch, which cannot differentiate its own of most orders: the inverse is changed in place."""
    if p in (None, 2, -2, "nuc"):
        return torch.linalg.cond(x, p)
    inverse, info = torch.linalg.inv_ex(x)
    inverse = inverse.masked_fill(info[..., None, None] > 0, math.inf)
    product = torch.linalg.matrix_norm(x, p) * torch.linalg.matrix_norm(inverse, p)
    return product.nan_to_num(math.inf, math.inf, -math.inf)


@composite(
    lambda t: [
        *[S(dominant(t(3, 3))), S(dominant(t(3, 2))), S(dominant(t(2, 2, 2)), 1), S(dominant(t(3, 3)), "fro")],
        *[S(dominant(t(2, 2)), "nuc"), S(dominant(t(2, 2)), -math.inf), S(dominant(t(4, 2)), -2)],
    ],
    places=("linalg.cond",),
    reference=_cond,
    public_name="",
    out=castable("linalg.cond"),
    exempt=NO_HALF,
    autocast="float32",
)
def linalg_cond(input: Tensor, p: Number | str | None = None) -> Tensor:
    """linalg.cond(A, p=None): the condition number: the norm of matrices times that of their inverses. None and 2 mean
    the largest singular value over the smallest, -2 the reverse."""
    if input.array.ndim < 2:
        raise errors.mistake(RuntimeError, "linalg.cond: The input tensor must have at least 2 dimensions.")
    if p is None or p in (2, -2):
        values = linalg_svd.function(input, False)[1]
        if not input.array.size:
            return wrap(0 * input.array.real.sum((-2, -1)))
        largest, smallest = values.narrow(-1, 0, 1), values.narrow(-1, -1, 1)
        return (smallest / largest if p == -2 else largest / smallest).squeeze(-1)
    if p not in ORDERS:
        raise errors.mistake(RuntimeError, f"linalg.cond got an invalid norm type: {p}")
    check_square(f"linalg.cond(ord={p})", input)
    if from_numpy_dtype(input.array.dtype).category < from_numpy_dtype(wrap(1.0).array.dtype).category:
        as_checked(input, None, "linalg.matrix_norm")
    if not input.array.size:
        return wrap(0 * input.array.real.sum((-2, -1)))
    if p == "nuc":
        values = linalg_svd.function(input, False)[1]
        return values.sum(-1) * values.reciprocal().sum(-1)
    inverse, info = linalg_inv_ex.function(input)
    inverse = inverse.masked_fill((info != 0).unsqueeze(-1).unsqueeze(-1), math.inf)  # of a singular matrix
    product = norm_of_matrices(input, p, (-2, -1), False, None) * norm_of_matrices(inverse, p, (-2, -1), False, None)
    return product.nan_to_num(math.inf, math.inf, -math.inf)
