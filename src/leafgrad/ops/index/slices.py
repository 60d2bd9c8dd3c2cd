"""Views of a part: what x[0], x[1:3], x[..., None] and their mixtures are made of.

The operations here differ in name only: each shows `x[index]`, where `index` is a tuple of numbers, slices with
positive steps, None and Ellipsis, exactly as NumPy takes it. An Ellipsis at the end makes NumPy return a view even
where the result has no dimensions.
"""

from __future__ import annotations

import operator
from builtins import slice as Slice
from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.op import Op
from leafgrad._core.tensor import TensorBase
from leafgrad._core.views import bind_view
from leafgrad._layouts import order_in_memory
from leafgrad.ops.creation.fresh import zero_like
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.inplace import copy_slices
from leafgrad.ops.registry import Family, Operation, composite, op, with_kernel
from leafgrad.ops.samples import S
from leafgrad.ops.shape.view_history import ViewFamily
from leafgrad.ops.shape.views import step_before, with_strides
from leafgrad.ops.signature import Dim, Tensor

A = Any  # an array, or a tensor under create_graph

ALL = Slice(None)
ONE_SLICE = "SliceBackward0(input)"  # also if that is everything
OF_PARTS = "SliceBackward0"  # the last of several: see `composition`


class Part(ViewFamily, family=True):
    """Views of a part, x[index]."""

    options = ("index",)
    holomorphic = False  # the gradient of a choice is a choice, and needs no conjugation
    kernel: Any = operator.getitem
    public_name: str | None = ""
    reference: Any = "Tensor.__getitem__"

    @staticmethod
    def public(operation: Operation, body: dict[str, Any]) -> Callable[..., Any]:
        whole = lambda input, index: bind_view(operation.core, operation, input, (index,))
        return ViewFamily.public(operation, {"call": whole, **body})

    def vjp(g: A, input_shape: A, index: A) -> A:
        return around(g, input_shape, index)

    @staticmethod
    def composition(node: Any) -> str:
        """What x[a, b, c] consists of in PyTorch: a node for each part that is not everything."""
        shape, index = node.saved
        found, dim = "input", 0
        for part in index:
            if part is None:
                found = f"UnsqueezeBackward0({found})"
            elif part is ...:
                dim += len(shape) - len([other for other in index if other is not None and other is not ...])
            else:
                if part.__class__ is not Slice:
                    found = f"SelectBackward0({found})"
                elif not takes_all(part, shape[dim]):
                    found = f"SliceBackward0({found})"
                dim += 1
        return "AliasBackward0(input)" if found == "input" else found


END = 2**63 - 1  # of a slice that goes on to the end


def end_of(node: Any) -> Any:
    """Where the slice of a node ends."""
    stop = last_part(node)[1].stop
    return (None if node.op.node_name.endswith("_copy") else END) if stop is None else stop


def is_narrowed(node: Any) -> bool:
    """Is it the node of narrow_copy, which has a length where slices have an end?"""
    return bool(node.op.node_name == "NarrowCopyBackward0")


def last_part(node: Any) -> tuple[int, Any]:
    """The last part of an index that leaves something out, or adds a dimension, and which dimension it is for."""
    shape, index = node.saved
    found, dim, own = (0, ALL), 0, 0  # in what the parts before have made of the input; in the input
    for part in index:
        if part is ...:
            skipped = len(shape) - len([other for other in index if other is not None and other is not ...])
            dim, own = dim + skipped, own + skipped
            continue
        is_slice = part.__class__ is Slice
        if not is_slice or not takes_all(part, shape[own]) or len(index) == 1:
            found = dim, part
        dim, own = dim + (part is None or is_slice), own + (part is not None)
    return found


def takes_all(part: Slice, size: int) -> bool:
    """Is a slice written in such a way that it leaves nothing out? Then PyTorch does not record it. Bounds that count
    from the end it does record, also where they leave nothing out."""
    start, stop, step = part.start, part.stop, part.step
    return (step is None or step == 1) and (start is None or start == 0) and (stop is None or stop >= size)


def view_at(operation: Any, t: TensorBase, index: tuple[Any, ...]) -> Any:
    """t[index], a view of t that is recorded as `operation`."""
    core = core_of_parts(operation) if None not in index else with_new_dimensions[operation]
    return bind_view(core, operation, t, (index,))


def core_of_parts(operation: Any) -> Op:
    """What is recorded for an index of several parts of which an operation is the last."""
    core: Op = slice_.named[OF_PARTS] if operation is slice_ else operation.core
    return core


@op
class select(Part):
    """select(input, dim, index): input without dimension `dim`, at position `index` of it."""

    saved_as = {"index": ""}
    shows = {"dim": lambda node: last_part(node)[0], "index": lambda node: last_part(node)[1]}
    public_name = reference = None

    def call(input: Tensor, dim: Dim, index: int) -> Tensor:
        array = input.array
        if not array.ndim:
            raise IndexError("select() cannot be applied to a 0-dim tensor.")
        dim, number = wrap_dim(dim, array.ndim), operator.index(index)
        if not -array.shape[dim] <= number < array.shape[dim]:
            raise errors.mistake(
                IndexError,
                f"select(): index {number} out of range for tensor of size {errors.size(array.shape)} at dimension "
                f"{dim}",
            )
        where = (*(ALL,) * dim, number, ...) if dim else (number, ...)
        return view_at(select, input, where)

    samples = lambda t: [S(t(3, 4), 0, 1), S(t(2, 3, 4), -1, -2), S(t(3), 0, 0), S(t(2, 0), 0, 1)]


@op
class slice_(Part):
    """slice(input, index): a part of input, by a tuple as NumPy takes it."""

    shows = {
        "dim": lambda node: last_part(node)[0],
        "start": lambda node: last_part(node)[1].start or 0,
        "end": lambda node: NotImplemented if is_narrowed(node) else end_of(node),
        "step": lambda node: NotImplemented if is_narrowed(node) else last_part(node)[1].step or 1,
        "length": lambda node: node.shape[last_part(node)[0]] if is_narrowed(node) else NotImplemented,
    }
    saved_as = {"index": ""}
    node_name = ONE_SLICE
    node_names = (OF_PARTS,)

    samples = lambda t: [
        S(t(5, 4), (Slice(1, 4, 2), ...)),
        S(t(5, 4), (2, Slice(1, None), ...)),
        S(t(5, 4), (..., Slice(3, 9))),
        S(t(5, 4), (Slice(0, 0), ...)),
    ]


@op
class write_slice(Family):
    """write_slice(input, values, index): input with input[index] = values. In place it is what `x[index] = values` does
    for numbers and slices; that is recorded as copy_slices."""

    inputs = ("input", "values")
    options = ("index",)
    public_name = ""
    aten = "copy"
    node_name = "SliceScatterBackward0"
    jvp = "linear"
    writes_into = True

    def kernel(x: A, values: A, index: Any, out: A = None) -> A:
        target = x.copy() if out is None else out
        target[index] = values
        return target

    def vjp_input(g: A, index: A) -> A:
        return write_slice(g, zero_like(g), index)

    def vjp_values(g: A, index: A) -> A:
        return slice_(g, index)  # the engine undoes the broadcast

    samples = lambda t: [S(t(3, 4), t(4), (1, ...)), S(t(5), t(), (Slice(1, 4),))]

    def reference(torch: Any, x: Any, values: Any, index: Any) -> Any:
        whole = x.clone()
        whole[index] = values
        return whole


IN_FRONT = (None, ...)  # x[None]


def _with_new_dimensions(x: A, index: tuple[Any, ...]) -> A:
    """x[index] where there is None in the index. NumPy gives such a dimension the stride 0, PyTorch that of the
    elements which follow it before they are indexed."""
    if x.__class__ is not np.ndarray:
        return x[index]
    if index is IN_FRONT and x.flags.c_contiguous:
        return x.reshape((1,) + x.shape)  # a sum of tuples takes half of the time of unpacking
    seen = x[index]
    strides = list(seen.strides)
    dim = own = 0  # in the result, in x
    for part in index:
        if part is None:
            strides[dim] = step_before(x, own)
            dim += 1
        elif part is ...:
            count = x.ndim - len(index) + index.count(None) + 1
            dim, own = dim + count, own + count
        else:
            dim, own = dim + (part.__class__ is Slice), own + 1
    return with_strides(seen, seen.shape, tuple(strides))


@op
class new_dimension(Part):
    """new_dimension(input, index): `slice` under the name that PyTorch gives to x[..., None]."""

    shows = {"dim": lambda node: last_part(node)[0]}
    saved_as = {"index": "", "input_shape": ""}
    node_name = "UnsqueezeBackward0"
    aten = "unsqueeze"
    kernel = _with_new_dimensions
    samples = lambda t: [S(t(3, 2), (None, ...)), S(t(3, 2), (..., None))]


# For an index with None in it: what is computed and recorded, by the operation that it is.
with_new_dimensions = {
    new_dimension: new_dimension.core,
    select: with_kernel(select.core, _with_new_dimensions),
    slice_: with_kernel(slice_.named[OF_PARTS], _with_new_dimensions),
}


@op
class alias(Part):
    """alias(input, index): `slice` under the name that PyTorch gives to x[...], all of x."""

    saved_as = {"index": "", "input_shape": ""}
    samples = lambda t: [S(t(3, 2), (...,)), S(t(), (...,))]


@op
class around(Family):
    """around(input, shape, index): zeros of `shape` with the part at `index` replaced by input."""

    options = ("shape", "index")
    jvp = "linear"
    holomorphic = False
    public_name = ""
    aten = "slice_scatter"
    node_name = "SliceBackward0"

    def kernel(x: A, shape: Any, index: Any) -> A:
        whole = np.zeros(shape, x.dtype)
        whole[index] = x
        return whole

    def vjp(g: A, index: A) -> A:
        return slice_(g, index)

    def vmap(batch: A, x: A, shape: Any, index: Any) -> A:
        return batch.apply((batch.value(x),), ((batch.size, *shape), (Slice(None), *index)))

    samples = lambda t: [S(t(2, 4), (5, 4), (Slice(1, 4, 2), ...)), S(t(), (3,), (1, ...))]

    def reference(torch: Any, x: Any, shape: Any, index: Any) -> Any:
        whole = torch.zeros(shape, dtype=x.dtype)
        whole[index] = x
        return whole


@composite(lambda t: [S(t(5, 3), 0, 1, 3), S(t(5, 3), -1, -2, 2), S(t(3), 0, 3, 0)])
def narrow(input: Tensor, dim: Dim, start: int | Tensor, length: int) -> Tensor:
    """narrow(input, dim, start, length): `length` positions of dimension `dim`, from `start` on, as a view."""
    shape = input.array.shape
    if not shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if isinstance(start, TensorBase) and (start.array.ndim or start.array.dtype.kind not in "iu"):
        raise errors.mistake(RuntimeError, "start must be an 0-dim integral Tensor.")
    dim, first = wrap_dim(dim, len(shape)), operator.index(start)
    size = shape[dim]
    if not -size <= first <= size:
        raise errors.mistake(
            IndexError, f"start out of range (expected to be in range of [{-size}, {size}], but got {first})"
        )
    first = first + size if first < 0 else first
    if first + length > size:
        message = f"start ({first}) + length ({length}) exceeds dimension size ({size})."
        raise errors.mistake(RuntimeError, message, ("tensor", errors.describe(input)))
    return bind_view(slice_.core, slice_, input, ((*(ALL,) * dim, Slice(first, first + length), ...),))


@composite(lambda t: [S(t(3, 4), t(4), 0, 1), S(t(3, 4), t(3), -1, -1)])
def select_scatter(input: Tensor, src: Tensor, dim: Dim, index: int) -> Tensor:
    """select_scatter(input, src, dim, index): a copy of input in which select(dim, index) is replaced by src."""
    dim = wrap_dim(dim, input.array.ndim)
    part = (*(ALL,) * dim, index, ...)
    return _replaced(input, part, src, "SelectScatterBackward0")


@composite(lambda t: [S(t(5, 3), t(2, 3), 0, 1, 3), S(t(4, 6), t(4, 3), 1, 0, 6, 2)], out=True)
def slice_scatter(
    input: Tensor, src: Tensor, dim: Dim = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """slice_scatter(input, src, dim=0, start=None, end=None, step=1): a copy of input with a slice replaced by src."""
    dim = wrap_dim(dim, input.array.ndim)
    if step < 1:
        raise RuntimeError("slice step must be positive")
    part = (*(ALL,) * dim, Slice(start, end, step), ...)
    return _replaced(input, part, src, "SliceScatterBackward0")


def _replaced(input: TensorBase, part: tuple[Any, ...], src: TensorBase, node_name: str) -> Any:
    """A copy of input with one part replaced."""
    shape = input.array[part].shape
    if src.array.shape != shape:
        raise errors.mistake(
            RuntimeError,
            f"expected src to have a size equal to the slice of self. src size = {errors.size(src.array.shape)}, "
            f"slice size = {errors.size(shape)}",
        )
    return bind(
        copy_slices.named[node_name], (input, src), (((slice_, (part,)),), np.array(order_in_memory(input.array)))
    )
