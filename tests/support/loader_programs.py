"""Programs with samplers and loaders, for PyTorch and for leafgrad: the same seeds have to give the same samples."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np


class Numbers:
    """A dataset of its own numbers, with the random numbers that a worker draws for each."""

    def __init__(self, torch: Any, size: int = 11) -> None:
        self.torch, self.size = torch, size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Any:
        return index, self.torch.rand(1).item(), random.random(), np.random.rand()


def batches(loader: Any) -> Any:
    return [[part.tolist() for part in batch] if isinstance(batch, list) else batch.tolist() for batch in loader]


def stream(torch: Any) -> Any:
    class Stream(torch.utils.data.IterableDataset):  # type: ignore[misc,name-defined]
        def __iter__(self) -> Any:
            info = torch.utils.data.get_worker_info()
            first, step = (0, 1) if info is None else (info.id, info.num_workers)
            return iter(range(first, 9, step))

    return Stream()


def seeded(torch: Any, seed: int) -> Any:
    return torch.Generator().manual_seed(seed)


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "shuffle": lambda t, d: batches(d.DataLoader(t.arange(10), 3, shuffle=True)),
    "shuffle, two epochs": lambda t, d: [
        batches(loader := d.DataLoader(t.arange(7), 2, shuffle=True)),
        batches(loader),
    ],
    "generator": lambda t, d: batches(d.DataLoader(t.arange(10), 4, shuffle=True, generator=seeded(t, 5))),
    "drop_last": lambda t, d: batches(d.DataLoader(t.arange(10), 4, shuffle=True, drop_last=True)),
    "without batches": lambda t, d: batches(d.DataLoader(t.arange(5), None, shuffle=True)),
    "default generator afterwards": lambda t, d: [batches(d.DataLoader(t.arange(5), shuffle=True)), t.rand(3).tolist()],
    "two workers": lambda t, d: batches(d.DataLoader(Numbers(t), 3, shuffle=True, num_workers=2)),
    "one worker": lambda t, d: batches(d.DataLoader(Numbers(t), 2, num_workers=1, prefetch_factor=1)),
    "persistent workers": lambda t, d: [
        batches(loader := d.DataLoader(Numbers(t), 3, shuffle=True, num_workers=2, persistent_workers=True)),
        batches(loader),
    ],
    "stream": lambda t, d: batches(d.DataLoader(stream(t), 2)),
    "stream, workers": lambda t, d: batches(d.DataLoader(stream(t), 2, num_workers=2)),
    "stream, drop_last": lambda t, d: batches(d.DataLoader(stream(t), 2, num_workers=2, drop_last=True)),
    "stream, persistent": lambda t, d: [
        batches(loader := d.DataLoader(stream(t), 2, num_workers=2, persistent_workers=True)),
        batches(loader),
    ],
    "RandomSampler": lambda t, d: list(d.RandomSampler(range(20))),
    "RandomSampler, many": lambda t, d: list(d.RandomSampler(range(5), num_samples=13)),
    "RandomSampler, replacement": lambda t, d: list(d.RandomSampler(range(50), True, 70, seeded(t, 1))),
    "RandomSampler, twice": lambda t, d: [list(s := d.RandomSampler(range(6), generator=seeded(t, 1))), list(s)],
    "SubsetRandomSampler": lambda t, d: list(d.SubsetRandomSampler([3, 1, 4, 15, 9, 2])),
    "WeightedRandomSampler": lambda t, d: list(d.WeightedRandomSampler([0.1, 0.9, 0.4, 0.0, 3.0], 12)),
    "WeightedRandomSampler, once each": lambda t, d: list(d.WeightedRandomSampler([0.1, 0.9, 0.4, 0.7], 4, False)),
    "BatchSampler": lambda t, d: [list(d.BatchSampler(range(7), 3, drop)) for drop in (False, True)],
    "DistributedSampler": lambda t, d: [
        list(d.DistributedSampler(range(n), 3, rank, drop_last=drop, seed=2))
        for n in (2, 9, 10)
        for rank in range(3)
        for drop in (False, True)
    ],
    "DistributedSampler, epochs": lambda t, d: [
        (s := d.DistributedSampler(range(9), 2, 1), s.set_epoch(e), list(s), len(s))[2:] for e in range(3)
    ],
    "random_split": lambda t, d: [part.indices for part in d.random_split(range(10), [3, 7])],
    "random_split, fractions": lambda t, d: [
        part.indices for part in d.random_split(range(11), [0.3, 0.3, 0.4], generator=seeded(t, 42))
    ],
}


def outcome(torch: Any, name: str) -> Any:
    """What a program computes, with the seed 0, as JSON can store it."""
    torch.manual_seed(0)
    return plain(PROGRAMS[name](torch, torch.utils.data))


def plain(value: Any) -> Any:
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value
