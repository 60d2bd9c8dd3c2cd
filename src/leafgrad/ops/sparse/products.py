"""Products of matrices of which one is sparse, or both are."""

from __future__ import annotations

from typing import Any

from leafgrad import errors
from leafgrad._core.tensor import links
from leafgrad.ops.public_forms import checked_functions, checked_methods
from leafgrad.ops.signature import Number, Tensor
from leafgrad.ops.sparse.arrays import SparseArray, not_for_sparse, strided_refusal
from leafgrad.ops.sparse.blocks import (
    apply,
    is_sparse,
    record,
    sparse_layout,
    sparse_matmul,
    sparse_scaled,
    sparse_sum,
    transposed,
)
from leafgrad.ops.sparse.forms import sparse_form, to_strided
from leafgrad.ops.sparse.layouts import Form


def check_matrices(name: str, a: Any, b: Any) -> None:
    """Can these be multiplied?"""
    x, y = a.array, b.array
    if x.ndim != 2 or y.ndim != 2:
        first = f"{name}: Expected 2D tensors, but got tensors with {x.ndim} and {y.ndim} dimensions"
        raise errors.mistake(RuntimeError, first)
    if x.shape[1] != y.shape[0]:
        sides = f"({x.shape[0]}x{x.shape[1]} and {y.shape[0]}x{y.shape[1]})"
        raise errors.mistake(RuntimeError, f"mat1 and mat2 shapes cannot be multiplied {sides}")
    for each in (x, y):
        if isinstance(each, SparseArray) and each.dense_shape:
            raise errors.mistake(
                RuntimeError, f"{name}: scalar values expected, but got {len(each.dense_shape) + 1}D values"
            )
    if x.dtype != y.dtype:
        kinds = [t.dtype for t in (a, b)]
        first = f"expected mat1 and mat2 to have the same dtype, but got: {kinds[0].cpp} != {kinds[1].cpp}"
        raise errors.mistake(RuntimeError, first)


def multiplied(a: Any, b: Any, node: str = "MmBackward0", masked: bool = False) -> Any:
    check_matrices("mm", a, b)
    return record(sparse_matmul, node, a, b, masked)


@sparse_form("mm", "spmm")
def mm(input: Any, mat2: Any) -> Any:
    return multiplied(input, mat2)


@sparse_form("mv")
def mv(input: Any, vec: Any) -> Any:
    if is_sparse(vec):
        vec = to_strided(vec)
    x, y = input.array, vec.array
    if x.ndim != 2 or y.ndim != 1 or x.shape[1] != y.shape[0]:
        sizes = f"{errors.size(x.shape)} and {errors.size(y.shape)}"
        first = f"mv: expected a matrix and a vector that fit, but got sizes {sizes}"
        raise errors.mistake(RuntimeError, first)
    return record(sparse_matmul, "MvBackward0", input, vec, False)


@sparse_form("matmul", "__matmul__", "__rmatmul__")
def matmul(input: Any, other: Any) -> Any:
    dims = input.array.ndim, other.array.ndim
    if dims == (2, 2):
        return multiplied(input, other)
    if dims == (2, 1):
        return mv(input, other)
    if dims == (1, 2):
        return mv(transposed(other), input)
    if dims[0] == 2 and is_sparse(input):
        flat = other.movedim(-2, 0)
        return multiplied(input, flat.reshape(flat.shape[0], -1)).reshape(-1, *flat.shape[1:]).movedim(0, -2)
    if dims[1] == 2 and is_sparse(other):
        return multiplied(input.reshape(-1, input.shape[-1]), other).reshape(*input.shape[:-1], -1)
    if dims == (3, 3):
        return bmm(input, other)
    raise not_for_sparse("matmul", (input if is_sparse(input) else other).array.layout)


@sparse_form("bmm")
def bmm(input: Any, mat2: Any) -> Any:
    if not is_sparse(input) or is_sparse(mat2):
        raise not_for_sparse("bmm", (input if is_sparse(input) else mat2).array.layout)
    return links.functions["bmm"](to_strided(input), mat2)


def sum_of_product(input: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any, node: str, masked: bool) -> Any:
    """beta * input + alpha * mat1 @ mat2, dense."""
    check_matrices("addmm", mat1, mat2)
    product = apply(sparse_matmul, mat1, mat2, masked)
    if alpha != 1:
        product = apply(sparse_scaled, product, alpha)
    if beta == 0:
        return product
    shape = (mat1.array.shape[0], mat2.array.shape[1])
    if not is_sparse(input) and input.array.shape != shape:
        input = input.expand(shape)
    return record(sparse_sum, node, input if beta == 1 else apply(sparse_scaled, input, beta), product)


@sparse_form("addmm")
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    if is_sparse(mat2) and not is_sparse(mat1):
        raise errors.mistake(
            RuntimeError,
            "addmm_sparse_dense: expected either 'mat1' to have sparse layout and 'mat2' to have strided layout, got "
            "'mat1' "
            "with layout Strided and 'mat2' with layout Sparse",
        )
    return sum_of_product(input, mat1, mat2, beta, alpha, "AddmmBackward0", False)


@sparse_form("linear")
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    product = matmul(input, weight.t())
    return product if bias is None else product + bias


@sparse_form("smm")
def smm(input: Any, mat2: Any) -> Any:
    return apply(sparse_layout, multiplied(input, mat2), Form(input.array.layout))


@sparse_form("hspmm")
def hspmm(mat1: Any, mat2: Any) -> Any:
    return apply(sparse_layout, multiplied(mat1, mat2), Form(mat1.array.layout, 1))


@sparse_form("sspaddmm")
def sspaddmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    scaled_input = apply(sparse_scaled, input, beta)
    product = apply(sparse_layout, apply(sparse_scaled, multiplied(mat1, mat2), alpha), Form(mat1.array.layout))
    return apply(sparse_sum, scaled_input, product)


def masked_product(sparse: Any, other: Any) -> Any:
    """torch.sparse.mm: sparse factors get gradients of what they hold, alone."""
    if is_sparse(sparse) and is_sparse(other):
        return multiplied(sparse, other, "SparseSparseMatmulBackward0", masked=True)
    if is_sparse(sparse):
        return multiplied(sparse, other, "SparseAddmmBackward0", masked=True)
    if is_sparse(other):
        return multiplied(sparse, other, "TransposeBackward0", masked=True)
    return links.functions["mm"](sparse, other)


# -- functions that are there for sparse tensors -----------------------------------------------------------------------


def spmm_of_dense(input: Tensor, mat2: Tensor) -> Tensor:
    """spmm(input, mat2): the product of two matrices, mm."""
    return links.functions["mm"](input, mat2)


def smm_of_dense(input: Tensor, mat2: Tensor) -> Tensor:
    """smm(input, mat2): the product of a sparse matrix and a dense one, as a sparse one."""
    raise strided_refusal("smm")


def hspmm_of_dense(mat1: Tensor, mat2: Tensor) -> Tensor:
    """hspmm(mat1, mat2): the product of a sparse matrix and a dense one, with one sparse dimension."""
    raise strided_refusal("hspmm")


def sspaddmm_of_dense(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """sspaddmm(input, mat1, mat2, *, beta=1, alpha=1): beta input + alpha mat1 @ mat2, of which mat2 alone is dense."""
    raise strided_refusal("sspaddmm")


def named(*functions: Any) -> tuple[Any, ...]:
    for function in functions:
        function.__name__ = function.__qualname__ = function.__name__.removesuffix("_of_dense")
    return functions


FUNCTIONS = checked_functions(*named(spmm_of_dense, smm_of_dense, hspmm_of_dense, sspaddmm_of_dense))
METHODS = checked_methods(smm_of_dense, sspaddmm_of_dense)
