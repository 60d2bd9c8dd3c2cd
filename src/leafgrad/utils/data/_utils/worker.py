"""What a worker process does: it gets numbers of samples and sends batches, until it is told to end."""

from __future__ import annotations

import multiprocessing
import queue
import random
import threading
import traceback
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

import leafgrad as torch
from leafgrad.utils.data._utils import transport
from leafgrad.utils.data._utils.fetch import fetcher_of

CHECK_INTERVAL = 5.0  # seconds between two looks at whether the main process is still there


class WorkerInfo:
    """What `get_worker_info()` returns in a worker: id, num_workers, seed, dataset."""

    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)

    def __setattr__(self, name: str, value: Any) -> None:
        raise RuntimeError(f"Cannot assign attributes to {type(self).__name__} objects")

    def __repr__(self) -> str:
        return f"WorkerInfo({', '.join([f'{name}={value}' for name, value in vars(self).items()])})"


_worker_info: WorkerInfo | None = None


def get_worker_info() -> Any:
    """get_worker_info(): in a worker, who it is; None in the main process."""
    return _worker_info


class Job(NamedTuple):
    """What all workers of a loader have to know."""

    dataset: Any
    iterable: bool
    batched: bool
    collate_fn: Any
    drop_last: bool
    base_seed: int
    init_fn: Any
    num_workers: int

    def fetcher(self) -> Any:
        return fetcher_of(self.dataset, self.iterable, self.batched, self.collate_fn, self.drop_last)


class Resume(NamedTuple):
    """Told to a worker that goes on with the next epoch, and answered by it."""

    epoch: int


class Ended(NamedTuple):
    """Sent by a worker whose iterable dataset has no more samples."""

    worker_id: int


class Failure:
    """An exception in a worker, with the text of its traceback."""

    def __init__(self, where: str, error: BaseException) -> None:
        self.kind: Any = type(error)
        self.text = "".join(traceback.format_exception(error))
        self.where = where

    def reraise(self) -> None:
        """Raise the same kind of exception, as far as that can be made of a text."""
        message = f"Caught {self.kind.__name__} {self.where}.\nOriginal {self.text}"
        if self.kind is KeyError:
            raise KeyError(Multiline(message))
        try:
            error = self.kind(message)
        except Exception:
            raise RuntimeError(message) from None
        raise error


class Multiline(str):
    """The text of a KeyError, which Python would show on one line."""

    def __repr__(self) -> str:
        return str(self)


class Sender(threading.Thread):
    """Sends results while the worker makes the next ones. Whoever ends a worker does not wait for them, so this thread
    dies with the process; it may be in the middle of a send that nobody will receive."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(daemon=True)
        self.connection = connection
        self.waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.start()

    def put(self, number: Any, result: Any, where: str) -> None:
        try:
            message = transport.packed((number, result))
        except Exception as error:  # what cannot be pickled
            failure = Failure(where, error)
            if isinstance(result, Failure):  # an exception of a class that cannot be found from elsewhere
                failure.kind, failure.text = RuntimeError, result.text
            message = transport.packed((number, failure))
        self.waiting.put(message)

    def run(self) -> None:
        try:
            while True:
                transport.send(self.connection, self.waiting.get())
        except OSError:  # the main process does not listen any more
            pass


def seed_worker(base_seed: int, worker_id: int) -> int:
    """The seeds of all random numbers in a worker, which are those of PyTorch."""
    seed = base_seed + worker_id
    random.seed(seed)
    torch.manual_seed(seed)
    entropy = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    np.random.seed(np.random.SeedSequence(entropy).generate_state(4))
    return seed


def worker_loop(job: Job, worker_id: int, connection: Connection) -> None:
    """The main function of a worker process."""
    global _worker_info
    torch.set_num_threads(1)
    seed = seed_worker(job.base_seed, worker_id)
    _worker_info = WorkerInfo(id=worker_id, num_workers=job.num_workers, seed=seed, dataset=job.dataset)
    where = f"in DataLoader worker process {worker_id}"
    sender = Sender(connection)
    fetcher: Any = None
    failure: Failure | None = None
    try:
        try:
            if job.init_fn is not None:
                job.init_fn(worker_id)
            fetcher = job.fetcher()
        except Exception as error:
            failure = Failure(where, error)
        while (task := next_task(connection)) is not None:
            if isinstance(task, Resume):
                try:
                    fetcher = job.fetcher()
                except Exception as error:
                    failure = Failure(where, error)
                sender.put(task, None, where)
                continue
            number, index = task
            if failure is not None:
                result: Any = failure
                failure = None
            else:
                result = fetched(fetcher, index, job.iterable, worker_id, where)
            sender.put(number, result, where)
    except KeyboardInterrupt:
        pass  # the main process gets it as well, and says so


def fetched(fetcher: Any, index: Any, iterable: bool, worker_id: int, where: str) -> Any:
    """A batch; or why there is none."""
    try:
        if fetcher is None:
            raise RuntimeError("the worker has no dataset, because it failed when it began")
        return fetcher.fetch(index)
    except Exception as error:
        return Ended(worker_id) if iterable and isinstance(error, StopIteration) else Failure(where, error)


def next_task(connection: Connection) -> Any:
    """The next task; None if there will be none, also because the main process is gone."""
    parent = multiprocessing.parent_process()
    try:
        while not connection.poll(CHECK_INTERVAL):
            if parent is not None and not parent.is_alive():
                return None
        return connection.recv()
    except (EOFError, OSError):
        return None
