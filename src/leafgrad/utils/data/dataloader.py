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


class _DatasetKind:
    """What a dataset is asked for: samples by their numbers, or one after the other."""

    Map = 0
    Iterable = 1


class _InfiniteConstantSampler(Sampler[None]):
    """None forever: an iterable dataset is not asked for numbers."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class DataLoader(Generic[T_co]):
    """DataLoader(dataset, batch_size=1, shuffle=None, ...): iterating over it gives the batches of an epoch.

    With `num_workers`, as many processes make the batches, each `prefetch_factor` in advance. The order of samples is
    that of the sampler, and it is PyTorch's for the same seed. `pin_memory` is taken; there is no device for it.

    Loaders of other libraries, whose classes derive from this one, use attributes that begin with an underscore: these
    have PyTorch's names, and so have those of the iterators below.
    """

    __initialized = False
    __multiprocessing_context: Any = None
    _iterator: Any = None

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
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        is_iterable = isinstance(dataset, IterableDataset)
        self._dataset_kind = _DatasetKind.Iterable if is_iterable else _DatasetKind.Map
        check_sampling(is_iterable, batch_size, shuffle, sampler, batch_sampler, drop_last)
        if batch_sampler is not None:
            batch_size = None
        if sampler is None:
            if is_iterable:
                sampler = _InfiniteConstantSampler()
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
        self.__initialized = True
        self._IterableDataset_len_called: int | None = None  # what __len__ has said of an iterable dataset
        self.check_worker_number_rationality()

    def __setattr__(self, name: str, value: Any) -> None:
        fixed = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
        if self.__initialized and name in fixed:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self) -> Any:
        """How workers are started: a context of multiprocessing, or None for its default."""
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        self.__multiprocessing_context = checked_context(context, self.num_workers)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def _get_iterator(self) -> Any:
        return _SingleProcessDataLoaderIter(self) if self.num_workers == 0 else _MultiProcessingDataLoaderIter(self)

    def __iter__(self) -> Iterator[T_co]:
        if not self.persistent_workers or self.num_workers == 0:
            return self._get_iterator()  # type: ignore[no-any-return]
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator  # type: ignore[no-any-return]

    def __len__(self) -> int:
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        length = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)

    def check_worker_number_rationality(self) -> None:
        """check_worker_number_rationality(): warn of more workers than the machine can run at a time."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        if self.num_workers > cores:
            errors.warn(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested max number "
                f"of worker in current system is {cores}, which is smaller than what this DataLoader is going to "
                "create. Please be aware that excessive worker creation might get DataLoader running slow or even "
                "freeze, lower the worker number to avoid potential slowness/freeze if necessary."
            )


# -- iterators --------------------------------------------------------------------------------------------------------


class _BaseDataLoaderIter:
    """One epoch of a loader, or with persistent workers one after the other."""

    def __init__(self, loader: Any) -> None:
        self._dataset = loader.dataset
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._sampler_iter = iter(self._index_sampler)
        self._base_seed = drawn_seed(loader.generator)  # in this order, which is PyTorch's
        self._num_yielded = 0
        # list(loader) asks for the length when this is already there
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        if loader.pin_memory:
            errors.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be "
                "used."
            )

    def __iter__(self) -> Any:
        return self

    def __len__(self) -> int:
        return len(self._index_sampler)

    def _reset(self, loader: Any) -> None:
        """Begin an epoch."""
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        batch = self._next_data()
        self._num_yielded += 1
        told = self._IterableDataset_len_called
        if told is not None and self._num_yielded > told:
            text = (
                f"Length of IterableDataset {self._dataset} was reported to be {told}(when accessing "
                f"len(dataloader)), but {self._num_yielded} samples have been fetched. "
            )
            if self._num_workers:
                text += (
                    "For multiprocessing data-loading, this could be caused by not properly configuring the "
                    "IterableDataset replica at each worker: get_worker_info() tells it which part is its own."
                )
            errors.warn(text)
        return batch

    def __getstate__(self) -> Any:
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Batches made when they are asked for."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        is_iterable = loader._dataset_kind == _DatasetKind.Iterable
        batched = loader._auto_collation
        self._dataset_fetcher = fetcher_of(loader.dataset, is_iterable, batched, loader.collate_fn, loader.drop_last)

    def _next_data(self) -> Any:
        return self._dataset_fetcher.fetch(next(self._sampler_iter))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Batches made by workers, in advance, and handed out in order."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        self._persistent_workers = loader.persistent_workers
        job = Job(
            loader.dataset,
            loader._dataset_kind == _DatasetKind.Iterable,
            loader._auto_collation,
            loader.collate_fn,
            loader.drop_last,
            self._base_seed,
            loader.worker_init_fn,
            loader.num_workers,
        )
        context = loader.multiprocessing_context or multiprocessing.get_context()
        self._pool = WorkerPool(job, context, loader.prefetch_factor or 2, loader.timeout, loader.in_order)
        super()._reset(loader)
        self._fill()

    @property
    def _workers(self) -> list[Any]:
        """The processes."""
        return [worker.process for worker in self._pool.workers]

    def _reset(self, loader: Any) -> None:
        self._pool.resume()
        super()._reset(loader)
        self._fill()

    def _fill(self) -> None:
        """Ask for the batches that are made in advance."""
        for _ in range(self._pool.prefetch * self._num_workers):
            self._try_put_index()

    def _try_put_index(self) -> None:
        """Give the next numbers to a worker, if there are any."""
        if self._pool.has_workers():
            for index in self._sampler_iter:
                self._pool.give(index)
                break

    def _next_data(self) -> Any:
        try:
            found = self._pool.next_result(self._try_put_index)
        except StopIteration:
            if not self._persistent_workers:
                self._shutdown_workers()
            raise
        except BaseException:
            self._shutdown_workers()
            raise
        self._try_put_index()
        if isinstance(found, Failure):
            found.reraise()
        return found

    def _shutdown_workers(self) -> None:
        self._pool.close()

    def __del__(self) -> None:
        if "_pool" in vars(self):
            self._shutdown_workers()


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
