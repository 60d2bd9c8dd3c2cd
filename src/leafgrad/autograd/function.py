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

    function_methods.py     the methods that the user replaces
    function_apply.py       a call: `apply`, and how it is recorded
    function_results.py     what forward may return beside one new tensor; forward mode
    function_saved.py       what save_for_backward keeps
    function_backward.py    a call in the backward pass
    function_node.py        its node, as users see it
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from leafgrad import errors
from leafgrad._core.function import Context, Record
from leafgrad._core.op import Op
from leafgrad._core.refused_gradient import delayed_errors
from leafgrad._core.tensor import TensorBase
from leafgrad._core.thread_state import state
from leafgrad.autograd import grad_mode, graph
from leafgrad.autograd.function_apply import apply
from leafgrad.autograd.function_methods import FunctionMethods
from leafgrad.autograd.function_node import RawSavedTensor, edges_shown, node_class
from leafgrad.autograd.function_saved import refuse_saved, saved_tensors
from leafgrad.autograd.hooks import Hooks, RemovableHandle, of_node, registered

if TYPE_CHECKING:
    from leafgrad._tensor.tensor import Tensor

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "once_differentiable",
]


class FunctionCtx(Context):
    """What `forward` (or `setup_context`) leaves behind for `backward`: saved tensors, marks on arguments and results,
    and any attribute the user sets."""

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
        errors.warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. Note that "
            f"calls to `set_()` are not tracked\n  at {errors.here()}",
            FutureWarning,
        )

    def set_materialize_grads(self, value: bool) -> None:
        """set_materialize_grads(value): shall backward get zeros (True) or None for results without a gradient?"""
        if value.__class__ is not bool:
            raise TypeError(
                "set_materialize_grads received an invalid combination of arguments - got "
                f"({type(value).__name__}), but expected (bool)\n  at {errors.here()}"
            )
        self._record.materialize = value

    if TYPE_CHECKING:  # contexts are BackwardCFunctions, and programs keep in them what they like
        needs_input_grad: tuple[bool, ...]

        @property
        def saved_tensors(self) -> tuple[Tensor, ...]: ...
        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...


class CallMembers(FunctionCtx):
    """What contexts and instances of Functions have in common with nodes."""

    # The tensors that were given to save_for_backward; in jvp, to save_for_forward.
    saved_tensors = property(saved_tensors)  # not by a method in between, which would take as long again
    requires_grad = True

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        errors.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return saved_tensors(self)

    @property
    def _raw_saved_tensors(self) -> tuple[RawSavedTensor, ...]:
        refuse_saved(self._record)
        return tuple([RawSavedTensor(saved, self._record.node) for saved in self._record.saved])

    def maybe_clear_saved_tensors(self) -> None:
        """maybe_clear_saved_tensors(): for compiled graphs, which leafgrad has none of; does nothing, as there."""

    def name(self) -> str:
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[Any, ...]:
        """Where the arguments of this call came from, as `grad_fn.next_functions` shows it."""
        return edges_shown(self._record)

    @property
    def metadata(self) -> Any:
        return self._hooks().metadata

    def register_hook(self, hook: Any) -> RemovableHandle:
        """register_hook(hook): call `hook(grad_inputs, grad_outputs)` after backward has run."""
        return registered(self._hooks().after, hook)

    def register_prehook(self, hook: Any) -> RemovableHandle:
        """register_prehook(hook): call `hook(grad_outputs)` before backward runs."""
        return registered(self._hooks().before, hook)

    def _hooks(self) -> Hooks:
        """Those of the node; while forward runs there is none yet, and it will be given these."""
        record = self._record
        node = None if record.node is None else record.node()
        if node is not None:
            return of_node(node)
        if record.hooks is None:
            record.hooks = Hooks()
        return record.hooks  # type: ignore[no-any-return]


class BackwardCFunction(CallMembers):
    """The context of one call. Its class is named after the Function, as its node's class is."""

    _forward_cls: Any

    def apply(self, *gradients: Any) -> Any:
        """apply(*gradients): what backward returns for them."""
        given = (list(gradients),) if self._forward_cls.boxed_grads_call else gradients
        return self._forward_cls._gradient_rule()(self, *given)

    def apply_jvp(self, *tangents: Any) -> Any:
        """apply_jvp(*tangents): what jvp returns for them."""
        return self._forward_cls.jvp(self, *tangents)


graph.Node.register(BackwardCFunction)


class FunctionMeta(type):
    """Gives each Function the classes of its contexts and of its nodes."""

    def __init__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> None:
        super().__init__(name, bases, members)
        made: Any = cls
        made._context_class = type(name + "Backward", (BackwardCFunction,), {"_forward_cls": cls})
        made._backward_cls = node_class(name + "Backward", cls)
        made._op = None  # made by the first call, when all methods are in place
        made._arity = (None, -1)  # of forward, as function_apply.placed last saw it


class Function(CallMembers, FunctionMethods, metaclass=FunctionMeta):
    """Subclass it, define the static methods `forward` and `backward`, and call `apply`.

    forward(ctx, *args)                          computes; ctx takes what backward will need
    forward(*args), setup_context(ctx, inputs, output)   the same in two parts, which function transforms ask for
    backward(ctx, *gradients), or vjp            one gradient (or None) for each argument of forward
    jvp(ctx, *tangents)                          optional, for forward mode: one tangent for each result
    vmap(info, in_dims, *args)                   optional, for vmap: (results, out_dims); or generate_vmap_rule = True
    """

    clear_saved_tensors_on_access = False  # True: ctx.saved_tensors may be asked for once, and keeps nothing after that
    boxed_grads_call = False  # True: backward(ctx, gradients) gets a list, of which it may take gradients off

    _context_class: type[BackwardCFunction]
    _backward_cls: type
    _op: Op | None
    _arity: tuple[Any, int]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        errors.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future "
            "version of PyTorch.",
            DeprecationWarning,
        )
        self._record = Record()
        self.needs_input_grad: Any = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            f"function with static forward method.\n  fix  {type(self).__name__}.apply(...)\n  at {errors.here()}"
        )

    apply = classmethod(apply)


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
        given = [None if o is None else o.detach().requires_grad_() for o in (outputs if several else (outputs,))]
        refusing = given if all([o is None for o in given]) else delayed_errors(given, _TWICE)
        return tuple(refusing) if several else refusing[0]

    return wrapper


_TWICE = "trying to differentiate twice a function that was marked with @once_differentiable"


class InplaceFunction(Function):
    """InplaceFunction: a Function that says of itself whether it works in place. Nothing more than the flag."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace
