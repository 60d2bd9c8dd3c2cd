"""The functions of `torch.sparse`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import _missing, errors
from leafgrad._core.tensor import TensorBase, links
from leafgrad._device import sparse_coo, sparse_csc, sparse_csr
from leafgrad._dtypes import from_numpy_dtype, int64
from leafgrad.ops.sparse.arrays import not_for_sparse
from leafgrad.ops.sparse.blocks import apply, is_sparse, sparse_coalesced, sparse_pick, sparse_values, with_values
from leafgrad.ops.sparse.creation import Invariants, sparse_coo_tensor
from leafgrad.ops.sparse.elementwise import in_dtype
from leafgrad.ops.sparse.forms import as_coordinates, brought_back
from leafgrad.ops.sparse.layouts import IN_BLOCKS, CompressedArray
from leafgrad.ops.sparse.products import masked_product, sum_of_product
from leafgrad.ops.sparse.shapes import softmax_of, summed

__all__ = [
    "addmm", "as_sparse_gradcheck", "check_sparse_tensor_invariants", "log_softmax", "mm", "sampled_addmm", "softmax",
    "spdiags", "sum",
]  # fmt: skip


def of_coordinates(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors in any layout, written for coordinates."""

    @functools.wraps(function)
    def with_layouts(*args: Any, **kwargs: Any) -> Any:
        forms: list[Any] = []
        given = [as_coordinates(a, forms) for a in args]
        result = function(*given, **kwargs)
        return brought_back(result, forms[0]) if forms else result

    return with_layouts


@of_coordinates
def mm(mat1: Any, mat2: Any, reduce: str | None = None) -> Any:
    """mm(mat1, mat2): the product of two matrices; a sparse one gets a gradient of what it holds, alone."""
    if reduce not in (None, "sum"):
        raise errors.mistake(NotImplementedError, f"leafgrad does not have torch.sparse.mm with reduce={reduce!r}")
    return masked_product(mat1, mat2)


@of_coordinates
def addmm(mat: Any, mat1: Any, mat2: Any, *, beta: Any = 1.0, alpha: Any = 1.0) -> Any:
    """addmm(mat, mat1, mat2, *, beta=1, alpha=1): beta mat + alpha mat1 @ mat2, with a gradient of mat1 where it holds
    something."""
    return sum_of_product(mat, mat1, mat2, beta, alpha, "SparseAddmmBackward0", True)


@of_coordinates
def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """sum(input, dim=None, dtype=None): the sum of all elements, or along dimensions; the gradient is one of what input
    holds."""
    kind = dtype or (int64 if input.array.dtype.kind in "biu" else from_numpy_dtype(input.array.dtype))
    t = in_dtype(input, kind)
    if dim is None:
        return apply(sparse_values, t).sum()
    return summed(t, (dim,) if isinstance(dim, int) else tuple(dim), False, "SparseSumBackward0")


@of_coordinates
def softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """softmax(input, dim, *, dtype=None): the softmax of what a sparse tensor holds."""
    return softmax_of(input, dim, False, dtype)


@of_coordinates
def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """log_softmax(input, dim, *, dtype=None): its logarithm."""
    return softmax_of(input, dim, True, dtype)


def sampled_addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1.0, alpha: Any = 1.0, out: Any = None) -> Any:
    """sampled_addmm(input, mat1, mat2, *, beta=1, alpha=1): alpha mat1 @ mat2 where input, of the layout CSR, holds
    something, plus beta input."""
    if input.array.__class__ is np.ndarray or input.array.layout not in (sparse_csr, sparse_csc):
        raise not_for_sparse("sparse_sampled_addmm", input.array.layout if is_sparse(input) else sparse_coo)
    product = apply(sparse_pick, mat1 @ mat2, input.array, True)
    values = alpha * product + beta * apply(sparse_values, input)
    return with_values(input, values, "SparseSampledAddmmBackward0")


def spdiags(diagonals: Any, offsets: Any, shape: Any, layout: Any = None) -> Any:
    """spdiags(diagonals, offsets, shape, layout=None): a sparse matrix whose diagonals are rows of a matrix."""
    rows = diagonals if diagonals.dim() == 2 else diagonals.unsqueeze(0)
    places = [int(n) for n in offsets.reshape(-1).tolist()]
    if rows.shape[0] != len(places):
        raise errors.mistake(
            RuntimeError, f"Number of diagonals ({rows.shape[0]}) does not match the number of offsets ({len(places)})"
        )
    if len({*places}) < len(places):
        raise errors.mistake(RuntimeError, "Offset tensor contains duplicate values")
    height, width = shape
    found: list[Any] = []
    for number, offset in enumerate(places):
        columns = np.arange(max(offset, 0), min(width, height + offset, rows.shape[1]))
        found.append(np.stack([np.full(len(columns), number), columns - offset, columns]))
    every = np.concatenate(found, axis=1) if found else np.zeros((3, 0), np.int64)
    number, _, column = [links.functions["from_numpy"](row) for row in every]
    made = sparse_coo_tensor(links.functions["from_numpy"](every[1:]), rows[number, column], shape)
    return made if layout in (None, sparse_coo) else made.to_sparse(layout=layout)


class check_sparse_tensor_invariants:
    """check_sparse_tensor_invariants(enable=True): are the parts of new sparse tensors looked at? leafgrad always looks
    at indices; this is also about `is_coalesced`. A context, and a decorator."""

    def __init__(self, enable: bool = True) -> None:
        self.state = enable
        self.before: bool | None = None

    @staticmethod
    def is_enabled() -> bool:
        return Invariants.checked

    @staticmethod
    def enable() -> None:
        Invariants.checked = True

    @staticmethod
    def disable() -> None:
        Invariants.checked = False

    def __enter__(self) -> None:
        if self.before is not None:
            raise RuntimeError(
                "This context manager instance is already activated. Use a different context manager instance."
            )
        self.before, Invariants.checked = Invariants.checked, self.state

    def __exit__(self, *error: Any) -> None:
        Invariants.checked, self.before = bool(self.before), None

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.state):
                return function(*args, **kwargs)

        return checked


def as_sparse_gradcheck(gradcheck: Callable[..., Any]) -> Callable[..., Any]:
    """as_sparse_gradcheck(gradcheck): gradcheck for functions of sparse tensors, which leafgrad's is anyway."""

    @functools.wraps(gradcheck)
    def checked(function: Callable[..., Any], inputs: Any, **options: Any) -> Any:
        given = tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,)
        masked = bool(options.pop("masked", False))
        return gradcheck(*of_values(function, given, masked, with_dense_results=True), **options)

    return checked


def of_values(
    function: Callable[..., Any], inputs: tuple[Any, ...], masked: bool, with_dense_results: bool = False
) -> tuple[Any, tuple[Any, ...]]:
    """A function of sparse tensors as one of their values, for gradcheck. Unless it is masked, they have values
    everywhere, also where they are zero."""
    forms: list[Any] = []
    parts: list[Any] = []
    t: Any
    for t in inputs:
        by_values = isinstance(t, TensorBase) and is_sparse(t) and t.needs_grad
        if not by_values:
            forms.append(None)
            parts.append(t)
            continue
        own = t.detach() if t.layout is not sparse_coo else apply(sparse_coalesced, t.detach())
        forms.append(own if masked else full(own))
        parts.append(forms[-1].values().detach().clone().requires_grad_())

    def of_parts(*values: Any) -> Any:
        rebuilt = [v if form is None else with_values(form, v, "ValuesBackward0") for form, v in zip(forms, values)]
        for form, t in zip(forms, rebuilt):
            if form is not None and t.needs_grad:
                t.register_hook(functools.partial(check_form, form))
        results = function(*rebuilt)
        several = results if isinstance(results, (list, tuple)) else (results,)
        if not with_dense_results and any([isinstance(r, TensorBase) and is_sparse(r) for r in several]):
            raise errors.mistake(
                ValueError,
                "Sparse output is not supported at gradcheck yet. Please call to_dense(masked_grad=...) on the output "
                "of fn for gradcheck.",
            )
        dense = tuple([r.to_dense(masked_grad=masked) if is_sparse(r) else r for r in several])
        return dense if isinstance(results, (list, tuple)) else dense[0]

    return of_parts, tuple(parts)


def check_form(t: Any, gradient: Any) -> None:
    """A sparse gradient has the dense and sparse dimensions of what it belongs to."""
    if gradient is not None and is_sparse(gradient) and gradient.sparse_dim() != t.sparse_dim():
        raise _missing.part("autograd.gradcheck").GradcheckError("grad is sparse tensor, but has incorrect sparse_dim")


def full(t: Any) -> Any:
    """A sparse tensor that holds all elements, also those that are zero."""
    count = len(t.array.dense_shape)
    dense = links.functions["ones"](t.shape)
    if isinstance(t.array, CompressedArray):
        block = t.array.block if t.array.layout in IN_BLOCKS else None
        everywhere = dense.to_sparse(layout=t.layout, blocksize=block, dense_dim=count)
    else:
        everywhere = dense.to_sparse(t.array.sparse_dim)
    return t.to_dense().sparse_mask(everywhere)
