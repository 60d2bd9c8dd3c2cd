"""Where a profiler listens. While one is on, the functions and methods that users call, the kernels of the operations
and the running of gradient rules are replaced by versions that write on the tape of their thread; when the last one
stops, everything is put back, so a program that is not profiled pays nothing.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import Any

import leafgrad.nn.functional  # noqa: F401  which registers the losses
from leafgrad._core.node import Node
from leafgrad._core.op import Op
from leafgrad._core.recorder import late
from leafgrad._core.tensor import TensorBase
from leafgrad._core.thread_state import anomaly, state
from leafgrad._profiler.recording import Tape, parameters_of
from leafgrad._tensor import install, methods
from leafgrad._tensor.op_methods import OpMethods
from leafgrad._tensor.tensor import Tensor
from leafgrad.autograd import anomaly_mode
from leafgrad.ops.aten import name_of
from leafgrad.ops.creation import factories
from leafgrad.ops.random import functions
from leafgrad.ops.registry import Operation, composites, entries, registry

_CREATION = """
    arange bernoulli empty empty_like empty_strided eye full full_like linspace logspace multinomial normal
    ones ones_like rand rand_like randint randint_like randn randn_like randperm scalar_tensor tril_indices triu_indices
    zeros zeros_like
"""
_METHODS = """
    item detach_ resolve_conj float:to double:to half:to int:to long:to bool:to to type_as new_empty new_full
    new_ones new_zeros
"""


class Taps:
    """All replacements that are in force, and how to take them back."""

    def __init__(self) -> None:
        self.users = 0
        self.lock = threading.Lock()
        self.undo: list[Callable[[], None]] = []

    def open(self) -> None:
        """A profiler starts."""
        with self.lock:
            self.users += 1
            if self.users == 1:
                self.install()

    def close(self) -> None:
        """A profiler stops."""
        with self.lock:
            self.users -= 1
            if self.users == 0:
                while self.undo:
                    self.undo.pop()()
                for op in all_ops():  # also those that were made, from one with a tap, in the meantime
                    if isinstance(op.forward, KernelTap):
                        op.forward = op.forward.kernel

    def install(self) -> None:
        names = public_names()
        replaced: dict[int, Any] = {}

        def tap_for(function: Any) -> Any:
            key = id(function)
            if key not in replaced:
                name, reference, _, count = names[key]
                replaced[key] = tapped(function, name, reference, count)
            return replaced[key]

        for module in [m for name, m in sys.modules.items() if m and name.split(".")[0] == "leafgrad"]:
            for name, value in list(vars(module).items()):
                if id(value) in names and names[id(value)][2] is value:
                    self.replace(module, name, tap_for(value))
        for entry in entries():
            if id(entry.function) in names:
                self.replace(entry, "function", tap_for(entry.function))
        for cls in (OpMethods, Tensor):
            for name, value in list(vars(cls).items()):
                if id(value) in names:
                    self.replace(cls, name, tap_for(value))
        for entry in entries():
            for name in entry.operators:
                operator = getattr(Tensor, name)
                if id(operator) not in names:
                    tap = tapped(operator, f"aten::{entry.aten_function}", entry.function, entry.flops)
                    self.replace(Tensor, name, tap)
        self.replace(Tensor, "__getitem__", indexed(Tensor.__getitem__, reading))
        self.replace(Tensor, "__setitem__", indexed(Tensor.__setitem__, writing))
        for op in all_ops():
            self.replace(op, "forward", KernelTap(op))
        self.tap_functions()
        self.tap_optimizers()
        self.replace(late, "accumulation", accumulation)
        self.replace(anomaly_mode.profiled_rules, "run", run_rule)
        anomaly_mode.choose_watch()
        self.undo.insert(0, anomaly_mode.choose_watch)  # the last to be undone, when `run` is None again

    def replace(self, place: Any, name: str, value: Any) -> None:
        own = not isinstance(place, type) or name in vars(place)
        before = vars(place)[name] if own and isinstance(place, type) else getattr(place, name)
        self.undo.append((lambda: setattr(place, name, before)) if own else (lambda: delattr(place, name)))
        setattr(place, name, value)

    def tap_functions(self) -> None:
        """autograd.Function.apply, under the name of the user's class."""
        from leafgrad.autograd.function import Function

        apply = vars(Function)["apply"].__func__

        @functools.wraps(apply)
        def tap(cls: Any, *args: Any, **kwargs: Any) -> Any:
            if state.tape is None:
                return apply(cls, *args, **kwargs)
            return state.tape.call(cls.__name__, functools.partial(apply, cls), tuple, args, kwargs)

        self.replace(Function, "apply", classmethod(tap))

    def tap_optimizers(self) -> None:
        """`step` and `zero_grad` of optimisers, if there are any."""
        module = sys.modules.get("leafgrad.optim.optimizer")
        if module is None:
            return
        classes = [module.Optimizer]
        for cls in classes:
            classes += cls.__subclasses__()
            for name in ("step", "zero_grad"):
                if name in vars(cls):
                    self.replace(cls, name, annotated(vars(cls)[name], name))


taps = Taps()


def tapped(function: Any, name: str, reference: Any, count: Any = None) -> Any:
    """A public function that writes its calls on the tape of the thread, if it has one."""
    parameters = parameters_of(reference)

    @functools.wraps(function)
    def tap(*args: Any, **kwargs: Any) -> Any:
        if state.tape is None:
            return function(*args, **kwargs)
        return state.tape.call(name, function, parameters, args, kwargs, count)

    return tap


def indexed(function: Any, name_for: Callable[[Any], str]) -> Any:
    """x[...] or x[...] = value, under a name that depends on what is in the brackets."""

    @functools.wraps(function)
    def tap(self: Any, index: Any, *value: Any) -> Any:
        if state.tape is None:
            return function(self, index, *value)
        return state.tape.call(name_for(index), function, tuple, (self, index, *value), {})

    return tap


def reading(index: Any) -> str:
    """PyTorch reads in several steps; the first gives its name to the whole."""
    parts = index if isinstance(index, tuple) else (index,)
    if is_advanced(parts):
        return "aten::index"
    for part in parts:
        if part is None:
            return "aten::unsqueeze"
        if isinstance(part, slice):
            return "aten::slice"
        if part is not Ellipsis:
            return "aten::select"
    return "aten::alias"


def writing(index: Any) -> str:
    return "aten::index_put_" if is_advanced(index if isinstance(index, tuple) else (index,)) else "aten::copy_"


def is_advanced(parts: tuple[Any, ...]) -> bool:
    """Are there tensors, lists or arrays in the brackets?"""
    return any([isinstance(part, (list, bool)) or hasattr(part, "dtype") for part in parts])


def annotated(function: Any, name: str) -> Any:
    """A method of an optimiser, recorded as PyTorch does it."""

    @functools.wraps(function)
    def tap(self: Any, *args: Any, **kwargs: Any) -> Any:
        tape: Tape | None = state.tape
        title = f"Optimizer.{name}#{type(self).__name__}.{name}"
        if tape is None or (tape.open and tape.open[-1].name == title):  # which calls that of its base class
            return function(self, *args, **kwargs)
        from leafgrad.autograd.profiler import record_function

        with record_function(title):
            return function(self, *args, **kwargs)

    return tap


class KernelTap:
    """Stands in for the kernel of an operation."""

    def __init__(self, op: Op | Operation) -> None:
        self.kernel = op.forward
        self.name = f"aten::{name_of(op if isinstance(op, Op) else op.core)}"
        self.recorded = isinstance(op, Op)  # is it the recorder who calls it, rather than another kernel?
        self.count = registry[op.name].flops

    def __call__(self, *args: Any) -> Any:
        if state.tape is None:
            return self.kernel(*args)
        return state.tape.kernel(self.name, self.kernel, args, self.recorded, self.count)


def accumulation(add: Any, leaf: Any, g: Any, owned: bool, create_graph: bool) -> None:
    if state.tape is None:
        add(leaf, g, owned, create_graph)
    else:
        state.tape.accumulation(add, leaf, g, owned, create_graph)


def run_rule(node: Node, g: Any, saved: Any, targets: Any) -> Any:
    """What the engine calls for each node while a profiler is on, in whatever thread."""
    if state.tape is None:
        return plain_rule(node, g, saved, targets)
    return state.tape.rule(node, plain_rule, g, saved, targets)


def plain_rule(node: Node, g: Any, saved: Any, targets: Any) -> Any:
    """What the engine would do by itself."""
    if anomaly.enabled:
        return anomaly_mode.supervised(node, g, saved, targets)
    on_tensors = any([isinstance(one, TensorBase) for one in (g if isinstance(g, list) else [g])])
    if on_tensors and late.batched_rule is not None:
        return late.batched_rule(node, g, saved, targets)
    return node.op.backward(g, saved, targets)


# -- finding what is to be replaced -----------------------------------------------------------------------------------


def all_ops() -> list[Any]:
    """Everything that has a kernel: the operations, what recorder and engine know of them, and variants by name."""
    found: dict[int, Any] = {}

    def add(op: Any) -> None:
        if op is not None and id(op) not in found:
            found[id(op)] = op
            add(op.conjugated)

    for operation in registry.values():
        found[id(operation)] = operation
        for op in (operation.core, operation.by_number, *operation.named.values()):
            add(op)
    return list(found.values())


def public_names() -> dict[int, tuple[str, Any, Any, Any]]:
    """The functions that users call: by id, the name of the operation, the function whose parameters count, itself, and
    what counts its arithmetic."""
    names: dict[int, tuple[str, Any, Any, Any]] = {}

    def add(function: Any, name: str, reference: Any = None, count: Any = None) -> None:
        if callable(function) and not isinstance(function, (type, Operation)):
            names.setdefault(id(function), (f"aten::{name}", reference or function, function, count))

    package = sys.modules["leafgrad"]
    for entry in entries():
        known = entry.aten_function
        for name in install.in_place_names(entry):
            add(getattr(Tensor, name, None), known + "_", entry.function, entry.flops)
        if entry.public_name:
            add(entry.function, known, None, entry.flops)
        for name in install.functions_of(entry):
            add(vars(package).get(name), known, entry.function, entry.flops)
    for place in (vars(package), vars(factories), vars(functions)):
        for name in _CREATION.split():
            add(place.get(name), name)
    for pair in _METHODS.split():
        name, _, known = pair.partition(":")
        add(getattr(Tensor, name, None), known or name)
    for name, function in {**methods.METHODS, **functions.METHODS}.items():
        if name.endswith("_") and not name.startswith("_"):
            add(function, name)
    functional: Any = sys.modules.get("leafgrad.nn.functional")
    for name in [] if functional is None else functional.__all__:
        op = registry.get(name) or composites.get(name)
        add(getattr(functional, name), name if op is None else op.aten_function)
    return names
