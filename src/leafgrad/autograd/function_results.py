"""From what the forward of a `Function` returned to what `apply` returns, where that is not one new tensor: several
results, arguments returned as they are or changed in place, views, results without a gradient, tangents."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

import leafgrad.errors.functions as refusals
from leafgrad import errors
from leafgrad._core.function import result_of
from leafgrad._core.inplace import count_change
from leafgrad._core.modes import recorded_in_modes
from leafgrad._core.node import UNCHANGING
from leafgrad._core.origin import user_frame
from leafgrad._core.tensor import TensorBase, links, wrap, wrap_node
from leafgrad._core.thread_state import shared_modes, state
from leafgrad._core.views import CUSTOM_VIEW, MULTI_VIEW, UNRECORDED_CUSTOM_VIEW
from leafgrad.autograd import forward_ad, grad_mode, hooks
from leafgrad.autograd.function_methods import FunctionMethods
from leafgrad.autograd.function_node import node_class, operation
from leafgrad.autograd.function_saved import NO_RESULT, save


def all_results(cls: Any, ctx: Any, args: tuple[Any, ...], edges: Any, output: Any) -> Any:
    """Give the results of forward their history; `edges` says where it begins, None if nothing is to be recorded."""
    several = isinstance(output, tuple)
    outputs = output if several else (output,)
    dirty = marked(ctx.dirty_tensors, "mark_dirty can only accept variables, but argument {} is of type {}")
    constants = marked(
        ctx.non_differentiable, "mark_non_differentiable only accepts variable arguments, but got {1} (argument {0})"
    )
    for t in dirty:
        count_change(t)
        if not among(t, outputs):
            raise refusals.dirty_not_returned(cls.__name__, t)
    if ctx._is_pure_view and (len(outputs) != 1 or sum(ctx._record.is_tensor) != 1):
        raise RuntimeError(
            "Pure view custom Function can only have one input Tensor and one output Tensor. Open an issue if you need "
            f"to support more.\n  in {cls.__name__}.forward"
        )
    if cls.setup_context is not FunctionMethods.setup_context:
        refuse_to_save_arguments(ctx, args, outputs, dirty)
    node = None if edges is None else make_node(cls, ctx, edges, outputs)
    results: list[Any] = []
    without_gradient = []
    for index, t in enumerate(outputs):
        if not isinstance(t, TensorBase):
            without_gradient.append(index)
            results.append(t)
            continue
        is_input, is_dirty = among(t, args), among(t, dirty)
        is_constant = among(t, constants) or t.array.dtype.kind in "biu"
        if is_constant:
            without_gradient.append(index)
        if is_constant or node is None:
            t = without_history(t, is_input, is_dirty)
            if state.recording and not is_dirty and t.rare is not None and t.rare.view is not None:
                t.rare.view.restriction = UNRECORDED_CUSTOM_VIEW
        elif is_dirty:
            change_history(cls, t, node, index, is_input, len(outputs))
        elif is_input:
            t = another(t)
            give_history(t, node, index)
        else:
            give_history(t, node, index)
        results.append(t)
    record = ctx._record
    record.without_gradient = without_gradient
    if node is not None:
        restrict_views([t for i, t in enumerate(results) if i not in without_gradient], ctx._is_pure_view)
        to_save = ctx.to_save or ()
        ctx.to_save = None  # before anything is packed, because a pack hook of a checkpoint may end the call
        record.saved = [saved(ctx, position, t, results) for position, t in enumerate(to_save)]
        if state.recording is not True:
            recorded_in_modes(node, args, ())
    record.saved_for_forward = ctx.saved_for_forward
    ctx.to_save = ctx.dirty_tensors = ctx.non_differentiable = ctx.saved_for_forward = None
    if shared_modes:
        give_tangents(ctx, args, results)
    return tuple(results) if several else results[0]


def refuse_to_save_arguments(ctx: Any, args: tuple[Any, ...], outputs: Sequence[Any], dirty: Sequence[Any]) -> None:
    """Raise if setup_context saves an argument that forward has returned: apply will return another tensor for it."""
    returned = [t for t in outputs if isinstance(t, TensorBase) and among(t, args) and not among(t, dirty)]
    if any([among(t, returned) for t in (*(ctx.to_save or ()), *(ctx.saved_for_forward or ()))]):
        first = (
            "An input that has been returned as-is as output is being saved for backward. This is not supported if you "
            "override setup_context. You should return and save a view of the input instead, e.g. with x.view_as(x) or "
            "setup ctx inside the forward function itself."
        )
        raise errors.mistake(RuntimeError, first)


def is_differentiated() -> bool:
    """Is a derivative of torch.func being taken? There PyTorch makes another Function of each."""
    return any([mode.transforms and not mode.batches for mode in state.modes])


def generated_class(cls: Any) -> Any:
    """The class of the nodes of a Function inside of such a derivative."""
    if "_generated_cls" not in vars(cls):
        cls._generated_cls = node_class(f"{cls.__name__}GeneratedBackward", cls)
    return cls._generated_cls


def make_node(cls: Any, ctx: Any, edges: tuple[Any, ...], outputs: Sequence[Any]) -> Any:
    """The node of one call. What a call saves can be freed, so it has a version, although one that never changes."""
    if cls._op is None:
        cls._op = operation(cls)
    node = generated_class(cls)() if is_differentiated() else cls._backward_cls()
    frame = user_frame()
    forms = [(t.array.shape, t.array.dtype) if isinstance(t, TensorBase) else None for t in outputs]
    if len(forms) == 1 and forms[0] is not None:
        shape, kind = forms[0]
    else:
        ctx._record.forms = forms
        shape = tuple([() if form is None else form[0] for form in forms])
        kind = tuple([np.dtype(np.float32) if form is None else form[1] for form in forms])
    node.fill(cls._op, edges, (ctx,), UNCHANGING, shape, kind, frame.f_code, frame.f_lasti)
    node.context = ctx
    node.hooks = ctx._record.hooks
    ctx._record.node = weakref.ref(node)
    return node


def saved(ctx: Any, position: int, t: Any, results: list[Any]) -> Any:
    """What was given to save_for_backward, at one position."""
    if t is not None and not isinstance(t, TensorBase):
        raise refusals.saved_kind(ctx, position, t)
    numbers = [i for i, r in enumerate(results) if t is not None and r is t and r.needs_grad]
    return save(t, numbers[-1] if numbers else NO_RESULT)


def marked(tensors: Any, refusal: str) -> tuple[Any, ...]:
    for position, t in enumerate(tensors or ()):
        if not isinstance(t, TensorBase):
            raise RuntimeError(f"{refusal.format(position, type(t).__name__)}\n  at {errors.here()}")
    return tensors or ()


def among(t: Any, tensors: Any) -> bool:
    """Is it one of them, the same object?"""
    return any([t is other for other in tensors])


# -- the history of one result ----------------------------------------------------------------------------------------


def without_history(t: Any, is_input: bool, is_dirty: bool) -> Any:
    """A result that no gradient flows through. An argument is never returned as the same object, unless forward has
    changed it, so that what is done to the result leaves the argument as it was."""
    if not t.requires_grad:
        if not is_input or is_dirty:
            return t
        return another(t)
    if is_input:
        return t.detach()
    if t.rare is None or t.rare.view is None:
        t.node, t.needs_grad = None, False
    return t


def another(t: Any) -> Any:
    """An argument that is a result as well: another tensor of its class on the same memory."""
    with grad_mode.no_grad():
        return links.alias(t, None) if type(t) is links.tensor_class else t.view_as(t)


def restrict_views(results: list[Any], is_pure: bool) -> None:
    """Say of those results that are views why they must not be changed in place; a single one may be, if the user says
    that backward is just that of the view."""
    for t in results:
        view = t.rare.view if t.rare is not None else None
        if view is not None and (len(results) > 1 or is_pure):
            view.restriction = MULTI_VIEW if len(results) > 1 else None


def give_history(t: Any, node: Any, index: int) -> None:
    """Make the node the grad_fn of a result. If that is a view, it must not be changed in place: the view would be
    recorded again, and the gradient of the view would replace the user's backward."""
    hooks.give_history(t, result_of(node, index, t.array))
    if t.rare is not None:
        t.rare.graph_break = None
        view = t.rare.view
        if view is not None:
            view.restriction, view.silent, view.node_version = CUSTOM_VIEW, False, t.version[0]


def change_history(cls: Any, t: Any, node: Any, index: int, is_input: bool, count: int) -> None:
    """An argument that forward has changed in place: the node becomes its history and, if it is a view, its base's."""
    if t.node is None and t.needs_grad:
        raise errors.leaf_in_place(t, False, done=True)
    view = t.rare.view if t.rare is not None else None
    if not is_input:
        message = (
            "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated "
            f"should be passed to ctx.mark_dirty().\n  in {cls.__name__}.forward"
        )
        if view is not None:
            raise RuntimeError(message)
        errors.warn(message)
        give_history(t, node, index)
        return
    if view is not None:
        if view.restriction is not None:
            raise errors.view_in_place(t, view.restriction == MULTI_VIEW)
        if view.base.node is None and view.base.needs_grad:
            raise errors.leaf_in_place(view.base, True)
        if count > 1:
            raise refusals.dirty_view_of_several(cls.__name__, t)
    links.rebase(t, wrap_node(t.array, result_of(node, index, t.array)))


# -- forward mode -----------------------------------------------------------------------------------------------------


def give_tangents(ctx: Any, arguments: Sequence[Any], results: Sequence[Any]) -> None:
    """Forward mode: if arguments of a Function have tangents, so have its results."""
    of_arguments = [forward_ad.tangents_of(a) if isinstance(a, TensorBase) else {} for a in arguments]
    if not forward_ad._is_fwd_grad_enabled():
        return
    for level in sorted({level for found in of_arguments for level in found}):
        given = [found.get(level) for found in of_arguments]
        for result, tangent in zip(results, tangents_of_results(ctx, given, arguments, results), strict=True):
            if tangent is not None:
                forward_ad.set_tangent(result, level, tangent)


def tangents_of_results(
    ctx: Any, tangents: Sequence[Any], arguments: Sequence[Any], results: Sequence[Any]
) -> list[Any]:
    """Run the user's jvp. `tangents` has a tensor or None for each of the `arguments` of forward, `results` is what
    apply is about to return. The context is the one of that call."""
    record = ctx._record
    given: list[Any] = []
    for tangent, argument in zip(tangents, arguments, strict=True):
        if tangent is None and isinstance(argument, TensorBase) and record.materialize:
            if argument.array.dtype.kind not in "biu":
                tangent = wrap(np.zeros(argument.array.shape, argument.array.dtype))
        given.append(tangent)
    counts = [None if tangent is None else tangent.version[0] for tangent in given]
    record.for_jvp = record.saved_for_forward or ()
    ctx.saved_for_forward = record.saved_for_forward
    try:
        returned = ctx._forward_cls.jvp(ctx, *given)
    finally:
        record.for_jvp = ctx.saved_for_forward = None
    found = returned if isinstance(returned, tuple) else (returned,)
    if len(found) != len(results):
        raise RuntimeError(
            f"Function's jvp returned an invalid number of forward gradients (expected {len(results)} but got "
            f"{len(found)})\n  in {ctx._forward_cls.__name__}.jvp"
        )
    for index, (tangent, result) in enumerate(zip(found, results, strict=True)):
        check_form(ctx, index, tangent, result)
        if tangent is not None:
            check_memory(ctx, tangent, result, list(zip(arguments, given, counts, strict=True)))
    return list(found)


def check_form(ctx: Any, index: int, tangent: Any, result: Any) -> None:
    """Refuse a tangent that is none, or that does not fit its result."""
    where = f"\n  in {ctx._forward_cls.__name__}.jvp"
    if tangent is None:
        return
    if not isinstance(tangent, TensorBase):
        got = type(tangent).__name__
        raise RuntimeError(f"expected Variable or None (got {got}) for grad output {index}.{where}")
    if index in ctx._record.without_gradient:
        raise RuntimeError(
            f"Function's jvp returned a gradient at position {index}, but  the corresponding forward output is not a "
            f"differentiable Tensor.You should return None at that position instead.{where}"
        )
    if tangent.array.shape != result.array.shape:
        own, got = errors.size(result.array.shape), errors.size(tangent.array.shape)
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {own} while the given forward gradient is of size {got}.{where}"
        )


def base_of(t: Any) -> Any:
    """What a tensor is a view of, or None."""
    return None if t.rare is None or t.rare.view is None else t.rare.view.base


def check_memory(ctx: Any, tangent: Any, result: Any, inputs: list[tuple[Any, Any, Any]]) -> None:
    """Refuse a tangent that does not share memory as its result does: with an argument, whose tangent it must then be,
    changed in place, or a view of. `inputs` has each argument, its tangent, and the version of that before."""
    where = f"\n  in {ctx._forward_cls.__name__}.jvp"
    for argument, given, count in inputs:
        if argument is result:
            if tangent is not given or tangent.version[0] == count:
                raise RuntimeError(
                    "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is "
                    "modifying an input inplace, then the jvp function must modify the corresponding gradient "
                    f"inplace.{where}"
                )
            return
    seen, base = base_of(tangent), base_of(result)
    if base is None:
        return
    if seen is None:
        raise RuntimeError(
            "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a "
            f"view.{where}"
        )
    for argument, given, _ in inputs:
        if given is None or (base is not argument and base is not base_of(argument)):
            continue
        given_base = base_of(given)
        if seen is not (given if given_base is None else given_base):
            which = "given" if given_base is None else "same base as the given"
            raise RuntimeError(
                f"A custom Function is returning a view but the jvp is not returning a view of the {which} grad "
                f"input.{where}"
            )
        return
