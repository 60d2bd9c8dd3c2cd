"""What things are called: tensors and modules by their path in the model, or as the program's variables call them; and
operations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from leafgrad._core.node import Node, Output
from leafgrad._core.tensor import TensorBase
from leafgrad.autograd.composition import Part, visible_name, whole
from leafgrad.errors.naming import MOST_VALUES, is_module, is_tensor, namespaces, parts, was_written
from leafgrad.nn.modules.module import Module

Model = Module | Mapping[str, Any] | Iterable[Any] | None

DEEPEST = 10  # containers inside of each other
# What PyTorch records around products of more than two dimensions, which are one operation in leafgrad.
RESHAPING = {"ViewBackward0", "UnsafeViewBackward0", "SqueezeBackward1", "SqueezeBackward4"}


def operation(node: Node) -> str:
    """What a node is called in reports: Addmm for AddmmBackward0, also where PyTorch reshapes its result."""
    part: Part | None = whole(node)
    while part is not None and part.name in RESHAPING and isinstance(part.sources[0][0], Part):
        part = part.sources[0][0]
    return re.sub(r"(Backward)?\d*$", "", visible_name(node) if part is None else part.name) or node.op.name


def named_values() -> Iterator[tuple[str, Any]]:
    """The tensors and modules in variables, lists, dictionaries and modules of the program, under every name that
    leads to one; the innermost frames first."""
    left = MOST_VALUES
    for names in namespaces():
        waiting = [(name, value, 0) for name, value in reversed(names) if was_written(name)]
        seen: set[int] = set()
        while waiting and left > 0:
            left -= 1
            name, value, depth = waiting.pop()
            if is_tensor(value):
                yield name, value
            elif id(value) not in seen and depth < DEEPEST and is_container(name, value):
                seen.add(id(value))
                if is_module(value):
                    yield name, value
                waiting += [(name + step, part, depth + 1) for step, part in reversed(list(parts(value) or ()))]


def is_container(name: str, value: Any) -> bool:
    return is_module(value) or type(value) in (list, tuple, dict) or name == "self"


class Names:
    """Names of tensors, of the nodes they came from, and of modules: dotted paths in the model, if there is one, and
    those of the caller's variables, which are looked through when they are first needed."""

    def __init__(self, model: Model = None) -> None:
        self.given = parts_of(model)
        self.of_model = {id(value): name for name, value in reversed(self.given)}
        self._variables: Variables | None = None

    @property
    def variables(self) -> Variables:
        if self._variables is None:
            self._variables = Variables()
        return self._variables

    def of(self, thing: TensorBase | Module) -> str | None:
        return self.of_model.get(id(thing)) or self.variables.names.get(id(thing))

    def of_node(self, node: Node) -> str | None:
        """The name of a tensor that came from this node."""
        return self.variables.nodes.get(id(node))

    def tensor_with(self, array: Any) -> Any:
        """A tensor of the model or the program that has this very array."""
        found = [value for _, value in self.given if is_tensor(value) and value.array is array]
        return found[0] if found else self.variables.by_array.get(id(array))


class Variables:
    """The tensors and modules that the program's variables lead to."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.nodes: dict[int, str] = {}
        self.by_array: dict[int, Any] = {}
        self.kept: list[Any] = []  # so that no id is used twice
        for name, value in named_values():
            self.kept.append(value)
            known = self.names.get(id(value))
            if known is None or is_better(name, known, value):
                self.names[id(value)] = name
            if is_tensor(value):
                self._note_origin(name, value)

    def _note_origin(self, name: str, tensor: Any) -> None:
        node = getattr(tensor, "node", None)
        if node is not None:
            self.nodes.setdefault(id(node.parent) if isinstance(node, Output) else id(node), name)
        array = getattr(tensor, "array", None)
        if array is not None and (id(array) not in self.by_array or not tensor.needs_grad):
            self.by_array[id(array)] = tensor


def is_better(name: str, known: str, value: Any) -> bool:
    """Is one name better than another? A path in a module is what a parameter is best known by; a place in a list is
    the worst."""
    if "[" in known and "[" not in name:
        return True
    return is_tensor(value) and getattr(value, "node", None) is None and "." in name and "." not in known


def parameters_of(model: Model) -> list[tuple[str, TensorBase]]:
    """The parameters of a model, or the tensors of a mapping or list, with their names."""
    if isinstance(model, Module):
        return list(model.named_parameters())
    return [(name, value) for name, value in parts_of(model) if is_tensor(value)]


def parts_of(model: Model) -> list[tuple[str, Any]]:
    """Everything in a model that has a name: parameters, buffers and modules; or what a mapping or list holds."""
    if model is None:
        return []
    if isinstance(model, Module):
        modules = [(name, module) for name, module in model.named_modules() if name]
        return [*model.named_parameters(), *model.named_buffers(), *modules]
    if isinstance(model, Mapping):
        pairs = list(model.items())
    elif isinstance(model, Iterable):
        pairs = [pair if isinstance(pair, tuple) else (f"[{i}]", pair) for i, pair in enumerate(model)]
    else:
        pairs = [("", model)]
    found: list[tuple[str, Any]] = []
    for pair in pairs:
        if len(pair) != 2 or not (is_tensor(pair[1]) or is_module(pair[1])):
            raise TypeError("model has to be a Module, a dictionary of tensors, or tensors with or without names")
        name, value = pair
        found.append((str(name), value))
        if is_module(value):
            found += [(f"{name}.{path}", part) for path, part in parts_of(value)]
    return found
