"""What is running: the maps and gradients of a thread, one inside the other."""

from __future__ import annotations

import itertools
import threading
from typing import Any

from leafgrad._core.recorder import late, state
from leafgrad.func import messages
from leafgrad.func.captured_tensors import captured_by

_next_level = itertools.count(1).__next__
_counting = threading.RLock()  # a Trace may die while one is being counted


class Running:
    """The transforms of this thread that are running now, the outermost first. Kept with the thread's other modes, so
    that a thread which goes on for another has them as well."""

    @property
    def stack(self) -> list[Map | Derivative]:
        return state.__dict__.setdefault("transforms", [])  # type: ignore[no-any-return]


running = Running()


class Map:
    """A vmap that is running. Levels only go up, so an inner map has a higher one than those around it."""

    def __init__(self, size: int, randomness: str) -> None:
        self.size = size
        self.randomness = randomness
        self.level = _next_level()

    def __enter__(self) -> int:
        start(self)
        count(+1)
        return self.level

    def __exit__(self, *error: Any) -> None:
        stop(self)
        count(-1)


class Derivative:
    """A grad, vjp or jvp that is running, and what its function takes from outside."""

    def __init__(self, func: Any) -> None:
        self.captured = captured_by(func)

    def __enter__(self) -> Derivative:
        start(self)
        return self

    def __exit__(self, *error: Any) -> None:
        stop(self)


def start(transform: Map | Derivative) -> None:
    running.stack.append(transform)
    with _counting:
        late.transforms += 1


def stop(transform: Map | Derivative) -> None:
    running.stack.remove(transform)
    with _counting:
        late.transforms -= 1


def refuse(what: str) -> None:
    """Something that a function must not do while it is transformed, if it is."""
    if running.stack:
        raise RuntimeError(messages.REQUIRES_GRAD if what == "requires_grad_" else messages.BACKWARD)


def refuse_change(x: Any) -> None:
    """`x` is about to be changed in place: not if a function that is being differentiated has it from outside."""
    for transform in running.stack:
        if isinstance(transform, Derivative) and any([t.version is x.version for t in transform.captured]):
            raise RuntimeError(messages.CAPTURED)


late.refuse_in_transform = refuse
late.refuse_change = refuse_change


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
