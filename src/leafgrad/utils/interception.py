"""Looking at every operation while it is computed: for selective checkpointing, and for the log of `debug=True`.

The recorder has one place where a kernel can be replaced, `late.batched`. While an `Interceptor` is active in some
thread, the function there asks the interceptors of the running thread, the innermost first.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from leafgrad._core.op import Op
from leafgrad._core.recorder import late

Compute = Callable[[], Any]  # what the operation gives without the interceptor


class Active(threading.local):
    """The interceptors of one thread."""

    def __init__(self) -> None:
        self.stack: list[Interceptor] = []
        self.inside = False  # an operation is being computed: what its kernel is made of is nobody's business


active = Active()


class Everywhere:
    """How many interceptors are active in all threads, and what computed operations before the first."""

    lock = threading.Lock()
    count = 0
    before: Any = None


class Interceptor:
    """A context manager whose `compute` is called for each operation inside."""

    def compute(self, op: Op, arrays: Sequence[Any], options: tuple[Any, ...], compute: Compute) -> Any:
        """The result of `op`: that of `compute()`, or what is to stand in its place."""
        raise NotImplementedError

    def __enter__(self) -> Any:
        with Everywhere.lock:
            if Everywhere.count == 0:
                Everywhere.before = late.batched
                late.batched, late.intercepting = intercept, True
            Everywhere.count += 1
        active.stack.append(self)
        return self

    def __exit__(self, *error: Any) -> None:
        active.stack.remove(self)
        with Everywhere.lock:
            Everywhere.count -= 1
            if Everywhere.count == 0:
                late.intercepting = False
                if late.batched is intercept:  # else somebody else has taken the place meanwhile, to keep it
                    late.batched = Everywhere.before


def intercept(op: Op, arrays: Sequence[Any], options: tuple[Any, ...]) -> Any:
    """Compute an operation, or let the interceptors of this thread do so."""

    def from_level(level: int) -> Any:
        if level < 0:
            if Everywhere.before is not None:
                return Everywhere.before(op, arrays, options)
            return op.forward(*arrays, *options)
        return active.stack[level].compute(op, arrays, options, lambda: from_level(level - 1))

    if active.inside or not active.stack:
        return from_level(-1)
    active.inside = True
    try:
        return from_level(len(active.stack) - 1)
    finally:
        active.inside = False
