"""leafgrad.utils.hooks: handles and marks of hooks, and how the backward hooks of a module are called.

A module may be many operations, so there is no node that stands for it. `BackwardHook` puts the identity around it: one
Function that all inputs pass through, and one for the outputs. In the backward pass the gradients of the outputs come
by first, and those of the inputs when the module is done.

    inputs ──▶ [identity] ──▶ module ──▶ [identity] ──▶ outputs
                  │ user hooks(grad_input, grad_output)  │ user pre-hooks(grad_output)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad.autograd.function import Function
from leafgrad.autograd.hooks import RemovableHandle, checked, warn_if_has_hooks

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks", "BackwardHook"]

_NO_INPUT = (
    "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
    "gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
    "#torch.nn.Module.register_full_backward_hook for more details."
)


def unserializable_hook(f: Any) -> Any:
    """unserializable_hook(f): a decorator for hooks that need not be saved together with their tensor, without a
    warning."""
    f.__torch_unserializable__ = True
    return f


class BackwardHookFunction(Function):
    """The identity. `ctx.passing`, set afterwards, is shown the gradients on their way back and returns those that go
    on."""

    @staticmethod
    def forward(ctx: Any, *tensors: Any) -> Any:
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*[t for t in tensors if not t.requires_grad])
        return tensors

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return tuple(ctx.passing(list(gradients)))


class BackwardHook:
    """BackwardHook(module, user_hooks, user_pre_hooks): calls them for one call of the module, whose arguments go
    through `setup_input_hook` and whose result goes through `setup_output_hook`."""

    def __init__(self, module: Any, user_hooks: Iterable[Any], user_pre_hooks: Iterable[Any]) -> None:
        self.module = module
        self.user_hooks = list(user_hooks)
        self.user_pre_hooks = list(user_pre_hooks)
        self.n_inputs = 0
        self.input_tensors_index: list[int] | None = None  # None: none of them requires grad
        self.grad_outputs: tuple[Any, ...] | None = None  # of the backward pass that is running

    def setup_input_hook(self, args: Any) -> Any:
        """The arguments of the module, with the first identity behind them."""
        self.n_inputs = len(args) if isinstance(args, tuple) else 1
        args, self.input_tensors_index = through_identity(args, self._at_inputs)
        return args

    def setup_output_hook(self, args: Any) -> Any:
        """The result of the module, with the second identity behind it."""
        return through_identity(args, self._at_outputs)[0]

    def _at_outputs(self, gradients: list[Any], places: list[int], count: int, forms: Any) -> list[Any]:
        wrong = "pre hook returned an invalid number of grad_output"
        grad_output, by = self._asked(self.user_pre_hooks, wrong, spread_out(gradients, places, count))
        self.grad_outputs = grad_output
        if self.input_tensors_index is None:
            errors.warn(_NO_INPUT)
            nothing = (None,) * self.n_inputs
            for hook in self.user_hooks:
                returned = hook(self.module, nothing, self.grad_outputs)
                if returned is not None and not (
                    isinstance(returned, tuple) and all([each is None for each in returned])
                ):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return None or None "
                        "for all gradients."
                    )
            self.grad_outputs = None
        return [fitting(grad_output[place], g, by) for place, g in zip(places, gradients, strict=True)]

    def _at_inputs(self, gradients: list[Any], places: list[int], count: int, forms: Any) -> list[Any]:
        gradients = [wrap(np.zeros(*form)) if g is None else g for g, form in zip(gradients, forms, strict=True)]
        if self.grad_outputs is None:
            return gradients
        wrong = "hook returned an invalid number of grad_input"
        given = spread_out(gradients, places, count)
        grad_input, by = self._asked(self.user_hooks, wrong, given, self.grad_outputs)
        self.grad_outputs = None
        return [fitting(grad_input[place], g, by) for place, g in zip(places, gradients, strict=True)]

    def _asked(self, hooks: list[Any], wrong: str, gradients: Any, *further: Any) -> tuple[Any, Any]:
        """What hooks make of gradients, and the last of them that has changed any."""
        by: Any = None
        for hook in hooks:
            returned = hook(self.module, gradients, *further)
            if returned is not None:
                if len(returned) != len(gradients):
                    raise RuntimeError(f"Backward {wrong}, got {len(returned)}, but expected {len(gradients)}")
                gradients, by = returned, hook
        return gradients, by


def through_identity(args: Any, passing: Callable[..., list[Any]]) -> tuple[Any, list[int] | None]:
    """The tensors among `args` (a tensor, or a tuple) through one BackwardHookFunction, and their places; None if none
    of them requires grad, and so none needed to. `passing(gradients, places, how many arguments, shapes and dtypes of
    the tensors)` is called when gradients come by."""
    values = list(args) if isinstance(args, tuple) else [args]
    places = [i for i, value in enumerate(values) if isinstance(value, TensorBase)]
    if not any([values[i].requires_grad for i in places]):
        return args, None
    count, forms = len(values), [(values[i].array.shape, values[i].array.dtype) for i in places]
    new = BackwardHookFunction.apply(*[values[i] for i in places])
    nodes = [tensor.grad_fn for tensor in new if tensor.grad_fn is not None]
    if not nodes:
        return args, None  # under no_grad
    nodes[0].context.passing = lambda gradients: passing(gradients, places, count, forms)
    for place, tensor in zip(places, new, strict=True):
        values[place] = tensor
    if not isinstance(args, tuple):
        return values[0], places
    return (type(args)(*values) if hasattr(args, "_fields") else tuple(values)), places


def spread_out(gradients: Sequence[Any], places: Sequence[int], count: int) -> tuple[Any, ...]:
    """Gradients of the tensors at their places among all arguments; None for what is no tensor."""
    known = dict(zip(places, gradients, strict=True))
    return tuple([known.get(place) for place in range(count)])


def fitting(new: Any, old: Any, hook: Any) -> Any:
    """What a hook returned, if it can take the place of what it was given."""
    if new is None or old is None or new is old:
        return new
    if isinstance(hook, FunctionType):  # PyTorch's message speaks of a 'hook', whatever the user's is called
        hook = FunctionType(hook.__code__, hook.__globals__, "hook", hook.__defaults__, hook.__closure__)
    return checked(new, old, hook)
