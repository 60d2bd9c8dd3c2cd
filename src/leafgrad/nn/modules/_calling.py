"""Calling a module, with its forward and backward hooks."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any
from weakref import ref

from leafgrad import errors
from leafgrad._core.module_calls import number_now, remember_call, this_thread
from leafgrad._core.tensor import TensorBase
from leafgrad.autograd.hooks import RemovableHandle, registered
from leafgrad.nn.modules import _global_hooks
from leafgrad.nn.modules._global_hooks import checked_kind, hooks_of_calls

_OLD = "is deprecated and will be removed in future versions. This hook will be missing some"
_FULL = "Please use register_full_backward_hook to get the documented behavior."


class Called:
    """The part of Module that is called: `module(x)` is `module.forward(x)` with the hooks around it."""

    _forward_pre_hooks: OrderedDict[int, Any]
    _forward_hooks: OrderedDict[int, Any]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _backward_pre_hooks: OrderedDict[int, Any]
    _backward_hooks: OrderedDict[int, Any]
    _is_full_backward_hook: bool | None  # of which kind the backward hooks are, once there is one

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """forward(*input): what the module computes. Every subclass defines it; users call the module itself."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        own = self.__dict__  # because `self._forward_hooks` would ask for a __getattr__ each time
        try:
            hooked = (
                own["_forward_hooks"]
                or own["_forward_pre_hooks"]
                or own["_backward_hooks"]
                or own["_backward_pre_hooks"]
                or hooks_of_calls
            )
        except KeyError:
            hooked = self._forward_hooks  # fails and says why: a subclass without super().__init__()
        before = number_now()
        if hooked:
            result = self._call_with_hooks(args, kwargs)
        else:  # `**kwargs` copies a dictionary, even an empty one
            result = self.forward(*args, **kwargs) if kwargs else self.forward(*args)
        remember_call((ref(self), before, number_now(), this_thread()))
        return result

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result: Any = None
        called: set[int] = set()
        full, old, pre = self._hooks_of_backward()
        try:
            args, kwargs = self._run_pre_hooks(args, kwargs)
            around = None
            if full or pre:
                from leafgrad.utils.hooks import BackwardHook

                around = BackwardHook(self, full, pre)
                args = around.setup_input_hook(args)
            result = self.forward(*args, **kwargs)
            for number, hook in self._all_forward_hooks():
                called.add(number)
                changed = self._run_hook(number, hook, args, kwargs, result)
                result = result if changed is None else changed
            if around is not None:
                if not isinstance(result, (TensorBase, tuple)):
                    errors.warn(
                        "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                        f"received {type(result)}"
                    )
                else:
                    result = around.setup_output_hook(result)
            if old:
                self._hang_on_last_node(old, args, result)
            return result
        except Exception:
            for number, hook in self._all_forward_hooks():
                if number not in called and self._is_always_called(number):
                    try:
                        changed = self._run_hook(number, hook, args, kwargs, result)
                        result = result if changed is None else changed
                    except Exception as error:
                        errors.warn(
                            "module forward hook with ``always_call=True`` raised an exception that was silenced as "
                            f"another error was raised in forward: {error}"
                        )
            raise

    def _all_forward_hooks(self) -> list[tuple[int, Any]]:
        return [*_global_hooks.forward_hooks.items(), *self._forward_hooks.items()]

    def _is_always_called(self, number: int) -> bool:
        return number in self._forward_hooks_always_called or number in _global_hooks.forward_hooks_always_called

    def _run_pre_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        for number, hook in [*_global_hooks.forward_pre_hooks.items(), *self._forward_pre_hooks.items()]:
            if number in self._forward_pre_hooks_with_kwargs:
                changed = hook(self, args, kwargs)
                if changed is not None:
                    if not isinstance(changed, tuple) or len(changed) != 2:
                        raise RuntimeError(
                            "forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got "
                            f"{changed}."
                        )
                    args, kwargs = changed
            else:
                changed = hook(self, args)
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)
        return args, kwargs

    def _run_hook(self, number: int, hook: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Any:
        if number in self._forward_hooks_with_kwargs or number in _global_hooks.forward_hooks_with_kwargs:
            return hook(self, args, kwargs, result)
        return hook(self, args, result)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """register_forward_pre_hook(hook): call `hook(module, args)` before forward; what it returns becomes the
        arguments. With `with_kwargs`: `hook(module, args, kwargs)`, which returns both or None."""
        marks = [self._forward_pre_hooks_with_kwargs] if with_kwargs else []
        return registered(self._forward_pre_hooks, hook, prepend, marks)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """register_forward_hook(hook): call `hook(module, args, output)` after forward; what it returns becomes the
        output. With `with_kwargs`: `hook(module, args, kwargs, output)`. With `always_call` also after an error."""
        marks = [self._forward_hooks_with_kwargs] if with_kwargs else []
        marks += [self._forward_hooks_always_called] if always_call else []
        return registered(self._forward_hooks, hook, prepend, marks)

    # -- backward hooks -----------------------------------------------------------------------------------------------

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """register_full_backward_hook(hook): call `hook(module, grad_input, grad_output)` when the gradients of the
        inputs are known; what it returns, a tuple, takes the place of grad_input."""
        self._is_full_backward_hook = checked_kind(self._is_full_backward_hook, True, "on a single Module")
        return registered(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """register_full_backward_pre_hook(hook): call `hook(module, grad_output)` when the gradients of the outputs are
        known; what it returns, a tuple, takes the place of grad_output."""
        return registered(self._backward_pre_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """register_backward_hook(hook): the old form of register_full_backward_hook. It sees the last operation of the
        module only."""
        self._is_full_backward_hook = checked_kind(self._is_full_backward_hook, False, "on a single Module")
        return registered(self._backward_hooks, hook)

    def _hooks_of_backward(self) -> tuple[list[Any], list[Any], list[Any]]:
        """The full backward hooks, those of the old form, and the pre-hooks; those of all modules first."""
        full: list[Any] = []
        old: list[Any] = []
        if _global_hooks.backward_hooks:
            (full if _global_hooks.Kind.is_full else old).extend(_global_hooks.backward_hooks.values())
        if self._backward_hooks:
            (full if self._is_full_backward_hook else old).extend(self._backward_hooks.values())
        pre = [*_global_hooks.backward_pre_hooks.values(), *self._backward_pre_hooks.values()]
        return full, old, pre

    def _hang_on_last_node(self, hooks: list[Any], args: tuple[Any, ...], result: Any) -> None:
        """Hooks of the old form become hooks of the node that the (first) result came from."""
        tensor = result
        while not isinstance(tensor, TensorBase):
            if isinstance(tensor, dict):
                tensor = next(value for value in tensor.values() if isinstance(value, TensorBase))
            else:
                tensor = tensor[0]
        node = tensor.grad_fn  # type: ignore[attr-defined]
        if node is None:
            return
        for hook in hooks:
            node.register_hook(functools.partial(hook, self))
        if shortcoming := what_is_missing(args, result, node):
            errors.warn(f"{shortcoming} {_FULL}", FutureWarning)


def what_is_missing(args: tuple[Any, ...], result: Any, node: Any) -> str | None:
    """Why backward hooks of the old form will not see all gradients of a module, if so."""
    results = (result,) if isinstance(result, TensorBase) else result
    if not isinstance(results, tuple) or not all([isinstance(r, TensorBase) for r in results]):
        return (
            "Using non-full backward hooks on a Module that does not return a single Tensor or a tuple of Tensors "
            f"{_OLD} of the grad_output."
        )
    if not all([isinstance(a, TensorBase) for a in args]):
        return (
            "Using non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of "
            f"Tensors {_OLD} of the grad_input."
        )
    if len({r.grad_fn for r in results if r.grad_fn is not None}) > 1:
        return (
            f"Using a non-full backward hook when outputs are generated by different autograd Nodes {_OLD} grad_output."
        )
    if {a.grad_fn for a in args if a.grad_fn is not None} != {source for source, _ in node.next_functions}:
        return f"Using a non-full backward hook when the forward contains multiple autograd Nodes {_OLD} grad_input."
    return None
