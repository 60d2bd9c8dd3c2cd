"""The mode that is on while a thread is profiled: it writes down what the thread does.

Kernels, gradient rules and `record_function` blocks each leave a `Record`, and so do the public functions that kernels
run for. They are nested as they ran: a record that begins while another is open is a part of that.

The time of a kernel is that of its computation alone. A public function lasts from its first kernel to the end of its
last: what Python does around operations belongs to nobody.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter_ns
from typing import Any

import numpy as np

from leafgrad._core.modes import Below, Observer, Rule
from leafgrad._core.node import Node, take_order
from leafgrad._core.op import Op
from leafgrad._core.tensor import as_array, links
from leafgrad._core.thread_state import state
from leafgrad._profiler import description
from leafgrad._profiler.description import arrays_in, concrete, owner, shape_of, stack_lines
from leafgrad.autograd.profiler_util import MEMORY_EVENT_NAME, FunctionEvent
from leafgrad.ops.registry import registry

EVALUATE = "autograd::engine::evaluate_function: "
ACCUMULATE = "torch::autograd::AccumulateGrad"
FUNCTION, BACKWARD_FUNCTION, USER = 0, 1, 7  # what an event is: PyTorch's numbers


def current_profiles() -> list[Profile]:
    """The profiles of this thread: usually none or one."""
    return [mode for mode in state.modes if isinstance(mode, Profile)]


class Record(FunctionEvent):
    """An event while it is written down. Its `sequence_nr` is at first one that no node has."""

    recorded = False  # has the node been recorded that belongs to it?
    is_call = False  # is it a public function that was found on the stack?
    level: int | None = None  # of the backward pass, if it is all that the engine does about one node

    @property
    def is_open_ended(self) -> bool:
        """Does nobody tell when it ends? Then it ends with the last event inside."""
        return self.is_call or self.level is not None


class Profile(Observer):
    """The records of one profiler, which says what it wants to know: `record_shapes`, `profile_memory`, ..."""

    asked_first = True  # a kernel inside of vmap is one kernel, however it is batched

    def __init__(self, profiler: Any) -> None:
        super().__init__()
        self.wants = profiler
        self.records: list[Record] = []
        self.open: list[Record] = []  # those that have not ended, each inside of the one before it
        self.finished: Record | None = None  # the last that ended directly inside of the innermost open one
        self.alive: dict[int, Any] = {}  # weak references to the arrays that were allocated, by id
        self.start = perf_counter_ns()
        # The record of a call lies among the local variables of the function, under a name that no function could use:
        # there it is found again by the next kernel of the same call, and dies with it. A frame that the profiler held
        # would keep all the variables alive.
        self.key = f"(profiled {id(self)})"

    def now(self) -> float:
        return (perf_counter_ns() - self.start) / 1000

    # -- what is seen -------------------------------------------------------------------------------------------------

    def observe(self, op: Op, arrays: Sequence[Any], options: tuple[Any, ...], out: Any, below: Below) -> Any:
        return self.run(self.begin_kernel(op, arrays, options, out), partial(below, op, arrays, options, out), arrays)

    def run_rule(self, node: Node, g: Any, saved: Any, inputs: Any, below: Rule) -> Sequence[Any]:
        record = self.begin_node(node.op.node_name, -node.order, g)
        return self.run(record, partial(below, node, g, saved, inputs), (g, saved))  # type: ignore[no-any-return]

    def accumulate(self, add: Callable[..., None], leaf: Any, *args: Any) -> None:
        def added() -> Any:
            add(leaf, *args)
            return leaf._grad

        self.run(self.begin_node(ACCUMULATE, -1, args[0]), added, args[:1])

    def call(self, owner: Any, name: str, is_operation: bool, below: Callable[[], Any]) -> Any:
        if self.open and self.open[-1].name == name:  # a step that calls that of its base class
            return below()
        return self.run(self.begin_block(name, FUNCTION if is_operation else USER), below, None)

    def recorded(self, node: Node, tensors: Sequence[Any], out_versions: Sequence[Any]) -> None:
        """The node of what has just been computed. The first one is also that of the public function around it."""
        for record in (self.finished, *reversed(self.open)):
            if record is not None:
                if record.scope != FUNCTION or record.level is not None:
                    return
                if not record.recorded:
                    record.sequence_nr, record.recorded = -node.order, True

    def stood_in(self, old: Any, x: Any) -> None:
        self.begin_calls()  # of a view in place, which runs no kernel, the function is all there is to see

    def reshaped(self, x: Any, operation: Any, options: tuple[Any, ...]) -> None:
        if (record := self.begin_calls()) is not None:
            self.end(record)

    # -- writing ------------------------------------------------------------------------------------------------------

    def run(self, record: Record, work: Callable[[], Any], inputs: Any) -> Any:
        """Do what a record stands for. Memory of the result that is not that of `inputs` has been allocated."""
        try:
            result = work()
        finally:
            self.end(record)
        if isinstance(result, np.generic):
            result = as_array(result)  # what `bind` would make of it: a scalar is not found again
        if self.wants.profile_memory and inputs is not None:
            self.allocated(record, result, inputs)
        return result

    def begin(self, name: str, scope: int, arguments: Callable[[], Sequence[Any]] = tuple) -> Record:
        """A new record, inside of the innermost open one; `arguments` are asked for if somebody wants to know them."""
        record = self.write(name, scope)
        record.sequence_nr = -take_order() if state.recording else -1
        if self.open:
            record.put_inside(self.open[-1])
        if self.wants.with_stack:
            record.stack = stack_lines()
        if self.wants.record_shapes:
            values = arguments()
            record.input_shapes, record.concrete_inputs = [shape_of(v) for v in values], [concrete(v) for v in values]
        self.open.append(record)
        self.finished = None
        record.time_range.start = self.now()
        return record

    def write(self, name: str, scope: int) -> Record:
        now, flops = self.now(), 0 if self.wants.with_flops else None
        user = scope == USER
        record = Record(len(self.records) + 1, name, 1, now, now, scope=scope, flops=flops, is_user_annotation=user)
        self.records.append(record)
        return record

    def end(self, record: Record) -> None:
        if record not in self.open:  # the profile is over
            return
        record.time_range.end = self.now()
        if not record.is_open_ended:  # users may end their blocks in another order than that in which they began
            self.close_calls(())
            self.open.remove(record)
            self.finished = record

    def close_calls(self, running: Sequence[Record | None], level: int | None = None) -> None:
        """Close what has ended without a word: calls that are not among those that are running, and what the engine did
        about a node in a backward pass above `level`."""
        level = state.depth if level is None else level
        while self.open and self.open[-1].is_open_ended:
            record = self.open[-1]
            if record in running or (record.level is not None and record.level <= level):
                return
            self.finished = self.open.pop()

    def begin_block(self, name: str, scope: int = USER, arguments: Callable[[], Sequence[Any]] = tuple) -> Record:
        """The record of a block that somebody will end."""
        self.close_calls(())
        return self.begin(name, scope, arguments)

    def begin_node(self, name: str, number: int, g: Any) -> Record:
        """The records of what the engine does about one node and, inside of it, of the gradient rule."""
        self.close_calls((), state.depth - 1)
        outer = self.begin(EVALUATE + name, FUNCTION)
        inner = self.begin(name, BACKWARD_FUNCTION, lambda: g if isinstance(g, list) else [g])
        outer.level = state.depth
        outer.sequence_nr = inner.sequence_nr = number
        if number >= 0:
            outer.fwd_thread = inner.fwd_thread = 1
        return inner

    def begin_kernel(self, op: Op, arrays: Sequence[Any], options: tuple[Any, ...], out: Any) -> Record:
        """The record of a kernel: a new one, or that of what it is the main part or the end of."""
        record = self.begin_calls()
        name = description.kernel_name(op, arrays, options, out)
        if record is None or not (
            description.same_function(name, record.name)
            or (out is not None and (op is links.assign or record.name.endswith("_")))  # in place, or with `out=`
        ):
            record = self.begin(name, FUNCTION, partial(description.arguments_for, op, arrays, options))
        if self.wants.with_flops and op.name in registry and registry[op.name].flops is not None:
            record.flops = registry[op.name].flops([shape_of(array) for array in arrays])
        return record

    def begin_calls(self) -> Record | None:
        """The records of the public functions that are running; returns the innermost."""
        calls = description.calls_on_stack(sys._getframe(1), self.key)
        self.close_calls([record for _, _, record in calls])
        for frame, name, record in calls:
            if record not in self.open:
                record = self.begin(name, FUNCTION, partial(description.arguments_of, frame))
                record.is_call = True
                frame.f_locals[self.key] = record
        return self.open[-1] if self.open and self.open[-1].is_call else None

    def finish(self) -> list[Record]:
        """What has been written. What is still open ends here."""
        for record in self.open:
            if not record.is_open_ended:
                record.time_range.end = self.now()
        self.open.clear()
        self.alive.clear()
        for record in reversed(self.records):  # what is inside comes before what it is in
            record.cpu_memory_usage += sum([child.cpu_memory_usage for child in record.cpu_children])
            if record.is_open_ended:
                record.time_range.end = max([each.time_range.end for each in (record, *record.cpu_children)])
        return self.records

    # -- memory -------------------------------------------------------------------------------------------------------

    def allocated(self, record: Record, results: Any, inputs: Any) -> None:
        """Count the memory of results that is new, and watch for the moment when it is freed."""
        old = {id(owner(a)) for a in arrays_in(inputs)}
        for block in [owner(array) for array in arrays_in(results)]:
            if block.nbytes and id(block) not in old and id(block) not in self.alive:
                record.cpu_memory_usage += block.nbytes
                self.alive[id(block)] = weakref.ref(block, partial(self.freed, id(block), block.nbytes))

    def freed(self, key: int, size: int, _: Any) -> None:
        self.alive.pop(key, None)
        self.close_calls([record for _, _, record in description.calls_on_stack(sys._getframe(), self.key)])
        record = self.open[-1] if self.open else self.write(MEMORY_EVENT_NAME, FUNCTION)
        record.cpu_memory_usage -= size
