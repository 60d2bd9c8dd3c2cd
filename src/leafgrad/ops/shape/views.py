"""Views: tensors that show the memory of another under a different shape.

A view shares memory and version counter with its base, and remembers the steps that lead from the base to it. When
the memory is changed in place through one of them, the history of the others is replayed from the base's new node
(`replay`); when the change comes through a view, the base's history becomes `copy_slices` (leafgrad/ops/inplace.py).
"""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.modes import switches
from leafgrad._core.recorder import make_node
from leafgrad._core.tensor import TensorBase, View, is_batched, links, wrap, wrap_node
from leafgrad._core.thread_state import state
from leafgrad._core.views import CUSTOM_VIEW, MULTI_VIEW, bind_view
from leafgrad._core.views import link as link
from leafgrad._dtypes import dtype as Dtype
from leafgrad._dtypes import from_numpy_dtype
from leafgrad._layouts import needs_no_copy
from leafgrad.ops.dimensions import distinct_dims as distinct_dims
from leafgrad.ops.dimensions import fill_in as fill_in
from leafgrad.ops.dimensions import shape_arguments as shape_arguments
from leafgrad.ops.dimensions import wrap_dim as wrap_dim
from leafgrad.ops.registry import Family, composite, op
from leafgrad.ops.samples import S, through, transposed
from leafgrad.ops.signature import Dim, DimOrDims, Shape, Sizes, Tensor

A = Any  # an array, or a tensor under create_graph


class ViewFamily(Family, family=True):
    """Operations whose result shares memory with their input."""

    jvp = "linear"


def view_of(operation: Any, t: TensorBase, *options: Any) -> Any:
    """Apply a view operation to a tensor: the result knows its base."""
    return bind_view(operation.core, operation, t, options)


def replay(t: TensorBase, view: View) -> None:
    """Give a view the history that its base has now, unless it is of a kind that cannot follow its base."""
    if view.node_version == t.version[0]:  # the base began to require grad after the view was made
        t.needs_grad = view.silent = True
        return
    if view.restriction is not None:
        if state.recording:
            raise errors.view_in_place(t, view.restriction == MULTI_VIEW, indirect=True)
        return
    base, array = view.base, view.base.array
    if state.replay_views:
        for operation, options in current_steps(t, view):
            seen = operation.kernel(array, *options)
            node = make_node(operation.core, (base,), (array,), options, (), (), seen.shape, seen.dtype)
            base, array = wrap_node(seen, node), seen
        links.give_history(t, node)
        view.node_version = t.version[0]
        return
    options = (current_steps(t, view), (array.shape, array.dtype, axes_of(array)))
    core = view_steps.named.get(view.steps[-1][0].core.node_name, view_steps.core)
    node = make_node(core, (base,), (array,), options, (), (), t.array.shape, t.array.dtype)
    links.give_history(t, node)
    view.node_version = t.version[0]


links.replay_view = replay


def refuse_stale(t: TensorBase) -> None:
    """A view that cannot follow its base has no history to show once the base has changed, whatever the mode."""
    view = t.rare.view if t.rare is not None else None
    if view is None or view.restriction is None or view.node_version == t.version[0]:
        return
    if view.base.needs_grad or view.restriction == CUSTOM_VIEW:
        raise errors.view_in_place(t, view.restriction == MULTI_VIEW, indirect=True)


def see(x: A, steps: tuple[Any, ...]) -> A:
    """An array or tensor through the steps of a view."""
    for operation, options in steps:
        x = operation(x, *options)
    return x


def current_steps(t: TensorBase, view: View) -> tuple[Any, ...]:
    """The steps that lead from the base of a view, as it is now, to the view. The base may have been reshaped in place
    since the view was made; then what counts is where in memory the view lies."""
    if switches.reshaped:
        part, seen = None, view.base.array
        with contextlib.suppress(ValueError, IndexError, TypeError):
            for operation, options in view.steps:  # by kernels alone: modes need not know that somebody looks
                seen = operation(seen, *options) if is_batched(seen) else operation.kernel(seen, *options)
            part = seen
        if part is None or not in_same_place(part, t.array):
            from leafgrad.ops.shape.strides import Geometry, as_strided

            if view.base.array.dtype != t.array.dtype:
                raise NotImplementedError(
                    "a complex tensor was reshaped in place after views of its real numbers were made: take them again"
                )
            return ((as_strided, (Geometry.between(view.base.array, t.array),)),)
    return view.steps


def address(array: Any) -> int:
    if is_batched(array):
        array = array.one_sample()
    return int(array.__array_interface__["data"][0])


def in_same_place(a: Any, b: Any) -> bool:
    return bool(a.shape == b.shape and a.strides == b.strides and (a.size == 0 or address(a) == address(b)))


def overlaps(array: Any) -> bool:
    """May an element of memory appear more than once in the array? (True also in rare cases where none does.)"""
    reach = 0
    for step, size in sorted([(abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1]):
        if step <= reach:
            return True
        reach += step * (size - 1)
    return False


def see_in(whole: Any, steps: tuple[Any, ...]) -> Any:
    """The part of an array that the steps lead to, to be written to."""
    part = see(whole, steps)
    if part.size and not np.may_share_memory(part, whole):
        raise NotImplementedError(
            "a view made by as_strided, of a tensor that does not fill its memory, cannot take part in a gradient "
            "after an in-place change: clone() the tensor before"
        )
    return part


_USUAL = np.arange(0)


def axes_of(array: Any) -> Any:
    """The order in which the dimensions of an array follow each other in memory; nothing if it is the usual one. An
    array, so that a node which keeps it goes back once only, as it does in PyTorch."""
    if array.flags.c_contiguous:
        return _USUAL
    return np.array(sorted(range(array.ndim), key=lambda d: -array.strides[d]))


def copy_in_order(array: Any, axes: Any) -> Any:
    """A copy with its dimensions in a certain order in memory, so that what is a view of one is a view of the other."""
    if axes is None or not len(axes):
        return np.array(array, order="C")
    return np.array(array.transpose(axes), order="C").transpose(np.argsort(axes))


def numbered(shape: tuple[int, ...], kind: Any) -> Any:
    """The places of all numbers, from 1 on; if `kind` is complex as complex numbers of two places each."""
    wide = np.dtype(complex if kind.kind == "c" else float)
    return np.arange(1.0, 1 + math.prod(shape) * wide.itemsize // 8).view(wide).reshape(shape)


def reals(array: Any) -> Any:
    """All numbers in a row, of complex ones both parts."""
    return np.ascontiguousarray(array).reshape(-1).view(array.real.dtype)


@op
class view_steps(ViewFamily):
    """view_steps(input, steps, form): input through all the steps of a view at once. `form` is what the steps were
    made for: (shape, dtype, order of the dimensions in memory)."""

    options = ("steps", "form")
    node_name = "AsStridedBackward0"
    node_names = ("ViewAsRealBackward0", "ViewAsComplexBackward0")  # where strides do not say everything
    public_name = ""
    reference = lambda torch, x, steps, form: through(x, steps)
    aten = "as_strided"
    holomorphic = False  # elements are only chosen

    def kernel(x: A, steps: Any, form: Any) -> A:
        return see(x, steps)

    def call(input: Any, steps: Any, form: Any) -> Any:
        return view_of(view_steps, input, steps, form)

    def vjp(g: A, steps: A, form: A) -> A:
        return view_steps_backward(g, steps, form)

    samples = lambda t: [
        S(t(2, 3, contiguous=True), ((permute, ((1, 0),)), (unsqueeze, (0,))), ((2, 3), t(0).array.dtype, None)),
        S(t(2, 1, contiguous=True), ((expand, ((2, 3),)),), ((2, 1), t(0).array.dtype, None)),
    ]


@op
class view_steps_backward(Family):
    """view_steps_backward(input, steps, form): zeros of the given form, to which input is added where the
    steps lead to. Without a dtype in the form it is that of input."""

    options = ("steps", "form")
    node_name = "AsStridedBackward0"
    public_name = ""
    reference = lambda torch, x, steps, form: transposed(torch, lambda y: through(y, steps), form[0], x)
    aten = "as_strided_scatter"
    holomorphic = False
    jvp = "linear"

    def kernel(x: A, steps: Any, form: Any) -> A:
        shape, kind, axes = form
        whole = copy_in_order(np.zeros(shape, x.dtype if kind is None else kind), axes)
        part = see(whole, steps)
        if not overlaps(part) and np.may_share_memory(part, whole):
            part[...] = x
            return whole
        # some appear more than once, or as_strided shows what is not part of the whole: zeros, as counting starts at 1
        places = see(copy_in_order(numbered(shape, whole.dtype), axes), steps)
        parts = np.asarray(x).astype(places.dtype)
        sums = np.bincount(reals(places).astype(np.int64), reals(parts), reals(whole).size + 1)[1:]
        return sums.view(complex if whole.dtype.kind == "c" else float).astype(whole.dtype).reshape(shape)

    def vjp(g: A, steps: A) -> A:
        return see(g, steps)

    def vmap(batch: A, x: A, steps: Any, form: Any) -> A:
        """Through steps that repeat nothing: zeros with the part put where the steps lead."""
        shape, kind, axes = form
        order = range(len(shape)) if axes is None or not len(axes) else [int(a) for a in axes]
        in_memory = x.as_many(np.zeros([shape[d] for d in order], x.dtype if kind is None else kind))
        out = in_memory.transpose([int(a) for a in np.argsort(order)]) if len(shape) else in_memory
        part = see(out, steps)
        if overlaps(part.memory()) or not np.may_share_memory(part.memory(), out.memory()):
            return NotImplemented
        part[...] = x
        return out

    samples = lambda t: [
        S(t(3, 2), ((permute, ((1, 0),)),), ((2, 3), t(0).array.dtype, None)),
        S(t(2, 3), ((expand, ((2, 3),)),), ((2, 1), t(0).array.dtype, None)),
    ]


# -- the views ------------------------------------------------------------------------------------------------------


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
    if steps[-1] != 1:
        raise errors.mistake(RuntimeError, f"self.stride(-1) must be 1 {refusal}, but got {steps[-1]}")
    ratio = kind.np.itemsize // array.itemsize
    if ratio <= 1:
        return
    checks = [("size(-1)", array.shape[-1]), ("storage_offset()", input.storage_offset())]  # type: ignore[attr-defined]
    for name, value in (*checks, *[(f"stride({i})", step) for i, step in enumerate(steps[:-1])]):
        if value % ratio:
            raise errors.mistake(RuntimeError, f"self.{name} must be divisible by {ratio} {refusal}, but got {value}")


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
        return x.swapaxes(dim0, dim1) if x.ndim else np.asarray(x).view()

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

    options = ("shape",)
    method_only = True

    def kernel(x: A, shape: Any) -> A:
        # writable, as PyTorch's are: a write through it shows in every repetition
        strides = _expanded_strides(x, shape)
        if x.__class__ is np.ndarray and x.flags.c_contiguous and x.dtype.kind in "fiubc":
            return np.ndarray(shape, x.dtype, x, 0, strides)  # as_strided, in a tenth of the time
        return np.lib.stride_tricks.as_strided(x, shape, strides, writeable=True)

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

    samples = lambda t: [S(t(3, 1, 2, 1)), S(t(3, 1, 2), 1), S(t(3, 2), 0), S(t(1, 3, 1), (0, 2)), S(t())]


@op
class unsqueeze(Reshaping):
    """unsqueeze(input, dim): with a new dimension of size 1 at `dim`."""

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
