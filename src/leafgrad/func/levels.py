"""What is running: the maps and gradients of a thread, one inside the other."""

from __future__ import annotations

import itertools
import threading
from typing import Any

from leafgrad._core.modes import Mode, push, switches
from leafgrad._core.thread_state import state
from leafgrad.func import messages
from leafgrad.func.captured_tensors import captured_by

_next_level = itertools.count(1).__next__
_counting = threading.RLock()  # a Trace may die while one is being counted


class Running:
    """The transforms of this thread that are running now, the outermost first: some of its modes."""

    @property
    def stack(self) -> list[Map | Derivative]:
        return [mode for mode in state.modes if mode.transforms]


running = Running()


class Transform(Mode):
    """A function that is being transformed: by a vmap or by a derivative."""

    sees_operations = False
    transforms = True

    def refuse(self, what: str) -> None:
        """Something that a function must not do while it is transformed."""
        raise RuntimeError(messages.REQUIRES_GRAD if what == "requires_grad_" else messages.BACKWARD)


class Map(Transform):
    """A vmap that is running. Levels only go up, so an inner map has a higher one than those around it."""

    def __init__(self, size: int, randomness: str) -> None:
        self.size = size
        self.randomness = randomness
        self.level = _next_level()

    def __enter__(self) -> int:
        push(self)
        return self.level


class Derivative(Transform):
    """A grad, vjp or jvp that is running, and what its function takes from outside."""

    def __init__(self, func: Any) -> None:
        self.captured = captured_by(func)

    def about_to_change(self, x: Any) -> None:
        """A tensor must not be changed in place if the function has it from outside."""
        if any([t.version is x.version for t in self.captured]):
            raise RuntimeError(messages.CAPTURED)


def count(change: int) -> None:
    """The engine has to compute on tensors as long as there are graphs that were recorded in a map."""
    with _counting:
        switches.batched_graphs += change


class Trace:
    """Held by every node that leads from outside into a map: as long as one lives, a gradient may go there."""

    __slots__ = ()

    def __init__(self) -> None:
        count(+1)

    def __del__(self) -> None:
        count(-1)


def saved_randomness() -> Any:
    from leafgrad.ops.random import distributions

    return distributions.get_rng_state()


def restore_randomness(state: Any) -> None:
    from leafgrad.ops.random import distributions

    distributions.set_rng_state(state)


def running_levels() -> list[int]:
    return [t.level for t in running.stack if isinstance(t, Map)]


def depth_of(level: int) -> int:
    """Which of the transforms around has a level, counted from the outermost."""
    return next((i + 1 for i, t in enumerate(running.stack) if isinstance(t, Map) and t.level == level), 0)
