"""Calling a module, and the functions that users hang on the call."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from leafgrad import errors
from leafgrad.autograd.hooks import RemovableHandle


class Called:
    """The part of Module that is called: `module(x)` is `module.forward(x)` with the hooks around it."""

    _forward_pre_hooks: OrderedDict[int, Any]
    _forward_hooks: OrderedDict[int, Any]
    _forward_hooks_with_kwargs: set[int]  # of both kinds
    _forward_hooks_always_called: set[int]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """forward(*input): what the module computes. Every subclass defines it; users call the module itself."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._forward_hooks or self._forward_pre_hooks:
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result: Any = None
        called: set[int] = set()
        try:
            args, kwargs = self._run_pre_hooks(args, kwargs)
            result = self.forward(*args, **kwargs)
            for number, hook in list(self._forward_hooks.items()):
                called.add(number)
                changed = self._run_hook(number, hook, args, kwargs, result)
                result = result if changed is None else changed
            return result
        except Exception:
            for number, hook in list(self._forward_hooks.items()):
                if number in self._forward_hooks_always_called and number not in called:
                    try:
                        changed = self._run_hook(number, hook, args, kwargs, result)
                        result = result if changed is None else changed
                    except Exception as error:
                        warnings.warn(
                            "module forward hook with ``always_call=True`` raised an exception that was silenced as "
                            f"another error was raised in forward: {error}",
                            stacklevel=2,
                        )
            raise

    def _run_pre_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        for number, hook in list(self._forward_pre_hooks.items()):
            if number in self._forward_hooks_with_kwargs:
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
        if number in self._forward_hooks_with_kwargs:
            return hook(self, args, kwargs, result)
        return hook(self, args, result)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """register_forward_pre_hook(hook): call `hook(module, args)` before forward; what it returns becomes the
        arguments. With `with_kwargs`: `hook(module, args, kwargs)`, which returns both or None."""
        handle = registered(self._forward_pre_hooks, hook, prepend)
        if with_kwargs:
            self._forward_hooks_with_kwargs.add(handle.id)
        return handle

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """register_forward_hook(hook): call `hook(module, args, output)` after forward; what it returns becomes the
        output. With `with_kwargs`: `hook(module, args, kwargs, output)`. With `always_call` also after an error."""
        handle = registered(self._forward_hooks, hook, prepend)
        if with_kwargs:
            self._forward_hooks_with_kwargs.add(handle.id)
        if always_call:
            self._forward_hooks_always_called.add(handle.id)
        return handle

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """register_full_backward_hook(hook): not there yet."""
        raise errors.mistake(
            NotImplementedError,
            "leafgrad does not have backward hooks of modules (yet)",
            fix="tensor.register_hook(hook)   # of an input or output of the module, for instance in a forward hook",
        )

    register_backward_hook = register_full_backward_pre_hook = register_full_backward_hook


def registered(hooks: OrderedDict[int, Any], hook: Any, prepend: bool = False) -> RemovableHandle:
    """Add a hook, last or first, and return the handle that removes it."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle
