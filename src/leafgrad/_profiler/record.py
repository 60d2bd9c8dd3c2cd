"""One event of a profile while it is written down, and what is found out about it from arrays and tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad._core import origin
from leafgrad._core.tensor import TensorBase

# what an event is: PyTorch's numbers
FUNCTION, BACKWARD_FUNCTION, USER = 0, 1, 7


class Wishes:
    """What profilers want to know beside the time."""

    def __init__(self, shapes: bool = False, memory: bool = False, stack: bool = False, flops: bool = False) -> None:
        self.shapes = shapes
        self.memory = memory
        self.stack = stack
        self.flops = flops

    def __or__(self, other: Wishes) -> Wishes:
        return Wishes(**{name: value or getattr(other, name) for name, value in vars(self).items()})


class Record:
    """One event: a kernel, a public function, a gradient rule, or a block that the user has named."""

    __slots__ = (
        "concrete", "count_flops", "end", "forward_thread", "is_call", "level", "memory", "name", "number", "parent",
        "recorded", "result", "scope", "shapes", "stack", "start", "thread",
    )  # fmt: skip

    def __init__(self, name: str, scope: int, parent: Record | None, thread: int, number: int) -> None:
        self.name = name
        self.scope = scope
        self.parent = parent
        self.thread = thread
        self.number = number  # of the node that belongs to it: at first, of the one that will be recorded next
        self.recorded = False  # has that one been recorded?
        self.forward_thread = 0
        self.memory = 0  # allocated minus freed, without what is inside
        self.count_flops: Any = None  # how many multiplications and additions, for given shapes
        self.shapes: list[Any] = []
        self.concrete: list[Any] = []
        self.stack: list[str] = []
        self.is_call = False  # is it a public function that was found on the stack?
        self.level: int | None = None  # of the backward pass, if it is all that the engine does about one node
        self.result: int | None = None  # the id of the array that its last kernel has returned
        self.start: int = 0
        self.end: int | None = None

    @property
    def is_open_ended(self) -> bool:
        """Does nobody tell when it ends? Then it ends with the last event inside."""
        return self.is_call or self.level is not None

    def describe(self, values: Any) -> None:
        """Keep the shapes of arguments, and the numbers among them."""
        self.shapes, self.concrete = [shape_of(v) for v in values], [concrete(v) for v in values]


def shape_of(value: Any) -> list[int]:
    array = value.array if isinstance(value, TensorBase) else value
    return list(array.shape) if hasattr(array, "shape") and hasattr(array, "dtype") else []


def concrete(value: Any) -> Any:
    """A number, a flag or a list of them; tensors and arrays are not kept."""
    if isinstance(value, (bool, int, float, complex, str)):
        return value
    if isinstance(value, (list, tuple)) and all([isinstance(v, (bool, int, float)) for v in value]):
        return list(value)
    return None


def stack_lines() -> list[str]:
    """The user's stack, the innermost line first."""
    lines = []
    frame = origin.user_frame()
    while frame is not None:
        code = frame.f_code
        if not origin.is_internal(code.co_filename):
            lines.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back
    return lines


def arrays_in(value: Any) -> list[Any]:
    """All arrays in a result or in arguments."""
    if isinstance(value, TensorBase):
        value = value.array
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, (tuple, list)):
        return [array for one in value for array in arrays_in(one)]
    return []


def owner(array: Any) -> Any:
    """The array whose memory this one looks at."""
    while isinstance(getattr(array, "base", None), np.ndarray):
        array = array.base
    return array
