"""Datasets that are made of others."""

from __future__ import annotations

from typing import Any

import pytest

import leafgrad as torch
from leafgrad.utils.data import (
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    StackDataset,
    Subset,
    TensorDataset,
    WeightedRandomSampler,
    random_split,
)


class Stream(IterableDataset[int]):
    def __iter__(self) -> Any:
        return iter(range(3))

    def __len__(self) -> int:
        return 3


def test_tensors() -> None:
    data = TensorDataset(torch.arange(4), torch.arange(8).view(4, 2))
    assert len(data) == 4 and [part.tolist() for part in data[1]] == [1, [2, 3]]
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        TensorDataset(torch.ones(2), torch.ones(3))


def test_concatenation() -> None:
    data: Any = Subset([1, 2, 3], [0, 1]) + Subset([4, 5], [1])
    assert isinstance(data, ConcatDataset) and len(data) == 3
    assert [data[i] for i in (0, 1, 2, -1)] == [1, 2, 5, 5]
    with pytest.raises(ValueError, match="absolute value of index should not exceed dataset length"):
        data[-4]
    with pytest.raises(AssertionError, match="should not be an empty iterable"):
        ConcatDataset([])
    with pytest.raises(AssertionError, match="ConcatDataset does not support IterableDataset"):
        ConcatDataset([Stream()])


def test_chains() -> None:
    data: Any = Stream() + Stream()
    assert isinstance(data, ChainDataset) and list(data) == [0, 1, 2, 0, 1, 2] and len(data) == 6
    with pytest.raises(AssertionError, match="ChainDataset only supports IterableDataset"):
        list(ChainDataset([[1]]))


class Whole(Dataset[int]):
    """Takes whole batches."""

    calls = 0

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> int:
        return index * 10

    def __getitems__(self, indices: list[int]) -> list[int]:
        self.calls += 1
        return [index * 10 for index in indices]


def test_stacks() -> None:
    whole = Whole()
    pairs, named = StackDataset(whole, [1, 2, 3, 4]), StackDataset(x=whole, y=[1, 2, 3, 4])
    assert pairs[1] == (10, 2) and named[1] == {"x": 10, "y": 2} and len(pairs) == len(named) == 4
    assert [[part.tolist() for part in batch] for batch in DataLoader(pairs, 2)] == [
        [[0, 10], [1, 2]],
        [[20, 30], [3, 4]],
    ]
    assert [batch["x"].tolist() for batch in DataLoader(named, 4)] == [[0, 10, 20, 30]]
    assert whole.calls == 3
    for wrong in (lambda: StackDataset(), lambda: StackDataset([1], [1, 2]), lambda: StackDataset([1], x=[1])):
        with pytest.raises(ValueError, match=r"At least one|Size mismatch|both types"):
            wrong()


def test_subsets() -> None:
    whole = Whole()
    part: Any = Subset(whole, [3, 1])
    assert [part[0], len(part), part.__getitems__([1, 0])] == [30, 2, [10, 30]] and whole.calls == 1
    assert Subset(torch.arange(5), [4, 2])[[0, 1]].tolist() == [4, 2]

    class Own(Subset[int]):
        def __getitem__(self, idx: Any) -> int:
            return 0

    with pytest.raises(NotImplementedError, match="Own overrides __getitem__ but not __getitems__"):
        Own([1], [0])


def test_splits() -> None:
    parts = random_split(range(10), [0.35, 0.65])
    assert [len(part) for part in parts] == [4, 6] and sorted(parts[0].indices + parts[1].indices) == list(range(10))  # type: ignore[operator]
    with pytest.raises(ValueError, match="Sum of input lengths does not equal the length of the input dataset!"):
        random_split(range(10), [3, 3])
    with pytest.raises(ValueError, match="Fraction at index 0 is not between 0 and 1"):
        random_split(range(10), [1.5, -0.5])
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        random_split(range(1), [0.5, 0.5])


def test_mistakes() -> None:
    class Nothing(Dataset[int]):
        pass

    with pytest.raises(NotImplementedError, match=r"Subclasses of Dataset should implement __getitem__\."):
        Nothing()[0]
    with pytest.raises(ValueError, match="num_samples should be a positive integer value, but got num_samples=0"):
        RandomSampler([])
    with pytest.raises(ValueError, match="weights should be a 1d sequence"):
        WeightedRandomSampler([[1.0]], 1)  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"Invalid rank 2, rank should be in the interval \[0, 1\]"):
        DistributedSampler([1], 2, 2)
    with pytest.raises(RuntimeError, match="Requires distributed package to be available"):
        DistributedSampler([1])
