"""Views of a whole tensor: its memory under another shape, or with its dimensions in another order. How they follow
changes of their base is in leafgrad/ops/shape/view_history.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.tensor import TensorBase, as_array, links, wrap
from leafgrad._core.views import bind_view, link
from leafgrad._dtypes import dtype as Dtype
from leafgrad._dtypes import from_numpy_dtype
from leafgrad._layouts import needs_no_copy, restrided
from leafgrad.ops.dimensions import distinct_dims, fill_in, shape_arguments, wrap_dim
from leafgrad.ops.registry import composite, op
from leafgrad.ops.samples import S
from leafgrad.ops.shape.view_history import ViewFamily
from leafgrad.ops.signature import Dim, DimOrDims, Shape, Sizes, Tensor

A = Any  # an array, or a tensor under create_graph


class Reshaping(ViewFamily, family=True):
    """Views of the same elements in the same order."""

    def vjp(g: A, input_shape: A) -> A:
        return g.reshape(input_shape)


@op
class view(Reshaping):
    """view(input, *shape): the same memory under another shape; fails where that needs a copy."""

    options = ("shape",)
    # what reshape records: of what is not contiguous; of a copy that nobody else has
    node_names = ("ReshapeAliasBackward0", "UnsafeViewBackward0")
    method_only = True
    signatures = (
        "(input: Tensor, *size: int) -> Tensor",
        "(input: Tensor, size: Shape) -> Tensor",
        "(input: Tensor, dtype: Dtype) -> Tensor",
    )

    def kernel(x: A, shape: tuple[int, ...]) -> A:
        return x.reshape(shape)

    def call(input: Tensor, *shape: Sizes | Dtype, size: Shape | None = None, dtype: Dtype | None = None) -> Tensor:
        shape = shape if size is None else (size,)
        if dtype is not None or (len(shape) == 1 and shape[0].__class__ is Dtype):
            return view_dtype(input, dtype or shape[0])
        target = fill_in("view", shape_arguments(shape, "view", "size"), input)
        if not input.array.flags.c_contiguous and not needs_no_copy(input.array, target):
            raise errors.view_needs_copy(input, target)
        return bind_view(view.core, view, input, (target,))

    samples = lambda t: [
        S(t(*a, contiguous=True), *b) for a, b in [((3, 4), (4, 3)), ((6,), (-1, 2)), ((0, 3), (3, 0))]
    ]


def same_memory(t: TensorBase, restriction: str | None) -> Any:
    """Another tensor on the same memory, as a view without history."""
    return link(wrap(t.array.view()), t, view, (t.array.shape,), restriction)


links.alias = same_memory


def view_dtype(input: TensorBase, kind: Any) -> Any:
    """The same bytes read as another dtype. No gradient flows through it."""
    check_resolved(input)
    if kind.np.itemsize != input.array.itemsize:
        check_regrouping(input, kind)
    with_no_history = wrap(input.array.view(kind.np))
    with_no_history.version = input.version
    return with_no_history


def check_resolved(t: Any) -> None:
    """The bytes of what PyTorch conjugates or negates when it is read are not those that it shows."""
    if t.rare is None or not (t.is_conj() or t.is_neg()):
        return
    what = "conjugate view tensors" if t.is_conj() else "tensors with negative bit set"
    first = f"torch.Tensor.view is not supported for {what} when converting to a different dtype."
    raise errors.mistake(RuntimeError, first)


def check_regrouping(input: TensorBase, kind: Any) -> None:
    """May the bytes of the last dimension be taken together in another way?"""
    array = input.array
    own = from_numpy_dtype(array.dtype)
    refusal = f"to view {own.alias} as {kind.alias} (different element sizes)"
    if not array.ndim:
        raise errors.mistake(RuntimeError, f"self.dim() cannot be 0 {refusal}")
    steps = input.stride()  # type: ignore[attr-defined]
    ratio = kind.np.itemsize // array.itemsize

    def check_multiple(name: str, value: int) -> None:
        if ratio > 1 and value % ratio:
            raise errors.mistake(RuntimeError, f"self.{name} must be divisible by {ratio} {refusal}, but got {value}")

    check_multiple("size(-1)", array.shape[-1])
    check_multiple("storage_offset()", input.storage_offset())  # type: ignore[attr-defined]
    if steps[-1] != 1:
        raise errors.mistake(RuntimeError, f"self.stride(-1) must be 1 {refusal}, but got {steps[-1]}")
    for i, step in enumerate(steps[:-1]):
        check_multiple(f"stride({i})", step)


@composite(lambda t: [S(t(3, 4), 4, 3), S(t(3, 4), (2, -1)), S(t(), 1, 1)], reference="Tensor.reshape")
def reshape(input: Tensor, *sizes: Sizes, shape: Shape | None = None) -> Tensor:
    """reshape(input, *shape): another shape; a view where that is possible, otherwise a copy."""
    target = fill_in("reshape", shape_arguments(sizes if shape is None else (shape,), "reshape", "shape"), input)
    if input.array.flags.c_contiguous:
        return bind_view(view.core, view, input, (target,))
    if needs_no_copy(input.array, target):
        return bind_view(view.named["ReshapeAliasBackward0"], view, input, (target,))
    from leafgrad.ops.pointwise.convert import clone

    copy = clone.record(input)  # which is contiguous
    return bind(view.named["UnsafeViewBackward0"], (copy,), (target,))


@op
class permute(ViewFamily):
    """permute(input, dims): the dimensions in another order."""

    options = ("dims",)
    reference = "Tensor.permute"  # which, unlike the function, takes the dimensions one by one as well

    def kernel(x: A, dims: Any) -> A:
        return x.transpose(dims)

    def call(input: Tensor, *order: Sizes, dims: Shape | None = None) -> Tensor:
        order = shape_arguments(order if dims is None else (dims,), "permute", "dims")
        try:
            ndim = input.array.ndim
        except AttributeError:
            raise errors.not_a_tensor("permute", "input", 1, input) from None
        if len(order) != ndim:
            raise RuntimeError(
                "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the "
                f"desired ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {len(order)}"
            )
        order = distinct_dims(order, ndim, lambda d: "permute(): duplicate dims are not allowed.")
        return bind_view(permute.core, permute, input, (order,))

    def vjp(g: A, dims: A) -> A:
        back = [0] * len(dims)
        for place, dim in enumerate(dims):
            back[dim] = place
        return permute(g, tuple(back))

    samples = lambda t: [S(t(2, 3, 4), (2, 0, 1)), S(t(3, 4), (1, 0)), S(t(), ())]


@op
class transpose(ViewFamily):
    """transpose(input, dim0, dim1): two dimensions exchanged."""

    aliases = ("swapdims",)
    checked = "function"
    options = ("dim0", "dim1")
    vmap = "dims"
    node_names = ("TransposeBackward1",)  # in place

    def kernel(x: A, dim0: int, dim1: int) -> A:
        return x.swapaxes(dim0, dim1) if x.ndim else as_array(x).view()

    def call(input: Tensor, dim0: Dim, dim1: Dim) -> Tensor:
        ndim = input.array.ndim
        return bind_view(transpose.core, transpose, input, (wrap_dim(dim0, ndim), wrap_dim(dim1, ndim)))

    def vjp(g: A, dim0: A, dim1: A) -> A:
        return transpose(g, dim0, dim1)

    samples = lambda t: [S(t(2, 3, 4), 0, 2), S(t(3, 4), -1, 0), S(t(), 0, -1)]


@op
class t(ViewFamily):
    """t(input): a matrix with rows and columns exchanged; vectors and numbers stay as they are."""

    checked = "function"
    node_name = "TBackward0"
    node_names = ("TBackward1",)  # in place

    def kernel(x: A) -> A:
        return x.transpose()

    def call(input: Tensor) -> Tensor:
        if input.array.ndim > 2:
            raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.array.ndim}D")
        return bind_view(t.core, t, input, ())

    def vjp(g: A) -> A:
        return t(g)

    samples = lambda t: [S(t(2, 3)), S(t(3)), S(t())]


@op
class expand(ViewFamily):
    """expand(input, *shape): dimensions of size 1 repeated without copying; -1 keeps a size."""

    shows = {"self_sym_sizes": ...}
    options = ("shape",)
    method_only = True

    def kernel(x: A, shape: Any) -> A:
        # writable, as PyTorch's are: a write through it shows in every repetition
        strides = _expanded_strides(x, shape)
        if x.__class__ is np.ndarray and x.flags.c_contiguous and x.dtype.kind in "fiubc":
            return np.ndarray(shape, x.dtype, x, 0, strides)  # as_strided, in a tenth of the time
        return restrided(x, shape, strides)

    def call(input: Tensor, *shape: Sizes, size: Shape | None = None, implicit: bool = False) -> Tensor:
        target, own = shape_arguments(shape if size is None else (size,), "expand", "size"), input.array.shape
        lead = len(target) - len(own)
        if lead < 0:
            raise errors.expand_mismatch(input, target)
        full = []
        for i, s in enumerate(target):
            have = own[i - lead] if i >= lead else 1
            if s == -1:
                if i < lead:
                    raise errors.expand_mismatch(input, target)
                s = have
            if have != s and have != 1:
                raise errors.expand_mismatch(input, target)
            full.append(s)
        return bind_view(expand.core, expand, input, (tuple(full),))

    def vjp(g: A) -> A:
        return g  # the engine sums what was broadcast

    def vmap(batch: A, x: A, shape: Any) -> A:
        return batch.apply((batch.aligned(x, len(shape)),), ((batch.size, *shape),))

    samples = lambda t: [S(t(3, 1), 3, 4), S(t(3), 2, -1), S(t(), 2, 2), S(t(1, 0), 3, 0)]


def _expanded_strides(x: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    own, steps = x.shape, x.strides
    lead = len(shape) - len(own)
    strides = [0] * lead
    if lead > 0 and shape[lead - 1] == 1:  # new dimensions of one element, next to what is there
        step = own[0] * steps[0] if own else x.itemsize
        for i in range(lead - 1, -1, -1):
            if shape[i] != 1:
                break
            strides[i] = step
    for i, size in enumerate(own):
        if lead >= 0 and size == shape[lead + i]:
            strides.append(steps[i])
        elif lead >= 0 and size == 1:
            strides.append(0)
        else:
            raise ValueError("expand: the shape does not fit")  # NumPy would show memory that is not the array's
    return tuple(strides)


def step_before(x: Any, dim: int) -> int:
    """The stride that a new dimension of one element has in front of dimension `dim`."""
    return int(x.shape[dim] * x.strides[dim] if dim < x.ndim else x.itemsize)


def with_strides(x: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """The same elements with dimensions of one element added or given other strides."""
    if x.flags.c_contiguous and x.dtype.kind in "fiubc":
        return np.ndarray(shape, x.dtype, x, 0, strides)  # as_strided, in a tenth of the time
    return np.lib.stride_tricks.as_strided(x, shape, strides)


@op
class squeeze(Reshaping):
    """squeeze(input, dim=None): without dimensions of size 1, all of them or those of `dim`."""

    saved_as = {"dims": ""}
    shows = {"dim": lambda node: squeezed_dim(node)}
    checked = "function"
    options = ("dims",)
    # for one dimension, for several; in place: for all, one, several
    node_names = ("SqueezeBackward1", "SqueezeBackward2", "SqueezeBackward3", "SqueezeBackward4", "SqueezeBackward5")

    def kernel(x: A, dims: Any) -> A:
        if not dims:
            return x.view()
        if x.__class__ is np.ndarray:
            return x.squeeze(dims)
        return x.reshape([s for i, s in enumerate(x.shape) if i not in dims])

    def call(input: Tensor, dim: DimOrDims | None = None) -> Tensor:
        shape = input.array.shape
        core, dims = squeeze.core, tuple(range(len(shape)))
        if dim is not None:
            core = squeeze.named["SqueezeBackward1" if isinstance(dim, int) else "SqueezeBackward2"]
            dims = distinct_dims((dim,) if isinstance(dim, int) else dim, len(shape))
        chosen = tuple([d for d in dims if shape and shape[d] == 1])
        return bind_view(core, squeeze, input, (chosen,))

    def vjp(g: A, input_shape: A, dims: A = None) -> A:
        return g.reshape(input_shape)

    samples = lambda t: [S(t(3, 1, 2, 1)), S(t(3, 1, 2), 1), S(t(3, 2), 0), S(t(1, 3, 1), (0, 2)), S(t())]


def squeezed_dim(node: Any) -> Any:
    """What PyTorch's nodes say of the dimensions: one, several; nothing if no dimension was named, or none was left
    out."""
    dims, number = node.saved[1], node.op.node_name.removesuffix("_copy")[-1]
    if number in "03" or not dims:
        return NotImplemented
    return dims[0] if number in "14" else dims


@op
class unsqueeze(Reshaping):
    """unsqueeze(input, dim): with a new dimension of size 1 at `dim`."""

    shows = {"dim": ...}
    saved_as = {"input_shape": ""}
    checked = "function"
    options = ("dim",)
    node_names = ("UnsqueezeBackward1",)  # in place

    def kernel(x: A, dim: int) -> A:
        shape = x.shape
        wider = (*shape[:dim], 1, *shape[dim:])
        if x.__class__ is not np.ndarray or x.flags.c_contiguous:
            return x.reshape(wider)
        return with_strides(x, wider, (*x.strides[:dim], step_before(x, dim), *x.strides[dim:]))

    def call(input: Tensor, dim: Dim) -> Tensor:
        return bind_view(unsqueeze.core, unsqueeze, input, (wrap_dim(dim, input.array.ndim + 1),))

    samples = lambda t: [S(t(3, 2), 0), S(t(3, 2), -1), S(t(), 0), S(t(0), 1)]
