"""What is running: the maps and gradients of a thread, one inside the other."""

from __future__ import annotations

import itertools
import threading
from typing import Any

from leafgrad._core import late

_next_level = itertools.count(1).__next__
_counting = threading.Lock()


class Running(threading.local):
    """The transforms of a thread that are running now, the outermost first."""

    def __init__(self) -> None:
        self.stack: list[Map | Derivative] = []


running = Running()


class Map:
    """A vmap that is running. Levels only go up, so an inner map has a higher one than those around it."""

    def __init__(self, size: int, randomness: str) -> None:
        self.size = size
        self.randomness = randomness
        self.level = _next_level()

    def __enter__(self) -> int:
        running.stack.append(self)
        count(+1)
        return self.level

    def __exit__(self, *error: Any) -> None:
        running.stack.remove(self)
        count(-1)


class Derivative:
    """A grad, vjp or jvp that is running."""

    def __enter__(self) -> Derivative:
        running.stack.append(self)
        return self

    def __exit__(self, *error: Any) -> None:
        running.stack.remove(self)


def count(change: int) -> None:
    """The engine has to compute on tensors as long as there are maps, or graphs that were recorded in one."""
    with _counting:
        late.batching += change


class Trace:
    """Held by every node that leads from outside into a map: as long as one lives, a gradient may go there."""

    __slots__ = ()

    def __init__(self) -> None:
        count(+1)

    def __del__(self) -> None:
        count(-1)


def map_of_draws() -> Map | None:
    """The innermost map, whose samples may want random numbers of their own."""
    return next((t for t in reversed(running.stack) if isinstance(t, Map)), None)


def saved_randomness() -> Any:
    from leafgrad import random

    return random.get_rng_state()


def restore_randomness(state: Any) -> None:
    from leafgrad import random

    random.set_rng_state(state)


__all__ = ["Derivative", "Map", "running"]
