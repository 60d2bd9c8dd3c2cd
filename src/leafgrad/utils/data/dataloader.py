"""DataLoader: a dataset in batches, as often as one asks for them."""

from __future__ import annotations

import multiprocessing
import multiprocessing.context
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from leafgrad import errors
from leafgrad.utils.data._utils.collate import default_collate as default_collate
from leafgrad.utils.data._utils.collate import default_convert as default_convert
from leafgrad.utils.data._utils.fetch import fetcher_of
from leafgrad.utils.data._utils.pool import WorkerPool
from leafgrad.utils.data._utils.worker import Failure, Job
from leafgrad.utils.data._utils.worker import get_worker_info as get_worker_info
from leafgrad.utils.data.dataset import IterableDataset
from leafgrad.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, drawn_seed

T_co = TypeVar("T_co", covariant=True)


class EndlessSampler(Sampler[None]):
    """None forever: an iterable dataset is not asked for numbers."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class DataLoader(Generic[T_co]):
    """DataLoader(dataset, batch_size=1, shuffle=None, ...): iterating over it gives the batches of an epoch.

    With `num_workers`, as many processes make the batches, each `prefetch_factor` in advance. The order of samples is
    that of the sampler, and it is PyTorch's for the same seed. `pin_memory` is taken; there is no device for it.
    """

    _initialized = False

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = checked_context(multiprocessing_context, num_workers)
        self.in_order = in_order
        self.is_iterable = isinstance(dataset, IterableDataset)
        check_sampling(self.is_iterable, batch_size, shuffle, sampler, batch_sampler, drop_last)
        if batch_sampler is not None:
            batch_size = None
        if sampler is None:
            if self.is_iterable:
                sampler = EndlessSampler()
            else:
                sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self.persistent_workers = persistent_workers
        self._initialized = True
        self._iterator: Any = None
        self._length_told: int | None = None  # what __len__ has said of an iterable dataset
        warn_of_many_workers(num_workers)

    def __setattr__(self, name: str, value: Any) -> None:
        fixed = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
        if self._initialized and name in fixed:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def _index_sampler(self) -> Any:
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def __iter__(self) -> Iterator[T_co]:
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        if not self.persistent_workers:
            return _MultiProcessingDataLoaderIter(self)
        if self._iterator is None:
            self._iterator = _MultiProcessingDataLoaderIter(self)
        else:
            self._iterator.restart()
        return self._iterator  # type: ignore[no-any-return]

    def __len__(self) -> int:
        if not self.is_iterable:
            return len(self._index_sampler)
        length = self._length_told = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)


# -- iterators --------------------------------------------------------------------------------------------------------


class _BaseDataLoaderIter:
    """One epoch of a loader, or with persistent workers one after the other."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self.loader = loader
        self.numbers = iter(loader._index_sampler)
        self.base_seed = drawn_seed(loader.generator)  # in this order, which is PyTorch's
        self.yielded = 0
        self.length_told = loader._length_told  # list(loader) asks for the length when this is already there
        if loader.pin_memory:
            errors.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be "
                "used."
            )

    def __iter__(self) -> Any:
        return self

    def __len__(self) -> int:
        return len(self.loader._index_sampler)

    def next_batch(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        batch = self.next_batch()
        self.yielded += 1
        told = self.length_told
        if told is not None and self.yielded > told:
            text = (
                f"Length of IterableDataset {self.loader.dataset} was reported to be {told}(when accessing "
                f"len(dataloader)), but {self.yielded} samples have been fetched. "
            )
            if self.loader.num_workers:
                text += "Each worker has a copy of the dataset: get_worker_info() tells it which part is its own."
            errors.warn(text)
        return batch

    def __getstate__(self) -> Any:
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Batches made when they are asked for."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        batched = loader.batch_sampler is not None
        self.fetcher = fetcher_of(loader.dataset, loader.is_iterable, batched, loader.collate_fn, loader.drop_last)

    def next_batch(self) -> Any:
        return self.fetcher.fetch(next(self.numbers))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Batches made by workers, in advance, and handed out in order."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        job = Job(
            loader.dataset,
            loader.is_iterable,
            loader.batch_sampler is not None,
            loader.collate_fn,
            loader.drop_last,
            self.base_seed,
            loader.worker_init_fn,
            loader.num_workers,
        )
        context = loader.multiprocessing_context or multiprocessing.get_context()
        self.pool = WorkerPool(job, context, loader.prefetch_factor or 2, loader.timeout, loader.in_order)
        self.fill()

    def fill(self) -> None:
        """Begin an epoch: ask for the batches that are made in advance."""
        self.numbers = iter(self.loader._index_sampler)
        self.yielded = 0
        for _ in range(self.pool.prefetch * self.loader.num_workers):
            self.ask()

    def restart(self) -> None:
        self.length_told = self.loader._length_told
        self.pool.resume()
        self.fill()

    def ask(self) -> None:
        """Give the next numbers to a worker, if there are any."""
        if self.pool.has_workers():
            for index in self.numbers:
                self.pool.give(index)
                break

    def next_batch(self) -> Any:
        try:
            found = self.pool.next_result(self.ask)
        except StopIteration:
            if not self.loader.persistent_workers:
                self.pool.close()
            raise
        except BaseException:
            self.pool.close()
            raise
        self.ask()
        if isinstance(found, Failure):
            found.reraise()
        return found

    def __del__(self) -> None:
        if (pool := getattr(self, "pool", None)) is not None:
            pool.close()


# -- arguments --------------------------------------------------------------------------------------------------------


def check_workers(num_workers: int, timeout: float, prefetch_factor: int | None, persistent: bool) -> None:
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
            "multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def check_sampling(
    is_iterable: bool, batch_size: int | None, shuffle: Any, sampler: Any, batch_sampler: Any, drop_last: bool
) -> None:
    """Refuse arguments that contradict each other."""
    if is_iterable:
        options = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
        for name, value in options.items():
            if value is not None:
                first = f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
                raise ValueError(first)
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        first = "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
        raise ValueError(first)
    if batch_sampler is None and batch_size is None and drop_last:
        first = "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
        raise ValueError(first)


def checked_context(context: Any, num_workers: int) -> Any:
    """How processes are started: a context of multiprocessing, or the name of a start method."""
    if context is None:
        return None
    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
            f"num_workers={num_workers}"
        )
    if isinstance(context, str):
        methods = multiprocessing.get_all_start_methods()
        if context not in methods:
            raise ValueError(
                f"multiprocessing_context option should specify a valid start method in {methods!r}, but got "
                f"multiprocessing_context={context!r}"
            )
        context = multiprocessing.get_context(context)
    if not isinstance(context, multiprocessing.context.BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string specifying the start method, "
            f"but got multiprocessing_context={context}"
        )
    return context


def warn_of_many_workers(count: int) -> None:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if count > cores:
        errors.warn(
            f"This DataLoader will create {count} worker processes in total. Our suggested max number of worker in "
            f"current system is {cores}, which is smaller than what this DataLoader is going to create."
        )
