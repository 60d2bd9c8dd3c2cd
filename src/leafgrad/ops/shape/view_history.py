"""What views have to do with their base.

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
from leafgrad._core.modes import switches
from leafgrad._core.recorder import make_node
from leafgrad._core.tensor import TensorBase, View, is_batched, is_meta, links, wrap, wrap_node
from leafgrad._core.thread_state import state
from leafgrad._core.views import CUSTOM_VIEW, MULTI_VIEW, bind_view
from leafgrad.ops.registry import Family, op, registry
from leafgrad.ops.samples import S, through, transposed

A = Any  # an array, or a tensor under create_graph


class ViewFamily(Family, family=True):
    """Operations whose result shares memory with their input."""

    jvp = "linear"
    meta = "kernel"


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
    if (state.replay_views or is_batched(t.array)) and base.needs_grad:
        for operation, options in current_steps(t, view):
            seen = operation(array, *options) if is_batched(array) else operation.kernel(array, *options)
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
            from leafgrad.ops.shape.resize import steps_between

            return steps_between(view.base.array, t.array)
    return view.steps


def address(array: Any) -> int:
    if is_batched(array):
        array = array.one_sample()
    if is_meta(array):
        return int(array.offset)
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
    if part.size and not np.may_share_memory(part.memory() if is_batched(part) else part, whole):
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
        # nothing is saved where the base was detached before the view followed it: see `replay`
        return None if form is None else put_back(g, steps, form)

    samples = lambda t: [
        S(
            t(2, 3, contiguous=True),
            ((registry["permute"], ((1, 0),)), (registry["unsqueeze"], (0,))),
            ((2, 3), t(0).array.dtype, None),
        ),
        S(t(2, 1, contiguous=True), ((registry["expand"], ((2, 3),)),), ((2, 1), t(0).array.dtype, None)),
    ]


def put_back(g: A, steps: Any, form: Any) -> A:
    """The gradient of a view's base. Where the view has no elements it is a constant in PyTorch, without a graph."""
    if isinstance(g, TensorBase) and g.array.size == 0:
        return wrap(view_steps_backward(g.array, steps, form))
    return view_steps_backward(g, steps, form)


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
        S(t(3, 2), ((registry["permute"], ((1, 0),)),), ((2, 3), t(0).array.dtype, None)),
        S(t(2, 3), ((registry["expand"], ((2, 3),)),), ((2, 1), t(0).array.dtype, None)),
    ]
