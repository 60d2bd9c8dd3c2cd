"""leafgrad.profiler: profiles of programs that go on for a while, step by step.

    with profile(schedule=schedule(wait=1, warmup=1, active=3), on_trace_ready=show) as prof:
        for batch in data:
            train(batch)
            prof.step()

Each cycle waits, warms up and records; at its end `on_trace_ready` is called with the profiler. Without a schedule
everything is recorded. The recording itself is done by `leafgrad.autograd.profiler`.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, InitVar, dataclass, fields
from enum import Enum
from typing import Any

from leafgrad import errors
from leafgrad.autograd import profiler as recording
from leafgrad.autograd.profiler import Profiler, ProfilerActivity, kineto_available, record_function
from leafgrad.autograd.profiler_util import DeviceType, EventList

__all__ = [
    "DeviceType", "ProfilerAction", "ProfilerActivity", "itt", "kineto_available", "profile", "record_function",
    "schedule", "supported_activities", "tensorboard_trace_handler",
]  # fmt: skip


class ProfilerAction(Enum):
    """What a profiler does in one step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3  # the last step of a cycle


class itt:
    """Marks for Intel's profiler, which leafgrad does not know: is_available() says so, the others are refused."""

    @staticmethod
    def is_available() -> bool:
        """is_available(): can such marks be made? False."""
        return False

    @staticmethod
    def _refused(*args: Any) -> Any:
        raise RuntimeError("ITT functions not installed. Are you sure you have a ITT build?")

    range_push = range_pop = mark = range = _refused


NONE, WARMUP, RECORD, SAVE = ProfilerAction
Schedule = Callable[[int], ProfilerAction]


def supported_activities() -> set[ProfilerActivity]:
    """supported_activities(): what can be profiled."""
    return {ProfilerActivity.CPU}


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Schedule:
    """schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0): after `skip_first` steps, cycles of
    `wait` steps without, `warmup` steps whose records are thrown away and `active` steps with a profile, `repeat` of
    them or, with 0, without end. `skip_first_wait` leaves out the waiting of the first cycle."""
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} (need >= 0), "
            f"active={active} (need > 0), repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0)."
        )
    if warmup == 0:
        errors.warn("Profiler won't be using warmup, this can skew profiler results")
    cycle = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        step -= skip_first
        if step < 0:
            return NONE
        if skip_first_wait:
            step += wait
        if repeat and step // cycle >= repeat:
            return NONE
        place = step % cycle
        if place < wait:
            return NONE
        if place < wait + warmup:
            return WARMUP
        return RECORD if place < cycle - 1 else SAVE

    return action


def always(step: int) -> ProfilerAction:
    return RECORD


def tensorboard_trace_handler(dir_name: str, worker_name: str | None = None, use_gzip: bool = False) -> Any:
    """tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False): for `on_trace_ready`; each trace becomes a
    file in a directory."""

    def handler(prof: profile) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError("Can't create directory: " + dir_name) from error
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json" + (".gz" if use_gzip else "")
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return handler


@dataclass(eq=False, repr=False)
class profile(Profiler):
    """profile(*, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False,
    with_stack=False, with_flops=False, acc_events=False, ...): a profiler for programs that call `step()`.

    `acc_events` keeps the events of all cycles; otherwise those of the last one are there. `with_modules` (for
    TorchScript) and `post_processing_timeout_s` (nothing has to be waited for) change nothing.
    """

    _: KW_ONLY
    activities: Any = None
    schedule: Any = None  # a Schedule
    on_trace_ready: Callable[..., Any] | None = None
    experimental_config: InitVar[Any] = None
    execution_trace_observer: InitVar[Any] = None
    use_cuda: InitVar[bool | None] = None

    step_num = 0
    _recording = False

    def __post_init__(self, experimental_config: Any, execution_trace_observer: Any, use_cuda: bool | None) -> None:
        if use_cuda is not None:
            text = "`use_cuda` is deprecated, use `activities` argument instead"
            errors.warn(text, FutureWarning)
        unknown = {"experimental_config": experimental_config, "execution_trace_observer": execution_trace_observer}
        for name, value in unknown.items():
            if value is not None:
                raise NotImplementedError(f"{name} belongs to PyTorch's own collector; leafgrad has none")
        self.activities = checked_activities(self.activities)
        self.record_steps = self.schedule is not None
        self.schedule = self.schedule or always
        self.current_action = self.schedule(0)
        self.step_rec_fn: record_function | None = None
        self.profiler: recording.profile | None = None
        self._kept: list[Any] = []  # of earlier cycles, for acc_events
        self._metadata: dict[str, Any] = {}

    # -- running ------------------------------------------------------------------------------------------------------

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.stop()

    def start(self) -> None:
        """start(): what entering the `with` block does."""
        self._go(NONE, self.current_action)
        self._name_step()

    def stop(self) -> None:
        """stop(): what leaving the `with` block does."""
        self._end_step()
        if self.profiler is None and self.current_action in (RECORD, SAVE, WARMUP):
            raise AssertionError("Profiler must be initialized before stopping trace")
        self._go(self.current_action, None)

    def step(self) -> None:
        """step(): the next step of the schedule begins."""
        self._end_step()
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        self._go(before, self.current_action)
        self._name_step()

    def _go(self, before: ProfilerAction, after: ProfilerAction | None) -> None:
        """From one action to the next; None is the end."""
        if before is SAVE or (before is RECORD and after in (None, NONE, WARMUP)):
            if after is not None and before is RECORD:
                errors.warn(f"Incorrect schedule: RECORD followed by {after.name}")
            self.stop_trace()
            if self.on_trace_ready is not None and (before is SAVE or after is None):
                self.on_trace_ready(self)
        elif before is WARMUP and after is NONE:
            errors.warn("Incorrect schedule: WARMUP followed by NONE")
        if after in (RECORD, SAVE) and not self._recording:
            self.start_trace()
        elif after is WARMUP:
            self.prepare_trace()

    def _name_step(self) -> None:
        if self.record_steps:
            self.step_rec_fn = record_function(f"ProfilerStep#{self.step_num}")
            self.step_rec_fn.__enter__()

    def _end_step(self) -> None:
        if self.step_rec_fn is not None:
            self.step_rec_fn.__exit__(None, None, None)
            self.step_rec_fn = None

    def prepare_trace(self) -> None:
        """prepare_trace(): get ready, so that starting costs less: the modules are loaded by now."""
        if self.profiler is None or not self._recording:
            self.profiler = self._new()

    def start_trace(self) -> None:
        """start_trace(): record from here on."""
        self.profiler = self._new()
        self.profiler.__enter__()
        self._recording = True

    def stop_trace(self) -> None:
        """stop_trace(): record no more."""
        if self.profiler is None:
            raise AssertionError("Profiler must be initialized before stopping trace")
        if not self._recording:
            return
        self._recording = False
        self.profiler.__exit__(None, None, None)
        for event in self.profiler.function_events:
            if event.name.startswith("ProfilerStep#"):  # all steps under one name
                event.name = "ProfilerStep*"
        if self.acc_events:
            self._kept += self.profiler.function_events

    def _new(self) -> recording.profile:
        return recording.profile(**{field.name: getattr(self, field.name) for field in fields(Profiler)})

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[ProfilerActivity]) -> None:
        """toggle_collection_dynamic(enable, activities): leave something out for a while."""
        if self.profiler is not None:
            self.profiler.toggle_collection_dynamic(enable, activities)

    # -- reading ------------------------------------------------------------------------------------------------------

    def _read(self, purpose: str) -> EventList:
        if self.profiler is None:
            raise AssertionError(f"Profiler must be initialized before {purpose}")
        if self.acc_events:
            return EventList(self._kept, profile_memory=self.profile_memory, with_flops=self.with_flops)
        events: EventList = self.profiler.function_events
        return events

    def events(self) -> EventList:
        """events(): the events of the last cycle, or of all with acc_events."""
        return self._read("accessing events")

    def export_chrome_trace(self, path: str) -> None:
        """export_chrome_trace(path): a file for chrome://tracing or ui.perfetto.dev; packed if it ends in .gz."""
        events = self._read("exporting chrome trace")
        events.export_chrome_trace(path, {"trace_id": self.get_trace_id(), **self._metadata})

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """export_memory_timeline(path): PyTorch's classes of memory, which leafgrad does not tell apart."""
        raise NotImplementedError("export_memory_timeline: use profile_memory=True and key_averages() instead")

    def add_metadata(self, key: str, value: str) -> None:
        """add_metadata(key, value): a text that goes into the exported trace."""
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """add_metadata_json(key, value): the same for JSON, given as text."""
        self._metadata[key] = json.loads(value)

    preset_metadata_json = add_metadata_json

    def get_trace_id(self) -> str | None:
        """get_trace_id(): the name of the trace that is recorded."""
        return None if self.profiler is None else self.profiler.trace_id

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        """set_custom_trace_id_callback(callback): who names the next trace."""
        self.custom_trace_id_callback = callback


def checked_activities(activities: Iterable[Any] | None) -> set[ProfilerActivity]:
    """What is to be profiled: at least the CPU must be among it."""
    if activities is None:
        return supported_activities()
    wanted = {one for one in activities if isinstance(one, ProfilerActivity)}
    if not wanted:
        raise AssertionError("No valid profiler activities found")
    if ProfilerActivity.CUDA in wanted and ProfilerActivity.CPU in wanted:
        errors.warn("CUDA is not available, disabling CUDA profiling")
    if ProfilerActivity.CPU not in wanted:
        raise AssertionError("No activities specified for the profiler")
    return wanted
