"""Which module recorded a node? Answered afterwards, from the numbers that nodes and calls of modules took
(`leafgrad._core.module_calls`)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from threading import get_ident
from typing import Any

from leafgrad._core.module_calls import last_calls
from leafgrad._core.node import Node


@dataclass(eq=False, slots=True)
class Call:
    """A call of a module: it began when the counter stood at `start` and ended at `end`, which is later."""

    module: Any
    start: int
    end: int
    outer: Call | None = None  # the call that it was made in

    def path(self) -> list[Call]:
        """The calls that were running, the outermost first."""
        found: list[Call] = []
        call: Call | None = self
        while call is not None:
            found.append(call)
            call = call.outer
        return found[::-1]


class ModuleCalls:
    """The calls of modules that are remembered: the last few thousand, of modules that still exist.

    calls = ModuleCalls()
    calls.of(loss.grad_fn)              # the innermost call in which a node was recorded, or None
    calls.was_called(model.head, nodes) # did it run while these nodes were recorded?
    """

    def __init__(self) -> None:
        by_thread: dict[int, list[Call]] = {}
        for reference, before, after, thread in list(last_calls):
            module = reference()
            if module is not None:  # the counter goes down; time is easier to think of as going up
                by_thread.setdefault(thread, []).append(Call(module, -before, -after))
        # A graph is looked at where it was recorded, as a rule. Calls of other threads may be mixed up with those of
        # this one, and are asked only for nodes that none of this one's explain.
        own = by_thread.pop(get_ident(), [])
        self.timelines = [Timeline(calls) for calls in (own, *by_thread.values())]

    def of(self, node: Node) -> Call | None:
        """The innermost call in which a node was recorded."""
        for timeline in self.timelines:
            if (call := timeline.at(-node.order)) is not None:
                return call
        return None

    def all(self) -> Iterator[Call]:
        for timeline in self.timelines:
            yield from timeline.calls

    def of_module(self, module: Any) -> list[Call]:
        """The calls of one module, the oldest first."""
        return sorted([call for call in self.all() if call.module is module], key=lambda call: call.start)

    def was_called(self, module: Any, nodes: Iterable[Node]) -> bool:
        """Was the module called after the first and before the last of these nodes was recorded? A call around one of
        them counts."""
        times = [-node.order for node in nodes]
        if not times:
            return False
        first, last = min(times), max(times)
        return any([call.start < last and call.end > first for call in self.of_module(module)])


class Timeline:
    """The calls of one thread, each inside of another or apart from it."""

    def __init__(self, calls: list[Call]) -> None:
        self.calls = sorted(calls, key=lambda call: call.start)
        self.times: list[int] = []  # when the innermost call became another one,
        self.innermost: list[Call | None] = []  # and which
        running: Call | None = None
        for call in self.calls:
            running = self._ended_before(call.start, running)
            call.outer = running
            running = call
            self._note(call.start, call)
        self._ended_before(None, running)

    def _ended_before(self, time: int | None, running: Call | None) -> Call | None:
        while running is not None and (time is None or running.end < time):
            self._note(running.end, running.outer)
            running = running.outer
        return running

    def _note(self, time: int, call: Call | None) -> None:
        self.times.append(time)
        self.innermost.append(call)

    def at(self, time: int) -> Call | None:
        place = bisect_right(self.times, time) - 1
        return None if place < 0 else self.innermost[place]
