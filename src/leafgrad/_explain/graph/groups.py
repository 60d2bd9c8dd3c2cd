"""The boxes of a picture: items inside of modules, and of blocks where there are too many in a row.

A group is a call of a module. The nodes that it recorded follow each other without a gap, so no path leaves it and
comes back: groups can be closed without making a cycle. The same holds for blocks, which are cut out of the order of
recording.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any

from leafgrad._explain.graph.contents import NO_NAME, Contents, Item, Value
from leafgrad._explain.modules import Call
from leafgrad._explain.names import Names
from leafgrad._explain.quantities import plural
from leafgrad.nn.parameter import Parameter

MOST_INSIDE = 40  # operations and modules of one group, beyond which they are put into blocks
BLOCKS = 16


@dataclass(eq=False)
class Group:
    kind: str  # "module" or "block"
    title: str
    lines: list[str] = field(default_factory=list)
    children: list[Item | Group] = field(default_factory=list)
    parent: Group | None = None
    module: Any = None
    time: int = 0
    number: int = -1
    # On the level of its children: who uses what, and how often. A value is used by a child, or comes in from above
    # (None: through the top of the box); it is a child's or goes out below (None).
    edges: Counter[tuple[Item | Group | None, Item | Group | None, Value]] = field(default_factory=Counter)

    def items(self) -> Iterator[Item]:
        waiting: list[Item | Group] = [self]
        while waiting:
            box = waiting.pop()
            if isinstance(box, Group):
                waiting += reversed(box.children)
            else:
                yield box


Box = Item | Group


def path_to(box: Box) -> list[Group]:
    """The groups that a box is in, the outermost first."""
    found: list[Group] = []
    group = box.parent
    while group is not None:
        found.append(group)
        group = group.parent
    return found[::-1]


class Arranging:
    """Puts the items of a graph into groups."""

    def __init__(self, contents: Contents, names: Names) -> None:
        self.contents = contents
        self.names = names
        self.whole = Group("whole", "")
        self.by_call: dict[int, Group] = {}
        self.used: dict[int, list[Item]] = {}  # by the id of an item, those that use it
        for user, value in contents.edges:
            self.used.setdefault(id(value.item), []).append(user)
        operations = [item for item in contents.items if item.kind in ("op", "output")]
        for item in operations:
            put(item, self._group_of(item.call))
        for group in list(self._groups()):
            self._split(group)
        self._place_leaves()
        for group in list(self._groups()):
            self._describe(group)
        for group in reversed(list(self._groups())):
            self._unwrap(group)
        self._connect()
        self._number()

    def _groups(self) -> Iterator[Group]:
        waiting = [self.whole]
        while waiting:
            group = waiting.pop()
            yield group
            waiting += [child for child in reversed(group.children) if isinstance(child, Group)]

    def _group_of(self, call: Call | None) -> Group:
        group = self.whole
        for one in [] if call is None else call.path():
            inner = self.by_call.get(id(one))
            if inner is None:
                inner = self.by_call[id(one)] = Group("module", "", module=one.module, time=one.end)
                put(inner, group)
            group = inner
        return group

    # -- blocks -------------------------------------------------------------------------------------------------------

    def _split(self, group: Group) -> None:
        """Put the operations of a group into blocks, and blocks into blocks, until there are few of each."""
        inside = sorted([child for child in group.children if kind_of(child) != "output"], key=lambda child: child.time)
        if len(inside) <= MOST_INSIDE:
            return
        size = -(-len(inside) // BLOCKS)
        period = period_of([signature(child) for child in inside])
        if period:
            size = -(-size // period) * period
        if size >= len(inside):
            return
        group.children = [child for child in group.children if kind_of(child) == "output"]
        for start in range(0, len(inside), size):
            part = inside[start : start + size]
            block = Group("block", f"steps {start + 1:,} – {start + len(part):,}", time=part[-1].time)
            put(block, group)
            for child in part:
                put(child, block)
            self._split(block)

    # -- leaves and inputs --------------------------------------------------------------------------------------------

    def _place_leaves(self) -> None:
        """A parameter is drawn in the innermost group that holds all its users, the program's own variables outside of
        all modules."""
        unreached: list[Item] = []
        # those behind a cut last, when the cut has its place
        for item in sorted(self.contents.items, key=lambda item: item.kind == "unreached"):
            if item.parent is None:
                users = self.used.get(id(item), [])
                if item.kind == "cut":
                    put(item, self._group_of_cut(item, users))
                    continue
                if not users:
                    unreached.append(item)
                    continue
                common = path_to(users[0]) if belongs_to_module(item) else [self.whole]
                for user in users[1:]:
                    path = path_to(user)
                    same = [a for a, b in zip(common, path, strict=False) if a is b]
                    common = common[: len(same)]
                put(item, common[-1])
        if len(unreached) > 4:
            group = Group("block", f"{len(unreached)} parameters not reached")
            put(group, self.whole)
        for item in unreached:
            put(item, group if len(unreached) > 4 else self.whole)

    def _group_of_cut(self, item: Item, users: list[Item]) -> Group:
        """The module whose forward() has cut the graph, if it is one around the operation that uses the result."""
        for group in reversed(path_to(users[0]) if users else []):
            if code_of_forward(group.module) is item.code:
                return group
        return self.whole

    # -- descriptions -------------------------------------------------------------------------------------------------

    def _describe(self, group: Group) -> None:
        inside = list(group.items())
        operations = [item for item in inside if item.kind == "op"]
        leaves = [item for item in inside if item.kind in ("leaf", "filled")]
        if group.kind == "module":
            group.title = self._title(group)
        if group.kind != "whole" and operations:
            counts = [plural(len(operations), "operation")]
            if leaves:
                counts.append(
                    plural(len(leaves), "parameter" if group.kind == "module" else "leaf", more_leaves(group))
                )
            names = Counter(item.title for item in operations)
            common = ", ".join([name for name, _ in names.most_common(3)]) + (", …" if len(names) > 3 else "")
            group.lines = [", ".join(counts), common]

    def _title(self, group: Group) -> str:
        """`fc1: Linear`; by its path in the module around it, where it is a part of that."""
        kind = type(group.module).__name__
        name = self.names.of(group.module)
        around = [self.names.of(outer.module) for outer in path_to(group) if outer.module is not None]
        if name is None:
            return kind
        for outer in reversed(around):
            if outer and name.startswith(outer) and name[len(outer) : len(outer) + 1] in (".", "["):
                name = name[len(outer) :].removeprefix(".")
                break
        return f"{name}: {kind}"

    def _unwrap(self, group: Group) -> None:
        """A module with nothing in it but one operation is drawn as that operation."""
        if group.kind == "module" and len(group.children) == 1 and isinstance(group.children[0], Item):
            (item,) = group.children
            item.lines.append(group.title)
            item.module = group.title
            assert group.parent is not None
            place = group.parent.children.index(group)
            item.parent = group.parent
            group.parent.children[place] = item

    # -- edges --------------------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        while True:
            for group in self._groups():
                group.edges = Counter()
            for user, value in self.contents.edges:
                connect(user, value)
            cyclic = [group for group in self._groups() if has_cycle(group)]
            if not cyclic:
                return
            for group in cyclic:  # nodes of several threads, mixed: no module is a piece of its own
                dissolve(group)

    def _number(self) -> None:
        self.boxes: list[Box] = []
        for group in self._groups():
            for child in group.children:
                child.number = len(self.boxes)
                self.boxes.append(child)
        for number, value in enumerate(self.contents.values.values()):
            value.number = number


def put(box: Box, group: Group) -> None:
    box.parent = group
    group.children.append(box)


def belongs_to_module(item: Item) -> bool:
    return item.title == NO_NAME or "." in item.title or isinstance(item.tensor, Parameter)


def code_of_forward(module: Any) -> Any:
    return getattr(getattr(type(module), "forward", None), "__code__", module)


def kind_of(box: Box) -> str:
    return box.kind


def more_leaves(group: Group) -> str:
    return "parameters" if group.kind == "module" else "leaves"


def signature(box: Box) -> Any:
    """What makes a step of a loop the same as the one before."""
    return type(box.module) if isinstance(box, Group) else (box.title, box.place)


def period_of(marks: list[Any]) -> int:
    """The length of the pattern that nearly all of a sequence repeats, or 0."""
    for period in range(1, min(len(marks) // 2, MOST_INSIDE) + 1):
        same = sum([a == b for a, b in zip(marks, marks[period:], strict=False)])
        if same >= 0.9 * (len(marks) - period):
            return period
    return 0


def connect(user: Item, value: Value) -> None:
    """Note an edge on each level that it goes through."""
    above, below = path_to(user), path_to(value.item)
    depth = sum([a is b for a, b in zip(above, below, strict=False)])
    inner_above: list[Box] = [*above[depth:], user]
    inner_below: list[Box] = [*below[depth:], value.item]
    above[depth - 1].edges[inner_above[0], inner_below[0], value] += 1
    for group, child in zip(above[depth:], inner_above[1:], strict=True):
        group.edges[child, None, value] += 1
    for group, child in zip(below[depth:], inner_below[1:], strict=True):
        group.edges[None, child, value] += 1


def has_cycle(group: Group) -> bool:
    above: dict[int, set[int]] = {}
    for user, used, _ in group.edges:
        if user is not None and used is not None:
            above.setdefault(id(used), set()).add(id(user))
    try:
        TopologicalSorter(above).prepare()
    except CycleError:
        return True
    return False


def dissolve(group: Group) -> None:
    """Put what is in the groups of a group into the group itself."""
    children, group.children = group.children, []
    for child in children:
        for box in child.children if isinstance(child, Group) else [child]:
            put(box, group)
