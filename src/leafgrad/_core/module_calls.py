"""The last calls of modules: which module was running when an operation was recorded?

Nodes take their numbers from one counter that goes down. A module takes one before and one after its `forward`, so the
nodes between these two are its own, or those of modules that it called. That is all a call costs; who wants to know
asks later (`leafgrad._explain.modules`). Modules are referred to weakly, and only so many calls are remembered: the
list has its full length from the beginning, so that a program does not grow by it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Final
from weakref import ref

from leafgrad._core.node import take_order
from leafgrad._core.threads import get_ident

REMEMBERED: Final = 1024

number_now: Final[Callable[[], int]] = take_order
reference: Final[Callable[[Any], Any]] = ref
this_thread: Final[Callable[[], int]] = get_ident
_nobody: Final[Any] = ref(set())  # the module of calls that have not happened yet
last_calls: Final[deque[tuple[Any, int, int, int]]] = deque(
    [(_nobody, -i, -i, 0) for i in range(REMEMBERED)], maxlen=REMEMBERED
)
_append: Final[Any] = last_calls.append


def note_call(module: Any, before: int) -> None:
    """A call of a module has ended that began when the counter stood at `before`."""
    _append((reference(module), before, number_now(), this_thread()))


def remembered_since() -> int:
    """From which number on all calls are remembered: 0, the first of all, unless there were too many."""
    first = last_calls[0]
    return first[1] if first[3] else 0
