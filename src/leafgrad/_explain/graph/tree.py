"""The graph as an indented tree, for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from leafgrad._explain.graph.contents import Contents, Item, shape_text
from leafgrad._explain.graph.groups import Box, Group, path_to

DEEPEST = 20  # levels of indentation, after which a branch goes on in a paragraph of its own
LONGEST_CHAIN = 44  # characters of "Relu < Addmm < ..." in one line
WIDEST = 56  # columns of the tree; what is said of each thing stands to the right of it


class Line(NamedTuple):
    tree: str
    remark: str


class Step(NamedTuple):
    """What is still to be printed: a box, which result of it and how often it is used there, the indentation of what
    is below it and of itself."""

    box: Box
    port: int
    times: int
    below: str
    own: str


class Tree:
    """Every box is printed once: a shared one gets a number, `[1]`, by which other places refer to it."""

    def __init__(self, contents: Contents, outputs: list[Item], opened: set[int]) -> None:
        self.opened = opened
        self.lines: list[Line] = []
        self.children: dict[int, dict[tuple[int, int], tuple[Box, int]]] = {}
        self.users: dict[int, set[int]] = {}
        self.times: Counter[tuple[int, int, int]] = Counter()  # how often one uses a result of another
        self.several: set[int] = set()  # boxes of which more than the first result is used
        self.number: dict[int, int] = {}
        self.printed: set[int] = set()
        for user, value in contents.edges:
            above, below = self.visible(user), self.visible(value.item)
            if above is not below:
                port = value.port if isinstance(below, Item) else 0
                self.children.setdefault(id(above), {})[id(below), port] = (below, port)
                self.times[id(above), id(below), port] += 1
                self.users.setdefault(id(below), set()).add(id(above))
                if port:
                    self.several.add(id(below))
        paragraphs: list[Box] = list(outputs)
        for box in paragraphs:  # grows by the branches that are too deep to go on where they are
            if id(box) not in self.printed:
                paragraphs += self._paragraph(box)

    def visible(self, item: Item) -> Box:
        """The item, or the outermost closed group that it is in."""
        for group in path_to(item):
            if group.kind != "whole" and group.number not in self.opened:
                return group
        return item

    def below(self, box: Box) -> list[tuple[Box, int]]:
        return list(self.children.get(id(box), {}).values())

    def _paragraph(self, top: Box) -> list[Box]:
        """Print what is below `top`, depth first, and return the boxes at which a branch was cut off."""
        cut: list[Box] = []
        if self.lines:
            self.lines.append(Line("", ""))
        stack = [Step(top, 0, 1, "", "")]
        while stack:
            step = stack.pop()
            box = step.box
            output = f"  (result {step.port})" if id(box) in self.several else ""
            output += f"  ×{step.times}" if step.times > 1 and isinstance(box, Item) else ""
            if id(box) in self.printed:
                self.lines.append(Line(f"{step.own}→ [{self._numbered(box)}] {short(box)}{output}", ""))
                continue
            if len(step.below) > 2 * DEEPEST and self.below(box):
                cut.append(box)
                self.lines.append(Line(f"{step.own}→ [{self._numbered(box)}] {short(box)}{output}", "further down"))
                continue
            step = self._enter_modules(step)
            chain = self._chain(box)
            self.printed.update([id(one) for one in chain])
            mark = f"[{self._numbered(box)}] " if len(self.users.get(id(box), ())) > 1 or id(box) in self.number else ""
            names = " < ".join([self._name(one) for one in chain])
            self.lines.append(Line(f"{step.own}{mark}{names}{output}", remark(box)))
            stack += reversed(list(self._branches(step.below, chain[-1])))
        return cut

    def _branches(self, indent: str, above: Box) -> Iterable[Step]:
        below = self.below(above)
        for position, (box, port) in enumerate(below):
            last = position == len(below) - 1
            times = self.times[id(above), id(box), port] if isinstance(above, Item) else 1
            yield Step(box, port, times, indent + ("  " if last else "│ "), indent + ("└ " if last else "├ "))

    def _enter_modules(self, step: Step) -> Step:
        """Print the modules that a box is in, if nothing in them has been printed yet."""
        for group in path_to(step.box):
            if group.kind != "whole" and id(group) not in self.printed:
                self.printed.add(id(group))
                if not is_single(group):
                    self.lines.append(Line(f"{step.own}{group.title}", group.lines[0] if group.lines else ""))
                    step = step._replace(below=step.below + "  ", own=step.below + "└ ")
        return step

    def _chain(self, box: Box) -> list[Box]:
        """A box and those behind it that stand in the same line: each the only one that it is computed from."""
        chain, length = [box], len(self._name(box))
        while isinstance(chain[-1], Item) and chain[-1].kind == "op":
            below = self.below(chain[-1])
            if len(below) != 1:
                break
            box, port = below[0]
            if self.times[id(chain[-1]), id(box), port] > 1:
                break
            length += 3 + len(self._name(box))
            same = isinstance(box, Item) and box.kind == "op" and outer(box) is outer(chain[0])
            alone = len(self.users[id(box)]) == 1 and not port and id(box) not in self.several | self.printed
            if not (same and alone) or length > LONGEST_CHAIN:
                break
            chain.append(box)
        return chain

    def _name(self, box: Box) -> str:
        if isinstance(box, Item) and box.kind == "op":
            module = box.module or (box.parent.title if box.parent.kind == "module" and is_single(box.parent) else "")
            return f"{module.partition(': ')[0]}: {box.title}" if ": " in module else box.title
        return short(box)

    def _numbered(self, box: Box) -> int:
        return self.number.setdefault(id(box), len(self.number) + 1)

    def text(self) -> str:
        wide = min(max([len(line.tree) for line in self.lines if line.remark], default=0), WIDEST) + 3
        return "\n".join([f"{line.tree + '  ':<{wide}}{line.remark}".rstrip() for line in self.lines])


def is_single(group: Group) -> bool:
    """Does a module record a single operation? Then it has no line of its own."""
    return sum([isinstance(child, Group) or child.kind == "op" for child in group.children]) == 1 and not any(
        isinstance(child, Group) for child in group.children
    )


def outer(box: Box) -> Group | None:
    """The group that a box is in; those of single operations do not count."""
    group: Group | None = box.parent
    while group is not None and group.kind == "module" and is_single(group):
        group = group.parent
    return group


def short(box: Box) -> str:
    if isinstance(box, Item) and box.kind != "op" and box.tensor is not None:
        return f"{box.title} {shape_text(box.tensor.array.shape)}"
    if isinstance(box, Item) and box.kind in ("input", "cut") and box.lines[0].startswith("("):
        return f"{box.title} {box.lines[0].rpartition(' ')[0]}"
    return box.title


def remark(box: Box) -> str:
    """What is said of a box, to the right of the tree."""
    if isinstance(box, Group):
        return box.lines[0] if box.lines else ""
    if box.kind == "op":
        return "" if box.place is None else box.place.spot
    if box.kind in ("leaf", "filled"):
        return f"leaf, {box.lines[1]}" if box.kind == "filled" else "leaf"
    if box.kind == "cut":
        return "   ".join([line for line in box.lines if not line.startswith("(")])
    if box.kind == "output":
        value = box.lines[0].partition(" = ")[2]
        return "   ".join([*([f"= {value}"] if value else []), *box.lines[1:]])
    return box.lines[-1]
