"""Loaders: the samples are PyTorch's for the same seeds (tests/data/loaders.json), and workers that fail end an epoch
with an error, never with silence."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import leafgrad as torch
from leafgrad.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, get_worker_info
from loader_programs import PROGRAMS, outcome

STORED = json.loads((Path(__file__).parents[2] / "data" / "loaders.json").read_text(encoding="utf-8"))
# not a matter of these tests, on a machine with one core
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_samples_of_pytorch(name: str) -> None:
    assert outcome(torch, name) == STORED[name]


class Samples(Dataset[Any]):
    """Does as it is told when it is asked for number 2."""

    def __init__(self, act: Any = None, size: int = 8) -> None:
        self.act, self.size = act, size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Any:
        if index == 2 and self.act is not None:
            return self.act()
        return torch.tensor(index)


def fail() -> Any:
    raise ValueError("no sample 2")


def die() -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def leave() -> Any:
    os._exit(3)


def sleep() -> Any:
    time.sleep(60)


def no_processes_left() -> bool:
    gc.collect()  # iterators that are held by the traceback of an error
    return multiprocessing.active_children() == []


def test_an_exception_comes_with_its_traceback_and_the_epoch_can_go_on() -> None:
    loader = iter(DataLoader(Samples(fail), num_workers=2))
    assert [next(loader).item(), next(loader).item()] == [0, 1]
    with pytest.raises(
        ValueError, match=r"(?s)^Caught ValueError in DataLoader worker process 0\.\nOriginal Traceback.*in fail"
    ):
        next(loader)
    assert [batch.item() for batch in loader] == [3, 4, 5, 6, 7]
    del loader
    assert no_processes_left()


class Awkward(Exception):
    def __init__(self, one: int, two: int) -> None:
        super().__init__(one, two)


def fail_awkwardly() -> Any:
    raise Awkward(1, 2)


def fail_locally() -> Any:
    class Local(Exception):
        pass

    raise Local("cannot be pickled")


def unpicklable() -> Any:
    return lambda: 0


@pytest.mark.parametrize(
    "act, kind, said",
    [
        (fail_awkwardly, RuntimeError, "Caught Awkward in DataLoader worker process 0"),
        (fail_locally, RuntimeError, "cannot be pickled"),
        (unpicklable, (AttributeError, Exception), "pickle"),
    ],
)
def test_exceptions_and_results_that_cannot_be_sent(act: Any, kind: Any, said: str) -> None:
    with pytest.raises(kind, match=said):
        list(DataLoader(Samples(act), None, num_workers=1, collate_fn=same))


def same(value: Any) -> Any:
    return value


@pytest.mark.parametrize("act, how", [(die, "killed by signal: Killed"), (leave, "exit code 3")])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_that_dies_is_an_error(act: Any, how: str, workers: int) -> None:
    with pytest.raises(RuntimeError, match=rf"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly(?s:.*){how}"):
        list(DataLoader(Samples(act), num_workers=workers))
    assert no_processes_left()


def test_a_persistent_worker_that_died_between_epochs_is_an_error() -> None:
    loader = DataLoader(Samples(), num_workers=1, persistent_workers=True)
    assert len(list(loader)) == 8
    [child] = multiprocessing.active_children()
    os.kill(child.pid or 0, signal.SIGKILL)
    child.join()
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(loader)


def test_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leafgrad.utils.data._utils.pool.PATIENCE", 0.1)
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0.5 seconds"):
        list(DataLoader(Samples(sleep), num_workers=1, timeout=0.5))
    assert no_processes_left()


def test_an_epoch_that_is_left_early_ends_its_workers() -> None:
    for batch in DataLoader(TensorDataset(torch.ones(64, 50_000)), 4, num_workers=2):
        assert batch[0].shape == (4, 50_000)
        break
    del batch
    assert no_processes_left()


def test_workers_that_are_sending_end_by_themselves() -> None:
    """Batches that do not fit into a pipe, which nobody will receive: the workers are not waited for and terminated."""
    loader: Any = iter(DataLoader(TensorDataset(torch.ones(64, 50_000)), 4, num_workers=2))
    next(loader)
    processes = loader._workers
    loader._shutdown_workers()
    assert [process.exitcode for process in processes] == [0, 0]


def test_persistent_workers_stay_and_an_epoch_can_be_left() -> None:
    loader = DataLoader(Samples(), num_workers=2, persistent_workers=True)
    first = {child.pid for child in multiprocessing.active_children()}
    next(iter(loader))
    pids = {child.pid for child in multiprocessing.active_children()} - first
    assert [batch.item() for batch in loader] == list(range(8))
    assert {child.pid for child in multiprocessing.active_children()} - first == pids and len(pids) == 2


def init(worker_id: int) -> None:
    info = get_worker_info()
    assert info.id == worker_id and info.num_workers == 2 and info.seed % 2**32 >= 0
    info.dataset.size = 100 + worker_id
    with pytest.raises(RuntimeError, match="Cannot assign attributes to WorkerInfo objects"):
        info.id = 3


class Sized(Samples):
    def __getitem__(self, index: int) -> Any:
        return self.size


def test_worker_init_fn_and_worker_info() -> None:
    assert get_worker_info() is None
    assert [int(b) for b in DataLoader(Sized(size=4), num_workers=2, worker_init_fn=init)] == [100, 101, 100, 101]


def refuse(worker_id: int) -> None:
    raise ValueError(f"worker {worker_id} cannot begin")


def test_an_error_at_the_beginning() -> None:
    with pytest.raises(ValueError, match="Caught ValueError in DataLoader worker process 0"):
        list(DataLoader(Samples(), num_workers=1, worker_init_fn=refuse))


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
@pytest.mark.slow
def test_start_methods(method: str) -> None:
    data = TensorDataset(torch.arange(6.0), torch.arange(6))
    loader = DataLoader(data, 3, num_workers=1, multiprocessing_context=method)
    assert [[part.tolist() for part in batch] for batch in loader] == [[[0, 1, 2], [0, 1, 2]], [[3, 4, 5], [3, 4, 5]]]


def test_out_of_order() -> None:
    loader = DataLoader(Samples(), num_workers=2, in_order=False)
    assert sorted([batch.item() for batch in loader]) == list(range(8))


def test_what_arrives_is_an_ordinary_tensor() -> None:
    """Large and small, of every dtype, not contiguous, empty, in containers: and it can be changed and trained on."""
    parts = [torch.ones(300, 300), torch.empty(0), torch.ones(2, dtype=torch.bfloat16), torch.ones(3, 4).t()]
    [batch] = DataLoader([{"parts": parts, "flag": True}], None, num_workers=1)
    for sent, arrived in zip(parts, batch["parts"]):
        assert torch.equal(sent, arrived) and sent.dtype is arrived.dtype
    weight = torch.ones(300, requires_grad=True)
    (batch["parts"][0].add_(1) @ weight).sum().backward()
    assert weight.grad is not None and weight.grad[0] == 600


class Endless(IterableDataset[int]):
    def __iter__(self) -> Any:
        return iter(range(3))

    def __len__(self) -> int:
        return 2


def test_an_iterable_dataset_with_a_wrong_length() -> None:
    loader = DataLoader(Endless(), None)
    assert (
        len(loader) == 2 and len(DataLoader(Endless(), 3)) == 1 and len(DataLoader(Endless(), 3, drop_last=True)) == 0
    )
    with pytest.warns(UserWarning, match="was reported to be 2"):
        assert list(loader) == [0, 1, 2]
    for options in ({"shuffle": True}, {"sampler": [0]}, {"batch_sampler": [[0]]}):
        with pytest.raises(ValueError, match="DataLoader with IterableDataset: expected unspecified"):
            DataLoader(Endless(), **options)  # type: ignore[arg-type]


def test_options() -> None:
    with pytest.warns(UserWarning, match="'pin_memory' argument is set as true but no accelerator is found"):
        assert len(list(DataLoader(Samples(), pin_memory=True))) == 8
    loader = DataLoader(Samples(), 3, collate_fn=len)
    assert list(loader) == [3, 3, 2] and len(loader) == 3
    assert [b.tolist() for b in DataLoader(Samples(), batch_sampler=[[0, 1], [5]])] == [[0, 1], [5]]
    assert [b.tolist() for b in DataLoader(Samples(), 2, sampler=[4, 3, 1])] == [[4, 3], [1]]
    with pytest.raises(ValueError, match="batch_size attribute should not be set after DataLoader is initialized"):
        loader.batch_size = 5


@pytest.mark.filterwarnings("default:This DataLoader will create")
def test_more_workers_than_cores() -> None:
    with pytest.warns(UserWarning, match="This DataLoader will create 1000 worker processes in total"):
        DataLoader(Samples(), num_workers=1000)


def test_memory_of_several_epochs_is_that_of_one() -> None:
    data = TensorDataset(torch.ones(40, 1000))
    for _ in range(3):
        assert len(list(DataLoader(data, 4, num_workers=2))) == 10
    assert no_processes_left()


ORPHANS = """
import os, sys, time
sys.path[:0] = sys.argv[1:]
import leafgrad as torch
from loader_programs import Numbers
import leafgrad.utils.data._utils.worker as worker
worker.CHECK_INTERVAL = 0.2
loader = iter(torch.utils.data.DataLoader(Numbers(torch), num_workers=2))
next(loader)
print(*[each.pid for each in loader._workers], flush=True)
time.sleep(100)
"""


def test_workers_end_with_the_main_process() -> None:
    support = str(Path(__file__).parents[2] / "support")
    command = [sys.executable, "-W", "ignore", "-c", ORPHANS, support]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as main:
        assert main.stdout is not None
        pids = [int(pid) for pid in main.stdout.readline().split()]
        main.kill()
    assert len(pids) == 2
    deadline = time.monotonic() + 30
    while any([is_running(pid) for pid in pids]):
        assert time.monotonic() < deadline, "workers are left"
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_import_leafgrad_loads_none_of_this() -> None:
    program = "import sys, leafgrad; print([n for n in sys.modules if 'utils.data' in n or 'multiprocessing' in n])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_a_forked_process_leaves_the_workers_of_its_parent_alone() -> None:
    """It has a copy of the iterator, and destroys it when it collects garbage."""
    loader = DataLoader(TensorDataset(torch.arange(4)), num_workers=1, persistent_workers=True)
    assert len(list(loader)) == 4
    child = os.fork()
    if child == 0:
        loader._iterator.__del__()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert len(list(loader)) == 4


class SaysTwo(IterableDataset[int]):
    def __iter__(self) -> Any:
        return iter(range(3))

    def __len__(self) -> int:
        return 2


def test_the_length_that_list_asks_for_is_not_held_against_a_dataset() -> None:
    assert len(list(DataLoader(SaysTwo()))) == 3  # a warning would be an error here


class Repeated:
    """The batches of a sampler again and again."""

    def __init__(self, sampler: Any) -> None:
        self.sampler = sampler

    def __iter__(self) -> Any:
        while True:
            yield from self.sampler


class ManyEpochs(DataLoader[Any]):
    """As libraries derive loaders: one iterator, whose sampler does not end, for all epochs."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._DataLoader__initialized = False
        self.batch_sampler = Repeated(self.batch_sampler)
        self._DataLoader__initialized = True
        self.iterator = super().__iter__()

    def __len__(self) -> int:
        return len(self.batch_sampler.sampler)  # type: ignore[union-attr]

    def __iter__(self) -> Any:
        for _ in range(len(self)):
            yield next(self.iterator)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_that_keeps_its_workers_by_a_sampler_without_end(workers: int) -> None:
    loader = ManyEpochs(Samples(), 3, num_workers=workers)
    for _ in range(2):
        assert [batch.tolist() for batch in loader] == [[0, 1, 2], [3, 4, 5], [6, 7]]
    with pytest.raises(ValueError, match="batch_sampler attribute should not be set after ManyEpochs is initialized"):
        loader.batch_sampler = None
    if workers:
        iterator: Any = loader.iterator
        assert len(iterator._workers) == 2
        iterator._shutdown_workers()
        assert not any(process.is_alive() for process in iterator._workers)


class BareLoader:
    """No DataLoader, and all that its iterators ask of one."""

    _IterableDataset_len_called, _auto_collation, drop_last, generator, prefetch_factor = None, False, False, None, 2
    pin_memory, timeout, persistent_workers, worker_init_fn, in_order = False, 0, False, None, True
    _dataset_kind, _index_sampler, multiprocessing_context = 1, range(9), None
    collate_fn = staticmethod(torch.tensor)

    def __init__(self, workers: int) -> None:
        self.dataset, self.num_workers = range(4), workers


def test_iterators_take_other_loaders() -> None:
    alone = torch.utils.data.dataloader._SingleProcessDataLoaderIter(BareLoader(0))
    assert [int(each) for each in alone] == [0, 1, 2, 3]
    helped = torch.utils.data.dataloader._MultiProcessingDataLoaderIter(BareLoader(1))
    assert [int(each) for each in helped] == [0, 1, 2, 3]


def test_the_start_method_can_be_set_later() -> None:
    loader = DataLoader(Samples(), num_workers=1)
    loader.multiprocessing_context = "spawn"
    assert loader.multiprocessing_context.get_start_method() == "spawn"
    with pytest.raises(ValueError, match="should specify a valid start method"):
        loader.multiprocessing_context = "spoon"
