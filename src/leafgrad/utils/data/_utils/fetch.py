"""How samples are taken from a dataset, by numbers or one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class MapFetcher:
    """Takes the samples with given numbers."""

    def __init__(self, dataset: Any, batched: bool, collate_fn: Callable[[Any], Any]) -> None:
        self.dataset = dataset
        self.batched = batched
        self.collate_fn = collate_fn

    def fetch(self, index: Any) -> Any:
        if not self.batched:
            return self.collate_fn(self.dataset[index])
        if getattr(self.dataset, "__getitems__", None):
            return self.collate_fn(self.dataset.__getitems__(index))
        return self.collate_fn([self.dataset[each] for each in index])


class IterableFetcher:
    """Takes the next samples, as many as numbers are given; StopIteration if there are no more."""

    def __init__(self, dataset: Any, batched: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> None:
        self.samples = iter(dataset)
        self.batched = batched
        self.collate_fn = collate_fn
        self.drop_last = drop_last
        self.ended = False

    def fetch(self, index: Any) -> Any:
        if self.ended:
            raise StopIteration
        if not self.batched:
            return self.collate_fn(next(self.samples))
        batch = []
        for _ in index:
            try:
                batch.append(next(self.samples))
            except StopIteration:
                self.ended = True
                break
        if not batch or (self.drop_last and len(batch) < len(index)):
            raise StopIteration
        return self.collate_fn(batch)


def fetcher_of(dataset: Any, iterable: bool, batched: bool, collate_fn: Any, drop_last: bool) -> Any:
    if iterable:
        return IterableFetcher(dataset, batched, collate_fn, drop_last)
    return MapFetcher(dataset, batched, collate_fn)
