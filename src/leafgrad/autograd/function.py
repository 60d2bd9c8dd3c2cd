"""Operations that users write themselves: subclasses of `Function` with a `forward` and a `backward` of their own.

class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y

Exp.apply(x)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from leafgrad import _core, errors
from leafgrad._core import TensorBase, state, wrap, wrap_node
from leafgrad.autograd import hooks, modes
from leafgrad.autograd.engine import changed
from leafgrad.autograd.graph import OPTION, OUT, UNCHANGING, Node, Op, output_of
from leafgrad.autograd.origin import user_frame

_F32 = np.dtype(np.float32)


class FunctionCtx:
    """What `forward` leaves behind for `backward`: saved tensors, and any attribute the user sets."""

    def __init__(self) -> None:
        self.needs_input_grad: tuple[bool, ...] = ()
        self._to_save: tuple[Any, ...] = ()
        self._saved: tuple[Any, ...] = ()  # tensors and None; an int is the index of a result of forward
        self._results: dict[int, Any] = {}  # those results, while backward runs
        self._versions: tuple[Any, ...] = ()
        self._forms: list[tuple[Any, Any]] = []  # shape and dtype of each result
        self._dirty: tuple[Any, ...] = ()
        self._no_gradient: tuple[Any, ...] = ()
        self._materialize = True

    def save_for_backward(self, *tensors: Any) -> None:
        """save_for_backward(*tensors): keep tensors for backward, where they are `ctx.saved_tensors`."""
        for t in tensors:
            if t is not None and not isinstance(t, TensorBase):
                raise TypeError(f"save_for_backward can only save variables, but got {type(t).__name__}")
        self._to_save = tensors

    save_for_forward = save_for_backward

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        if changed(self._versions):
            raise errors.function_input_changed(type(self).__name__)
        return tuple([self._results[s] if isinstance(s, int) else s for s in self._saved])

    def mark_dirty(self, *tensors: Any) -> None:
        """mark_dirty(*tensors): these inputs were changed in place by forward, and are among its results."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """mark_non_differentiable(*tensors): these results have no gradient."""
        self._no_gradient = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """set_materialize_grads(value): shall backward get zeros (True) or None for results without a gradient?"""
        self._materialize = bool(value)


class Function(FunctionCtx):
    """Subclass it, define the static methods `forward` and `backward`, and call `apply`."""

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Optional: with it, forward takes no ctx, and this is called afterwards."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """apply(*args): run forward, and record it if one of the tensors needs a gradient."""
        for t in args:
            if isinstance(t, TensorBase) and t.extra is not None:
                _core.settle(t)
        tensors = [a if isinstance(a, TensorBase) else None for a in args]
        ctx = cls()
        recording = _core.needs_recording(tensors)
        ctx.needs_input_grad = tuple([recording and t is not None and t.needs_grad for t in tensors])
        edges = tuple([_core.edge(t) if t is not None and t.needs_grad else None for t in tensors])
        with modes.no_grad():
            if cls.setup_context is Function.setup_context:
                output = cls.forward(ctx, *args)
            else:
                output = cls.forward(*args)
                cls.setup_context(ctx, args, output)
        outputs = list(output) if isinstance(output, (tuple, list)) else [output]
        for t in ctx._dirty:
            if recording and t.needs_grad and t.node is None:
                raise errors.leaf_in_place(t, False)
        if recording:
            outputs = _record(cls, ctx, edges, tensors, outputs)
        return tuple(outputs) if isinstance(output, (tuple, list)) else outputs[0]


def _record(
    cls: type[Function], ctx: Function, edges: tuple[Any, ...], tensors: Sequence[Any], outputs: list[Any]
) -> list[Any]:
    """Leave a node behind, and hang the results on it."""
    from leafgrad.ops.inplace import rebase

    ctx._forms = [(t.array.shape, t.array.dtype) if isinstance(t, TensorBase) else ((), _F32) for t in outputs]
    ctx._saved = tuple([_index_of(s, outputs) for s in ctx._to_save])
    ctx._versions = tuple([v for s in ctx._to_save if s is not None for v in (s.version, s.version[0])])
    ctx._to_save = ()
    # Saved results belong to the node, as arrays: a tensor would hold the node that holds it.
    kept = sorted({s for s in ctx._saved if isinstance(s, int)})
    plan = (OPTION, *[OUT - i for i in kept])
    rule = functools.partial(_backward, cls, kept)
    op = Op(cls.__name__, cls.__name__ + "Backward", cls.forward, rule, lambda mask: plan)
    op.node_class = _node_class(cls)
    shapes, kinds = zip(*ctx._forms, strict=True)
    frame = user_frame()
    saved = (ctx, *[outputs[i].array for i in kept])
    node = Node().fill(op, edges, saved, UNCHANGING, shapes, kinds, frame.f_code, frame.f_lasti)
    results = []
    for index, t in enumerate(outputs):
        no_gradient = not isinstance(t, TensorBase) or any(t is n for n in ctx._no_gradient)
        if no_gradient or t.array.dtype.kind in "biu":
            results.append(t)
            continue
        place = output_of(node, index, t.array.shape, t.array.dtype)
        if any(t is d for d in ctx._dirty):
            rebase(t, wrap_node(t.array, place))
        elif any(t is i for i in tensors):
            version, t = t.version, wrap_node(t.array, place)  # an input passed through: a new tensor on its memory
            t.version = version
        else:
            t.node, t.needs_grad = place, True
            if t.extra is not None:
                t.extra.view = t.extra.cut = None
        results.append(t)
    return results


def _node_class(cls: type[Function]) -> type:
    """The class under which nodes of this Function show themselves."""
    if "_shown_as" not in cls.__dict__:
        members = {**hooks.members(), "name": lambda node: node.op.node_name}
        cls._shown_as = type(cls.__name__ + "Backward", (Node,), members)  # type: ignore[attr-defined]
    shown_as: type = cls.__dict__["_shown_as"]
    return shown_as


def _index_of(saved: Any, outputs: list[Any]) -> Any:
    """A saved tensor, or its index if it is a result of forward."""
    if saved is not None:
        for index, t in enumerate(outputs):
            if saved is t:
                return index
    return saved


def _backward(
    cls: type[Function], kept: list[int], gs: list[Any], saved: tuple[Any, ...], inputs: tuple[Any, ...]
) -> list[Any]:
    """Call the user's backward with tensors, whatever the engine works with, and check what it returns."""
    ctx = saved[0]
    raw = not state.grad_enabled
    gradients = []
    for g, (shape, kind) in zip(gs, ctx._forms, strict=True):
        if g is None and ctx._materialize:
            g = np.zeros(shape, kind)
        gradients.append(g if g is None or isinstance(g, TensorBase) else wrap(g))
    ctx._results = {i: t if isinstance(t, TensorBase) else wrap(t) for i, t in zip(kept, saved[1:], strict=True)}
    try:
        user = cls.backward if cls.vjp is Function.vjp else cls.vjp
        returned = user(ctx, *gradients)
    finally:
        ctx._results = {}
    return _checked(cls.__name__ + "Backward", returned, inputs, raw)


def _checked(name: str, returned: Any, inputs: tuple[Any, ...], raw: bool) -> list[Any]:
    """One gradient for each argument of forward; None for those that need none."""
    results = list(returned) if isinstance(returned, tuple) else [returned]
    if all(r is None for r in results[len(inputs) :]):
        results = results[: len(inputs)]
    if len(results) != len(inputs):
        raise RuntimeError(
            f"function {name} returned an incorrect number of gradients (expected {len(inputs)}, got {len(results)})"
        )
    for index, r in enumerate(results):
        if r is not None and not isinstance(r, TensorBase):
            raise TypeError(f"{name} returned a {type(r).__name__} as gradient {index}; gradients are tensors or None")
    # a view, because the user may have kept the tensor: the engine must not take its memory for its own
    return [r.array.view() if raw and r is not None else r for r in results]


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator for a backward that cannot be differentiated itself: trying to raises."""

    from leafgrad.ops.convert import detach

    @functools.wraps(backward)
    def wrapper(ctx: Any, *gradients: Any) -> Any:
        with modes.no_grad():
            outputs = backward(ctx, *gradients)
        if not state.grad_enabled or not any(isinstance(g, TensorBase) and g.needs_grad for g in gradients):
            return outputs
        several = isinstance(outputs, tuple)
        failing = [
            _Refuse.apply(detach(o).requires_grad_()) if isinstance(o, TensorBase) else o
            for o in (outputs if several else (outputs,))
        ]
        return tuple(failing) if several else failing[0]

    return wrapper


class _Refuse(Function):
    """Passes a gradient on, but refuses to be differentiated."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")
