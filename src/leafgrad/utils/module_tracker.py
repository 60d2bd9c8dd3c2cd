"""torch.utils.module_tracker: in which modules a program is, forward and backward.

with ModuleTracker() as tracker:
    model(x)          # inside: tracker.parents == {"Global", "Sequential", "Sequential.0"}
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from leafgrad import _missing
from leafgrad._core.tensor import TensorBase
from leafgrad._core.thread_state import state
from leafgrad.autograd.graph import register_multi_grad_hook
from leafgrad.autograd.variable import Variable
from leafgrad.utils._pytree import tree_leaves

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """ModuleTracker(): while it is on, `parents` has the names of the modules that are running, and "Global". A module
    is called by its class, or by its place in the module that was called first. In a backward pass it runs from the
    time when the gradients of its results are known until those of its inputs are."""

    def __init__(self) -> None:
        self.parents: set[str] = {"Global"}
        self._names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._seen: weakref.WeakSet[Any] = weakref.WeakSet()
        self._has_callback = False
        self._hooks: list[Any] = []
        self._handles: list[Any] = []

    @property
    def is_bw(self) -> bool:
        """Does a backward pass run?"""
        return bool(state.depth)

    def _name_of(self, module: Any) -> str:
        name = self._names.setdefault(module, type(module).__name__)
        if module not in self._seen:
            for part, child in module.named_children():
                self._names[child] = f"{name}.{part}"
                self._name_of(child)
            self._seen.add(module)
        return name

    def _entered(self, name: str) -> Callable[..., None]:
        def entered(*gradients: Any) -> None:
            if not self._has_callback:
                Variable._execution_engine.queue_callback(self._pass_ended)
                self._has_callback = True
            self.parents.add(name)

        return entered

    def _left(self, name: str) -> Callable[..., None]:
        return lambda *gradients: self.parents.discard(name)

    def _pass_ended(self) -> None:
        self.parents = {"Global"}
        self._has_callback = False

    def _before(self, module: Any, args: Any) -> None:
        name = self._name_of(module)
        self.parents.add(name)
        self._hook(args, self._left(name))

    def _after(self, module: Any, args: Any, output: Any) -> None:
        name = self._name_of(module)
        self.parents.discard(name)
        self._hook(output, self._entered(name))

    def _hook(self, values: Any, hook: Callable[..., None]) -> None:
        tensors: list[Any] = [leaf for leaf in tree_leaves(values) if isinstance(leaf, TensorBase) and is_wanted(leaf)]
        if tensors:
            self._hooks.append(register_multi_grad_hook(tensors, hook))

    def __enter__(self) -> Any:
        register = _missing.part("nn.modules._global_hooks")
        self._handles = [
            register.register_module_forward_pre_hook(self._before),
            register.register_module_forward_hook(self._after),
        ]
        return self

    def __exit__(self, *error: Any) -> None:
        for handle in (*self._handles, *self._hooks):
            handle.remove()
        self._handles, self._hooks = [], []


def is_wanted(tensor: Any) -> bool:
    return bool(tensor.requires_grad)


__getattr__ = _missing.attributes_of(__name__)
