"""Views as copies: `view_copy`, `select_copy`, ... compute what the views of these names show, in memory of its own.

What is recorded is the view's own node under another name, so that its rule serves both.
"""

from __future__ import annotations

from typing import Any

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.node import Output
from leafgrad._core.op import Op
from leafgrad._core.tensor import links
from leafgrad._dtypes import int64
from leafgrad.ops.dimensions import fill_in, shape_arguments, wrap_dim
from leafgrad.ops.index.slices import ALL, alias, narrow, select, slice_
from leafgrad.ops.pointwise.complex import view_as_complex, view_as_real
from leafgrad.ops.pointwise.convert import clone
from leafgrad.ops.registry import composite, with_kernel
from leafgrad.ops.samples import S
from leafgrad.ops.shape.split import diagonal, split, split_with_sizes, unbind
from leafgrad.ops.shape.strides import as_strided
from leafgrad.ops.shape.views import expand, permute, squeeze, t, transpose, unsqueeze, view
from leafgrad.ops.shape.windows import unfold
from leafgrad.ops.signature import Dim, DimOrDims, Dtype, Shape, Tensor

_named: dict[tuple[str, str], Op] = {}  # by the names of an op and of its node


def copied(seen: Any, node_name: str | None = None) -> Any:
    """What a view shows, in new memory, row by row."""
    made = bind(clone.core, (seen,))
    node = seen.node
    if made.node is not None and node is not None:
        recorded = node.parent if isinstance(node, Output) else node
        if not recorded.op.node_name.endswith("_copy"):  # several results have one node
            recorded.op = named(recorded.op, node_name or f"{recorded.op.node_name}_copy")
        node.op = recorded.op
        links.give_history(made, node)
    return made


def named(op: Op, node_name: str) -> Op:
    """The same op under another name in the graph."""
    found = _named.get((op.node_name, node_name))
    if found is None:
        found = with_kernel(op, op.kernel)
        found.node_name, found.composition = node_name, None
        found.gradient_rules()
        _named[op.node_name, node_name] = found
    return found


def all_copied(views: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([copied(seen) for seen in views])


@composite(
    lambda t: [S(t(3, 4, contiguous=True), (2, -1)), S(t(2, dtype="float64", contiguous=True), int64)],
    method=False,
    out=True,
    signatures=("(input: Tensor, size: Shape) -> Tensor", "(input: Tensor, dtype: Dtype) -> Tensor"),
)
def view_copy(input: Tensor, size: Shape | Dtype | None = None, *, dtype: Dtype | None = None) -> Tensor:
    """view_copy(input, size): a copy of view(size), which may also be a dtype."""
    wanted = size if dtype is None else dtype
    if isinstance(wanted, Dtype):
        return copied(view.function(input, wanted))
    # also where no view is possible
    return copied(bind(view.core, (input,), (fill_in("view", shape_arguments((wanted,), "view"), input),)))


@composite(lambda t: [S(t(3, 4), 0, 1), S(t(3, 4), -1, -2)], method=False, out=True)
def select_copy(input: Tensor, dim: Dim, index: int) -> Tensor:
    """select_copy(input, dim, index): a copy of select(dim, index)."""
    return copied(select.function(input, dim, index))


@composite(lambda t: [S(t(5, 4), 0, 1, 4, 2), S(t(5, 4), 1, -3), S(t(5, 4), 0, 3, 1)], method=False, out=True)
def slice_copy(input: Tensor, dim: Dim = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    """slice_copy(input, dim=0, start=None, end=None, step=1): a copy of a slice of one dimension."""
    if step < 1:
        raise RuntimeError("slice step must be positive")
    lead = (ALL,) * wrap_dim(dim, input.array.ndim)
    return copied(slice_.function(input, (*lead, slice(start, end, step), ...)))


@composite(
    lambda t: [S(t(5, 3), 0, 1, 3), S(t(5, 3), -1, 1, 2)],
    out="Expected self.dtype() == output.dtype() to be true, but got false.",
)
def narrow_copy(input: Tensor, dim: Dim, start: int | Tensor, length: int) -> Tensor:
    """narrow_copy(input, dim, start, length): a copy of narrow(dim, start, length)."""
    shape = input.array.shape
    if shape and dim >= len(shape):  # where all others raise an IndexError
        words = "Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false."
        raise errors.mistake(RuntimeError, words)
    if shape and length < 0 and start.__class__ is int:
        size = shape[wrap_dim(dim, len(shape))]
        raise errors.mistake(RuntimeError, f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return copied(narrow(input, dim, start, length), "NarrowCopyBackward0")


@composite(lambda t: [S(t(3, 4)), S(t(3, 4), 1), S(t(2, 3, 4), 0, 2, 0)], method=False, out=True)
def diagonal_copy(input: Tensor, offset: int = 0, dim1: Dim = 0, dim2: Dim = 1) -> Tensor:
    """diagonal_copy(input, offset=0, dim1=0, dim2=1): a copy of a diagonal."""
    return copied(diagonal.function(input, offset, dim1, dim2))


@composite(lambda t: [S(t(2, 3, 4), (2, 0, 1))], method=False, out=True)
def permute_copy(input: Tensor, dims: Shape) -> Tensor:
    """permute_copy(input, dims): a copy of permute(dims)."""
    return copied(permute.function(input, dims))


@composite(lambda t: [S(t(2, 3, 4), 0, 2)], method=False, out=True)
def transpose_copy(input: Tensor, dim0: Dim, dim1: Dim) -> Tensor:
    """transpose_copy(input, dim0, dim1): a copy of transpose(dim0, dim1)."""
    return copied(transpose.function(input, dim0, dim1))


@composite(lambda t: [S(t(2, 3)), S(t(3))], method=False, out=True)
def t_copy(input: Tensor) -> Tensor:
    """t_copy(input): a copy of t()."""
    return copied(t.function(input))


@composite(lambda t: [S(t(3, 1), (2, 3, 4)), S(t(), (2,))], method=False, out=True)
def expand_copy(input: Tensor, size: Shape, *, implicit: bool = False) -> Tensor:
    """expand_copy(input, size): a copy of expand(size)."""
    return copied(expand.function(input, size))


@composite(lambda t: [S(t(2, 3))], method=False, out=True)
def alias_copy(input: Tensor) -> Tensor:
    """alias_copy(input): a copy."""
    return copied(alias.function(input, (...,)))


@composite(lambda t: [S(t(2, 3), 0), S(t(2, 3), -1)], method=False, out=True)
def unsqueeze_copy(input: Tensor, dim: Dim) -> Tensor:
    """unsqueeze_copy(input, dim): a copy of unsqueeze(dim)."""
    return copied(unsqueeze.function(input, dim))


@composite(lambda t: [S(t(2, 1, 3)), S(t(2, 1, 3), 1), S(t(1, 2, 1), (0, 2))], method=False, out=True)
def squeeze_copy(input: Tensor, dim: DimOrDims | None = None) -> Tensor:
    """squeeze_copy(input, dim=None): a copy of squeeze(dim)."""
    return copied(squeeze.function(input) if dim is None else squeeze.function(input, dim))


@composite(lambda t: [S(t(2, 5), 1, 2, 1)], method=False, out=True)
def unfold_copy(input: Tensor, dimension: Dim, size: int, step: int) -> Tensor:
    """unfold_copy(input, dimension, size, step): a copy of unfold(dimension, size, step)."""
    return copied(unfold.function(input, dimension, size, step))


@composite(
    lambda t: [S(t(6, contiguous=True), (2, 3), (3, 1)), S(t(6, contiguous=True), (2,), (1,), 3)],
    method=False,
    out=True,
)
def as_strided_copy(input: Tensor, size: Shape, stride: Shape, storage_offset: int | None = None) -> Tensor:
    """as_strided_copy(input, size, stride, storage_offset=None): a copy of what as_strided shows."""
    return copied(as_strided.function(input, size, stride, storage_offset))


@composite(lambda t: [S(t(2, dtype="complex128"))], method=False, out=True)
def view_as_real_copy(input: Tensor) -> Tensor:
    """view_as_real_copy(input): a copy of view_as_real."""
    return copied(view_as_real.function(input))


@composite(
    lambda t: [S(t(3, 2, contiguous=True))],
    method=False,
    out=True,
    reference="view_as_complex",  # PyTorch does not differentiate the copy
    exempt={"half precision": "there are no complex numbers of it, as in PyTorch"},
)
def view_as_complex_copy(input: Tensor) -> Tensor:
    """view_as_complex_copy(input): a copy of view_as_complex."""
    return copied(view_as_complex.function(input), "ViewAsComplexBackward0")


@composite(lambda t: [S(t(5, 2), 2), S(t(2, 4), 3, 1)], method=False, out=True)
def split_copy(input: Tensor, split_size: int, dim: Dim = 0) -> tuple[Tensor, ...]:
    """split_copy(input, split_size, dim=0): copies of the pieces of split."""
    return all_copied(split.function(input, split_size, dim))


@composite(lambda t: [S(t(5, 2), (2, 3)), S(t(2, 4), (1, 0, 3), 1)], method=False, out=True)
def split_with_sizes_copy(input: Tensor, split_sizes: Shape, dim: Dim = 0) -> tuple[Tensor, ...]:
    """split_with_sizes_copy(input, split_sizes, dim=0): copies of the pieces of split_with_sizes."""
    return all_copied(split_with_sizes.function(input, split_sizes, dim))


@composite(lambda t: [S(t(3, 2)), S(t(2, 3), -1)], method=False, out=True)
def unbind_copy(input: Tensor, dim: Dim = 0) -> tuple[Tensor, ...]:
    """unbind_copy(input, dim=0): copies of the slices of unbind."""
    return all_copied(unbind.function(input, dim))
