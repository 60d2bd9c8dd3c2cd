"""What a profile consists of: events, their averages, and lists of both that print as tables.

Times are in microseconds, memory is in bytes. An event knows the events that ran inside it (`cpu_children`), so its own
time is what is left of its duration when theirs is taken away.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from leafgrad._profiler.table import format_memory, format_share, format_time, table

MEMORY_EVENT_NAME = "[memory]"
# PyTorch's names, which programs that print tables of their own import
_format_time, _format_memory, _format_time_share = format_time, format_memory, format_share
AMOUNTS = ("count", "flops", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage", "self_cpu_memory_usage")
DESCRIPTION = (
    "key", "scope", "input_shapes", "stack", "cpu_parent", "cpu_children", "is_user_annotation", "overload_name",
)  # fmt: skip
STACK_METRICS = [f"self_{device}_time_total" for device in ("cpu", "cuda", "xpu", "privateuse1")]


class DeviceType(Enum):
    """Where an event ran: here there is only one place."""

    CPU = 0


class Kernel(NamedTuple):
    """What ran on a device on behalf of an event; here nothing does."""

    name: str
    device: int
    duration: float


@dataclass(eq=False)
class Interval:
    """Interval(start, end): a span of time."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        return self.end - self.start


class Times:
    """What events and averages have in common: times as text, and those of other devices, which are zero."""

    count: int
    cpu_time_total: Any
    self_cpu_time_total: Any
    device_time_total = self_device_time_total = device_memory_usage = self_device_memory_usage = 0
    cuda_time_total = self_cuda_time_total = self_cuda_memory_usage = 0
    use_device: str | None = None
    device_type = DeviceType.CPU
    node_id = -1
    is_async = is_remote = is_legacy = False
    overload_name = ""

    @property
    def cpu_time(self) -> float:
        """The average of one call."""
        return 0.0 if self.count == 0 else self.cpu_time_total / self.count

    device_time = cuda_time = 0.0
    cpu_time_str = property(lambda self: format_time(self.cpu_time))
    cpu_time_total_str = property(lambda self: format_time(self.cpu_time_total))
    self_cpu_time_total_str = property(lambda self: format_time(self.self_cpu_time_total))
    device_time_str = device_time_total_str = self_device_time_total_str = format_time(0)


@dataclass(eq=False, repr=False)
class FunctionEvent(Times):
    """One call: of an operation, a gradient rule, or what stood under a `record_function`."""

    id: int
    name: str
    thread: int
    start_us: InitVar[float]
    end_us: InitVar[float]
    overload_name: str = ""
    fwd_thread: int = 0
    input_shapes: list[Any] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)
    scope: int = 0
    use_device: str | None = None
    cpu_memory_usage: int = 0  # of the children as well
    is_async: bool = False  # did it go on while other things were done?
    is_remote: bool = False
    sequence_nr: int = -1
    node_id: int = -1
    flops: int | None = None
    concrete_inputs: list[Any] = field(default_factory=list)
    kwinputs: dict[str, Any] = field(default_factory=dict)
    is_user_annotation: bool = False

    count = 1
    is_python_function = False

    def __post_init__(self, start_us: float, end_us: float) -> None:
        self.time_range = Interval(start_us, end_us)
        self.trace_name = self.name
        self.kernels: list[Kernel] = []
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None

    def append_cpu_child(self, child: FunctionEvent) -> None:
        if not isinstance(child, FunctionEvent):
            raise AssertionError("Expected child to be a FunctionEvent")
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent: FunctionEvent) -> None:
        if not isinstance(parent, FunctionEvent):
            raise AssertionError("Expected parent to be a FunctionEvent")
        self.cpu_parent = parent

    def put_inside(self, parent: FunctionEvent) -> None:
        self.set_cpu_parent(parent)
        parent.append_cpu_child(self)

    @property
    def key(self) -> str:
        return self.name

    @property
    def cpu_time_total(self) -> float:
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:
        if self.is_async:
            return 0
        return self.cpu_time_total - sum([child.cpu_time_total for child in self.cpu_children])

    @property
    def self_cpu_memory_usage(self) -> int:
        return self.cpu_memory_usage - sum([child.cpu_memory_usage for child in self.cpu_children])

    def __repr__(self) -> str:
        children = [child.id for child in self.cpu_children]
        return (
            f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name} "
            f"device_type=DeviceType.CPU node_id={self.node_id} cpu_time={self.cpu_time_str} "
            f"start_us={self.time_range.start} end_us={self.time_range.end} cpu_children={children} "
            f"{self.use_device}_time=0.000us name={self.name} thread={self.thread} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} {self.use_device}_memory_usage=0 is_async={self.is_async} "
            f"is_remote={self.is_remote} seq_nr={self.sequence_nr} is_legacy=False>"
        )


class FunctionEventAvg(Times):
    """The sum of several events (and the average of their time): those of one name, as a rule."""

    key: str | None = None
    count = flops = cpu_time_total = self_cpu_time_total = cpu_memory_usage = self_cpu_memory_usage = 0
    input_shapes: Any = None
    stack: list[str] | None = None
    scope: int | None = None
    cpu_children: list[FunctionEvent] | None = None
    cpu_parent: FunctionEvent | None = None
    is_user_annotation = False

    def add(self, other: Any) -> FunctionEventAvg:
        """add(other): count an event, or another average, of the same name."""
        if self.key is None:  # the first one says what this is the average of
            for name in DESCRIPTION:
                setattr(self, name, getattr(other, name))
        if not isinstance(other, (FunctionEvent, FunctionEventAvg)):
            raise AssertionError("Expected other to be a FunctionEvent or FunctionEventAvg")
        if other.key != self.key:
            raise AssertionError(f"Expected keys to match, but got {other.key} vs {self.key}")
        for name in AMOUNTS:
            setattr(self, name, getattr(self, name) + (getattr(other, name) or 0))
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str}  self_cuda_time=0.000us cuda_time=0.000us input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} cuda_memory_usage=0>"
        )


class EventList(list[Any]):
    """A list of events or of averages, which prints as a table."""

    def __init__(
        self,
        events: Sequence[Any] = (),
        *,
        use_device: str | None = None,
        profile_memory: bool = False,
        with_flops: bool = False,
    ) -> None:
        super().__init__(events)
        self._profile_memory = profile_memory
        self._with_flops = with_flops
        self._use_device = use_device

    def __str__(self) -> str:
        return self.table()

    def _build_tree(self) -> None:
        """Nest events that were put together by hand. One that is all that another of the same name consists of is left
        out."""
        self._populate_cpu_children()
        while repeated := [e for e in self if is_repetition(e)]:
            for event in repeated:
                event.cpu_parent.cpu_children = event.cpu_children
                for child in event.cpu_children:
                    child.set_cpu_parent(event.cpu_parent)
            self[:] = [e for e in self if not any(e is one for one in repeated)]

    def _populate_cpu_children(self) -> None:
        """Nest events by their times, those of each thread for themselves."""
        threads: dict[int, list[FunctionEvent]] = {}
        for event in self:
            if not event.is_async:
                threads.setdefault(event.thread, []).append(event)
        for events in threads.values():
            around: list[FunctionEvent] = []
            for event in sorted(events, key=lambda e: (e.time_range.start, -e.time_range.end)):
                while around and event.time_range.end > around[-1].time_range.end:
                    around.pop()
                while around and event.time_range.start >= around[-1].time_range.end:
                    around.pop()
                if around:
                    event.put_inside(around[-1])
                around.append(event)

    @property
    def self_cpu_time_total(self) -> Any:
        return sum([event.self_cpu_time_total for event in self])

    table = table

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """key_averages(group_by_input_shapes=False, group_by_stack_n=0): one entry for all events of a name; if asked
        for, only of those with the same shapes of inputs, or the same innermost lines of the stack."""
        groups: dict[Any, FunctionEventAvg] = {}
        for event in self:
            key = (
                event.key,
                event.is_user_annotation,
                str(event.input_shapes) if group_by_input_shapes else "",
                tuple(event.stack[:group_by_stack_n]),
            )
            groups.setdefault(key, FunctionEventAvg()).add(event)
        for average in groups.values():
            average.stack = (average.stack or [])[:group_by_stack_n]
            if not group_by_input_shapes:
                average.input_shapes = ""
        return EventList(list(groups.values()), profile_memory=self._profile_memory, with_flops=self._with_flops)

    def total_average(self) -> FunctionEventAvg:
        """total_average(): the sum of all events."""
        total = FunctionEventAvg()
        for event in self:
            total.key, total.input_shapes = event.key, event.input_shapes
            total.add(event)
            total.key = None
        total.key = "Total"
        return total

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """export_stacks(path, metric): lines for flame graphs, each a stack and the microseconds spent in it."""
        if metric not in STACK_METRICS:
            raise ValueError(f"metric should be one of: {STACK_METRICS}")
        clean = str.maketrans(" ;\t\n", "____")
        with open(path, "w", encoding="utf-8") as file:
            for event in self:
                amount = int(getattr(event, metric))
                if event.stack and amount > 0:
                    lines = [line.translate(clean) for line in reversed(event.stack)]
                    file.write(f"{';'.join(lines)} {amount}\n")

    def export_chrome_trace(self, path: str, metadata: dict[str, Any] | None = None) -> None:
        """export_chrome_trace(path): the events in the format of chrome://tracing and Perfetto; packed if the name ends
        in .gz. An arrow leads from each forward operation to its gradient rule."""
        open_file: Any = gzip.open if path.endswith(".gz") else open
        with open_file(path, "wt", encoding="utf-8") as file:
            json.dump(chrome_trace(self, path, metadata or {}), file)


def is_repetition(event: FunctionEvent) -> bool:
    parent = event.cpu_parent
    return parent is not None and parent.name == event.name and len(parent.cpu_children) == 1


def chrome_trace(events: Sequence[FunctionEvent], path: str, metadata: dict[str, Any]) -> dict[str, Any]:
    """The events as what the trace viewers read: spans of time ("X") and the two ends of arrows ("s", "f")."""
    process = os.getpid()
    entries: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "ts": 0, "pid": process, "tid": 0, "args": {"name": "python"}}
    ]
    for thread in sorted({event.thread for event in events}):
        name = {"name": f"thread {thread}"}
        entries.append({"ph": "M", "name": "thread_name", "ts": 0, "pid": process, "tid": thread, "args": name})
    rules = {e.sequence_nr for e in events if e.scope == 1 and e.sequence_nr >= 0}
    linked: set[int] = set()
    for event in events:
        start, number = event.time_range.start, event.sequence_nr
        place = {"pid": process, "tid": event.thread}
        args: dict[str, Any] = {"External id": event.id}
        if number >= 0:
            args |= {"Sequence number": number, "Fwd thread id": event.fwd_thread}
        if event.input_shapes:
            args |= {"Input Dims": event.input_shapes, "Concrete Inputs": [shown(v) for v in event.concrete_inputs]}
        if event.stack:
            args["Call stack"] = ";".join(event.stack)
        if event.cpu_memory_usage:
            args["Bytes"] = event.cpu_memory_usage
        kind = "user_annotation" if event.is_user_annotation else "cpu_op"
        duration = event.time_range.elapsed_us()
        span = {"ph": "X", "cat": kind, "name": event.name, **place, "ts": start, "dur": duration, "args": args}
        entries.append(span)
        if number in rules:
            arrow = {"id": number, **place, "ts": start, "cat": "fwdbwd", "name": "fwdbwd"}
            if event.scope == 1:
                entries.append({"ph": "f", "bp": "e", **arrow})
            elif number not in linked and event.fwd_thread == 0:
                linked.add(number)
                entries.append({"ph": "s", **arrow})
    return {
        "schemaVersion": 1, "deviceProperties": [], "displayTimeUnit": "ms", **metadata, "traceEvents": entries,
        "traceName": str(path),
    }  # fmt: skip


def shown(value: Any) -> str:
    return "" if value is None else str(value)
