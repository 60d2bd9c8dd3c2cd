"""Modules that learn the sizes of their parameters from the first input."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from leafgrad.autograd.grad_mode import no_grad
from leafgrad.nn.parameter import is_lazy

__all__: list[str] = []  # users find LazyModuleMixin here, not in nn


class LazyModuleMixin:
    """The part of a lazy module that is common to all: `class LazyLinear(LazyModuleMixin, Linear)`.

    The constructor makes UninitializedParameters. Before the first call `initialize_parameters(*input)`, which each
    lazy module defines, gives them their shapes; after that the module is an ordinary one, of `cls_to_become`.
    """

    cls_to_become: Any = None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _save_to_state_dict(self: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, tensor in self._own_state().items():
            if tensor is not None:
                destination[prefix + name] = tensor if keep_vars or is_lazy(tensor) else tensor.detach()

    def _lazy_load_hook(self: Any, state_dict: Any, prefix: str, *rest: Any) -> None:
        """Give parameters the shapes of those that are about to be loaded."""
        for name, tensor in self._members():
            found = state_dict.get(prefix + name)
            if is_lazy(tensor) and found is not None and not is_lazy(found):
                with no_grad():
                    tensor.materialize(found.shape)

    def _members(self: Any) -> Iterator[tuple[str, Any]]:
        yield from self._parameters.items()
        yield from self._buffers.items()

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """initialize_parameters(*input): give the parameters the shapes that this input asks for."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """has_uninitialized_params(): is the shape of a parameter or buffer unknown?"""
        return any([is_lazy(tensor) for _, tensor in self._members()])

    def _infer_parameters(self: Any, module: Any, args: tuple[Any, ...], kwargs: Any = None) -> None:
        """The hook of the first call."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        for name in ("_initialize_hook", "_load_hook"):
            getattr(module, name).remove()
            delattr(module, name)
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self) -> Any:
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DataParallel`. Run a dummy forward pass to "
            "correctly initialize the modules"
        )
