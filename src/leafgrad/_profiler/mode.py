"""The mode that is on while a thread is profiled: it writes down what the thread does.

Kernels, gradient rules and `record_function` blocks each leave a `Record`, and so do the public functions that kernels
run for. They are nested as they ran: a record that begins while another is open is a part of that. How records look to
users is the matter of leafgrad/autograd/profiler_util.py.

The time of a kernel is that of its computation alone. A public function lasts from its first kernel to the end of its
last: what Python does around operations belongs to nobody.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter_ns
from typing import Any

import numpy as np

from leafgrad._core.modes import Below, Mode, Rule
from leafgrad._core.node import Node, take_order
from leafgrad._core.op import Op
from leafgrad._core.tensor import as_array, links
from leafgrad._core.thread_state import state
from leafgrad._profiler import names
from leafgrad._profiler.record import BACKWARD_FUNCTION, FUNCTION, USER, Record, Wishes, arrays_in, owner, stack_lines
from leafgrad.autograd.profiler_util import MEMORY_EVENT_NAME, FunctionEvent
from leafgrad.ops.registry import registry

EVALUATE = "autograd::engine::evaluate_function: "
ACCUMULATE = "torch::autograd::AccumulateGrad"


def current_profile() -> Profile | None:
    """The profile of this thread, if it has one."""
    return next((mode for mode in state.modes if isinstance(mode, Profile)), None)


class Profile(Mode):
    """The records of one thread. Profilers inside each other share it, and each takes what was written in its time."""

    wants_tensors = True  # so that the kernels in gradient rules are seen
    asked_first = True  # a kernel inside of vmap is one kernel, however it is batched

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.open: list[Record] = []  # those that have not ended, each inside of the one before it
        self.finished: Record | None = None  # the last that ended directly inside of the innermost open one
        self.in_kernel = False
        self.wishes = Wishes()
        self.users: list[Any] = []  # the profilers that are on
        self.threads: dict[int, int] = {}
        self.alive: dict[int, Any] = {}  # weak references to the arrays that were allocated, by id

    # -- what is seen -------------------------------------------------------------------------------------------------

    def execute(self, op: Op, arrays: Sequence[Any], options: tuple[Any, ...], out: Any, below: Below) -> Any:
        if self.in_kernel:  # what a kernel computes with other operations is its own business
            return below(op, arrays, options, out)
        record = self.begin_kernel(op, arrays, options, out)
        self.in_kernel = True
        try:
            result = below(op, arrays, options, out)
        finally:
            self.in_kernel = False
            self.end(record)
        if isinstance(result, np.generic):
            result = as_array(result)  # what `bind` would make of it: a scalar is not found again
        for around in (record, *self.open_ended()):
            around.result = id(result)
        if self.wishes.memory:
            self.allocated(record, result, arrays)
        return result

    def run_rule(self, node: Node, g: Any, saved: Any, inputs: Any, below: Rule) -> Sequence[Any]:
        record = self.begin_node(node.op.node_name, -node.order, g)
        try:
            results = below(node, g, saved, inputs)
        finally:
            self.end(record)
        if self.wishes.memory:
            self.allocated(record, results, (g, saved))
        return results

    def accumulate(self, add: Callable[..., None], leaf: Any, *args: Any) -> None:
        record = self.begin_node(ACCUMULATE, -1, args[0])
        try:
            add(leaf, *args)
        finally:
            self.end(record)
        if self.wishes.memory:
            self.allocated(record, leaf._grad, args[:1])

    def call(self, name: str, is_operation: bool, below: Callable[[], Any]) -> Any:
        if self.open and self.open[-1].name == name:  # a step that calls that of its base class
            return below()
        record = self.begin_block(name, FUNCTION if is_operation else USER)
        try:
            return below()
        finally:
            self.end(record)

    def recorded(self, node: Node, tensors: Sequence[Any], out_versions: Sequence[Any]) -> None:
        """The node of what has just been computed. The first one is also that of the public function around it."""
        for record in (self.finished, *reversed(self.open)):
            if record is not None:
                if record.scope != FUNCTION or record.level is not None:
                    return
                if not record.recorded:
                    record.number, record.recorded = -node.order, True

    # -- writing ------------------------------------------------------------------------------------------------------

    def begin(self, name: str, scope: int, arguments: Callable[[], Sequence[Any]] = tuple) -> Record:
        """A new record, inside of the innermost open one; `arguments` are asked for if somebody wants to know them."""
        thread = self.threads.setdefault(threading.get_ident(), len(self.threads) + 1)
        number = 1 - take_order() if state.recording else -1
        record = Record(name, scope, self.open[-1] if self.open else None, thread, number)
        if self.wishes.stack:
            record.stack = stack_lines()
        if self.wishes.shapes or self.wishes.flops:
            record.describe(arguments())
        self.records.append(record)
        self.open.append(record)
        self.finished = None
        record.start = perf_counter_ns()
        return record

    def end(self, record: Record) -> None:
        record.end = perf_counter_ns()
        if not record.is_open_ended:
            if record in self.open:  # users may end their blocks in another order than that in which they began
                self.close_calls(())
                self.open.remove(record)
            self.finished = record
        for around in self.open_ended():
            around.end = record.end

    def open_ended(self) -> list[Record]:
        """The innermost open records, as far as they end with the last event inside."""
        found: list[Record] = []
        for record in reversed(self.open):
            if not record.is_open_ended:
                break
            found.append(record)
        return found

    def close_calls(self, running: Sequence[Record | None], level: int | None = None) -> None:
        """Close what has ended without a word: calls that are not among those that are running, and what the engine did
        about a node in a backward pass above `level`."""
        level = state.depth if level is None else level
        for record in self.open_ended():
            if record in running or (record.level is not None and record.level <= level):
                return
            self.finished = self.open.pop()

    def begin_block(self, name: str, scope: int = USER) -> Record:
        """The record of a block that somebody will end."""
        self.close_calls(())
        return self.begin(name, scope)

    def begin_node(self, name: str, number: int, g: Any) -> Record:
        """The records of what the engine does about one node and, inside of it, of the gradient rule."""
        self.close_calls((), state.depth - 1)
        outer = self.begin(EVALUATE + name, FUNCTION)
        inner = self.begin(name, BACKWARD_FUNCTION, lambda: g if isinstance(g, list) else [g])
        outer.level = state.depth
        outer.number = inner.number = number
        if number >= 0:
            outer.forward_thread = inner.forward_thread = 1
        return inner

    def begin_kernel(self, op: Op, arrays: Sequence[Any], options: tuple[Any, ...], out: Any) -> Record:
        """The record of a kernel: a new one, or that of what it is the main part or the end of."""
        calls = names.calls_on_stack(sys._getframe(2))
        running = [frame.f_locals.get(names.RECORD) for frame, _ in calls]
        self.close_calls(running)
        for (frame, name), record in zip(calls, running, strict=True):
            if (record is None or record not in self.open) and not self.is_inside(name):
                record = self.begin(name, FUNCTION, partial(names.arguments_of, frame))
                record.is_call = True
                frame.f_locals[names.RECORD] = record
        if op is links.assign and self.open and self.open[-1].is_call and self.open[-1].result == id(arrays[0]):
            return self.open[-1]  # the end of a call with `out=`
        name = names.kernel_name(op, arrays, options, out)
        if self.is_inside(name) or (out is not None and self.is_inside("_")):
            record = self.open[-1]
        else:
            record = self.begin(name, FUNCTION, partial(names.arguments_for, op, arrays, options))
        if op.name in registry:
            record.count_flops = registry[op.name].flops
        return record

    def is_inside(self, name: str) -> bool:
        """Is the innermost open record the call of a function of this name, in place or not? If the name is "_", of any
        in-place function?"""
        if not self.open or not self.open[-1].is_call:
            return False
        outer = self.open[-1].name
        return outer.endswith("_") if name == "_" else outer.removesuffix("_") == name.removesuffix("_")

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
            self.close_calls([frame.f_locals.get(names.RECORD) for frame, _ in names.calls_on_stack(sys._getframe())])
            if self.open:
                self.open[-1].memory -= size
            else:
                record = Record(MEMORY_EVENT_NAME, FUNCTION, None, 1, -1)
                record.start = record.end = perf_counter_ns()
                record.memory = -size
                self.records.append(record)

        return freed

    # -- reading ------------------------------------------------------------------------------------------------------

    def events(self, first: int, wishes: Wishes, start: int, stop: int) -> list[FunctionEvent]:
        """The records from number `first` on as events, with times that count from `start`."""
        found: dict[Record, FunctionEvent] = {}
        for number, record in enumerate(self.records[first:], 1):
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
        for record, event in reversed(found.items()):  # what is inside comes before what it is in
            event.cpu_memory_usage += sum([child.cpu_memory_usage for child in event.cpu_children])
            if wishes.flops:
                counted = record.count_flops is not None and not event.cpu_children
                event.flops = record.count_flops(record.shapes) if counted else 0
        return list(found.values())
