"""Hooks of optimisers: functions that are called around a step, and around `state_dict` and `load_state_dict`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from leafgrad.autograd.hooks import RemovableHandle, registered

Hooks = OrderedDict[int, Callable[..., Any]]

global_pre_hooks: Hooks = OrderedDict()  # of all optimisers
global_post_hooks: Hooks = OrderedDict()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """register_optimizer_step_pre_hook(hook): call `hook(optimizer, args, kwargs)` before each step of any optimiser,
    and before the optimiser's own hooks."""
    return registered(global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """register_optimizer_step_post_hook(hook): call `hook(optimizer, args, kwargs)` after each step of any optimiser,
    and after the optimiser's own hooks."""
    return registered(global_post_hooks, hook)


class Hooked:
    """The hooks of one optimiser, which are no part of its state."""

    step: Any
    # An optimiser that wraps another one may leave out `__init__`, and has these all the same.
    _stepped = False
    _watched_step: Any = None  # what a schedule found
    _step_pre_hooks: Any = None
    _step_post_hooks: Any = None
    _saving_hooks: dict[str, Hooks]

    def _start_without_hooks(self) -> None:
        self._step_pre_hooks = self._step_post_hooks = None
        self._saving_hooks = {}

    # -- around a step ------------------------------------------------------------------------------------------------

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """register_step_pre_hook(hook): call `hook(optimizer, args, kwargs)` before each step; it may return new
        (args, kwargs)."""
        self._watch_step()
        return registered(self._step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """register_step_post_hook(hook): call `hook(optimizer, args, kwargs)` after each step."""
        self._watch_step()
        return registered(self._step_post_hooks, hook)

    def _watch_step(self) -> None:
        """From the first hook on, `step` is a function that runs them; without hooks there is nothing to pay for."""
        if self._step_pre_hooks is not None:
            return
        self._step_pre_hooks, self._step_post_hooks = OrderedDict(), OrderedDict()
        step = self.step

        def hooked(*args: Any, **kwargs: Any) -> Any:
            args = (self, *args)  # PyTorch's hooks see the optimiser among the arguments
            for hook in [*global_pre_hooks.values(), *self._step_pre_hooks.values()]:
                changed = hook(self, args, kwargs)
                if changed is not None:
                    if not isinstance(changed, tuple) or len(changed) != 2:
                        raise RuntimeError(
                            f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                        )
                    args, kwargs = changed
            result = step(*args[1:], **kwargs)
            for hook in [*self._step_post_hooks.values(), *global_post_hooks.values()]:
                hook(self, args, kwargs)
            return result

        if self._watched_step is vars(self).get("step", type(self).step):
            self._watched_step = hooked
        self.step = hooked

    # -- around saving and loading ------------------------------------------------------------------------------------

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """register_state_dict_pre_hook(hook, prepend=False): call `hook(optimizer)` before each state_dict()."""
        return registered(self._saving_hooks.setdefault("before saving", OrderedDict()), hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """register_state_dict_post_hook(hook, prepend=False): call `hook(optimizer, state_dict)` after each
        state_dict(); it may return another one."""
        return registered(self._saving_hooks.setdefault("after saving", OrderedDict()), hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """register_load_state_dict_pre_hook(hook, prepend=False): call `hook(optimizer, state_dict)` with a shallow
        copy of what is to be loaded; it may change it, or return another one."""
        return registered(self._saving_hooks.setdefault("before loading", OrderedDict()), hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """register_load_state_dict_post_hook(hook, prepend=False): call `hook(optimizer)` after each
        load_state_dict()."""
        return registered(self._saving_hooks.setdefault("after loading", OrderedDict()), hook, prepend)

    def _run_hooks(self, when: str) -> None:
        for hook in list(self._saving_hooks.get(when, {}).values()):
            hook(self)

    def _state_by_hooks(self, when: str, state_dict: dict[str, Any]) -> dict[str, Any]:
        for hook in list(self._saving_hooks.get(when, {}).values()):
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        return state_dict
