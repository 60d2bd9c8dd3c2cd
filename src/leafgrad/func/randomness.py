"""Random numbers inside vmap: refused, the same for all samples, or different ones."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from leafgrad.func import batched_array as b
from leafgrad.func import messages
from leafgrad.func.batched_array import BatchedArray
from leafgrad.func.level_marks import plain, unmarked
from leafgrad.func.levels import Map, running
from leafgrad.func.many_samples import size_at
from leafgrad.func.map_boundary import share_in_map

Draw = Callable[..., Any]


def for_samples(distributions: ModuleType) -> ForSamples | None:
    """What stands in for the module of distributions while maps are running in this thread."""
    maps = [t for t in running() if isinstance(t, Map)]
    return ForSamples(distributions, maps) if maps else None


class ForSamples:
    """The functions that draw, for all samples at once. `BATCHING` says how each of them is called for many."""

    def __init__(self, distributions: ModuleType, maps: list[Map]) -> None:
        self.distributions = distributions
        self.maps = maps  # the outermost first
        self.different = [m for m in maps if m.randomness == "different"]

    def __getattr__(self, name: str) -> Any:
        draw = getattr(self.distributions, name)
        kind = self.distributions.BATCHING.get(draw)
        if kind is None:
            return draw
        self.check()
        return functools.partial(getattr(self, kind), draw)

    def check(self) -> None:
        if any([m.randomness == "error" for m in self.maps]):
            raise RuntimeError(messages.RANDOM_FOR_GRADIENTS if self.maps[-1].of_gradients else messages.RANDOM)

    def check_parameters(self, arrays: tuple[Any, ...]) -> None:
        """What is the same for all samples cannot be drawn by parameters that each sample has of its own."""
        for m in self.maps:
            if m not in self.different and size_at(arrays, m.level) is not None:
                self.check()
                raise RuntimeError(messages.SAME_FOR_BATCH)

    def check_in_place(self, array: Any, parameters: tuple[Any, ...] = ()) -> None:
        """Different numbers for each sample do not fit into memory that is the same for all."""
        self.check()
        self.check_parameters(parameters)
        if any([size_at(array, m.level) is None and size_at(parameters, m.level) is not None for m in self.maps]):
            raise RuntimeError(messages.IN_PLACE)
        if any([size_at(array, m.level) is None for m in self.different]):
            raise RuntimeError(messages.RANDOM_IN_PLACE)

    def repeated(self, array: Any) -> Any:
        """New memory for different numbers for each sample, in front of the dimensions that they have."""
        if array.__class__ is BatchedArray or array.flags.c_contiguous:
            array = self.shared(array)
            return array.copy("C" if array.flags.c_contiguous else "K") if array.__class__ is BatchedArray else array
        order = sorted(range(array.ndim), key=lambda dim: -array.strides[dim])
        copied = self.shared(array.transpose(order)).copy("C")
        return copied.transpose([order.index(dim) for dim in range(array.ndim)])

    def shared(self, array: Any) -> Any:
        """The same values for each sample that is to be different."""
        for m in self.different:
            if size_at(array, m.level) is None:
                array = share_in_map.kernel(array, m.level, m.size)
        return array

    def whole(self, array: Any) -> Any:
        """The memory of all samples, if each gets numbers of its own, which are then drawn for all at once; or None."""
        self.check()
        if array.__class__ is not BatchedArray:
            return None
        own = [m for m in self.maps if size_at(array, m.level) is not None]
        return array.memory() if own == self.different else None

    def as_whole(self, array: Any) -> Any:
        """The values of all samples in memory of that kind."""
        return self.shared(array).memory()

    def wrapped(self, values: Any) -> Any:
        """Numbers for all samples that are to be different, which are in front."""
        for m in self.different:
            values = BatchedArray(values, m.level)
        return values

    def by_shape(
        self, draw: Draw, generator: Any, shape: Any, dtype: Any, *args: Any, out: Any = None, **options: Any
    ) -> Any:
        """draw(generator, shape, dtype, ...): once, with the samples as further dimensions."""
        own = (shape,) if isinstance(shape, int) else tuple(shape)
        whole = (*[m.size for m in self.different], *own)
        values = self.wrapped(draw(generator, whole, plain(np.dtype(dtype)), *args, **options))
        if out is None:
            return values
        out[...] = values
        return out

    def by_array(self, draw: Draw, generator: Any, probabilities: Any, *options: Any) -> Any:
        """draw(generator, probabilities, ...): for each sample, or once for all if it shall be the same."""
        self.check_parameters((probabilities,))
        values = probabilities
        for m in self.different:
            if size_at(values, m.level) is None:
                values = share_in_map.kernel(values, m.level, m.size)
        return by_sample(draw, generator, values, tuple([plain(o) if isinstance(o, np.dtype) else o for o in options]))

    def one_by_one(self, draw: Draw, *args: Any) -> Any:
        """What is drawn one sample after the other."""
        sizes = [m.size for m in self.different]
        values = [draw(*args) for _ in range(int(np.prod(sizes)))]
        return self.wrapped(np.stack(values).reshape((*sizes, *values[0].shape))) if sizes else values[0]


def by_sample(draw: Draw, generator: Any, values: Any, options: tuple[Any, ...]) -> Any:
    if values.__class__ is not BatchedArray:
        return draw(generator, np.asarray(unmarked(values), order="C"), *options)
    samples = [values.value[i, ...] for i in range(values.batch_size)]
    return b.joined([by_sample(draw, generator, s, options) for s in samples], values.level)
