"""The part of a dataset that one of several processes gets."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import leafgrad as torch
from leafgrad.utils.data.sampler import Sampler


class DistributedSampler(Sampler[int]):
    """DistributedSampler(dataset, num_replicas, rank, shuffle=True, seed=0, drop_last=False): every `num_replicas`-th
    sample, beginning with number `rank` of an order that all processes share and that depends on `set_epoch`."""

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:  # PyTorch would ask the process group
            raise RuntimeError("Requires distributed package to be available\n  fix: num_replicas=..., rank=...")
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        length = len(dataset)
        self.num_samples = length // num_replicas if drop_last else -(-length // num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self) -> Iterator[int]:
        order = list(range(len(self.dataset)))
        if self.shuffle:
            generator = torch.Generator()
            generator.manual_seed(self.seed + self.epoch)
            order = torch.randperm(len(self.dataset), generator=generator).tolist()
        # as often as it takes for all to have the same number of samples
        whole = list(itertools.islice(itertools.cycle(order), self.total_size))
        return iter(whole[self.rank :: self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """set_epoch(epoch): another order for another epoch."""
        self.epoch = epoch
