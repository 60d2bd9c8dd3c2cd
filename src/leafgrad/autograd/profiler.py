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

import inspect
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import ContextDecorator
from dataclasses import KW_ONLY, InitVar, dataclass, field
from enum import Enum
from typing import Any, ClassVar

from leafgrad import errors
from leafgrad._core.modes import pop, push
from leafgrad._profiler.mode import Profile, Record, current_profiles
from leafgrad.autograd.profiler_util import MEMORY_EVENT_NAME as MEMORY_EVENT_NAME
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
    return bool(current_profiles())


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


@dataclass(eq=False, repr=False)
class Profiler(ABC):
    """What the profilers here and in `leafgrad.profiler` have in common: what they are asked to record, and how their
    events are read."""

    _: KW_ONLY
    record_shapes: bool = False
    profile_memory: bool = False
    with_stack: bool = False
    with_flops: bool = False
    with_modules: bool = False
    acc_events: bool = False
    custom_trace_id_callback: Callable[[], str] | None = None
    post_processing_timeout_s: float | None = None

    @abstractmethod
    def _read(self, purpose: str) -> Any:
        """The events; `purpose` is what for, for messages."""

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> Any:
        """key_averages(group_by_input_shape=False, group_by_stack_n=0): the events of each name together."""
        events = self._read("getting key averages")
        return events.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """export_stacks(path, metric="self_cpu_time_total"): lines for a flame graph; needs with_stack=True."""
        events = self._read("exporting stacks")
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        events.export_stacks(path, metric)


@dataclass(eq=False, repr=False)
class profile(Profiler):
    """profile(enabled=True, *, record_shapes=False, profile_memory=False, with_stack=False, with_flops=False, ...): a
    context manager that writes down what this thread does inside.

    Beside the time: `record_shapes` the shapes of inputs, `profile_memory` memory allocated and freed, `with_stack` the
    user's lines, `with_flops` an estimate of the arithmetic of matrix products, sums and products. A profiler inside
    another is allowed, and each has all events of its own time.

    `use_cuda` and `use_device` warn, as there are no other devices. As on PyTorch's CPU builds, `use_kineto` (how it
    is done), `with_modules` (for TorchScript) and `post_processing_timeout_s` (nothing has to be waited for) change
    nothing.
    """

    enabled: bool = True
    _: KW_ONLY
    use_cuda: InitVar[bool] = False
    use_device: InitVar[str | None] = None
    use_kineto: InitVar[bool] = False
    use_cpu: bool = True
    experimental_config: InitVar[Any] = None
    activity_filters: dict[ProfilerActivity, set[str]] | None = None

    entered = False
    trace_id = ""
    _mode: Profile | None = field(default=None, init=False)
    _events: EventList | None = field(default=None, init=False)

    def __post_init__(self, use_cuda: bool, use_device: str | None, use_kineto: bool, experimental_config: Any) -> None:
        self.activity_filters = self.activity_filters or {}
        if not self.enabled:
            return
        if use_cuda:
            text = "The attribute `use_cuda` will be deprecated soon, please use ``use_device = 'cuda'`` instead."
            errors.warn(text, FutureWarning)
            use_device = "cuda"
        if use_device is not None:
            warn_of_device(use_device)
        if not self.use_cpu:
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
        self._mode = Profile(self)
        push(self._mode)
        return self

    def __exit__(self, *error: Any) -> None:
        if not self.enabled:
            return
        assert self._mode is not None
        pop(self._mode)
        self._events = EventList(self._mode.finish(), profile_memory=self.profile_memory, with_flops=self.with_flops)

    def toggle_collection_dynamic(self, enabled: bool, activities: Iterable[ProfilerActivity]) -> None:
        """toggle_collection_dynamic(enabled, activities): leave something out, in the midst of a profile."""
        if ProfilerActivity.CPU in set(activities) and self._mode is not None and self._events is None:
            pop(self._mode)
            if enabled:
                push(self._mode)

    # -- reading ------------------------------------------------------------------------------------------------------

    @property
    def function_events(self) -> Any:
        """All events in the order in which they began: an `EventList`. None if the profiler was not enabled."""
        if not self.enabled:
            return None
        return EventList() if self._events is None else self._events

    def _read(self, purpose: str) -> Any:
        return self.function_events

    def __repr__(self) -> str:
        return self._text(repr)

    def __str__(self) -> str:
        return self._text(str)

    def _text(self, form: Callable[[Any], str]) -> str:
        unfinished = self.enabled and self._events is None
        return "<unfinished torch.autograd.profile>" if unfinished else form(self.function_events)

    def table(self, *args: Any, **kwargs: Any) -> Any:
        """table(sort_by=None, row_limit=100, ...): all events as text, see EventList.table."""
        return self.function_events.table(*args, **kwargs)

    table.__signature__ = inspect.signature(EventList.table)  # type: ignore[attr-defined]

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


def warn_of_device(name: str) -> None:
    """There is no other device than the CPU, whichever is asked for."""
    if name in ("cuda", "xpu", "mtia", "hpu"):
        text = f"{name.upper()} is not available, disabling {name.upper()} profiling"
    else:
        text = f"The {name} is not a valid device option."
    errors.warn(text)


class record_function(ContextDecorator):
    """record_function(name, args=None): a context manager and decorator that puts a name on what happens inside, for
    the profiler. `args` is a text that goes with it."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._open: list[list[tuple[Profile, Record]]] = []

    def _recreate_cm(self) -> record_function:
        return record_function(self.name, self.args)  # each call of a decorated function has its own

    def __enter__(self) -> record_function:
        if not isinstance(self.name, str):
            raise RuntimeError(
                "profiler::_record_function_enter_new() Expected a value of type 'str' for argument 'name' but instead "
                f"found type '{type(self.name).__name__}'."
            )
        given = [] if self.args is None else [self.args]
        profiles = current_profiles()
        self._open.append([(one, one.begin_block(self.name, arguments=lambda: given)) for one in profiles])
        return self

    def __exit__(self, *error: Any) -> None:
        if not self._open:
            raise AssertionError("Expected record to be set")
        for one, record in self._open.pop():
            one.end(record)


class emit_itt:
    """emit_itt(enabled=True, record_shapes=False): marks for Intel's profiler, which leafgrad does not know."""

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


class emit_nvtx(emit_itt):
    """emit_nvtx(enabled=True, record_shapes=False): marks for NVIDIA's profiler, which needs CUDA."""

    error, text = AssertionError, "Torch not compiled with CUDA enabled"


def load_nvprof(path: str) -> EventList:
    """load_nvprof(path): the trace of a GPU, which leafgrad does not read."""
    raise NotImplementedError("load_nvprof reads traces of NVIDIA's profiler; leafgrad runs on a CPU only")
