"""What is running: the maps and gradients of a thread, one inside the other."""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

from leafgrad import errors
from leafgrad._core.modes import Mode, push, switches
from leafgrad._core.tensor import TensorBase
from leafgrad._core.thread_state import state
from leafgrad.func import messages, trees

_next_level = itertools.count(1).__next__
_counting = threading.RLock()  # a Trace may die while one is being counted


def running() -> list[Map | Derivative]:
    """The transforms of this thread that are running now, the outermost first: some of its modes."""
    return [mode for mode in state.modes if mode.transforms]


class Transform(Mode):
    """A function that is being transformed: by a vmap or by a derivative."""

    sees_operations = False
    transforms = True

    def asked(self, what: str, x: Any) -> None:
        """Something that a function must not do while it is transformed."""
        raise RuntimeError(messages.FORBIDDEN[what])


class Map(Transform):
    """A vmap that is running. Levels only go up, so an inner map has a higher one than those around it."""

    def __init__(self, size: int, randomness: str, of_gradients: bool = False) -> None:
        self.size = size
        self.randomness = randomness
        self.of_gradients = of_gradients  # autograd's own: a Function of the user is applied as it is
        self.level = _next_level()

    def __enter__(self) -> int:
        push(self)
        return self.level


class Derivative(Transform):
    """A grad, vjp or jvp that is running, and what its function takes from outside."""

    def __init__(self, func: Any) -> None:
        self.captured = captured_by(func)
        self.arguments: list[Any] = []  # by which it is differentiated, if backward

    def about_to_change(self, x: Any) -> None:
        """A tensor must not be changed in place if the function has it from outside, or is differentiated by it."""
        if any([t.version is x.version for t in self.captured]):
            raise RuntimeError(messages.CAPTURED)
        view = x.rare.view if x.rare is not None else None
        seen = x if view is None else view.base
        if state.recording and any([t is seen for t in self.arguments]):
            raise errors.leaf_in_place(seen, view is not None)


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


def running_levels() -> list[int]:
    return [t.level for t in running() if isinstance(t, Map)]


def depth_of(level: int) -> int:
    """Which of the transforms around has a level, counted from the outermost."""
    return next((i + 1 for i, t in enumerate(running()) if isinstance(t, Map) and t.level == level), 0)


# -- what a function takes from outside, which a derivative of it refuses to have changed in place --------------------


def captured_by(func: Any) -> list[Any]:
    """The tensors that a function reads from closures and module variables, functions that it calls included. What is
    hidden in other objects is not found."""
    return list(_tensors(func, set()))


def _tensors(value: Any, seen: set[int]) -> Iterator[Any]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, TensorBase):
        yield value
    elif isinstance(value, functools.partial):
        for part in (value.func, *value.args, *value.keywords.values()):
            yield from _tensors(part, seen)
    elif isinstance(value, MethodType):
        yield from _tensors(value.__func__, seen)
    elif isinstance(value, FunctionType):
        for found in _read_by(value):
            yield from _tensors(found, seen)
    elif isinstance(value, (tuple, list, dict)):
        for leaf in trees.flatten(value)[0]:
            if isinstance(leaf, TensorBase):
                yield leaf


def _read_by(function: FunctionType) -> Iterator[Any]:
    """The values of the free and global variables of a function of the user."""
    if function.__module__ is not None and function.__module__.split(".")[0] == "leafgrad" and not function.__closure__:
        return
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a variable that has no value yet
            continue
    for name in _names(function.__code__):
        found = function.__globals__.get(name)
        if isinstance(found, (TensorBase, FunctionType)):
            yield found


def _names(code: CodeType) -> Iterator[str]:
    """The names that a function and those inside of it look up."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
