"""The tape on which a thread writes down what it does while a profiler is on.

Operations, gradient rules and `record_function` blocks each leave a `Record`. They are nested as they ran: a record
that begins while another is open is a part of that. What calls the tape is in `profiler_taps`; how its records are
shown, in `profiler_util`.
"""

from __future__ import annotations

import inspect
import threading
import weakref
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any

import numpy as np

from leafgrad._core import origin
from leafgrad._core.node import Node, Output, take_order
from leafgrad._core.tensor import TensorBase
from leafgrad._core.thread_state import state
from leafgrad.autograd.profiler_util import MEMORY_EVENT_NAME, FunctionEvent

# where an event belongs to: PyTorch's numbers
FUNCTION, BACKWARD_FUNCTION, USER = 0, 1, 7
EVALUATE = "autograd::engine::evaluate_function: "


class Record:
    """One call, as it is written down while it runs."""

    __slots__ = (
        "concrete", "count", "end", "forward_thread", "memory", "name", "number", "order", "parent", "scope", "shapes",
        "stack", "start", "thread",
    )  # fmt: skip

    def __init__(self, name: str, scope: int, parent: Record | None, thread: int) -> None:
        self.name = name
        self.scope = scope
        self.parent = parent
        self.thread = thread
        self.order: int = take_order()  # nodes with a smaller number were recorded after this call began
        self.number = -1  # which node belongs to it
        self.forward_thread = 0
        self.memory = 0  # allocated minus freed, without what is inside
        self.count: Any = None  # tells from the shapes how many multiplications and additions it takes
        self.shapes: list[Any] = []
        self.concrete: list[Any] = []
        self.stack: list[str] = []
        self.end: int | None = None
        self.start: int = 0


class Wishes:
    """What profilers want to know beside the time."""

    def __init__(self, shapes: bool = False, memory: bool = False, stack: bool = False, flops: bool = False) -> None:
        self.shapes = shapes
        self.memory = memory
        self.stack = stack
        self.flops = flops

    def __or__(self, other: Wishes) -> Wishes:
        return Wishes(**{name: value or getattr(other, name) for name, value in vars(self).items()})


class Tape:
    """The records of one thread. Profilers inside each other share it, and each takes what was written in its time."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.open: list[Record] = []
        self.wishes = Wishes()
        self.users: list[Any] = []  # the profilers that are on
        self.threads: dict[int, int] = {}
        self.alive: dict[int, Any] = {}  # weak references to the arrays that were allocated, by id

    # -- writing ------------------------------------------------------------------------------------------------------

    def begin(self, name: str, scope: int = FUNCTION) -> Record:
        parent = self.open[-1] if self.open else None
        thread = self.threads.setdefault(threading.get_ident(), len(self.threads) + 1)
        record = Record(name, scope, parent, thread)
        if self.wishes.stack:
            record.stack = stack_lines()
        self.records.append(record)
        self.open.append(record)
        record.start = perf_counter_ns()
        return record

    def end(self, record: Record) -> None:
        record.end = perf_counter_ns()
        if self.open and self.open[-1] is record:
            self.open.pop()
        elif record in self.open:  # users may end their blocks in another order than that in which they began
            self.open.remove(record)

    def is_inside(self, name: str) -> bool:
        """Does the innermost open record stand for the operation `name`, or its in-place form, already?"""
        if not self.open:
            return False
        return self.open[-1].name in (name, name + "_") and self.open[-1].scope == FUNCTION

    def call(
        self, name: str, function: Callable[..., Any], parameters: Any, args: Any, kwargs: Any, count: Any = None
    ) -> Any:
        """Call a function that users know under this name."""
        if self.is_inside(name):
            return function(*args, **kwargs)
        record = self.begin(name)
        record.count = count
        if self.wishes.shapes or self.wishes.flops:
            values = arguments(parameters(), args, kwargs)
            record.shapes, record.concrete = [shape_of(v) for v in values], [concrete(v) for v in values]
            record.start = perf_counter_ns()
        try:
            result = function(*args, **kwargs)
        finally:
            self.end(record)
        record.number = number_of(result, record)
        if self.wishes.memory:
            self.allocated(record, result, (*args, *kwargs.values()))
        return result

    def kernel(self, name: str, function: Callable[..., Any], args: Any, recorded: bool, count: Any) -> Any:
        """Run a kernel on arrays. Most of the time this is the main part of a call that is on the tape already.
        `recorded` tells whether a node will be left for it."""
        inside = self.is_inside(name)
        record = self.open[-1] if inside else self.begin(name)
        if not inside:
            record.count = count
            if self.wishes.shapes or self.wishes.flops:
                record.shapes, record.concrete = [shape_of(v) for v in args], [concrete(v) for v in args]
                record.start = perf_counter_ns()
            if recorded and state.recording:
                record.number = 1 - record.order  # the node that comes next
        try:
            result = function(*args)
        finally:
            if not inside:
                self.end(record)
        if self.wishes.memory:
            if isinstance(result, np.generic):
                result = np.asarray(result)  # what the recorder would make of it: a scalar cannot be watched
            self.allocated(record, result, args)
        return result

    def rule(self, node: Node, run: Callable[..., Any], g: Any, saved: Any, targets: Any) -> Any:
        """Run the gradient rule of a node."""
        outer = self.begin(EVALUATE + node.op.node_name)
        inner = self.begin(node.op.node_name, BACKWARD_FUNCTION)
        outer.number = inner.number = -node.order
        outer.forward_thread = inner.forward_thread = 1
        if self.wishes.shapes or self.wishes.flops:
            inner.shapes = [shape_of(one) for one in (g if isinstance(g, list) else [g])]
            inner.concrete = [None] * len(inner.shapes)
        try:
            results = run(node, g, saved, targets)
        finally:
            self.end(inner)
            self.end(outer)
        if self.wishes.memory:
            self.allocated(inner, results, (g, saved))
        return results

    def accumulation(self, add: Callable[..., None], leaf: Any, g: Any, owned: bool, create_graph: bool) -> None:
        """Add a gradient to `.grad` of a leaf."""
        name = "torch::autograd::AccumulateGrad"
        outer, inner = self.begin(EVALUATE + name), self.begin(name, BACKWARD_FUNCTION)
        if self.wishes.shapes:
            inner.shapes, inner.concrete = [shape_of(g)], [None]
        try:
            add(leaf, g, owned, create_graph)
        finally:
            self.end(inner)
            self.end(outer)
        if self.wishes.memory:
            self.allocated(inner, leaf._grad, (g,))

    # -- memory -------------------------------------------------------------------------------------------------------

    def allocated(self, record: Record, results: Any, inputs: Any) -> None:
        """Count the memory of results that is new, and watch for the moment when it is freed."""
        old: set[int] | None = None
        for array in arrays_in(results):
            block = owner(array)
            if id(block) in self.alive or block.nbytes == 0:
                continue
            if old is None:
                old = {id(owner(a)) for a in arrays_in(inputs)}
            if id(block) not in old:
                record.memory += block.nbytes
                self.alive[id(block)] = weakref.ref(block, self._watcher(id(block), block.nbytes))

    def _watcher(self, key: int, size: int) -> Callable[[Any], None]:
        def freed(_: Any) -> None:
            if self.alive.pop(key, None) is None:
                return
            if self.open:
                self.open[-1].memory -= size
            else:
                record = Record(MEMORY_EVENT_NAME, FUNCTION, None, 1)
                record.start = record.end = perf_counter_ns()
                record.memory = -size
                self.records.append(record)

        return freed

    # -- reading ------------------------------------------------------------------------------------------------------

    def events(self, first: int, wishes: Wishes, start: int, stop: int) -> list[FunctionEvent]:
        """The records from number `first` on as events, with times that count from `start`."""
        records = self.records[first:]
        found: dict[Record, FunctionEvent] = {}
        for number, record in enumerate(records, 1):
            event = FunctionEvent(
                number,
                record.name,
                record.thread,
                (record.start - start) / 1000,
                ((stop if record.end is None else record.end) - start) / 1000,
                fwd_thread=record.forward_thread,
                input_shapes=record.shapes if wishes.shapes else [],
                concrete_inputs=record.concrete if wishes.shapes else [],
                stack=record.stack if wishes.stack else [],
                scope=record.scope,
                cpu_memory_usage=record.memory if wishes.memory else 0,
                sequence_nr=record.number,
                is_user_annotation=record.scope == USER,
            )
            found[record] = event
            parent = None if record.parent is None else found.get(record.parent)
            if parent is not None:
                event.set_cpu_parent(parent)
                parent.append_cpu_child(event)
        for record in reversed(records):  # what is inside comes before what it is in
            event = found[record]
            event.cpu_memory_usage += sum([child.cpu_memory_usage for child in event.cpu_children])
            if event.scope == FUNCTION and record.forward_thread == 0:  # the first of all nodes that belong to it
                numbers = [child.sequence_nr for child in event.cpu_children if child.sequence_nr >= 0]
                event.sequence_nr = min(numbers, default=event.sequence_nr)
            if wishes.flops:
                counted = record.count is not None and not event.cpu_children
                event.flops = record.count(record.shapes) if counted else 0
        return list(found.values())


# -- what is known of a call ------------------------------------------------------------------------------------------


def parameters_of(function: Callable[..., Any]) -> Callable[[], tuple[str, ...]]:
    """The names of the parameters of a function, found out when they are first asked for. One that takes any number of
    arguments has a star before its name."""
    known: list[tuple[str, ...]] = []

    def names() -> tuple[str, ...]:
        if not known:
            try:
                given = inspect.signature(function).parameters.values()
                stars: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
                known.append(tuple([stars.get(p.kind, "") + p.name for p in given]))
            except (TypeError, ValueError):  # a compiled function
                known.append(())
        return known[0]

    return names


def arguments(parameters: Sequence[str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """One value for each parameter, None where a default is used; what is caught by a star counts as one."""
    values: list[Any] = []
    for position, name in enumerate(parameters):
        if name.startswith("*"):
            if position < len(args):
                values.append(args[position] if len(args) == position + 1 else list(args[position:]))
            args = args[:position]
        elif position < len(args):
            values.append(args[position])
        elif name != "out" or name in kwargs:
            values.append(kwargs.get(name))
    return values if parameters else [*args, *kwargs.values()]


def shape_of(value: Any) -> list[int]:
    array = value.array if isinstance(value, TensorBase) else value
    return list(array.shape) if hasattr(array, "shape") and hasattr(array, "dtype") else []


def concrete(value: Any) -> Any:
    """A number, a flag or a list of them; tensors and arrays are not kept."""
    if isinstance(value, (bool, int, float, complex, str)):
        return value
    if isinstance(value, (list, tuple)) and all([isinstance(v, (bool, int, float)) for v in value]):
        return list(value)
    return None


def number_of(result: Any, record: Record) -> int:
    """The node that was recorded for a result during a call; else the one that will be recorded next, if recording is
    on; else -1."""
    first = result[0] if isinstance(result, (tuple, list)) and result else result
    node = first.node if isinstance(first, TensorBase) else None
    if isinstance(node, Output):
        node = node.parent
    if node is not None and node.order < record.order:
        return -node.order
    return 1 - record.order if state.recording else -1


def stack_lines() -> list[str]:
    """The user's stack, the innermost line first."""
    lines = []
    frame = origin.user_frame()
    while frame is not None:
        code = frame.f_code
        if not origin.is_internal(code.co_filename):
            lines.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back
    return lines


def arrays_in(value: Any) -> list[Any]:
    """All arrays in a result or in arguments."""
    if isinstance(value, TensorBase):
        value = value.array
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, (tuple, list)):
        return [array for one in value for array in arrays_in(one)]
    return []


def owner(array: Any) -> Any:
    """The array whose memory this one looks at."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
