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
from leafgrad._tensor.tensor import Tensor
from leafgrad.autograd import anomaly_mode
from leafgrad.ops.creation import factories
from leafgrad.ops.index import overwrite
from leafgrad.ops.random import functions
from leafgrad.ops.registry import Operation, composites, registry

# Operations of our own, by the names of those that do their work in PyTorch.
KERNEL_NAMES = {
    "around": "slice_scatter", "clamp_by_tensors": "clamp", "clone_in_format": "clone", "constant": "fill",
    "copy_from": "copy_", "cross_entropy": "cross_entropy_loss", "cross_entropy_2d": "cross_entropy_loss",
    "div_floor": "div", "div_trunc": "div", "drawn_bernoulli": "bernoulli", "drawn_normal": "normal",
    "gather_sum": "scatter_add", "imag_part": "imag", "index_sum": "index_put", "index_write": "index_put",
    "logsigmoid": "log_sigmoid", "max_dim": "max", "mean_dim": "mean", "min_dim": "min", "new_dimension": "unsqueeze",
    "nll_loss_2d": "nll_loss2d", "number_to_the_power": "pow", "pick": "gather", "picked": "as_strided",
    "place": "scatter", "polar_form": "polar", "pow_number": "pow", "pow_tensor": "pow", "prod_dim": "prod",
    "put_diagonal": "diagonal_scatter", "real_part": "real", "rsub_same": "rsub", "seen": "as_strided",
    "shift": "roll", "spread": "as_strided_scatter", "sum_dim": "sum", "to_dtype": "to", "true_div": "div",
    "unseen": "as_strided_scatter", "vector_norm": "linalg_vector_norm",
}  # fmt: skip
# Functions whose operation has another name.
FUNCTION_NAMES = {
    "cross_entropy": "cross_entropy_loss",
    "logsigmoid": "log_sigmoid",
    "nll_loss": "nll_loss_nd",
    "norm": "linalg_vector_norm",
}
OPERATORS = {
    "__add__": "add", "__radd__": "add", "__sub__": "sub", "__rsub__": "rsub", "__mul__": "mul", "__rmul__": "mul",
    "__truediv__": "div", "__neg__": "neg", "__invert__": "bitwise_not", "__matmul__": "matmul", "__pow__": "pow",
    "__rpow__": "pow", "__floordiv__": "floor_divide", "__mod__": "remainder", "__and__": "bitwise_and",
    "__or__": "bitwise_or", "__xor__": "bitwise_xor", "__lshift__": "bitwise_left_shift",
    "__rshift__": "bitwise_right_shift", "__eq__": "eq", "__ne__": "ne", "__lt__": "lt", "__le__": "le",
    "__gt__": "gt", "__ge__": "ge",
}  # fmt: skip
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
                name, reference = names[key][:2]
                replaced[key] = tapped(function, name, reference)
            return replaced[key]

        for module in [m for name, m in sys.modules.items() if m and name.split(".")[0] == "leafgrad"]:
            for name, value in list(vars(module).items()):
                if id(value) in names and names[id(value)][2] is value:
                    self.replace(module, name, tap_for(value))
        entries: list[Any] = [*registry.values(), *composites.values()]
        for entry in entries:
            if id(entry.function) in names:
                self.replace(entry, "function", tap_for(entry.function))
        for name, value in list(vars(Tensor).items()):
            if id(value) in names:
                self.replace(Tensor, name, tap_for(value))
        for name, operation in OPERATORS.items():
            operator = getattr(Tensor, name)
            if id(operator) not in names:
                self.replace(Tensor, name, tapped(operator, f"aten::{operation}", function_named(operation)))
        self.replace(Tensor, "__getitem__", indexed(vars(Tensor)["__getitem__"], reading))
        self.replace(Tensor, "__setitem__", indexed(vars(Tensor)["__setitem__"], writing))
        for op in all_ops():
            self.replace(op, "forward", KernelTap(op.forward, kernel_name(op.name), isinstance(op, Op)))
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


def tapped(function: Any, name: str, reference: Any) -> Any:
    """A public function that writes its calls on the tape of the thread, if it has one."""
    parameters = parameters_of(reference)

    @functools.wraps(function)
    def tap(*args: Any, **kwargs: Any) -> Any:
        if state.tape is None:
            return function(*args, **kwargs)
        return state.tape.call(name, function, parameters, args, kwargs)

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

    def __init__(self, kernel: Any, name: str, recorded: bool) -> None:
        self.kernel = kernel
        self.name = name
        self.recorded = recorded  # is it the recorder who calls it, rather than another kernel?

    def __call__(self, *args: Any) -> Any:
        if state.tape is None:
            return self.kernel(*args)
        return state.tape.kernel(self.name, self.kernel, args, self.recorded)


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


def kernel_name(name: str) -> str:
    return "aten::" + KERNEL_NAMES.get(name, name)


def all_ops() -> list[Any]:
    """Everything that has a kernel: the operations, what recorder and engine know of them, and variants by name."""
    found: dict[int, Any] = {}

    def add(op: Any) -> None:
        if op is not None and id(op) not in found:
            found[id(op)] = op
            add(op.conjugated)

    for operation in registry.values():
        found[id(operation)] = operation
        add(operation.core)
        add(operation.by_number)
    for module in [m for name, m in sys.modules.items() if m and name.startswith("leafgrad.ops")]:
        for value in list(vars(module).values()):
            if isinstance(value, Op):
                add(value)
    for op in list(overwrite._named.values()):
        add(op)
    return list(found.values())


def function_named(name: str) -> Any:
    entry = registry.get(name) or composites.get(name)
    return None if entry is None else entry.function


def public_names() -> dict[int, tuple[str, Any, Any]]:
    """The functions that users call: by id, the name of the operation, the function whose parameters count, itself."""
    names: dict[int, tuple[str, Any, Any]] = {}

    def add(function: Any, name: str, reference: Any = None) -> None:
        if callable(function) and not isinstance(function, (type, Operation)):
            names.setdefault(id(function), (f"aten::{name}", reference or function, function))

    package = sys.modules["leafgrad"]
    entries = install.public_entries()
    for name, entry in entries.items():
        known = entry.public_name if isinstance(entry, Operation) else entry.name
        known = FUNCTION_NAMES.get(known, known)
        add(entry.function, known)
        add(vars(package).get(name), known, entry.function)
        add(vars(Tensor).get(name + "_"), known + "_", entry.function)
    for place in (vars(package), vars(factories), vars(functions)):
        for name in _CREATION.split():
            add(place.get(name), name)
    for pair in _METHODS.split():
        name, _, known = pair.partition(":")
        add(vars(Tensor).get(name), known or name)
    for name, function in {**methods.METHODS, **functions.METHODS}.items():
        if name.endswith("_") and not name.startswith("_"):
            add(function, name)
    functional: Any = sys.modules.get("leafgrad.nn.functional")
    for name in [] if functional is None else functional.__all__:
        add(getattr(functional, name), FUNCTION_NAMES.get(name, name))
    return names
