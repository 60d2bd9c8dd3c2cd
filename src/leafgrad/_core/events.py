"""What a program did to its gradients, and where: so that it can be told later why one is missing.

A graph ended (`detach`, `no_grad`, `item`, an index), `requires_grad` was set, a backward pass ran, gradients were
cleared. Of each the line is kept, how often it ran and when last, and weak references to the leaves that were
concerned. A line has one `Event` however often it runs: memory is bounded, no tensor is kept alive, and an event costs
little more than a look into a dictionary. Whoever explains something reads them; nothing is computed from them.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Final

from leafgrad._core import origin
from leafgrad._core.modes import cut_in_modes, switches
from leafgrad._core.node import Node

MOST_LINES: Final = 256  # of each kind of event
MOST_OBJECTS: Final = 4096  # of each line
MOST_NODES: Final = 5000  # looked at to find the leaves behind a tensor
MOST_STEPS: Final = 16  # to find one of them
OFTEN: Final = 64  # times that a line is asked each time whether the leaves are others,
SELDOM: Final = 16  # and then every so often
MOST_SURVEYS: Final = 256  # because of another leaf, of each line

reference: Final[Callable[[Any], Any]] = weakref.ref


class Event:
    """What happened at an instruction of the user's program, and to what."""

    __slots__ = ("code", "count", "last", "lasti", "memory", "objects", "reason", "surveys", "time", "value")

    def __init__(self, reason: str, code: Any, lasti: int) -> None:
        self.reason = reason
        self.code = code
        self.lasti = lasti
        self.count: int = 0  # how often, but for what `noted_again` recognises
        self.time: int = 0  # of the last time, as the clock shows it
        self.surveys: int = 0
        self.last: Any = None  # a weak reference to what was concerned last, for `noted_again`
        # by id: a weak reference, and the code and offset of the instruction that used it, if that is known
        self.objects: dict[int, tuple[Any, Any, int]] = {}
        self.memory: Any = None  # a weak reference to the array that left the graph
        self.value: Any = None  # the number that did

    def add(self, what: Any, code: Any, lasti: int) -> None:
        """Something that was concerned."""
        if len(self.objects) >= MOST_OBJECTS:
            self.objects = {key: known for key, known in self.objects.items() if known[0]() is not None}
            if len(self.objects) >= MOST_OBJECTS:
                return
        self.objects[id(what)] = (reference(what), code, lasti)

    def alive(self) -> list[Any]:
        """What was concerned, as far as it still exists."""
        found = [known[0]() for known in self.objects.values()]
        return [one for one in found if one is not None]

    def concerns(self, what: Any) -> bool:
        known = self.objects.get(id(what))
        return known is not None and known[0]() is what


class Kind:
    """All events of one kind."""

    __slots__ = ("again", "last", "lines", "reason")

    def __init__(self, reason: str) -> None:
        self.reason = reason
        # By instruction. The bytecode is a part of the code object, so the address of the object and an offset into its
        # code make a number that no other instruction has, as long as the event holds the code.
        self.lines: dict[int, Event] = {}
        self.last: Event = Event(reason, None, -1)  # in a loop the next one is the same, as a rule
        self.again: dict[int, Event] = {}  # for `noted_again`: the last event at each offset, of whatever code


class Clock:
    """Counts events, so that it is known which was the later one."""

    __slots__ = ("now",)

    def __init__(self) -> None:
        self.now: int = 0


kinds: Final[dict[str, Kind]] = {}
clock: Final = Clock()


def kind_of(reason: str) -> Kind:
    kind = kinds.get(reason)
    if kind is None:
        kind = kinds[reason] = Kind(reason)
    return kind


def events_of(reason: str) -> list[Event]:
    """The events of a kind, the last first."""
    return sorted(kind_of(reason).lines.values(), key=lambda event: -event.time)


BACKWARD: Final = kind_of("backward")
ZERO_GRAD: Final = kind_of("zero_grad")
ITEM: Final = kind_of("item")
GRAD: Final = kind_of("grad=")
NO_GRADIENT: Final = kind_of("grad=None")


def event_at(kind: Kind, code: Any, lasti: int) -> Event:
    """Remember that something happens at this instruction."""
    event = kind.last
    if event.code is not code or event.lasti != lasti:
        event = kind.last = find(kind, code, lasti)
    event.count += 1
    event.time = clock.now = clock.now + 1
    return event


def find(kind: Kind, code: Any, lasti: int) -> Event:
    """The event of an instruction, an old one or a new one."""
    key = id(code) + lasti
    lines = kind.lines
    event = lines.get(key)
    if event is None:
        if len(lines) >= MOST_LINES:
            del lines[next(iter(lines))]
            kind.again.clear()  # it may be there as well
        event = lines[key] = Event(kind.reason, code, lasti)
    return event


def noted(kind: Kind, what: Any, node: Node | None, caller: Any = None, value: Any = None) -> Event:
    """Remember that something happens to `what` at the user's line: a leaf, a module, an optimiser, or a tensor that
    came from `node`, which stands for the leaves that it was computed from. Who knows the frame of the `caller` saves
    Python the making of all frames on the way there. `value` is the number that leaves the graph."""
    frame = origin.user_frame() if caller is None else caller
    code = frame.f_code
    if caller is not None and code is not kind.last.code:
        frame = origin.user_frame(frame)
        code = frame.f_code
    event = event_at(kind, code, frame.f_lasti)
    event.value = value
    concern(event, what, node)
    return event


def noted_again(kind: Kind, what: Any, frame: Any) -> None:
    """`noted` for a leaf or an optimiser, at the line where a frame is: in a loop it is the object of the last time,
    and nothing has to be found. The offset alone finds the event, because in plain Python the id of the code would cost
    a fifth of this; code and object are compared."""
    lasti: int = frame.f_lasti
    event = kind.again.get(lasti)
    if event is not None and event.code is frame.f_code and event.last() is what:
        event.time = clock.now = clock.now + 1
        return
    event = noted(kind, what, None, frame)
    event.last = reference(what)
    kind.again[lasti] = event


def concern(event: Event, what: Any, node: Node | None) -> None:
    """An event concerns `what`, or the leaves behind `node`."""
    count = event.count
    if node is not None:
        # The leaves are the same as the last time, as a rule. All of them are looked for now and then, and when the
        # nearest is another: then this is another model, or another run.
        if count & (count - 1) == 0:
            survey(event, node)
        elif (count < OFTEN or count % SELDOM == 0) and event.surveys < MOST_SURVEYS and is_new(event, node):
            event.surveys += 1
            survey(event, node)
        return
    objects = event.objects
    if count >= OFTEN and count % SELDOM and len(objects) == 1:
        return  # an optimiser, for instance, that has always been the same
    known = objects.get(id(what))
    if known is None or known[0]() is not what:
        event.add(what, event.code, event.lasti)


def is_new(event: Event, start: Node) -> bool:
    """Is the leaf that is found first behind a node one that the event does not know?"""
    node = start
    for _ in range(MOST_STEPS):
        following: Any = None
        for source in node.inputs:
            if source is not None:
                following = source
                break
        if following is None:
            return False
        if not isinstance(following, Node):
            return not event.concerns(following)
        node = following
    return False


def survey(event: Event, start: Node) -> None:
    """Note the leaves behind a node."""
    seen: set[int] = set()
    stack: list[Node] = [start]
    while stack and len(seen) < MOST_NODES:
        node = stack.pop()
        for source in node.inputs:
            if source is None:
                continue
            if isinstance(source, Node):
                if source.order not in seen:
                    seen.add(source.order)
                    stack.append(source)
            elif not event.concerns(source):
                event.add(source, node.code, node.lasti)


def graph_break(reason: str, source: Any) -> Event:
    """The graph of what is computed from `source` ends here."""
    event = noted(kinds.get(reason) or kind_of(reason), source, source.node)
    if switches.modes > 0:
        cut_in_modes(reason)
    return event
