"""What the program calls its tensors: the path in the model, or the variable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from leafgrad._core.tensor import TensorBase
from leafgrad._explain.held_memory import named_tensors
from leafgrad.nn.modules.module import Module

Model = Module | Mapping[str, Any] | Iterable[Any] | None


class Names:
    """Names of tensors: dotted paths in the model, if there is one, and those of the caller's variables."""

    def __init__(self, model: Model = None) -> None:
        self.of_model = {id(tensor): name for name, tensor in parameters_of(model)}
        self.of_variables: dict[int, str] | None = None

    def of(self, tensor: TensorBase) -> str | None:
        known = self.of_model.get(id(tensor))
        if known is not None:
            return known
        if self.of_variables is None:
            self.of_variables = {}
            for name, found in named_tensors():
                # a variable is the best name; a path in a module is better than a place in a list
                before = self.of_variables.get(id(found))
                if before is None or ("[" in before and "[" not in name):
                    self.of_variables[id(found)] = name
        return self.of_variables.get(id(tensor))


def parameters_of(model: Model) -> list[tuple[str, TensorBase]]:
    """The parameters of a model, or the tensors of a mapping or list, with their names."""
    if model is None:
        return []
    if isinstance(model, Module):
        return list(model.named_parameters())
    if isinstance(model, Mapping):
        return [(str(name), tensor) for name, tensor in model.items()]
    pairs = [pair if isinstance(pair, tuple) else (f"[{i}]", pair) for i, pair in enumerate(model)]
    if not all([len(pair) == 2 and isinstance(pair[1], TensorBase) for pair in pairs]):
        raise TypeError("model has to be a Module, a dictionary of tensors, or tensors with or without names")
    return [(str(name), tensor) for name, tensor in pairs]
