"""The last calls of modules: which module was running when an operation was recorded?

Nodes take their numbers from one counter that goes down. A module takes one before and one after its `forward`, so the
nodes between these two are its own, or those of modules that it called. That is all a call costs; who wants to know
asks later (`leafgrad._explain.modules`). Modules are referred to weakly, and only so many calls are remembered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Final
from weakref import ReferenceType

from leafgrad._core.node import take_order

REMEMBERED: Final = 4096

last_calls: Final[deque[tuple[ReferenceType[Any], int, int, int]]] = deque(maxlen=REMEMBERED)
note_call: Final = last_calls.append  # (module, number before, number after, thread)
number_now: Final[Callable[[], int]] = take_order
