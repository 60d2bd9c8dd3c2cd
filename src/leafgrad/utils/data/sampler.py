"""Samplers: in which order a loader takes the samples of a dataset. The same seeds give PyTorch's orders."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

import leafgrad as torch

T_co = TypeVar("T_co", covariant=True)


class Sampler(Generic[T_co]):
    """A subclass has `__iter__`, over numbers of samples or lists of them; and `__len__`, if that is known."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """SequentialSampler(data_source): 0, 1, 2, ..."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """RandomSampler(data_source, replacement=False, num_samples=None, generator=None): all numbers in random order, or
    random numbers."""

    def __init__(
        self, data_source: Sized, replacement: bool = False, num_samples: int | None = None, generator: Any = None
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={self.num_samples}")

    @property
    def num_samples(self) -> int:
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        generator = self.generator
        if generator is None:  # one of its own, so that it draws a single number from the default one
            generator = torch.Generator()
            generator.manual_seed(drawn_seed())
        n, wanted = len(self.data_source), self.num_samples
        if self.replacement:
            for size in [32] * (wanted // 32) + [wanted % 32]:
                yield from torch.randint(high=n, size=(size,), dtype=torch.int64, generator=generator).tolist()
            return
        for size in [n] * (wanted // n) + [wanted % n]:  # the last permutation is drawn even if none of it is used
            yield from torch.randperm(n, generator=generator).tolist()[:size]

    def __len__(self) -> int:
        return self.num_samples


def drawn_seed(generator: Any = None) -> int:
    """A seed from a generator, by default from the default one."""
    return int(torch.empty((), dtype=torch.int64).random_(generator=generator).item())


class SubsetRandomSampler(Sampler[int]):
    """SubsetRandomSampler(indices, generator=None): these numbers in random order."""

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for i in torch.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """WeightedRandomSampler(weights, num_samples, replacement=True, generator=None): numbers with the probabilities
    that the weights say."""

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator: Any = None
    ) -> None:
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = torch.as_tensor(weights, dtype=torch.double)
        if self.weights.dim() != 1:
            shape = tuple(self.weights.shape)
            raise ValueError(f"weights should be a 1d sequence but given weights have shape {shape}")
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        chosen = torch.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        yield from chosen.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """BatchSampler(sampler, batch_size, drop_last): the numbers of another sampler, in lists of `batch_size`."""

    def __init__(self, sampler: Iterable[Any], batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        numbers = iter(self.sampler)
        while batch := list(itertools.islice(numbers, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        length = len(self.sampler)  # type: ignore[arg-type]
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)
