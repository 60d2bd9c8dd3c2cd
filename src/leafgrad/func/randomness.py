"""Random numbers inside vmap: refused, the same for all samples, or different ones."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad.func import batched_array as b
from leafgrad.func import messages
from leafgrad.func.batched_array import BatchedArray
from leafgrad.func.level_marks import plain, unmarked
from leafgrad.func.levels import Map, Trace, running
from leafgrad.func.map_boundary import enter_map

# What draws in leafgrad.distributions, and where its shape stands among the arguments.
BY_SHAPE = ("uniform", "normal", "log_normal", "exponential", "cauchy", "geometric", "bernoulli_p", "random_")
BY_ARRAY = ("bernoulli_t", "multinomial")


def maps() -> list[Map]:
    """The maps that are running, the innermost first; none while one of them draws."""
    return [] if running.drawing else [t for t in reversed(running.stack) if isinstance(t, Map)]


def refused(found: list[Map]) -> None:
    if any([m.randomness == "error" for m in found]):
        raise RuntimeError(messages.RANDOM)


class Drawing:
    """Numbers are being drawn: what is drawn on the way is drawn for all samples already."""

    def __enter__(self) -> None:
        running.drawing = True

    def __exit__(self, *error: Any) -> None:
        running.drawing = False


def by_shape(draw: Callable[..., Any]) -> Callable[..., Any]:
    """draw(generator, shape, ...), for each sample of the maps whose samples are to be different."""

    @functools.wraps(draw)
    def for_samples(generator: Any, shape: Any, dtype: Any, *parameters: Any, **options: Any) -> Any:
        found = maps()
        if not found:
            return draw(generator, shape, plain(np.dtype(dtype)), *parameters, **options)
        refused(found)
        own = (shape,) if isinstance(shape, int) else tuple(shape)
        different = [m for m in found if m.randomness == "different"]
        whole = (*[m.size for m in reversed(different)], *own)
        with Drawing():
            values = draw(generator, whole, plain(np.dtype(dtype)), *parameters, **options)
        for m in reversed(different):
            values = BatchedArray(values, m.level)
        return values

    return for_samples


def by_array(draw: Callable[..., Any]) -> Callable[..., Any]:
    """draw(generator, probabilities, ...): one draw for each sample, or one for all if it shall be the same."""

    @functools.wraps(draw)
    def for_samples(generator: Any, probabilities: Any, *options: Any, **others: Any) -> Any:
        found = maps()
        if not found:
            return draw(generator, probabilities, *options, **others)
        refused(found)
        values = probabilities
        for m in found:  # the innermost first
            if m.randomness == "same":
                if b.size_at(values, m.level) is not None:
                    raise RuntimeError(messages.SAME_FOR_BATCH)
            elif b.size_at(values, m.level) is None:
                values = enter_map.forward(b.spread(values, m.level, m.size), 0, m.level, Trace())
        options = tuple([plain(o) if isinstance(o, np.dtype) else o for o in options])
        with Drawing():
            return drawn_by_sample(draw, generator, values, options, others)

    return for_samples


def drawn_by_sample(draw: Any, generator: Any, values: Any, options: Any, others: Any) -> Any:
    if values.__class__ is not BatchedArray:
        return draw(generator, np.ascontiguousarray(unmarked(values)), *options, **others)
    samples = [values.value[i, ...] for i in range(values.batch_size)]
    return b.joined([drawn_by_sample(draw, generator, s, options, others) for s in samples], values.level)


def bernoulli_of(generator: Any, array: Any, p: Any) -> Any:
    """What `bernoulli` draws inside a map, where an array for its result cannot be made beforehand."""
    from leafgrad.ops.random import distributions

    kind = plain(array.dtype)
    if p is None:
        return distributions.bernoulli_t(generator, array, kind)
    return distributions.bernoulli_p(generator, array.shape, kind, float(p))


def permutation(draw: Callable[..., Any]) -> Callable[..., Any]:
    """randperm(generator, n, dtype)."""

    @functools.wraps(draw)
    def for_samples(generator: Any, *args: Any) -> Any:
        found = maps()
        refused(found)
        different = [m for m in found if m.randomness == "different"]
        if not different:
            return draw(generator, *args)
        count = int(np.prod([m.size for m in different]))
        values: Any = np.stack([draw(generator, *args) for _ in range(count)])
        values = values.reshape((*[m.size for m in reversed(different)], values.shape[-1]))
        for m in reversed(different):
            values = BatchedArray(values, m.level)
        return values

    return for_samples


def check_in_place(array: Any) -> None:
    """Different numbers for each sample do not fit into memory that is the same for all."""
    for m in maps():
        if m.randomness == "different" and b.size_at(array, m.level) is None:
            raise RuntimeError(messages.RANDOM_IN_PLACE)


_installed = False


def install() -> None:
    """From the first vmap on, the functions that draw ask the maps that are running."""
    global _installed
    if _installed:
        return
    _installed = True
    from leafgrad.ops.random import distributions

    for name in BY_SHAPE:
        setattr(distributions, name, by_shape(getattr(distributions, name)))
    for name in BY_ARRAY:
        setattr(distributions, name, by_array(getattr(distributions, name)))
    setattr(distributions, "randperm", permutation(distributions.randperm))  # noqa: B010
