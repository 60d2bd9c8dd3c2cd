"""In-place operations: `x.add_(y)`, `x[...] = y`, `x += y`.

An in-place operation is the out-of-place one, whose result is then written into the memory of `x`; the history of `x`
becomes the history of that result. If `x` is a view, the memory is its base's, so the base's history changes as well:
to a `copy_slices` node, "the old base with this part replaced by that result", which is an ordinary operation with an
ordinary gradient.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.function import CallNode
from leafgrad._core.inplace import assign, change, count_change, is_free
from leafgrad._core.modes import about_to_change, changed_in_modes, current_modes, switches
from leafgrad._core.node import Node, Output, plan_of, take_order
from leafgrad._core.op import OUT
from leafgrad._core.overrides import UNCHANGED, method_overridden, plain
from leafgrad._core.recorder import make_node, settle
from leafgrad._core.tensor import TensorBase, conjugate_behind, links, wrap
from leafgrad._core.thread_state import state
from leafgrad._core.views import MULTI_VIEW
from leafgrad._dtypes import can_cast, from_numpy_dtype
from leafgrad.ops.arguments import MISSING
from leafgrad.ops.creation.fresh import zeros_like
from leafgrad.ops.out import check_overlap
from leafgrad.ops.public_forms import method_form
from leafgrad.ops.registry import Composite, Family, Operation, op
from leafgrad.ops.samples import S, ValuesOnly, real, through
from leafgrad.ops.shape.strides import as_strided
from leafgrad.ops.shape.view_history import axes_of, copy_in_order, current_steps, see, see_in
from leafgrad.ops.shape.views import view
from leafgrad.ops.signature import name_code

A = Any  # an array, or a tensor under create_graph


# -- the methods ------------------------------------------------------------------------------------------------------


def in_place_method(name: str, entry: Any, is_operator: bool = False) -> Callable[..., Any]:
    """`name`: the operation or function `entry`, in place, if it has no such form of its own. What can be computed
    straight into the memory of the tensor is (leafgrad/_core/inplace.py); everything else goes the general way,
    `in_place`. As an operator (`+=`) it leaves what it cannot do to the other operand."""
    operation = entry if entry.in_place is True else entry.in_place
    if not isinstance(operation, (Operation, Composite)):
        own = method_form(name, operation, entry.declaration.forms)
        return leaving_to_other(own) if is_operator else own
    function = entry.function

    def general(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not plain.issuperset(map(type, args)) or kwargs:
            taken = method_overridden(name, self, *args, **kwargs)
            if taken is not UNCHANGED:
                return taken
        return in_place(self, function, *args, **kwargs)

    if is_operator:
        general = leaving_to_other(general)
    method = general
    if isinstance(operation, Operation) and operation.core.writes_into and not operation.options:
        if len(operation.inputs) == 1:
            method = direct_unary(operation, general)
        elif operation.is_pair:
            method = direct_binary(operation, general)
    method.__name__ = method.__qualname__ = name
    name_code(method, name)
    method.__doc__ = f"{name}(...): {name[:-1]}, in place."
    method.__wrapped__ = entry.declaration.as_method()  # type: ignore[attr-defined]
    return method


def leaving_to_other(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method behind an operator, which Python asks the other operand about if it does not take that."""

    @functools.wraps(method)
    def operator(self: Any, other: Any) -> Any:
        try:
            return method(self, other)
        except TypeError:
            return NotImplemented

    return operator


def direct_unary(operation: Operation, general: Callable[..., Any]) -> Callable[..., Any]:
    core = operation.core

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not args and not kwargs and change(core, self, None, None, core):
            return self
        return general(self, *args, **kwargs)

    return method


def direct_binary(operation: Operation, general: Callable[..., Any]) -> Callable[..., Any]:
    core, by_number = operation.core, operation.by_number
    takes_alpha = operation.takes_alpha

    def method(self: Any, other: Any = MISSING, /, *args: Any, **kwargs: Any) -> Any:
        if not args and other is not None:
            if not kwargs:
                if change(core, self, other, None, by_number):
                    return self
            elif takes_alpha and len(kwargs) == 1 and (alpha := kwargs.get("alpha")) is not None:
                if change(core, self, other, alpha, by_number):
                    return self
        return general(self, *args, **kwargs) if other is MISSING else general(self, other, *args, **kwargs)

    return method


def in_place(x: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Replace the values of `x` by `function(x, *args, **kwargs)`."""
    others = [t for t in (*args, *kwargs.values()) if isinstance(t, TensorBase)]
    if len(others) <= 2 and is_free(x, *others):  # no history to care for
        result = function(wrap(x.array), *args, **kwargs)
        if result.array.dtype is not x.array.dtype or result.array.shape != x.array.shape:
            check_result(x, result, function.__name__)
        assign(x, result.array)
        return x
    check_writable(x, *others)
    check_overlap(x.array, x.version, others)
    return replace(x, function, *args, **kwargs)


def replace(x: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`in_place` after the checks."""
    start = take_order()
    old = stand_in(x)
    if any([mode.keeps_saved for mode in current_modes()]):  # they keep what they are given, which is about to change
        old.array = old.array.copy(order="K")
    result = function(old, *args, **kwargs)
    check_result(x, result, function.__name__)
    if result.needs_grad and x.array.dtype.kind not in "biu":
        keep_old_values(result.node, start, old.array)
        adopt_result(result.node, x, result)
    about_to_change(x)  # x.mul_(x) has saved it once more
    assign(x, result.array)
    node = result.node
    if result.needs_grad and isinstance(node, Node) and result.array.dtype != x.array.dtype:
        if isinstance(node, Output) or node.order > start:  # recorded before
            result = result._to_array_dtype(x.array.dtype)
        else:
            node.dtype = x.array.dtype  # of the gradients that it gets
    rebase(x, result if result.needs_grad else None)
    changed_in_modes(x, result)
    return x


def stand_in(x: TensorBase) -> Any:
    """`x` as it is before the change: the same memory and history, but a version that will not count the change."""
    old = wrap(x.array)
    old.needs_grad = x.needs_grad
    old.node = x.node
    for mode in current_modes():
        mode.stood_in(old, x)
    return old


def check_writable(x: TensorBase, *others: TensorBase, only_shape: bool = False) -> None:
    """Refuse changes of what may not be changed, and prepare x for a change. `others` are the tensors that the new
    values are computed from, beside x; with `only_shape` there are no new values."""
    if x.rare is not None and x.rare.inference and not state.inference:
        raise errors.inference_changed(x)
    if x.rare is not None and conjugate_behind(x) is not None:
        raise errors.copy_of_view_changed(x)
    if switches.conjugated:
        refresh_copies(others)
    about_to_change(x)
    view = x.rare.view if x.rare is not None else None
    if check_history(x, others) and view is not None:
        # What is changed are elements of the base. So their history is the base's: also of those that the input of
        # as_strided did not show, without the hooks of the view, which belong to what it was, and without the
        # Function of the user's that made it, which says of itself that it does nothing else.
        is_other = view.steps[0][0] is as_strided or isinstance(x.node, CallNode) or has_hooks(x.node, len(view.steps))
        if is_other and not only_shape:
            view.node_version = -1
        settle(x)


def has_hooks(node: Any, steps: int) -> bool:
    """Are there hooks on the way from a view to its base, which has so many steps?"""
    for _ in range(steps):
        if not isinstance(node, Node):
            return False
        if node.hooks is not None:
            return True
        if isinstance(node, Output) or len(node.inputs) != 1:
            return False
        node = node.inputs[0]
    return False


def check_history(x: TensorBase, others: Sequence[Any]) -> bool:
    """Refuse changes that could not be differentiated: of a leaf, of a view of one, of a view that cannot follow its
    base. PyTorch does this before it looks at the other arguments. Will the change be recorded?"""
    if not state.recording:
        return False
    wanted = needs_grad(x)
    if not wanted:
        for t in others:
            if isinstance(t, TensorBase) and needs_grad(t):
                break
        else:
            return False
    view = x.rare.view if x.rare is not None else None
    if view is not None:
        if view.restriction is not None:
            raise errors.view_in_place(x, view.restriction == MULTI_VIEW)
        if wanted and view.base.node is None:
            raise errors.leaf_in_place(view.base, True)
    if wanted and x.node is None:
        raise errors.leaf_in_place(x, False)
    return True


def needs_grad(t: TensorBase) -> bool:
    """Does a tensor need a gradient, be it for the sake of its base, whose history it has not taken over yet?"""
    if t.rare is None or t.rare.view is None:
        return t.needs_grad
    return t.needs_grad or t.rare.view.base.needs_grad


def check_result(x: TensorBase, result: TensorBase, name: str) -> None:
    """A result can only be written where it fits: into the same shape, and without losing its category."""
    own, out = x.array, result.array
    if out.shape != own.shape:
        raise errors.in_place_shape(name, own.shape, out.shape)
    source, target = from_numpy_dtype(out.dtype), from_numpy_dtype(own.dtype)
    if not can_cast(source, target):
        raise errors.in_place_dtype(name, source, target)


def keep_old_values(node: Any, start: int, old: Any) -> None:
    """Rules that need the old values of `x` get a copy of them, because the memory is about to be overwritten."""
    copy = None
    stack = [node]
    while stack:
        place = stack.pop()
        if not isinstance(place, Node) or place.order > start:
            continue  # recorded before: its view of the old values is the version counter's business
        if isinstance(place.saved, tuple):
            if any(value is old for value in place.saved):
                copy = old.copy() if copy is None else copy
                place.saved = tuple([copy if value is old else value for value in place.saved])
        stack.extend(place.inputs)


def adopt_result(node: Any, x: TensorBase, result: TensorBase) -> None:
    """A rule that saved the result finds it in the memory of `x` from now on, and notices if `x` changes again."""
    if isinstance(node, Output) or node.versions is None or x.array.dtype != result.array.dtype:
        return
    if OUT not in plan_of(node):
        return
    node.saved = tuple([x.array if value is result.array else value for value in node.saved])
    versions = list(node.versions)
    for i in range(0, len(versions), 2):
        if versions[i] is result.version:
            versions[i], versions[i + 1] = x.version, x.version[0] + 1
    node.versions = tuple(versions)


def rebase(x: TensorBase, result: Any) -> None:
    """Make the history of `result` (None: a constant) the history of `x` and, if `x` is a view, of its base."""
    if not state.recording or x.array.dtype.kind in "biu":
        return
    seen_through = x.rare.view if x.rare is not None else None
    if seen_through is None:
        if result is not None:
            links.give_history(x, result.node)
        elif x.needs_grad:
            links.give_history(x, constant.record(stand_in(x)).node)
        return
    base = seen_through.base
    if result is None and not base.needs_grad:
        return
    old = stand_in(base)
    part = result if result is not None else wrap(x.array)
    options = (current_steps(x, seen_through), axes_of(base.array))
    new = make_node(
        copy_slices.core, (old, part), (base.array, x.array), options, (), (), base.array.shape, base.array.dtype
    )
    links.give_history(base, new)
    settle(x)


links.rebase = rebase


def refresh_copies(tensors: Sequence[TensorBase | None]) -> None:
    """Bring results of conj() up to date after a change of what they came from, as PyTorch's views would be."""
    for t in tensors:
        if t is None or t.rare is None:
            continue
        known, view = conjugate_behind(t), t.rare.view
        if known is None or known.source is None or not known.is_outdated():
            continue
        refresh_copies((known.source,))
        copy = t if t.rare.conjugate is known or view is None else view.base
        if t.needs_grad or copy.needs_grad or known.source.needs_grad:
            raise errors.outdated_copy_of_view(t)
        copy.array[...] = np.conj(known.source.array)
        known.version = known.base.version[0]
        count_change(copy)


links.refresh_copies = refresh_copies


@op
class copy_slices(Family):
    """copy_slices(base, part, steps, axes): a copy of base in which the view described by `steps` is replaced by part.
    `axes` is the memory order of the base that the steps were made for."""

    saved_as = {"steps": "", "axes": ""}
    inputs = ("base", "part")
    options = ("steps", "axes")
    node_name = "CopySlices"
    # what select_scatter, slice_scatter and their relatives record
    node_names = (
        "SelectScatterBackward0", "SliceScatterBackward0", "DiagonalScatterBackward0", "AsStridedScatterBackward0",
    )  # fmt: skip
    public_name = ""
    aten = "slice_scatter"
    jvp = "linear"
    holomorphic = False  # a part may be the real or the imaginary one

    def kernel(base: A, part: A, steps: Any, axes: Any) -> A:
        copy = copy_in_order(base, axes)
        see_in(copy, steps)[...] = part
        return copy

    def vjp_base(g: A, steps: A, axes: A) -> A:
        return copy_slices(g, 0.0, steps, axes)

    def vjp_part(g: A, steps: A, axes: A) -> A:
        return see(g, steps)

    def vmap(batch: A, base: A, part: A, steps: Any, axes: Any) -> A:
        value = batch.value(base)
        order = None if axes is None or not len(axes) else (0, *[int(a) + 1 for a in axes])
        copy = batch.wrap(copy_in_order(value, order) if value.__class__ is np.ndarray else value.copy())
        see(copy, steps)[...] = part
        return copy

    samples = lambda t: [S(t(6), t(2, 3), ((view, ((2, 3),)),), None), S(t(3, 2), t(6), ((view, (6,)),), None)]

    def reference(torch: Any, base: Any, part: Any, steps: Any, axes: Any) -> Any:
        whole = base.clone()
        through(whole, steps).copy_(part)
        return whole


@op
class constant(Family):
    """constant(input): the tensor with its history replaced by that of a constant: its gradient is zero."""

    node_name = "FillBackward0"
    public_name = ""
    aten = "fill"
    jvp = "linear"
    vmap = "elementwise"

    def kernel(x: A) -> A:
        return x

    def vjp(g: A) -> A:
        return zeros_like(g)

    samples = ValuesOnly("has the gradient of a constant, not of its values", real())
    reference = lambda torch, x: x.detach() + 0 * x
