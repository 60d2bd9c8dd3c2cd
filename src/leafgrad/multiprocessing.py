"""torch.multiprocessing: Python's own multiprocessing, and `spawn`. Tensors that are sent to another process arrive as
copies, unless `share_memory_` has put them where both can see them."""

from __future__ import annotations

import logging
import multiprocessing
import multiprocessing.connection
import signal
import sys
import time
import traceback
from collections.abc import Callable
from multiprocessing import *  # noqa: F403
from typing import Any

from leafgrad import _missing

__all__ = [
    *multiprocessing.__all__, "ProcessContext", "ProcessExitedException", "ProcessRaisedException", "SpawnContext",
    "get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", "spawn", "start_processes",
]  # fmt: skip


# -- how tensors reach other processes ---------------------------------------------------------------------------------

STRATEGIES = {"file_descriptor", "file_system"}
_strategy = ["file_descriptor"]


def get_all_sharing_strategies() -> set[str]:
    """get_all_sharing_strategies(): the names that set_sharing_strategy takes."""
    return set(STRATEGIES)


def get_sharing_strategy() -> str:
    """get_sharing_strategy(): what set_sharing_strategy was told."""
    return _strategy[0]


def set_sharing_strategy(new_strategy: str) -> None:
    """set_sharing_strategy(new_strategy): kept for programs that set it; shared memory is always sent as a file."""
    if new_strategy not in STRATEGIES:
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}")
    _strategy[0] = new_strategy


# -- spawn -------------------------------------------------------------------------------------------------------------


LONGEST = 10_000  # letters of the traceback of a process
PATIENCE = 30.0  # seconds that a process has to end after it was asked to
log = logging.getLogger("torch.multiprocessing.spawn")


class ProcessException(Exception):
    """A process that `spawn` has started failed."""

    def __init__(self, msg: str, error_index: int, pid: int | None) -> None:
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.pid = pid

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """It raised an exception."""


class ProcessExitedException(ProcessException):
    """It exited, or a signal ended it."""

    def __init__(
        self, msg: str, error_index: int, error_pid: int | None, exit_code: int | None, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


def _work(fn: Callable[..., Any], index: int, args: tuple[Any, ...], failures: Any) -> None:
    """What a process does: call the function, and report what it raises."""
    try:
        fn(index, *args)
    except KeyboardInterrupt:
        pass
    except Exception:
        text = traceback.format_exc()
        if len(text) > LONGEST:  # a pipe takes no more before somebody reads it
            text = f"{text[: LONGEST // 2]}\n...\n{text[-LONGEST // 2 :]}"
        failures.put(text)
        sys.exit(1)


class ProcessContext:
    """What `spawn(join=False)` returns: the processes, to be waited for."""

    def __init__(self, processes: list[Any], failures: list[Any]) -> None:
        self.processes = processes
        self._failures = failures
        self._running = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """pids(): the ids of the processes."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """join(timeout=None, grace_period=None): wait until one of the processes ends; True when all have. If one has
        failed, the others are stopped, after at most `grace_period` seconds, and its error is raised."""
        if not self._running:
            return True
        ended = multiprocessing.connection.wait(list(self._running), timeout)
        for sentinel in ended:
            index = self._running.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode != 0:
                self._stop_others(grace_period)
                raise self._failure(index)
        return not self._running

    def _stop_others(self, grace_period: float | None) -> None:
        """Those that do not end by themselves are asked to, and killed if they do not hear."""
        if grace_period is not None:
            self._wait(grace_period)
        for process in self.processes:
            if process.is_alive():
                log.warning("Terminating process %s via signal SIGTERM", process.pid)
                process.terminate()
        self._wait(PATIENCE if grace_period is None else grace_period)
        for process in self.processes:
            if process.is_alive():
                log.warning("Unable to shutdown process %s via SIGTERM, forcefully exiting via SIGKILL", process.pid)
                process.kill()
            process.join()

    def _wait(self, seconds: float) -> None:
        """Wait for all processes, so many seconds at most."""
        end = time.monotonic() + seconds
        for process in self.processes:
            process.join(max(0.0, end - time.monotonic()))

    def _failure(self, index: int) -> ProcessException:
        process = self.processes[index]
        if not self._failures[index].empty():
            shown = f"\n\n-- Process {index} terminated with the following error:\n{self._failures[index].get()}"
            return ProcessRaisedException(shown, index, process.pid)
        code = process.exitcode
        if code < 0:
            name = signal.Signals(-code).name
            message = f"process {index} terminated with signal {name}"
            return ProcessExitedException(message, index, process.pid, code, name)
        return ProcessExitedException(f"process {index} terminated with exit code {code}", index, process.pid, code)


SpawnContext = ProcessContext


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"): `fn(i, *args)` in a
    process of its own for each i below `nprocs`."""
    context: Any = multiprocessing.get_context(start_method)
    failures = [context.SimpleQueue() for _ in range(nprocs)]
    processes = [
        context.Process(target=_work, args=(fn, index, args, failures[index]), daemon=daemon) for index in range(nprocs)
    ]
    for process in processes:
        process.start()
    started = ProcessContext(processes, failures)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"): `fn(i, *args)` in `nprocs`
    processes. An exception in one of them stops the others and is raised here."""
    return start_processes(fn, args, nprocs, join, daemon, start_method)


__getattr__ = _missing.attributes_of(__name__)
