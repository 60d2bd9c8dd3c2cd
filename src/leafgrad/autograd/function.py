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

The graph's side of it is in `function_node`; what forward mode and vmap call is in `function_transforms`.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import leafgrad.errors.functions as refusals
from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.inplace import count_change
from leafgrad._core.modes import in_transform, recorded_in_modes
from leafgrad._core.node import output_of
from leafgrad._core.op import GradientRules, Op
from leafgrad._core.recorder import edge, needs_recording
from leafgrad._core.tensor import TensorBase, wrap_node
from leafgrad._core.thread_state import shared_modes, state
from leafgrad.autograd import grad_mode, hooks
from leafgrad.autograd.function_node import Record, SavedTensor, make_node, node_class, operation, saved_tensors
from leafgrad.ops.inplace import rebase
from leafgrad.ops.pointwise.convert import detach
from leafgrad.ops.shape.views import CUSTOM_VIEW, MULTI_VIEW, same_memory

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "once_differentiable",
]


class FunctionCtx:
    """What `forward` (or `setup_context`) leaves behind for `backward`: saved tensors, marks on arguments and results,
    and any attribute the user sets."""

    # What the methods below were given, until `apply` has dealt with it.
    to_save: tuple[Any, ...] | None = None
    saved_for_forward: tuple[Any, ...] | None = None
    dirty_tensors: tuple[Any, ...] | None = None
    non_differentiable: tuple[Any, ...] | None = None

    def save_for_backward(self, *tensors: Any) -> None:
        """save_for_backward(*tensors): keep tensors, or None, for backward, where they are `ctx.saved_tensors`."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """save_for_forward(*tensors): keep tensors for jvp, where they are `ctx.saved_tensors`."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, TensorBase):
                raise AssertionError(
                    "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes "
                    f"on ctx.\n  got a {type(tensor).__name__}, at {errors.here()}"
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """mark_dirty(*tensors): these inputs were changed in place by forward, and are among its results."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """mark_non_differentiable(*tensors): these results have no gradient."""
        self.non_differentiable = args

    def mark_shared_storage(self, *pairs: Any) -> None:
        """mark_shared_storage(*pairs): not needed any more."""
        warnings.warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. Note that "
            f"calls to `set_()` are not tracked\n  at {errors.here()}",
            FutureWarning,
            stacklevel=2,
        )

    def set_materialize_grads(self, value: bool) -> None:
        """set_materialize_grads(value): shall backward get zeros (True) or None for results without a gradient?"""
        if value.__class__ is not bool:
            raise TypeError(
                "set_materialize_grads received an invalid combination of arguments - got "
                f"({type(value).__name__}), but expected (bool)\n  at {errors.here()}"
            )
        self._record.materialize = value

    _record: Record


class BackwardCFunction(FunctionCtx):
    """The context of one call. Its class is named after the Function, as its node's class is."""

    _forward_cls: Any
    needs_input_grad: tuple[bool, ...]

    def __init__(self) -> None:
        self._record = Record()
        self.needs_input_grad = ()

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors that were given to save_for_backward; in jvp, to save_for_forward."""
        return saved_tensors(self)

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return saved_tensors(self)

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        saved_tensors(self)  # which refuses after they were freed
        return tuple(self._record.saved)

    def maybe_clear_saved_tensors(self) -> None:
        """maybe_clear_saved_tensors(): for compiled graphs, which leafgrad has none of; does nothing, as there."""

    def name(self) -> str:
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[Any, ...]:
        """Where the arguments of this call came from, as `grad_fn.next_functions` shows it."""
        node = self._node()
        return () if node is None else node.next_functions

    @property
    def metadata(self) -> Any:
        node = self._node()
        return {} if node is None else node.metadata

    def register_hook(self, hook: Any) -> Any:
        """register_hook(hook): call `hook(grad_inputs, grad_outputs)` after backward has run."""
        return self._recorded().register_hook(hook)

    def register_prehook(self, hook: Any) -> Any:
        """register_prehook(hook): call `hook(grad_outputs)` before backward runs."""
        return self._recorded().register_prehook(hook)

    def _node(self) -> Any:
        return None if self._record.node is None else self._record.node()

    def _recorded(self) -> Any:
        node = self._node()
        if node is None:
            raise RuntimeError(
                f"{self.name()}: this call is not part of a graph, so it has no hooks\n  at {errors.here()}"
            )
        return node


class FunctionMeta(type):
    """Gives each Function the classes of its contexts and of its nodes."""

    def __init__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> None:
        super().__init__(name, bases, members)
        made: Any = cls
        made._backward_cls = type(name + "Backward", (BackwardCFunction,), {"_forward_cls": cls})
        made._node_class = node_class(name + "Backward")
        made._op = None  # made by the first call, when all methods are in place


class Function(FunctionCtx, metaclass=FunctionMeta):
    """Subclass it, define the static methods `forward` and `backward`, and call `apply`.

    forward(ctx, *args)                          computes; ctx takes what backward will need
    forward(*args), setup_context(ctx, inputs, output)   the same in two parts, which function transforms ask for
    backward(ctx, *gradients), or vjp            one gradient (or None) for each argument of forward
    jvp(ctx, *tangents)                          optional, for forward mode: one tangent for each result
    vmap(info, in_dims, *args)                   optional, for vmap: (results, out_dims); or generate_vmap_rule = True
    """

    generate_vmap_rule = False
    _backward_cls: type[BackwardCFunction]
    _node_class: type
    _op: Op | None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future "
            "version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            f"function with static forward method.\n  fix  {type(self).__name__}.apply(...)\n  at {errors.here()}"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """forward(ctx, *args), or forward(*args) beside a setup_context: the computation, run without recording."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """setup_context(ctx, inputs, output): optional. With it forward takes no ctx, and this is called afterwards."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """backward(ctx, *grad_outputs): the gradients of the arguments of forward, from those of its results."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """jvp(ctx, *grad_inputs): the tangents of the results of forward, from those of its arguments."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """vmap(info, in_dims, *args): forward for a whole batch; returns the results and where their batch lies."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """apply(*args): run forward, and record it if one of the tensors needs a gradient."""
        two_parts = cls.setup_context is not Function.setup_context
        if kwargs or two_parts:
            args = bound(cls.forward, args, kwargs, two_parts)
        if in_transform():
            from leafgrad.func.functions import apply_in_transform

            if (mapped := apply_in_transform(cls, args)) is not None:
                return mapped[0]
        tensors = [a if isinstance(a, TensorBase) else None for a in args]
        recording = needs_recording(tensors)  # which also brings the history of views up to date
        ctx = cls._backward_cls()
        ctx.needs_input_grad = tuple([t is not None and t.needs_grad for t in tensors])
        ctx._record.is_tensor = tuple([t is not None for t in tensors])
        edges = tuple([edge(t) if t is not None and t.needs_grad else None for t in tensors])
        before = bool(state.recording), state.forward_mode
        state.record(False)  # forward computes values; backward and jvp what is derived
        state.forward_mode = False
        try:
            if two_parts and in_transform():
                from leafgrad.func.functions import forward_in_transform

                output = forward_in_transform(cls, args)
                cls.setup_context(ctx, args, output)
            elif two_parts:
                output = cls.forward(*args)
                cls.setup_context(ctx, args, output)
            else:
                output = cls.forward(ctx, *args)
        finally:
            state.record(before[0])
            state.forward_mode = before[1]
        several = isinstance(output, tuple)
        results = finish(cls, ctx, tensors, edges if recording else None, output if several else (output,))
        if shared_modes:
            from leafgrad.autograd.function_transforms import give_tangents

            give_tangents(ctx, args, results)
        return tuple(results) if several else results[0]

    @classmethod
    def _gradient_rule(cls) -> Any:
        """The method that computes gradients, under either of its two names."""
        if cls.vjp is Function.vjp:
            return cls.backward
        if cls.backward is not Function.backward:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                f"implement one of them.\n  in {cls.__name__}"
            )
        return cls.vjp


def bound(forward: Any, args: tuple[Any, ...], kwargs: dict[str, Any], two_parts: bool) -> tuple[Any, ...]:
    """The arguments of forward in their places. Beside a setup_context, which is given all inputs, the defaults are
    filled in."""
    if two_parts:
        code = getattr(forward, "__code__", None)
        if not kwargs and code is not None and len(args) == code.co_argcount and not hasattr(forward, "__wrapped__"):
            if not code.co_kwonlyargcount and not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
                return args  # every argument is there; a signature takes as long as the rest of apply()
        given = inspect.signature(forward)
        allowed = [p.name for p in given.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        check_keywords(kwargs, allowed)
        arguments = given.bind(*args, **kwargs)
        arguments.apply_defaults()
        return arguments.args
    names = [p.name for p in inspect.signature(forward).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD][1:]
    check_keywords(kwargs, names)
    for name in names[: len(args)]:
        if name in kwargs:
            raise TypeError(f"forward() got multiple values for argument '{name}'")
    values = list(args)
    for position, name in enumerate(names[len(args) : len(args) + len(kwargs)], len(args)):
        if name not in kwargs:
            raise TypeError(f"forward() missing required argument: '{name}' (position {position})")
        values.append(kwargs[name])
    return tuple(values)


def check_keywords(kwargs: dict[str, Any], allowed: list[str]) -> None:
    for name in kwargs:
        if name not in allowed:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")


# -- from what forward returned to what apply returns -----------------------------------------------------------------


def finish(cls: type[Function], ctx: Any, tensors: list[Any], edges: Any, outputs: tuple[Any, ...]) -> list[Any]:
    """Give the results of forward their history; `edges` says where it begins, None if nothing is to be recorded."""

    dirty = marked(ctx.dirty_tensors, "mark_dirty can only accept variables, but argument {} is of type {}")
    constants = marked(
        ctx.non_differentiable, "mark_non_differentiable only accepts variable arguments, but got {1} (argument {0})"
    )
    for t in dirty:
        count_change(t)
        if not among(t, outputs):
            raise refusals.dirty_not_returned(cls.__name__, t)
    node = None
    if edges is not None:
        if cls._op is None:
            cls._op = operation(cls, cls._backward_cls.__name__)
        forms = [(t.array.shape, t.array.dtype) if isinstance(t, TensorBase) else None for t in outputs]
        node = make_node(cls, ctx, edges, forms)
    results: list[Any] = []
    for index, t in enumerate(outputs):
        if not isinstance(t, TensorBase):
            ctx._record.without_gradient.add(index)
            results.append(t)
            continue
        is_input, is_dirty = among(t, tensors), among(t, dirty)
        if among(t, constants) or t.array.dtype.kind in "biu":
            ctx._record.without_gradient.add(index)
            t = without_history(t, is_input, is_dirty)
        elif node is None:
            t = without_history(t, is_input, is_dirty)
        elif is_dirty:
            change_history(cls, t, node, index, is_input, len(outputs))
        elif is_input:
            t = returned_as_is(t, node, index)
        else:
            give_history(t, node, index)
        results.append(t)
    if node is not None:
        save(ctx, results)
        if state.recording is not True:
            recorded_in_modes(node, tensors, ())
    ctx._record.saved_for_forward = ctx.saved_for_forward
    ctx.to_save = ctx.dirty_tensors = ctx.non_differentiable = ctx.saved_for_forward = None
    return results


def among(t: Any, tensors: Any) -> bool:
    """Is it one of them, the same object?"""
    for other in tensors:  # any() takes three times as long
        if t is other:
            return True
    return False


def marked(tensors: Any, refusal: str) -> tuple[Any, ...]:
    for position, t in enumerate(tensors or ()):
        if not isinstance(t, TensorBase):
            raise RuntimeError(f"{refusal.format(position, type(t).__name__)}\n  at {errors.here()}")
    return tensors or ()


def without_history(t: Any, is_input: bool, is_dirty: bool) -> Any:
    """A result that no gradient flows through. An argument is never returned as the same object, unless forward has
    changed it, so that what is done to the result leaves the argument as it was."""

    if not t.requires_grad:
        if not is_input or is_dirty:
            return t
        with grad_mode.no_grad():
            return same_memory(t, None)
    if is_input:
        return detach(t)
    if t.extra is None or t.extra.view is None:
        t.node, t.needs_grad = None, False
    return t


def give_history(t: Any, node: Any, index: int) -> None:
    """Hang a result on the node. If it is a view of something, its memory must not be changed through it: that would
    replace the user's backward by that of the view."""
    hooks.give_history(t, output_of(node, index, t.array.shape, t.array.dtype))
    if t.extra is not None:
        t.extra.cut = None
        view = t.extra.view
        if view is not None:
            view.restriction, view.silent, view.seen = CUSTOM_VIEW, False, t.version[0]


def returned_as_is(t: Any, node: Any, index: int) -> Any:
    """An argument that is a result as well: a view of it, with a history of its own."""

    alias = same_memory(t, CUSTOM_VIEW)
    give_history(alias, node, index)
    return alias


def change_history(cls: type[Function], t: Any, node: Any, index: int, is_input: bool, count: int) -> None:
    """An argument that forward has changed in place: the node becomes its history and, if it is a view, its base's."""

    if t.node is None and t.needs_grad:
        raise errors.leaf_in_place(t, False, done=True)
    if not is_input:
        warnings.warn(
            "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated "
            f"should be passed to ctx.mark_dirty().\n  in {cls.__name__}.forward",
            UserWarning,
            stacklevel=4,
        )
        give_history(t, node, index)
        return
    view = t.extra.view if t.extra is not None else None
    if view is not None:
        if view.restriction is not None:
            raise errors.view_in_place(t, view.restriction == MULTI_VIEW)
        if view.base.node is None and view.base.needs_grad:
            raise errors.leaf_in_place(view.base, True)
        if count > 1:
            raise refusals.dirty_view_of_several(cls.__name__, t)
    rebase(t, wrap_node(t.array, output_of(node, index, t.array.shape, t.array.dtype)))


def save(ctx: Any, results: list[Any]) -> None:
    """Keep what was given to save_for_backward."""
    for position, t in enumerate(ctx.to_save or ()):
        if t is not None and not isinstance(t, TensorBase):
            raise refusals.saved_kind(ctx, position, t)
        numbers = [i for i, r in enumerate(results) if t is not None and r is t and r.needs_grad]
        ctx._record.saved.append(SavedTensor(t, numbers[-1] if numbers else None))


# -- functions that can be differentiated once ------------------------------------------------------------------------


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator for a backward that is not made of differentiable operations: it runs without recording, and what it
    returns refuses to be differentiated, where silently treating it as a constant would be wrong."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with grad_mode.no_grad():
            outputs = fn(ctx, *args)
        if not state.recording or not any([isinstance(a, TensorBase) and a.needs_grad for a in args]):
            return outputs
        several = isinstance(outputs, tuple)
        refusing = [None if o is None else refuse(o.detach()) for o in (outputs if several else (outputs,))]
        return tuple(refusing) if several else refusing[0]

    return wrapper


def refuse(t: Any) -> Any:
    """The tensor with a history that cannot be gone back through."""
    return bind(_error, (t.requires_grad_(),))


def _differentiated_twice(*args: Any) -> Any:
    raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


_error = Op("once_differentiable", "Error", lambda x: x.view(), GradientRules(_differentiated_twice, lambda mask: ()))


class InplaceFunction(Function):
    """InplaceFunction: a Function that says of itself whether it works in place. Nothing more than the flag."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace
