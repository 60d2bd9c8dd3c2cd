"""The workers of a loader, seen from the main process.

Each worker has a pipe of its own. So nothing is locked when one dies, and its end of the pipe closes, which is noticed
at once.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from multiprocessing import connection as connections
from typing import Any

from leafgrad import errors
from leafgrad.utils.data._utils import transport
from leafgrad.utils.data._utils.worker import Ended, Job, Resume, worker_loop

PATIENCE = 5.0  # seconds that workers have to end by themselves


class Worker:
    """A process, and the pipe to it."""

    def __init__(self, job: Job, number: int, context: Any) -> None:
        self.number = number
        self.connection, other_end = context.Pipe()
        self.process = context.Process(target=worker_loop, args=(job, number, other_end), daemon=True)
        self.process.start()
        other_end.close()  # so that only the worker holds it
        self.tasks = 0  # given to it and not returned
        self.active = True  # has samples left

    def send(self, task: Any) -> None:
        try:
            self.connection.send(task)
        except OSError:
            raise self.death() from None

    def death(self) -> RuntimeError:
        """The error that says how the process ended."""
        self.process.join(PATIENCE)
        code = self.process.exitcode
        if code is not None and code < 0:
            how = f"killed by signal: {signal.strsignal(-code) or -code}"
        else:
            how = f"it ended with exit code {code}; with num_workers=0 the traceback is seen"
        first = f"DataLoader worker (pid(s) {self.process.pid}) exited unexpectedly"
        return errors.mistake(RuntimeError, first, ("worker", f"{self.number}, {how}"))


class WorkerPool:
    """Gives tasks to workers in turn, and returns results in the order of the tasks."""

    def __init__(self, job: Job, context: Any, prefetch: int, timeout: float, in_order: bool) -> None:
        self.prefetch = prefetch
        self.timeout = timeout
        self.in_order = in_order
        self.epoch = 0
        self.closed = False
        self.owner = os.getpid()
        self.workers: list[Worker] = []
        try:
            for number in range(job.num_workers):
                self.workers.append(Worker(job, number, context))
        except BaseException:
            self.close()
            raise
        self._begin()

    def _begin(self) -> None:
        self.given = self.next = self.turn = 0
        self.who: dict[int, Worker] = {}  # has which task
        self.results: dict[int, Any] = {}  # that came before their turn
        for worker in self.workers:
            worker.active, worker.tasks = True, 0

    def has_workers(self) -> bool:
        return not self.closed and any([worker.active for worker in self.workers])

    def give(self, index: Any) -> None:
        """Give a task to the next worker whose turn it is."""
        active = [worker for worker in self.workers if worker.active]
        fewest = min([worker.tasks for worker in active])
        while True:
            worker = self.workers[self.turn % len(self.workers)]
            self.turn += 1
            if worker.active and (self.in_order or worker.tasks == fewest):
                break
        self.who[self.given] = worker
        worker.tasks += 1
        worker.send((self.given, index))
        self.given += 1

    def next_result(self, ask: Callable[[], None]) -> Any:
        """The result of the next task; StopIteration if there is none. `ask` gives one more task."""
        while True:
            # what a worker was given after it had come to its end is left out
            while self.next < self.given and self.next not in self.results and not self._is_expected(self.next):
                self.who.pop(self.next, None)
                self.next += 1
            if self.next in self.results:
                self.next += 1
                return self.results.pop(self.next - 1)
            if self.next >= self.given:
                raise StopIteration
            number, result = self._receive()
            if isinstance(number, Resume):
                continue
            worker = self.who.pop(number)
            worker.tasks -= 1
            if isinstance(result, Ended):
                worker.active = False
                ask()
            elif number == self.next:
                self.next += 1
                return result
            elif not self.in_order:
                return result
            else:
                self.results[number] = result

    def _is_expected(self, number: int) -> bool:
        return number in self.who and self.who[number].active

    def _receive(self) -> Any:
        """Whatever comes first. A worker that has died, and time that has run out, are errors."""
        if self.closed:
            raise StopIteration
        ready = connections.wait([worker.connection for worker in self.workers], self.timeout or None)
        if not ready:
            raise errors.mistake(RuntimeError, f"DataLoader timed out after {self.timeout} seconds")
        worker = next(worker for worker in self.workers if worker.connection is ready[0])
        try:
            return transport.receive(worker.connection)
        except (EOFError, OSError):
            raise worker.death() from None

    def resume(self) -> None:
        """Have the workers begin again; what is left of the last epoch is thrown away."""
        if self.closed:
            raise RuntimeError("the workers of this DataLoader have ended, because of an error; make a new one")
        self.epoch += 1
        for worker in self.workers:
            worker.send(Resume(self.epoch))
        waiting = len(self.workers)
        while waiting:
            number, _ = self._receive()
            waiting -= isinstance(number, Resume) and number.epoch == self.epoch
        self._begin()

    def close(self) -> None:
        """End the workers: those that do not in time are terminated."""
        if self.closed or os.getpid() != self.owner:  # a forked process has a copy of the pool, and not the workers
            return
        self.closed = True
        for worker in self.workers:
            try:
                worker.connection.send(None)
            except OSError:
                pass
            worker.connection.close()  # a worker that is sending gets an error, and ends
        for worker in self.workers:
            worker.process.join(PATIENCE)
            if worker.process.is_alive():
                worker.process.terminate()
                worker.process.join()
