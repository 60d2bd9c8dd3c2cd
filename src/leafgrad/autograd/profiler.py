"""leafgrad.autograd.profiler: which operations run, how often, how long, on what, and how much memory they take.

    with profile(record_shapes=True) as prof:
        with record_function("forward"):
            loss = model(x).sum()
        loss.backward()
    print(prof.key_averages().table(sort_by="self_cpu_time_total"))

Operations have PyTorch's names (`aten::mul`), gradient rules those of their nodes (`MulBackward0`), and the operations
inside of rules show as well. What is measured is the time of their kernels.
"""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable, Iterable
from contextlib import ContextDecorator
from enum import Enum
from time import perf_counter_ns
from typing import Any, ClassVar

from leafgrad._core.modes import pop, push
from leafgrad._profiler.mode import Profile, current_profile
from leafgrad._profiler.record import Record, Wishes
from leafgrad.autograd import profiler_util
from leafgrad.autograd.profiler_util import DeviceType, EventList, FunctionEvent, FunctionEventAvg

__all__ = [
    "DeviceType", "EnforceUnique", "EventList", "FunctionEvent", "FunctionEventAvg", "ProfilerActivity", "emit_itt",
    "emit_nvtx", "KinetoStepTracker", "kineto_available", "load_nvprof", "profile", "record_function",
]  # fmt: skip


class ProfilerActivity(Enum):
    """What may be profiled. Here there is a CPU only."""

    CPU = 0
    XPU = 1
    CUDA = 2
    MTIA = 3
    HPU = 4
    PrivateUse1 = 5


def kineto_available() -> bool:
    """kineto_available(): are profiles recorded? Always, by leafgrad itself."""
    return True


def _profiler_enabled() -> bool:
    """Is this thread profiled?"""
    return current_profile() is not None


class EnforceUnique:
    """EnforceUnique(): `see(*key)` raises an error if a key is seen more than once."""

    def __init__(self) -> None:
        self.seen: set[Any] = set()

    def see(self, *key: Any) -> None:
        if key in self.seen:
            raise RuntimeError(f"duplicate key: {key}")
        self.seen.add(key)


class KinetoStepTracker:
    """Steps, counted by several who each count all of them (a profiler, an optimiser): the largest count holds."""

    _counts: ClassVar[dict[str, int]] = {}
    _current: ClassVar[int] = 0

    @classmethod
    def init_step_count(cls, requester: str) -> None:
        """init_step_count(requester): begin to count, where the others are."""
        cls._counts[requester] = cls._current

    @classmethod
    def erase_step_count(cls, requester: str) -> bool:
        """erase_step_count(requester): count no more."""
        return cls._counts.pop(requester, None) is not None

    @classmethod
    def increment_step(cls, requester: str) -> int:
        """increment_step(requester): one more; returns the step that all are at."""
        cls._counts[requester] = cls._counts.get(requester, cls._current) + 1
        cls._current = max(cls._current, *cls._counts.values())
        return cls._current

    @classmethod
    def current_step(cls) -> int:
        """current_step(): the step that all are at."""
        return cls._current


class profile:
    """profile(enabled=True, *, record_shapes=False, profile_memory=False, with_stack=False, with_flops=False, ...): a
    context manager that writes down what this thread does inside.

    Beside the time: `record_shapes` the shapes of inputs, `profile_memory` memory allocated and freed, `with_stack` the
    user's lines, `with_flops` an estimate of the arithmetic of matrix products, sums and products. A profiler inside
    another is allowed, and each has all events of its own time.

    `use_cuda` and `use_device` warn, as there are no other devices. As on PyTorch's CPU builds, `use_kineto` (how it
    is done), `with_modules` (for TorchScript) and `post_processing_timeout_s` (nothing has to be waited for) change
    nothing.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        activity_filters: dict[ProfilerActivity, set[str]] | None = None,
    ) -> None:
        self.enabled = enabled
        self.use_cuda = False
        self.use_device: str | None = None
        self.entered = False
        self.record_shapes = record_shapes
        self.with_flops = with_flops
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_modules = with_modules
        self.use_cpu = use_cpu
        self.acc_events = acc_events
        self.custom_trace_id_callback = custom_trace_id_callback
        self.post_processing_timeout_s = post_processing_timeout_s
        self.activity_filters = activity_filters or {}
        self.trace_id = ""
        self._mode: Profile | None = None
        self._first = self._start = 0
        self._events: EventList | None = None
        if not enabled:
            return
        if use_cuda:
            warnings.warn(
                "The attribute `use_cuda` will be deprecated soon, please use ``use_device = 'cuda'`` instead.",
                FutureWarning,
                stacklevel=2,
            )
            use_device = "cuda"
        if use_device is not None:
            warn_of_device(use_device)
        if not use_cpu:
            if not use_kineto:
                raise AssertionError("Device-only events supported only with Kineto (use_kineto=True)")
            raise AssertionError("No activities specified for the profiler")
        if experimental_config is not None:
            raise NotImplementedError("experimental_config belongs to PyTorch's own collector; leafgrad has none")
        if self.activity_filters:
            raise NotImplementedError("activity_filters: leafgrad records operations of the CPU only, and all of them")

    # -- recording ----------------------------------------------------------------------------------------------------

    def __enter__(self) -> profile:
        if not self.enabled:
            return self
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self.entered = True
        callback = self.custom_trace_id_callback
        self.trace_id = uuid.uuid4().hex.upper() if callback is None else callback()
        mode = current_profile()
        if mode is None:
            mode = Profile()
            push(mode)
        self._mode = mode
        mode.users.append(self)
        mode.wishes = mode.wishes | self._wishes()
        self._first = len(mode.records)
        self._start = perf_counter_ns()
        return self

    def __exit__(self, *error: Any) -> None:
        if not self.enabled:
            return
        stop = perf_counter_ns()
        mode = self._mode
        assert mode is not None
        events = mode.events(self._first, self._wishes(), self._start, stop)
        self._events = EventList(events, profile_memory=self.profile_memory, with_flops=self.with_flops)
        mode.users.remove(self)
        mode.wishes = Wishes()
        for other in mode.users:
            mode.wishes = mode.wishes | other._wishes()
        if not mode.users:
            mode.alive.clear()
            pop(mode)

    def toggle_collection_dynamic(self, enabled: bool, activities: Iterable[ProfilerActivity]) -> None:
        """toggle_collection_dynamic(enabled, activities): leave something out, in the midst of a profile."""
        if ProfilerActivity.CPU in set(activities) and self._mode is not None and self._events is None:
            pop(self._mode)
            if enabled:
                push(self._mode)

    def _wishes(self) -> Wishes:
        return Wishes(self.record_shapes, self.profile_memory, self.with_stack, self.with_flops)

    # -- reading ------------------------------------------------------------------------------------------------------

    @property
    def function_events(self) -> Any:
        """All events in the order in which they began: an `EventList`. None if the profiler was not enabled."""
        if not self.enabled:
            return None
        return EventList() if self._events is None else self._events

    def __repr__(self) -> str:
        if self.enabled and self._events is None:
            return "<unfinished torch.autograd.profile>"
        return repr(self.function_events)

    def __str__(self) -> str:
        if self.enabled and self._events is None:
            return "<unfinished torch.autograd.profile>"
        return str(self.function_events)

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:
        """table(sort_by=None, row_limit=100, ...): all events as text, see EventList.table."""
        table: str = self.function_events.table(
            sort_by=sort_by,
            row_limit=row_limit,
            max_src_column_width=max_src_column_width,
            max_name_column_width=max_name_column_width,
            max_shapes_column_width=max_shapes_column_width,
            header=header,
            top_level_events_only=top_level_events_only,
        )
        return table

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> Any:
        """key_averages(group_by_input_shape=False, group_by_stack_n=0): the events of each name together."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self) -> Any:
        """total_average(): all events together."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> Any:
        """The time of all events, in microseconds."""
        return self.function_events.self_cpu_time_total

    def export_chrome_trace(
        self, path: str, metadata: dict[str, str] | None = None, use_python_export: bool = False
    ) -> None:
        """export_chrome_trace(path): a file for chrome://tracing or ui.perfetto.dev."""
        if self._events is None:
            raise AttributeError("'NoneType' object has no attribute 'save'\n  nothing has been recorded: use `with`")
        self._events.export_chrome_trace(path, {"trace_id": self.trace_id, **(metadata or {})})

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """export_stacks(path, metric="self_cpu_time_total"): lines for a flame graph; needs with_stack=True."""
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self.function_events.export_stacks(path, metric)


def warn_of_device(name: str) -> None:
    """There is no other device than the CPU, whichever is asked for."""
    if name in ("cuda", "xpu", "mtia", "hpu"):
        text = f"{name.upper()} is not available, disabling {name.upper()} profiling"
    else:
        text = f"The {name} is not a valid device option."
    warnings.warn(text, UserWarning, stacklevel=3)


class record_function(ContextDecorator):
    """record_function(name, args=None): a context manager and decorator that puts a name on what happens inside, for
    the profiler. `args` is a text that goes with it."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._open: list[tuple[Profile | None, Record | None]] = []

    def _recreate_cm(self) -> record_function:
        return record_function(self.name, self.args)  # each call of a decorated function has its own

    def __enter__(self) -> record_function:
        if not isinstance(self.name, str):
            raise RuntimeError(
                "profiler::_record_function_enter_new() Expected a value of type 'str' for argument 'name' but instead "
                f"found type '{type(self.name).__name__}'."
            )
        mode = current_profile()
        record = None
        if mode is not None:
            record = mode.begin_block(self.name)
            if self.args is not None:
                record.concrete = [self.args]
        self._open.append((mode, record))
        return self

    def __exit__(self, *error: Any) -> None:
        if not self._open:
            raise AssertionError("Expected record to be set")
        mode, record = self._open.pop()
        if mode is not None and record is not None:
            mode.end(record)


class Marks:
    """What emit_nvtx and emit_itt have in common: leafgrad does not have them."""

    error: type[Exception] = NotImplementedError
    text = "leafgrad has no marks for Intel's profiler; autograd.profiler.profile records itself"

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled
        self.record_shapes = record_shapes

    def __enter__(self) -> None:
        if self.enabled:
            raise self.error(self.text)

    def __exit__(self, *error: Any) -> None:
        pass


class emit_nvtx(Marks):
    """emit_nvtx(enabled=True, record_shapes=False): marks for NVIDIA's profiler, which needs CUDA."""

    error, text = AssertionError, "Torch not compiled with CUDA enabled"


class emit_itt(Marks):
    """emit_itt(enabled=True, record_shapes=False): marks for Intel's profiler, which leafgrad does not know."""


def load_nvprof(path: str) -> EventList:
    """load_nvprof(path): the trace of a GPU, which leafgrad does not read."""
    raise NotImplementedError("load_nvprof reads traces of NVIDIA's profiler; leafgrad runs on a CPU only")


MEMORY_EVENT_NAME = profiler_util.MEMORY_EVENT_NAME
