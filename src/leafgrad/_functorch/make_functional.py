"""Modules as functions of their parameters, the way of doing it before `torch.func.functional_call`:

func, params = make_functional(model)
func(params, x)
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from leafgrad.func.modules import functional_call, submodule, swapped, tied_names
from leafgrad.nn.modules.module import Module
from leafgrad.nn.parameter import Parameter
from leafgrad.ops.creation.factories import zeros
from leafgrad.ops.shape.join import stack

__all__ = [
    "FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble", "make_functional",
    "make_functional_with_buffers",
]  # fmt: skip

Tensors = tuple[Any, ...]


class FunctionalModule(Module):
    """A module without parameters of its own: the first argument has them."""

    def __init__(self, stateless_model: Module, param_names: tuple[str, ...], names_map: dict[str, list[str]]) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = param_names
        self.names_map = names_map

    def forward(self, params: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
        return functional_call(self.stateless_model, dict(zip(self.names_map, params, strict=False)), args, kwargs)


class FunctionalModuleWithBuffers(Module):
    """The same with buffers, which are the second argument."""

    def __init__(
        self,
        stateless_model: Module,
        param_names: tuple[str, ...],
        buffer_names: tuple[str, ...],
        param_names_map: dict[str, list[str]],
        buffer_names_map: dict[str, list[str]],
    ) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = param_names
        self.buffer_names = buffer_names
        self.all_names_map = {**param_names_map, **buffer_names_map}

    def forward(self, params: Iterable[Any], buffers: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
        state = dict(zip(self.all_names_map, (*params, *buffers), strict=False))
        return functional_call(self.stateless_model, state, args, kwargs)


def make_functional(model: Module, disable_autograd_tracking: bool = False) -> tuple[FunctionalModule, Tensors]:
    """make_functional(model, disable_autograd_tracking=False): (func, params), where func(params, x) is what a copy of
    the model returns with these parameters. With `disable_autograd_tracking` they do not require gradients."""
    if list(model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead."
        )
    model = copy.deepcopy(model)
    names, params = extracted(model, "parameters", disable_autograd_tracking)
    return FunctionalModule(model, tuple(names), names), params


def make_functional_with_buffers(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, Tensors, Tensors]:
    """make_functional_with_buffers(model, disable_autograd_tracking=False): (func, params, buffers), so that
    func(params, buffers, x) is what a copy of the model returns with these."""
    model = copy.deepcopy(model)
    names, params = extracted(model, "parameters", disable_autograd_tracking)
    buffer_names, buffers = extracted(model, "buffers", False)
    return FunctionalModuleWithBuffers(model, tuple(names), tuple(buffer_names), names, buffer_names), params, buffers


def extracted(model: Module, kind: str, without_gradients: bool) -> tuple[dict[str, list[str]], Tensors]:
    """Takes the parameters or buffers out of a model. For each name all the names of that tensor, and the tensors."""
    listed = getattr(model, f"named_{kind}")
    named, groups = dict(listed()), tied_names(dict(listed(remove_duplicate=False)))
    names = {name: list(groups.get(name, (name,))) for name in named}
    for name, tensor in named.items():
        if without_gradients:
            tensor.requires_grad_(False)
        rest = zeros((), dtype=tensor.dtype).expand(tensor.shape)  # the shape, without the memory
        if kind == "parameters":
            rest = Parameter(rest, tensor.requires_grad)
        for same in names[name]:
            path, _, own = same.rpartition(".")
            swapped(submodule(model, path), own, rest)
    return names, tuple(named.values())


def combine_state_for_ensemble(models: Sequence[Module]) -> tuple[FunctionalModuleWithBuffers, Tensors, Tensors]:
    """combine_state_for_ensemble(models): (func, params, buffers) of several modules of one class, each with the
    tensors of all modules along a new first dimension, for vmap(func, (0, 0, None))(params, buffers, x)."""
    who = "combine_state_for_ensemble"
    if len(models) == 0:
        raise RuntimeError(f"{who}: Expected at least one model, got 0.")
    if any([m.training != models[0].training for m in models]):
        raise RuntimeError(f"{who}: Expected all models to have the same training/eval mode.")
    if any([type(m) is not type(models[0]) for m in models]):
        raise RuntimeError(f"{who}: Expected all models to be of the same class.")
    functions, params, buffers = zip(*[make_functional_with_buffers(m) for m in models], strict=True)
    return functions[0], stacked(params), stacked(buffers)


def stacked(states: Sequence[Tensors]) -> Tensors:
    return tuple([stack.function(list(tensors)).detach() for tensors in zip(*states, strict=True)])
