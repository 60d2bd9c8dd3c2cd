"""Where was the graph cut? The one answer for error messages, `leafgrad.explain` and `leafgrad.why`.

A tensor that was computed without being recorded remembers the event that ended its graph (`_core/events.py`). Numbers
and arrays remember nothing; of them it is known which lines gave them away, and the source of the program says which of
these lines the loss comes from (`dataflow.py`). What to do about it is written by `rewriting.py`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from leafgrad._core.events import Event, events_of, kinds
from leafgrad._core.node import Node
from leafgrad._core.origin import line_of
from leafgrad._core.tensor import TensorBase
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.errors.dataflow import Program, Slice, assigned, header, names_in, program_of
from leafgrad.errors.naming import (
    Place,
    is_module,
    is_tensor,
    name_of,
    namespaces,
    place_of,
    quietly,
    users_frame,
    users_frames,
)
from leafgrad.errors.resolution import calls_of, files_called, files_of, leaves_of, value_of
from leafgrad.errors.rewriting import (
    TO_INTEGERS,
    Connecting,
    before_it,
    loss_of_classes,
    made_as_leaf,
    recording_again,
    requiring_grad,
    smooth_step,
    switched,
    update_in_place,
)

MOST_LINES = 200  # of a graph that are looked at

# Events that cut no graph.
OTHERS = {"requires_grad=True", "requires_grad=False", "backward", "zero_grad", "grad=", "grad=None"}

SENTENCES = {
    "no_grad": "computed under no_grad()",
    "inference_mode": "computed under inference_mode()",
    "detach": "its graph was cut by detach()",
    "data": "its graph was cut by .data",
    "tensor": "its graph was cut by tensor(), which copies numbers only",
    "item": "computed from a number that item() took out of the graph",
    "float": "computed from a number that float() took out of the graph",
    "int": "computed from a number that int() took out of the graph",
    "complex": "computed from a number that complex() took out of the graph",
    "Parameter": "its graph was cut by Parameter(), which copies numbers only",
    "numpy": "computed from an array that numpy() took out of the graph",
    "tolist": "computed from numbers that tolist() took out of the graph",
}


class Cut(NamedTuple):
    """Where a graph ends: what ended it, at which line, and the leaves behind it that still exist."""

    event: Event
    place: Place
    sentence: str
    leaves: list[TensorBase]


class Answer(NamedTuple):
    """Why a tensor has no graph: a sentence, the places concerned, and the lines as they should be."""

    sentence: str
    cuts: list[Cut]
    fix: list[str]
    since: Place | None = None  # where requires_grad was set, if that was too late


def cut_of(event: Event) -> Cut:
    sentence = SENTENCES.get(event.reason)
    sentence = sentence or f"its graph ends at {event.reason}: integers, indices and comparisons have no gradient"
    return Cut(event, place_of(event.code, event.lasti), sentence, [t for t in event.alive() if is_tensor(t)])


def cut_events() -> list[Event]:
    """All events that have cut a graph, the last first."""
    found = [event for reason in list(kinds) if reason not in OTHERS for event in events_of(reason)]
    inside = codes_of_functions()  # whose forward runs without recording, and has a backward instead
    return sorted([event for event in found if id(event.code) not in inside], key=lambda event: -event.time)


def codes_of_functions() -> set[int]:
    """The forward functions of all classes that are derived from autograd.Function."""
    module = sys.modules.get("leafgrad.autograd.function")
    waiting = [] if module is None else [module.Function]
    found: set[int] = set()
    while waiting:
        kind = waiting.pop()
        waiting += type.__subclasses__(kind)
        forward = vars(kind).get("forward")
        code = getattr(getattr(forward, "__func__", forward), "__code__", None)
        found |= {id(code)} if code is not None else set()
    return found


def why_no_graph(tensor: TensorBase) -> Answer:
    """Why does a tensor not require grad?"""
    return _why_no_graph(tensor) or Answer("neither it nor what it was computed from requires grad", [], [])


@quietly
def _why_no_graph(tensor: TensorBase) -> Answer:
    view = Viewpoint()
    known = None if tensor.rare is None else tensor.rare.graph_break
    if known is not None:
        cut = cut_of(known)
        return Answer(cut.sentence, [cut], fix_of(view.behind(tensor, [known]), [known]))
    found = view.frontier(tensor) or recognised(tensor, by_value=view.start is None)
    if found:
        cuts = [cut_of(event) for event in found]
        return Answer(cuts[0].sentence, cuts, fix_of(view.behind(tensor, found), found))
    if tensor.array.dtype.kind in "biu":
        kind = from_numpy_dtype(tensor.array.dtype)
        return Answer(f"it holds {kind}, and only floating point has gradients", [], [])
    late = set_too_late(view, tensor)
    if late is not None:
        return late
    frozen = view.frozen_modules(tensor)
    if frozen is not None:
        return frozen
    wanting = [name for name, value, _ in view.sources(tensor) or () if value.needs_grad]
    if wanting:
        sentence = f"it comes from '{wanting[0]}', which requires grad, by a way that was not recorded"
        return Answer(sentence, [], [])
    unused = view.unused_modules()
    beside = f"; '{unused[0]}' is not used for it" if unused else ""
    fix = view.to_require_grad(tensor)
    return Answer(f"neither it nor what it was computed from requires grad{beside}", [], fix)


def set_too_late(view: Viewpoint, tensor: TensorBase) -> Answer | None:
    """A tensor was computed from one that requires grad only since then."""
    for name, value, stmt in view.sources(tensor) or ():
        if value.needs_grad and value.node is None:
            last = next((event for event in events_of("requires_grad=True") if event.concerns(value)), None)
            if last is None or view.program is None:
                continue
            fix = [requiring_grad(view.program, stmt)] if stmt is not None else []
            sentence = f"computed before '{name}', from which it comes, was told to require grad"
            return Answer(sentence, [], [line for line in fix if line], place_of(last.code, last.lasti))
    return None


@quietly
def recognised(tensor: TensorBase, by_value: bool) -> list[Event]:
    """The event that gave this memory away; or, where there is no source to ask, this number."""
    form = tensor.array
    for event in cut_events():
        array = None if event.memory is None else event.memory()
        if array is not None and any(array is owner for owner in owners(form)):
            return [event]
        if by_value and isinstance(event.value, (int, float, complex)) and form.size == 1 and form.dtype.kind in "fc":
            if np.asarray(event.value, form.dtype) == form.reshape(()):
                return [event]
    return []


def owners(array: Any) -> Iterable[Any]:
    """An array and those whose memory it shows."""
    while array is not None:
        yield array
        array = getattr(array, "base", None)


class Viewpoint:
    """The program as it is seen from an instruction: from the line that is being executed, if no other is given."""

    def __init__(self, code: Any = None, lasti: int = 0) -> None:
        if code is None:
            frame = users_frame()
            code, lasti = frame.f_code, frame.f_lasti
        filename, self.line = line_of(code, lasti)
        self.program: Program | None = program_of(filename)
        self.start = None if self.program is None else self.program.statement_at(self.line)

    def names(self, tensor: TensorBase) -> set[str] | None:
        """The names by which the statement that is being executed knows a tensor; None: any."""
        name = name_of(tensor)
        return {name, *prefixes(name)} if name else None

    def slice(self, tensor: TensorBase | None, ends: Any = None) -> Slice | None:
        """The statements that a tensor comes from; or all that the statement reads."""
        if self.program is None or self.start is None:
            return None
        names = None if tensor is None else self.names(tensor)
        found = Slice(self.program, self.start, names, ends)
        return found if found.statements else Slice(self.program, self.start, None, ends)

    @quietly
    def frontier(self, tensor: TensorBase) -> list[Event]:
        """The events that took the numbers out of the graph that a tensor was computed from, the nearest on each
        way back."""
        happened = cut_events()
        if self.program is None or not happened:
            return []
        found: list[Event] = []
        at = self.events_in(happened)
        reached = self.slice(tensor, lambda stmt: stmt in at)
        for stmt in reached.statements if reached is not None else ():
            found += at.get(stmt, [])
        if not found and reached is not None:
            others = files_called(reached)
            found = [event for event in happened if event.code.co_filename in others][:1]
        return sorted(found, key=lambda event: -event.time)

    def events_in(self, happened: list[Event]) -> dict[ast.stmt, list[Event]]:
        """The statements of the program at which something has happened."""
        assert self.program is not None
        found: dict[ast.stmt, list[Event]] = {}
        for event in happened:
            if event.code.co_filename == self.program.filename:
                expression = self.program.expression_at(event.code, event.lasti)
                stmt = None if expression is None else self.program.statement_of(expression)
                if stmt is not None:
                    found.setdefault(stmt, []).append(event)
        return found

    @quietly
    def behind(self, tensor: TensorBase | None, found: list[Event]) -> Slice | None:
        """The statements between these events and a tensor."""
        if self.program is None:
            return None
        at = self.events_in(found)
        return self.slice(tensor, lambda stmt: stmt in at)

    def reads(self, name: str) -> bool:
        """Does what is computed here come from a variable of this name?"""
        reached = self.slice(None)
        return reached is not None and any(name in names_in(header(stmt)) for stmt in reached.statements)

    @quietly
    def sources(self, tensor: TensorBase) -> list[tuple[str, TensorBase, ast.stmt | None]]:
        """The leaves that the program has variables for and that a tensor was computed from, with the statements that
        made them."""
        reached = self.slice(tensor)
        if reached is None:
            return []
        made = {name: stmt for stmt in reversed(reached.statements) for name in assigned(stmt)[0]}
        values: dict[str, Any] = {}
        for frame in users_frames():
            for space in (frame.f_locals, frame.f_globals):
                for name, value in list(space.items()):
                    if name in made and is_tensor(value):
                        values.setdefault(name, value)
        return [
            (name, value, made[name]) for name, value in values.items() if value is not tensor and value.node is None
        ]

    @quietly
    def frozen_modules(self, tensor: TensorBase) -> Answer | None:
        """A module is called on the way to a tensor, and none of its parameters requires grad."""
        reached = self.slice(tensor)
        names = (
            {name for stmt in reached.statements for name in names_in(header(stmt))} if reached is not None else set()
        )
        frozen: list[tuple[int, str, TensorBase, Place | None]] = []
        for name in sorted(names):
            value = value_of(name)
            leaves = leaves_of(value) if is_module(value) else []
            if leaves and not any(leaf.needs_grad for leaf in leaves):
                event = next((one for one in events_of("requires_grad=False") if one.concerns(leaves[0])), None)
                place = None if event is None else place_of(event.code, event.lasti)
                frozen.append((0 if event is None else event.time, name, leaves[0], place))
        if not frozen:
            return None
        _, name, leaf, since = max(frozen, key=lambda one: one[:2])  # the last one may have been the mistake
        fix = [line for line in [unfrozen(leaf)] if line]
        return Answer(f"all parameters of '{name}', from which it comes, are frozen", [], fix, since)

    def to_require_grad(self, tensor: TensorBase) -> list[str]:
        """The leaf that should require grad: the one whose gradient the program asks for, or the only one there is."""
        found = [one for one in self.sources(tensor) or [] if one[1].array.dtype.kind in "fc"]
        if self.program is None:
            return []
        text = self.program.text
        asked = [one for one in found if re.search(rf"\b{re.escape(one[0])}\.grad\b", text)]
        if not asked and (len(found) != 1 or self.unused_modules()):
            return []
        made = [requiring_grad(self.program, one[2]) for one in asked or found if one[2] is not None]
        return list(dict.fromkeys([line for line in made if line]))

    def unused_modules(self) -> list[str]:
        """The variables with modules that could learn."""
        modules = [(name, value) for names in namespaces() for name, value in names if is_module(value)]
        return [name for name, module in modules if any(leaf.needs_grad for leaf in leaves_of(module))]


def prefixes(name: str) -> set[str]:
    """`losses` of `losses[0]`, `self.loss` of `self.loss`."""
    return {re.split(r"\[", name)[0], name.partition(".")[0].partition("[")[0]}


@quietly
def unfrozen(leaf: TensorBase) -> str:
    """The line that told a leaf not to require grad, telling it the opposite."""
    event = next(event for event in events_of("requires_grad=False") if event.concerns(leaf))
    program = program_of(event.code.co_filename)
    stmt = None if program is None else program.statement_at(line_of(event.code, event.lasti)[1])
    return "" if program is None or stmt is None else switched(program, stmt)


# -- cuts beside a graph ----------------------------------------------------------------------------------------------


def cuts_on_the_way(tensor: TensorBase, nodes: Sequence[Node]) -> list[Cut]:
    """The cuts on the ways to a tensor that has a graph all the same: nothing before them gets a gradient from it."""
    return _cuts_on_the_way(tensor, nodes) or []


@quietly
def _cuts_on_the_way(tensor: TensorBase, nodes: Sequence[Node]) -> list[Cut]:
    happened = cut_events()
    if not happened:
        return []
    lines: dict[str, set[int]] = {}
    reached = Viewpoint().slice(tensor)
    if reached is not None:
        lines[reached.program.filename] = reached.lines()
    instructions = {(id(node.code), node.lasti): node for node in nodes}  # a code object itself is slow to hash
    for node in list(instructions.values())[:MOST_LINES]:
        filename, line = line_of(node.code, node.lasti)
        if line not in lines.setdefault(filename, set()):
            program = program_of(filename)
            stmt = None if program is None else program.statement_at(line)
            if program is not None and stmt is not None:
                lines[filename] |= Slice(program, stmt).lines()
    found = []
    for event in happened:
        filename, line = line_of(event.code, event.lasti)
        if line in lines.get(filename, ()):
            found.append(cut_of(event))
    return found


def cuts_of_leaf(view: Viewpoint, leaf: TensorBase) -> list[Event]:
    """The cuts that lie between a leaf and what is computed at a place of the program, the last first; where the source
    does not tell, the last cut of what was computed from the leaf."""
    found = [event for event in cut_events() if event.concerns(leaf)]
    reached = quietly(view.slice)(None)
    lines = set() if reached is None else reached.lines()
    here = [e for e in found if reached is not None and e.code.co_filename == reached.program.filename]
    on_the_way = [event for event in here if line_of(event.code, event.lasti)[1] in lines]
    return on_the_way or [event for event in found if event not in here]


@quietly
def definition_of(name: str) -> str:
    """The statement that makes the tensor of a variable, so that it requires grad."""
    view = Viewpoint()
    if view.program is None or view.start is None:
        return ""
    reached = Slice(view.program, view.start, {name}, lambda stmt: True)
    made = [stmt for stmt in reached.statements if name in assigned(stmt)[0]]
    return requiring_grad(view.program, made[0]) if made else ""


def fix_on_the_way(tensor: TensorBase, cut: Cut) -> list[str]:
    """What to write so that gradients pass a cut."""
    return fix_of(Viewpoint().behind(tensor, [cut.event]), [cut.event])


# -- fixes ------------------------------------------------------------------------------------------------------------


def fix_of(reached: Slice | None, found: list[Event]) -> list[str]:
    """What to write instead of the lines at which these events cut the graph."""
    return _fix_of(reached, found) or []


@quietly
def _fix_of(reached: Slice | None, found: list[Event]) -> list[str]:
    first = found[0]
    program = program_of(first.code.co_filename)
    if program is None:
        return []
    cuts = [program.expression_at(event.code, event.lasti) for event in found]
    statements = [None if cut is None else program.statement_of(cut) for cut in cuts]
    cut, stmt = cuts[0], statements[0]
    if cut is None or stmt is None:
        return []
    update = update_in_place(program, stmt, first.reason not in ("no_grad", "inference_mode"))
    if update:
        return [update]
    connects = first.reason in SENTENCES or is_conversion(cut)
    path = reached.statements if reached is not None and reached.program is program else []
    fixes = []
    if first.reason in ("no_grad", "inference_mode"):
        fixes = [line for line in [recording_again(program, stmt, first.reason, path)] if line]
    if connects:
        whole = [*path, *[s for s in statements if s is not None and s not in path]]
        lists = [c for c, event in zip(cuts, found, strict=True) if c is not None and event.value is list]
        fixes += Connecting(program, whole, [c for c in cuts if c is not None], lists).run()
        if (
            reached is not None and reached.program is not program
        ):  # and where the loss is made of what comes from there
            into = [call for call in calls_of(reached) if program.filename in files_of(call)]
            fixes += Connecting(reached.program, reached.statements, list(into)).run()
        return fixes
    made = path[0] if path else None
    other = (
        smooth_step(program, stmt, cut) or loss_of_classes(program, made, cut) or before_it(program, cut, first.reason)
    )
    return [other] if other else []


def is_conversion(cut: ast.expr) -> bool:
    """`x.long()` and the like, which is left out to keep the gradient."""
    return isinstance(cut, ast.Call) and isinstance(cut.func, ast.Attribute) and cut.func.attr in TO_INTEGERS


@quietly
def meant_as_leaf(code: Any, lasti: int) -> str:
    """The fix for `w = w - 0.1 * w.grad`, or for `w = torch.randn(3, requires_grad=True) * 0.1`, if that is what stands
    at an instruction: both were meant to be leaves."""
    program = program_of(code.co_filename)
    stmt = None if program is None else program.statement_at(line_of(code, lasti)[1])
    if program is None or stmt is None:
        return ""
    return update_in_place(program, stmt, recording=True) or made_as_leaf(program, stmt)
