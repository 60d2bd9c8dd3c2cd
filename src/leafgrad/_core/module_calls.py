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

_nobody: Final[Any] = ref(set())  # the module of calls that have not happened yet
# of each the module, the counter's numbers before and after, and the thread
last_calls: Final[deque[tuple[Any, int, int, int]]] = deque(
    [(_nobody, -i, -i, 0) for i in range(REMEMBERED)], maxlen=REMEMBERED
)
remember_call: Final = last_calls.append
number_now: Final[Callable[[], int]] = take_order
this_thread: Final[Callable[[], int]] = get_ident


def remembered_since() -> int:
    """From which number on all calls are remembered: 0, the first of all, unless there were too many."""
    first = last_calls[0]
    return first[1] if first[3] else 0
