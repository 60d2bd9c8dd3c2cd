"""Hooks of all modules at once. PyTorch has these functions in `torch.nn.modules.module`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from types import ModuleType
from typing import Any

from leafgrad.autograd.hooks import RemovableHandle

__all__ = [
    "register_module_forward_pre_hook",
    "register_module_forward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_backward_hook",
    "register_module_full_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

Hook = Callable[..., Any]

hooks_of_calls: OrderedDict[int, bool] = OrderedDict()  # all of the next four kinds, so that a call asks only once
forward_pre_hooks: OrderedDict[int, Any] = OrderedDict()
forward_hooks: OrderedDict[int, Any] = OrderedDict()
backward_pre_hooks: OrderedDict[int, Any] = OrderedDict()
backward_hooks: OrderedDict[int, Any] = OrderedDict()
forward_hooks_with_kwargs: OrderedDict[int, bool] = OrderedDict()
forward_hooks_always_called: OrderedDict[int, bool] = OrderedDict()
buffer_registration_hooks: OrderedDict[int, Any] = OrderedDict()
module_registration_hooks: OrderedDict[int, Any] = OrderedDict()
parameter_registration_hooks: OrderedDict[int, Any] = OrderedDict()


class Kind:
    """Which of the two kinds of backward hooks is in use: the full ones or the old ones. As in PyTorch the first one
    decides, also after it was removed."""

    is_full: bool | None = None


def _add(where: OrderedDict[int, Any], hook: Hook, *extra: OrderedDict[int, bool]) -> RemovableHandle:
    handle = RemovableHandle(where, extra_dict=list(extra))
    where[handle.id] = hook
    for each in extra:
        each[handle.id] = True
    return handle


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """register_module_forward_pre_hook(hook): call `hook(module, args)` before the forward of every module."""
    return _add(forward_pre_hooks, hook, hooks_of_calls)


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """register_module_forward_hook(hook): call `hook(module, args, output)` after the forward of every module."""
    extra = [forward_hooks_with_kwargs] * with_kwargs + [forward_hooks_always_called] * always_call
    return _add(forward_hooks, hook, hooks_of_calls, *extra)


def checked_kind(before: bool | None, full: bool, where: str) -> bool:
    """Of which kind backward hooks are from now on; `before` is what the first one was."""
    if before is (not full):
        raise RuntimeError(
            f"Cannot use both regular backward hooks and full backward hooks {where}. Please use only one of them."
        )
    return full


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """register_module_backward_hook(hook): the old form of register_module_full_backward_hook."""
    Kind.is_full = checked_kind(Kind.is_full, False, "as a global Module hook")
    return _add(backward_hooks, hook, hooks_of_calls)


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """register_module_full_backward_hook(hook): call `hook(module, grad_input, grad_output)` for every module."""
    Kind.is_full = checked_kind(Kind.is_full, True, "as a global Module hook")
    return _add(backward_hooks, hook, hooks_of_calls)


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """register_module_full_backward_pre_hook(hook): call `hook(module, grad_output)` for every module."""
    return _add(backward_pre_hooks, hook, hooks_of_calls)


def register_module_buffer_registration_hook(hook: Hook) -> RemovableHandle:
    """register_module_buffer_registration_hook(hook): call `hook(module, name, buffer)` when a buffer is registered;
    what it returns is registered instead."""
    return _add(buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Hook) -> RemovableHandle:
    """register_module_module_registration_hook(hook): the same for modules that are put into others."""
    return _add(module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook: Hook) -> RemovableHandle:
    """register_module_parameter_registration_hook(hook): the same for parameters."""
    return _add(parameter_registration_hooks, hook)


def replaced(hooks: OrderedDict[int, Any], module: Any, name: str, value: Any) -> Any:
    """What the hooks make of something that is being registered."""
    for hook in list(hooks.values()):
        returned = hook(module, name, value)
        value = value if returned is None else returned
    return value


# -- under PyTorch's private names ------------------------------------------------------------------------------------


def _variable(hooks: OrderedDict[int, Any], of_calls: bool = False) -> Any:
    """A dictionary of hooks as a variable of a module. What is assigned to it takes the place of what is in it."""

    def assign(module: Any, given: Any) -> None:
        for number in hooks if of_calls else ():
            hooks_of_calls.pop(number, None)
        kept = dict(given)
        hooks.clear()
        hooks.update(kept)
        for number in hooks if of_calls else ():
            hooks_of_calls[number] = True

    return property(lambda module: hooks, assign)


class WithHooks(ModuleType):
    """The class of the module that has these dictionaries in PyTorch, where programs reset them by assignment."""

    _global_forward_pre_hooks = _variable(forward_pre_hooks, of_calls=True)
    _global_forward_hooks = _variable(forward_hooks, of_calls=True)
    _global_backward_pre_hooks = _variable(backward_pre_hooks, of_calls=True)
    _global_backward_hooks = _variable(backward_hooks, of_calls=True)
    _global_forward_hooks_with_kwargs = _variable(forward_hooks_with_kwargs)
    _global_forward_hooks_always_called = _variable(forward_hooks_always_called)
    _global_buffer_registration_hooks = _variable(buffer_registration_hooks)
    _global_module_registration_hooks = _variable(module_registration_hooks)
    _global_parameter_registration_hooks = _variable(parameter_registration_hooks)

    @property
    def _global_is_full_backward_hook(self) -> bool | None:
        return Kind.is_full

    @_global_is_full_backward_hook.setter
    def _global_is_full_backward_hook(self, value: bool | None) -> None:
        Kind.is_full = value
