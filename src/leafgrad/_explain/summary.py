"""A model layer by layer: output shapes, parameters, multiply-adds and memory."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Any

import leafgrad
from leafgrad._core.modes import Below, Observer
from leafgrad._core.op import Op
from leafgrad._core.tensor import TensorBase
from leafgrad._explain.held_memory import owner
from leafgrad._explain.quantities import many, memory
from leafgrad._explain.table import Report, Table
from leafgrad._explain.undisturbed import copied, undisturbed
from leafgrad.errors.form import mistake
from leafgrad.errors.naming import library
from leafgrad.nn.modules.module import (
    Module,
    register_module_forward_hook,
    register_module_forward_pre_hook,
)
from leafgrad.ops.pointwise.elementwise import as_many_as_elements
from leafgrad.ops.registry import registry


class Layer:
    """One row: a call of a module, or a module that was not called. `parameters` are its own, those of the modules in
    it not counted, nor those that an earlier row has counted."""

    def __init__(self, name: str, module: Any, called: bool) -> None:
        self.name = name
        self.module = module
        self.kind: str = module._get_name()
        self.called = called
        self.output: Any = None  # the shapes of what it returned: a tuple, or a list or dict of them
        self.output_bytes = 0
        self.parameters = self.frozen = 0
        self.shared = False  # did an earlier row count its parameters?
        self.multiply_adds: int | None = None  # None: no operation of it says how many it takes
        self.children: list[Layer] = []

    def walk(self, depth: int = 0) -> Iterable[tuple[int, Layer]]:
        yield depth, self
        for child in self.children:
            yield from child.walk(depth + 1)

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "type": self.kind,
            "called": self.called,
            "output": self.output,
            "parameters": self.parameters,
            "frozen": self.frozen,
            "multiply_adds": self.multiply_adds,
            "children": [child.to_dict() for child in self.children],
        }


class Calls(Observer):
    """Sees the modules of a model while they are called, and how many multiply-adds their operations take."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.names = {module: name for name, module in model.named_modules()}
        self.open: list[Layer] = []
        self.top: Layer | None = None
        self.counted: dict[int, Any] = {}  # buffers of outputs, by identity: weak references, so that they can go

    def begin(self, module: Any, args: Any) -> None:
        if module not in self.names:
            return
        layer = Layer(self.names[module].rpartition(".")[2], module, called=True)
        if self.open:
            self.open[-1].children.append(layer)
        elif self.top is None:
            self.top = layer
        self.open.append(layer)

    def end(self, module: Any, args: Any, output: Any) -> None:
        if module not in self.names or not self.open:
            return
        layer = self.open.pop()
        layer.output = shapes_of(output)
        if layer.children:
            return
        for tensor in tensors_in(output):
            block = owner(tensor.array)
            known = self.counted.get(id(block))
            if known is None or known() is not block:
                self.counted[id(block)] = weakref.ref(block)
                layer.output_bytes += tensor.array.nbytes

    def observe(self, op: Op, arrays: Sequence[Any], options: tuple[Any, ...], out: Any, below: Below) -> Any:
        flops = registry[op.name].flops if op.name in registry else None
        if self.open and flops is not None and flops is not as_many_as_elements:
            layer = self.open[-1]
            shapes = [getattr(array, "shape", ()) for array in arrays]
            layer.multiply_adds = (layer.multiply_adds or 0) + flops(shapes) // 2
        return below(op, arrays, options, out)


def tensors_in(value: Any) -> Iterable[Any]:
    if isinstance(value, TensorBase):
        yield value
    elif isinstance(value, list | tuple | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(one)


def shapes_of(value: Any) -> Any:
    """The shape of an output, or those of several."""
    if isinstance(value, TensorBase):
        return tuple(value.array.shape)
    if isinstance(value, dict):
        return {key: shapes_of(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [shapes_of(one) for one in value]
    return None if value is None else type(value).__name__


class Summary(Report):
    """What `summary` returns. `layers` is the top of the tree, a Layer; the totals are `parameters`, `trainable`,
    `parameter_bytes`, `buffer_bytes`, `output_bytes` and `multiply_adds`."""

    def __init__(self, model: Any, calls: Calls | None) -> None:
        self.ran = calls is not None
        self.layers = uncalled("", model) if calls is None or calls.top is None else calls.top
        if self.ran:
            add_uncalled(self.layers)
        parameters = list(model.parameters())
        self.parameters = sum([p.array.size for p in parameters])
        self.trainable = sum([p.array.size for p in parameters if p.requires_grad])
        self.parameter_bytes = sum([p.array.nbytes for p in parameters])
        self.buffer_bytes = sum([b.array.nbytes for b in model.buffers()])
        self._count_parameters()
        rows = [layer for _, layer in self.layers.walk()]
        self.output_bytes = sum([layer.output_bytes for layer in rows])
        self.multiply_adds = sum([layer.multiply_adds or 0 for layer in rows])

    def _count_parameters(self) -> None:
        seen: set[int] = set()
        for _, layer in self.layers.walk():
            own = list(layer.module.parameters(recurse=False))
            new = [p for p in own if id(p) not in seen]
            seen |= {id(p) for p in own}
            layer.parameters = sum([p.array.size for p in new])
            layer.frozen = sum([p.array.size for p in new if not p.requires_grad])
            layer.shared = len(new) < len(own)

    def to_dict(self) -> dict[str, Any]:
        totals = ("parameters", "trainable", "parameter_bytes", "buffer_bytes", "output_bytes", "multiply_adds")
        return {"layers": self.layers.to_dict(), **{name: getattr(self, name) for name in totals}}

    def parts(self) -> Iterable[str | Table]:
        numbers = ["parameters", "multiply-adds"]
        table = Table("layer", "output", *numbers, "", right=numbers)
        for tree, layer in drawn(self.layers):
            name = f"{layer.name}: {layer.kind}" if layer.name else layer.kind
            adds = many(layer.multiply_adds) if layer.multiply_adds is not None else ""
            shape = shown(layer.output) if layer.called else ""
            parameters = f"{layer.parameters:,}" if layer.parameters else ""
            table.add(tree + name, shape, parameters, adds, self._remark(layer), mark="" if layer.called else "quiet")
        yield table
        totals = Table("total", "", "")
        frozen = self.parameters - self.trainable
        kinds = "all trainable" if not frozen else f"{self.trainable:,} trainable, {frozen:,} frozen"
        totals.add("parameters", f"{self.parameters:,}", f"{memory(self.parameter_bytes)}, {kinds}")
        if self.buffer_bytes:
            totals.add("buffers", "", memory(self.buffer_bytes))
        if self.ran:
            totals.add("outputs", "", memory(self.output_bytes))
            if self.multiply_adds:
                totals.add("multiply-adds", many(self.multiply_adds))
        yield totals

    def _remark(self, layer: Layer) -> str:
        remarks = []
        if layer.shared:
            remarks.append("parameters counted above")
        if layer.frozen:
            remarks.append("frozen" if layer.frozen == layer.parameters else f"{layer.frozen:,} frozen")
        if self.ran and not layer.called:
            remarks.append("not called")
        return ", ".join(remarks)


def uncalled(name: str, module: Any) -> Layer:
    """A module and those in it, of which no call was seen."""
    layer = Layer(name, module, called=False)
    layer.children = [uncalled(below, child) for below, child in module.named_children()]
    return layer


def add_uncalled(top: Layer) -> None:
    """Add the modules to the tree that were not called, below the first call of the one that they are in."""
    called = {layer.module for _, layer in top.walk()}
    done: set[Any] = set()
    for _, layer in list(top.walk()):
        if layer.module in done:
            continue
        done.add(layer.module)
        for name, child in layer.module.named_children():
            if child not in called and not any([inner in called for inner in child.modules()]):
                layer.children.append(uncalled(name, child))


def drawn(top: Layer) -> Iterable[tuple[str, Layer]]:
    """The layers from top to bottom with the lines that make them a tree."""
    stack: list[tuple[str, str, Layer]] = [("", "", top)]
    while stack:
        own, below, layer = stack.pop()
        yield own, layer
        for i in range(len(layer.children) - 1, -1, -1):
            last = i == len(layer.children) - 1
            branch, bar = ("└ ", "  ") if last else ("├ ", "│ ")
            stack.append((below + branch, below + bar, layer.children[i]))


def shown(shape: Any) -> str:
    """Shapes as text."""
    if isinstance(shape, list):
        return ", ".join(map(shown, shape))
    if isinstance(shape, dict):
        return ", ".join([f"{key}: {shown(one)}" for key, one in shape.items()])
    return "" if shape is None else str(shape)


def is_size(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and all([type(one) is int for one in value])


def arguments(model: Any, given: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What the model is called with: tensors as they are, random ones of the sizes that were given."""
    if isinstance(given, TensorBase):
        return (copied(given),), {}
    if isinstance(given, dict):
        return (), copied(given)
    if is_size(given):
        return (random_input(model, given),), {}
    if isinstance(given, list | tuple) and given:
        if all(map(is_size, given)):
            return tuple([random_input(model, size) for size in given]), {}
        if any([isinstance(one, TensorBase) for one in given]):
            return tuple(map(copied, given)), {}
    torch = library()
    raise mistake(
        TypeError,
        f"summary(): input must be a tensor, a tuple or dict of arguments, or a size, not {type(given).__name__}",
        fix=(f"{torch}.summary(model, x)", f"{torch}.summary(model, (32, 784))   # random numbers of this size"),
    )


def random_input(model: Any, size: tuple[int, ...]) -> Any:
    kinds = [p.dtype for p in model.parameters() if p.is_floating_point()]
    return leafgrad.rand(*size, dtype=kinds[0] if kinds else None)


def summary(model: Any, input: Any = None) -> Summary:
    """summary(model, input=None): the layers of a model as a tree. With an input (a tensor, a tuple or dict of
    arguments, or a size) the model is called once, in evaluation mode, for the output shapes; nothing of it is changed.

        >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
        >>> leafgrad.summary(model, (32, 4))
        layer         output    parameters   multiply-adds
        Sequential    (32, 1)
        ├ 0: Linear   (32, 8)           40           1,024
        ├ 1: ReLU     (32, 8)
        └ 2: Linear   (32, 1)            9             256
        <BLANKLINE>
        total
        parameters      49      196 B, all trainable
        outputs                 2.2 kB
        multiply-adds   1,280
    """
    if not isinstance(model, Module):
        raise mistake(
            TypeError,
            f"summary(): model must be an nn.Module, not {type(model).__name__}",
            fix=f"{library()}.summary(model, x)   # a model and what it is called with",
        )
    if input is None:
        return Summary(model, None)
    with undisturbed(model), ExitStack() as stack:
        args, kwargs = arguments(model, input)
        calls = Calls(model)
        for handle in (
            register_module_forward_pre_hook(calls.begin),
            register_module_forward_hook(calls.end),
        ):
            stack.callback(handle.remove)
        stack.enter_context(calls)
        try:
            model(*args, **kwargs)
        except Exception as error:
            named = [f"{name}={shown(shapes_of(value))}" for name, value in kwargs.items()]
            given = ", ".join([*map(shown, map(shapes_of, args)), *named])
            error.add_note(f"  summary() called the model with {given}")
            raise
    return Summary(model, calls)
