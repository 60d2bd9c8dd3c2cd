"""The operations on sparse tensors. Their kernels take sparse arrays and ndarrays, whichever comes, and so do their
rules: as in PyTorch a gradient is sparse or dense as it results, not as the value that it belongs to."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from leafgrad._core.bind import bind
from leafgrad._core.op import Op
from leafgrad._core.tensor import SparseArrayBase, TensorBase, in_own_class
from leafgrad.ops.promotion import convert
from leafgrad.ops.reduce.common import raw
from leafgrad.ops.registry import Family, Operation, op, renamed
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.sparse import layouts
from leafgrad.ops.sparse.arrays import AnySparse, added, dense_of, matrix_product, product

A = Any  # an array of any layout, or a tensor under create_graph


def is_sparse(x: A) -> bool:
    """Of a tensor or an array."""
    return isinstance(x.array if isinstance(x, TensorBase) else x, SparseArrayBase)


def apply(block: Any, *args: Any) -> Any:
    """Apply an operation to arrays or tensors. A sparse result is of the class of sparse tensors."""
    result = block(*args)
    return in_own_class(result) if isinstance(result, TensorBase) and is_sparse(result) else result


@functools.cache
def core_named(block: Operation, node_name: str) -> Op:
    return renamed(block, block.core, node_name)


def record(block: Any, node_name: str, *args: Any) -> Any:
    """The same for tensors, as a node of another name: that of the function which the user has called."""
    count = len(args) - block.option_count
    result = bind(core_named(block, node_name), args[:count], args[count:])
    return in_own_class(result) if is_sparse(result) else result


def program(run: Any, *shapes: tuple[int, ...]) -> ValuesOnly:
    """Samples of an operation that a program uses."""
    return ValuesOnly("takes and returns sparse arrays", lambda t: [S(t(*shape)) for shape in shapes], run)


def pattern(torch: Any) -> Any:
    """A sparse tensor of two rows and three columns."""
    return torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [1.0, 2.0, 3.0], (2, 3), dtype=torch.float64)


class Sparse(Family, family=True):
    """An operation that no user calls by its name."""

    public_name = ""
    method = False
    jvp = "linear"
    derivatives = 1  # in PyTorch


@op
class sparse_fill(Sparse):
    """sparse_fill(values, form): a sparse tensor that has these values at the places of `form`, a sparse array."""

    samples = program(lambda torch, v: torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], v).to_dense(), (3,), (3, 2))
    inputs = ("values",)
    options = ("form",)
    node_name = "SparseCooTensorWithDimsAndTensorsBackward0"

    def kernel(values: A, form: AnySparse) -> A:
        return form.with_values(values)

    def vjp(g: A, form: A) -> A:
        return apply(sparse_pick, g, form, False)


@op
class sparse_pick(Sparse):
    """sparse_pick(input, form, was_dense): what input has at the places of `form`."""

    samples = program(
        lambda torch, x: torch.sparse.sampled_addmm(
            torch.eye(2, dtype=torch.float64).to_sparse_csr(), x, x.t().contiguous() * 2
        ).to_dense(),
        (2, 3),
    )
    options = ("form", "was_dense")
    node_name = "SparseMaskBackward0"

    def kernel(x: A, form: AnySparse, was_dense: bool) -> A:
        return form.pick(x)

    def vjp(g: A, form: A, was_dense: A) -> A:
        filled = apply(sparse_fill, g, form)
        return apply(sparse_to_dense, filled, True) if was_dense else filled


@op
class sparse_values(Sparse):
    """sparse_values(input): the values of a sparse tensor, on the same memory."""

    samples = program(lambda torch, x: x.to_sparse().values(), (2, 3), (3,))
    node_name = "ValuesBackward0"

    def kernel(x: A) -> A:
        return x.values

    def vjp(g: A, input: A) -> A:
        return apply(sparse_fill, g, raw(input))


@op
class sparse_to_dense(Sparse):
    """sparse_to_dense(input, masked): as a dense tensor. If masked, the gradient is one of what input holds, alone."""

    samples = program(lambda torch, x: (x * 2).to_sparse().to_dense(), (2, 3), (3,))
    node_name = "ToDenseBackward0"
    options = ("masked",)

    def kernel(x: A, masked: bool) -> A:
        return dense_of(x)

    def vjp(g: A, input: A, masked: A) -> A:
        form = raw(input)
        if not isinstance(form, AnySparse):
            return g
        if not masked:
            return apply(sparse_layout, g, layouts.Form.of(form))
        return apply(sparse_masked, g, form.coalesce(), False)


@op
class sparse_layout(Sparse):
    """sparse_layout(input, form): what is not zero in input, in the layout of `form` (layouts.Form)."""

    samples = program(lambda torch, x: (x * 2).to_sparse_csr().to_dense(), (2, 3))
    options = ("form",)
    node_name = "ToSparseBackward0"

    def kernel(x: A, form: layouts.Form) -> A:
        return form.of_array(x)

    def vjp(g: A, input: A) -> A:
        form = raw(input)
        if isinstance(form, AnySparse):
            return apply(sparse_layout, g, layouts.Form.of(form)) if is_sparse(g) else g
        return apply(sparse_to_dense, g, True)


@op
class sparse_masked(Sparse):
    """sparse_masked(input, form, was_dense): what input has at the places of `form`, there."""

    samples = program(lambda torch, x: x.sparse_mask(pattern(torch)).to_dense(), (2, 3))
    options = ("form", "was_dense")
    node_name = "SparseMaskBackward0"

    def kernel(x: A, form: AnySparse, was_dense: bool) -> A:
        return form.with_values(form.pick(x))

    def vjp(g: A, form: A, was_dense: A) -> A:
        kept = apply(sparse_masked, g, form.coalesce(), False)
        return apply(sparse_to_dense, kept, True) if was_dense else kept


@op
class sparse_coalesced(Sparse):
    """sparse_coalesced(input): in order, with one value at each place."""

    samples = program(lambda torch, v: torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 0]], v).coalesce().to_dense(), (3,))
    node_name = "CoalesceBackward0"

    def kernel(x: A) -> A:
        return x.coalesce()

    def vjp(g: A) -> A:
        return g


@op
class sparse_copied(Sparse):
    """sparse_copied(input): the same with memory of its own."""

    samples = program(lambda torch, x: x.to_sparse().clone().to_dense(), (2, 3))
    node_name = "CloneBackward0"

    def kernel(x: A) -> A:
        return x.copy()

    def vjp(g: A) -> A:
        return g


@op
class sparse_converted(Sparse):
    """sparse_converted(input, kind): the same in another dtype."""

    samples = program(lambda torch, x: x.to_sparse().to(torch.complex128).to_dense(), (2, 3))
    options = ("kind",)
    node_name = "ToCopyBackward0"
    holomorphic = False

    def kernel(x: A, kind: Any) -> A:
        return x.with_values(convert(x.values, kind))

    def vjp(g: A) -> A:
        return g  # the engine brings gradients to the dtype of the value they belong to


@op
class sparse_conj(Sparse):
    """sparse_conj(input): the conjugates of the values."""

    samples = program(lambda torch, x: (x.to_sparse().to(torch.complex128) * 1j).conj().to_dense(), (2, 3))
    node_name = "ConjPhysicalBackward0"
    holomorphic = False

    def kernel(x: A) -> A:
        return x.conj()

    def vjp(g: A) -> A:
        return apply(sparse_conj, g)


@op
class sparse_permuted(Sparse):
    """sparse_permuted(input, dims): the dimensions in another order."""

    samples = program(lambda torch, x: x.to_sparse().t().to_dense(), (2, 3))
    options = ("dims",)
    node_name = "PermuteBackward0"

    def kernel(x: A, dims: tuple[int, ...]) -> A:
        return x.coo().transposed(dims) if isinstance(x, AnySparse) else x.transpose(dims)

    def vjp(g: A, dims: A) -> A:
        return apply(sparse_permuted, g, tuple(np.argsort(dims).tolist()))


def transposed(matrix: A) -> A:
    return apply(sparse_permuted, matrix, (1, 0))


@op
class sparse_scaled(Sparse):
    """sparse_scaled(input, factor): each value sparse_product a number."""

    samples = program(lambda torch, x: (x.to_sparse() * 3).to_dense(), (2, 3))
    options = ("factor",)
    node_name = "MulBackward0"

    def kernel(x: A, factor: Any) -> A:
        if isinstance(x, AnySparse):
            return x.with_values(x.values * np.asarray(factor, x.dtype))
        return x * np.asarray(factor, x.dtype)

    def vjp(g: A, factor: A) -> A:
        return apply(sparse_scaled, g, factor)


@op
class sparse_divided(Sparse):
    """sparse_divided(input, divisor): each value sparse_divided by a number."""

    samples = program(lambda torch, x: (x.to_sparse() / 3).to_dense(), (2, 3))
    options = ("divisor",)
    node_name = "DivBackward0"

    def kernel(x: A, divisor: Any) -> A:
        if isinstance(x, AnySparse):
            return x.with_values(x.values / np.asarray(divisor, x.dtype))
        return x / np.asarray(divisor, x.dtype)

    def vjp(g: A, divisor: A) -> A:
        return apply(sparse_divided, g, divisor)


@op
class sparse_sum(Sparse):
    """sparse_sum(input, other): the sum of two tensors of the same shape, dense if one of them is."""

    samples = program(lambda torch, x: (x.to_sparse() + pattern(torch)).to_dense() - x.to_sparse(), (2, 3))
    inputs = ("input", "other")
    node_name = "AddBackward0"
    kernel = added

    def vjp_input(g: A) -> A:
        return g

    def vjp_other(g: A) -> A:
        return g


@op
class sparse_product(Sparse):
    """sparse_product(input, other): the product, element by element, sparse if one of the factors is."""

    samples = program(lambda torch, x: (x.to_sparse() * (x.to_sparse() * x)).to_dense(), (2, 3))
    inputs = ("input", "other")
    node_name = "MulBackward0"
    jvp = "transpose"
    kernel = product

    def vjp_input(g: A, other: A, input_shape: A) -> A:
        return folded(apply(sparse_product, g, other), input_shape)

    def vjp_other(g: A, input: A, other_shape: A) -> A:
        return folded(apply(sparse_product, g, input), other_shape)


def folded(g: A, shape: tuple[int, ...]) -> A:
    """A gradient without what was broadcast: the engine knows how to do that with dense ones."""
    have = g.array.shape if isinstance(g, TensorBase) else g.shape
    return g if have == shape or not is_sparse(g) else apply(sparse_to_dense, g, True)


@op
class sparse_matmul(Sparse):
    """sparse_matmul(input, other, masked): dense if one factor is, sparse otherwise. If masked, the gradients of
    sparse factors are those of what they hold, alone."""

    samples = program(lambda torch, x: torch.sparse.mm(x.to_sparse(), x.t() * 2), (2, 3))
    inputs = ("input", "other")
    options = ("masked",)
    node_name = "MmBackward0"
    jvp = "transpose"

    def kernel(a: A, b: A, masked: bool) -> A:
        return matrix_product(a, b)

    def vjp_input(g: A, input: A, other: A, masked: A) -> A:
        if len(other.shape) == 1:
            return g.reshape((-1, 1)) * other
        return like_factor(apply(sparse_matmul, g, transposed(other), False), input, masked)

    def vjp_other(g: A, input: A, other: A, masked: A) -> A:
        return like_factor(apply(sparse_matmul, transposed(input), g, False), other, masked)


def like_factor(g: A, factor: A, masked: bool) -> A:
    return apply(sparse_masked, g, raw(factor), False) if masked and is_sparse(factor) else g


@op
class sparse_total(Sparse):
    """sparse_total(input): the sum of all elements."""

    samples = program(lambda torch, x: x.to_sparse().sum(), (2, 3))
    node_name = "SumBackward0"

    def kernel(x: A) -> A:
        return np.asarray(x.values.sum(dtype=x.values.dtype))

    def vjp(g: A, input_shape: A) -> A:
        if isinstance(g, TensorBase):
            return g.expand(input_shape)  # type: ignore[attr-defined]
        return np.broadcast_to(g, input_shape)


def with_values(t: Any, values: Any, node_name: str) -> Any:
    """A sparse tensor with other values, which come from its own, at the same places."""
    return record(sparse_fill, node_name, values, t.array)
