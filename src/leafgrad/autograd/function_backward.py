"""The backward pass through a `Function`: calls the user's method with tensors, also where the engine works on arrays,
and checks what it returns. Hot, compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

import leafgrad.errors.functions as refusals
from leafgrad._core import thread_state
from leafgrad._core.function import Context
from leafgrad._core.node import UNCHANGING, Freed, Node
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad.autograd.function_methods import FunctionMethods

state: Final[Any] = thread_state.state
make_zeros: Final[Any] = np.zeros
make_array: Final[Any] = np.array
_no_vjp: Final[Any] = FunctionMethods.vjp


def run_backward(g: Any, saved: tuple[Any, ...], inputs: tuple[Any, ...]) -> Sequence[Any]:
    """The rule of every Function. `g` is a list if the call has several results."""
    ctx: Context = saved[0]
    record = ctx._record
    node = record.node()
    freed = node.saved if node is not None and isinstance(node.saved, Freed) else None
    if freed is not None:
        # As in PyTorch a Function can be run again after it was freed; what fails is to ask for saved tensors.
        node.saved = (ctx,)
        node.versions = None
    raw = not isinstance(g, TensorBase)
    cls = ctx._forward_cls  # type: ignore[attr-defined]  # FunctionMeta gives it to the class of the context
    try:
        backward = cls.backward if cls.vjp is _no_vjp else cls._gradient_rule()
        if type(g) is list:
            given = [one for one in g if one is not None]
            raw = not isinstance(given[0], TensorBase) if given else not state.recording
            gradients = all_gradients(g, ctx, node)
            returned = backward(ctx, gradients) if cls.boxed_grads_call else backward(ctx, *gradients)
        else:
            if cls.boxed_grads_call:  # only the list refers to the gradient, so that backward can free it
                returned = backward(ctx, [as_tensor(g) if raw else g])
            else:
                returned = backward(ctx, as_tensor(g) if raw else g)
    except BaseException:
        if freed is not None:
            node.versions = UNCHANGING  # not freed
        raise
    if freed is not None:
        record.freed = freed
        record.saved = ()
    if raw and len(inputs) == 1 and isinstance(returned, TensorBase) and fits(returned.array, inputs[0]):
        return (returned.array.view(),)  # see `checked`
    return checked(ctx, returned, inputs, raw)


def as_tensor(g: Any) -> Any:
    """A gradient for the user, who may write to it: arrays of the engine's own may be read-only, or NumPy scalars."""
    flags = getattr(g, "flags", None)
    return wrap(g if flags is not None and flags.writeable else make_array(g))


def all_gradients(gs: list[Any], ctx: Context, node: Any) -> list[Any]:
    """The gradients of all results as tensors; zeros for those that are missing, unless the user wants to know."""
    record = ctx._record
    forms = record.forms if record.forms is not None else [(node.shape, node.dtype)]
    gradients: list[Any] = []
    for g, form in zip(gs, forms, strict=True):
        without = ctx._materialize_non_diff_grads is False and len(gradients) in record.without_gradient
        if g is None and form is not None and record.materialize and not without:
            g = make_zeros(form[0], form[1])
        gradients.append(g if g is None or isinstance(g, TensorBase) else as_tensor(g))
    return gradients


# -- what the user's method returns -----------------------------------------------------------------------------------


def fits(array: Any, edge: Any) -> bool:
    """Has a gradient just the form of the place it goes to?"""
    if edge is None:
        return False
    place = edge if isinstance(edge, Node) else edge.array
    return array.dtype is place.dtype and bool(array.shape == place.shape)


def checked(ctx: Context, returned: Any, inputs: tuple[Any, ...], raw: bool) -> list[Any]:
    """One gradient for each argument of forward, each of a form that fits it."""
    results = list(returned) if isinstance(returned, tuple) else [returned]
    count = len(inputs)
    if len(results) > count and all([r is None for r in results[count:]]):
        results = results[:count]
    if len(results) != count:
        raise refusals.gradient_count(ctx, count, len(results))
    is_tensor: tuple[bool, ...] = ctx._record.is_tensor
    kept: list[Any] = []
    number = 0  # PyTorch numbers the gradients of tensors only
    for position, r in enumerate(results):
        edge = inputs[position]
        if r is not None:
            if not is_tensor[position]:
                raise refusals.gradient_unasked(ctx, position)
            if not isinstance(r, TensorBase):
                raise refusals.gradient_kind(ctx, position, r)
            if edge is not None and not fits(r.array, edge):
                check_form(ctx, r.array, edge, number, position)
        # a view, because the user may have kept the tensor: the engine must not take its memory for its own
        kept.append(r.array.view() if raw and isinstance(r, TensorBase) else r)
        number += is_tensor[position]
    return kept


def check_form(ctx: Context, array: Any, edge: Any, number: int, position: int) -> None:
    """Can the gradient be brought to the form of the place it goes to?"""
    place = edge if isinstance(edge, Node) else edge.array
    if array.shape != place.shape and not broadcasts_to(place.shape, array.shape):
        raise refusals.gradient_shape(ctx, number, position, array.shape, place.shape)
    if array.dtype.kind == "c" and place.dtype.kind != "c":
        raise refusals.gradient_complex(ctx, position)


def broadcasts_to(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    """Could a tensor of shape `small` have been broadcast to `large`?"""
    lead = len(large) - len(small)
    return lead >= 0 and all([s in (1, n) for s, n in zip(small, large[lead:], strict=True)])
