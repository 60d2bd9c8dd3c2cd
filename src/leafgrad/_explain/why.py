"""`leafgrad.why(tensor)`: why is its `.grad` None, or what it is?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from leafgrad._core.events import Event, events_of
from leafgrad._core.reachable import reach
from leafgrad._core.tensor import TensorBase
from leafgrad._explain.explanation import frozen
from leafgrad._explain.held_memory import named_tensors
from leafgrad._explain.quantities import plural
from leafgrad._explain.reach import Reach
from leafgrad._explain.table import Report, Table
from leafgrad.errors.cuts import (
    Viewpoint,
    cut_of,
    cuts_of_leaf,
    definition_of,
    fix_of,
    meant_as_leaf,
    unfrozen,
    why_no_graph,
)
from leafgrad.errors.form import changed_at
from leafgrad.errors.naming import Place, expression, here, name_of, namespaces, place_of, users_frames
from leafgrad.errors.source import name_of_object
from leafgrad.nn.modules.module import Module
from leafgrad.optim.optimizer import Optimizer

MOST_LEAVES = 6
Row = tuple[str, object]


class Why(Report):
    """The answer of `leafgrad.why`: a sentence, rows of what is known, and the fix."""

    def __init__(self, name: str, sentence: str, rows: Iterable[Row] = (), fix: Iterable[str | None] = ()) -> None:
        self.name = name
        self.sentence = sentence
        self.rows = [(label, str(text)) for label, text in rows if text]
        self.fix = [line for line in fix if line]

    def parts(self) -> Iterable[str | Table]:
        rows = [*self.rows, *[("" if number else "fix", line) for number, line in enumerate(self.fix)]]
        wide = max([len(label) for label, _ in rows], default=0)
        yield "\n".join([self.sentence, *[f"  {label:<{wide}}  {text}".rstrip() for label, text in rows]])

    def to_dict(self) -> dict[str, Any]:
        """The answer as data."""
        return {"name": self.name, "sentence": self.sentence, "rows": self.rows, "fix": self.fix}


def why(tensor: Any) -> Why:
    """why(tensor): why its `.grad` is None, or where it comes from.

        print(leafgrad.why(model.fc.weight))

    The result prints as a paragraph, and has `sentence`, `rows`, `fix` and `to_dict()`.
    """
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"why(): argument 'tensor' must be Tensor, not {type(tensor).__name__}")
    name = name_of(tensor) or "the tensor"
    if tensor._grad is not None:
        return of_gradient(name, tensor)
    if tensor.node is not None:
        return of_non_leaf(name, tensor)
    if not tensor.needs_grad:
        return of_data(name, tensor)
    return of_leaf(name, tensor)


# -- without a gradient -----------------------------------------------------------------------------------------------


def of_non_leaf(name: str, tensor: TensorBase) -> Why:
    node = tensor.node
    assert node is not None
    made = place_of(node.code, node.lasti)
    if tensor.rare is not None and tensor.rare.retains_grad:
        return Why(
            name, f"{name}.grad is None: it will be kept here, but no backward has come by yet.", [("made", made)]
        )
    leaves = [leaf for leaf in map(name_of, reach([node])[1]) if leaf]
    known = ": " + ", ".join(sorted(leaves[:MOST_LEAVES])) if leaves else ""
    sentence = f"{name}.grad is None: {name} is not a leaf, it was computed. Gradients stay at leaves{known}."
    fix = meant_as_leaf(node.code, node.lasti) or (
        f"{name}.retain_grad()   # after {made.spot}" if name.isidentifier() else ""
    )
    return Why(name, sentence, [("made", made)], [fix])


def of_data(name: str, tensor: TensorBase) -> Why:
    answer = why_no_graph(tensor)
    if answer.cuts:
        rows: list[Row] = [("" if i else "cut", cut.place) for i, cut in enumerate(answer.cuts)]
        return Why(name, f"{name}.grad is None: {name} does not require grad, {answer.sentence}.", rows, answer.fix)
    reason, spot = frozen(tensor)
    if spot:
        return Why(name, f"{name}.grad is None: it is {reason}", (), [unfrozen(tensor)])
    if tensor.array.dtype.kind in "biu":
        return Why(name, f"{name}.grad is None: {answer.sentence}.")
    return Why(name, f"{name}.grad is None: {name} does not require grad.", (), [definition_of(name)])


def of_leaf(name: str, leaf: TensorBase) -> Why:
    """A leaf that requires grad and has none."""
    about = ("leaf", f"shape {tuple(leaf.array.shape)}, requires_grad=True")
    passes = backward_calls()
    cleared = clearing(leaf)
    if cleared is not None and not any(one.time > cleared.time for one in passes):
        ran = any(one.time < cleared.time for one in passes)
        since = "no backward has run since" if ran else "no backward has run at all"
        place = place_of(cleared.code, cleared.lasti)
        sentence = f"{name}.grad is None: it was cleared, and {since}."
        return Why(name, sentence, [about, ("cleared", place)], [] if ran else missing_backward(leaf))
    if not passes:
        return Why(name, f"{name}.grad is None: no backward has run.", [about], missing_backward(leaf))
    last = passes[0]
    ran_at = [("backward", place_of(one.code, one.lasti)) for one in passes[:2]]
    view = Viewpoint(last.code, last.lasti)
    cuts = cuts_of_leaf(view, leaf)
    if cuts:
        event = cuts[0]
        _, code, lasti = event.objects[id(leaf)]
        used = place_of(code, lasti)
        cut = cut_of(event)
        rows: list[Row] = [about, ("used in", "" if used == cut.place else used), ("lost at", cut.place), *ran_at]
        sentence = f"{name}.grad is None: no backward has reached it. What was computed from it left the graph."
        return Why(name, sentence, rows, fix_of(view.behind(None, [event]), [event]))
    late = next((event for event in events_of("requires_grad=True") if event.concerns(leaf)), None)
    if late is not None and view.reads(name):
        rows = [about, ("set at", place_of(late.code, late.lasti)), *ran_at]
        sentence = f"{name}.grad is None: it was used before it was told to require grad."
        return Why(name, sentence, rows, [definition_of(name), f"remove {place_of(late.code, late.lasti).spot}"])
    stopped = passes_that_stopped(leaf)
    if stopped is not None:
        sentence = f"{name}.grad is None: backward went there from {stopped[0]}, but an operation gave no gradient."
        return Why(name, sentence, [about, ("way", stopped[1]), ("used in", stopped[2]), *ran_at])
    others = losses_of(leaf)
    if others:
        sentence = (
            f"{name}.grad is None: backward was called on something else, never on {others[0]}, which reaches it."
        )
        return Why(name, sentence, [about, *ran_at], missing_backward(leaf))
    return Why(name, f"{name}.grad is None: it was not used for what backward was called on.", [about, *ran_at])


def backward_calls() -> list[Event]:
    """The lines that called backward, the last first: those of the files that are running, if they have any."""
    passes = events_of("backward")
    running = {frame.f_code.co_filename for frame in users_frames()}
    return [one for one in passes if one.code.co_filename in running] or passes


def clearing(leaf: TensorBase) -> Event | None:
    """The last call that cleared the gradient of a leaf."""
    for event in sorted([*events_of("zero_grad"), *events_of("grad=None")], key=lambda event: -event.time):
        if any(holds(owner, leaf) for owner in event.alive()):
            return event
    return None


def holds(owner: Any, leaf: TensorBase) -> bool:
    if isinstance(owner, Optimizer):
        return any(p is leaf for group in owner.param_groups for p in group["params"])
    return owner is leaf or (isinstance(owner, Module) and any(p is leaf for p in owner.parameters()))


def losses_of(leaf: TensorBase) -> list[str]:
    """The numbers in the program\'s variables whose graph reaches a leaf and has not been used."""
    found = {}
    for name, t in named_tensors():
        if t.node is not None and t.array.size == 1 and name not in found:
            behind = Reach(t)
            if not was_used(name, behind) and any(one is leaf for one in behind.leaves):
                found[name] = t.node.order
    return sorted(found, key=lambda name: found[name])


def was_used(name: str, behind: Reach) -> bool:
    """Has backward been called on a variable? Then its graph was freed, unless there was nothing to free, or a line
    says so."""
    return behind.freed is not None or any(
        (expression(one.code, one.lasti) or "").startswith(f"{name}.backward(") for one in events_of("backward")
    )


def passes_that_stopped(leaf: TensorBase) -> tuple[str, str, Place] | None:
    """A tensor whose graph was used by a backward pass and reaches a leaf: its name, the way, and the line next to the
    leaf."""
    for name, t in named_tensors():
        behind = Reach(t) if t.node is not None else None
        if behind is not None and was_used(name, behind) and any(one is leaf for one in behind.leaves):
            way = behind.way(leaf)
            return name, str(way), place_of(way.nodes[0].code, way.nodes[0].lasti)
    return None


def missing_backward(leaf: TensorBase) -> list[str]:
    losses = losses_of(leaf)
    return [f"{losses[0]}.backward()   # before {here().spot}"] if losses else []


# -- with a gradient --------------------------------------------------------------------------------------------------


def of_gradient(name: str, tensor: TensorBase) -> Why:
    gradient = tensor._grad
    passes = backward_calls()
    given = next((event for event in events_of("grad=") if event.concerns(tensor)), None)
    if given is not None and not any(one.time > given.time for one in passes):
        return Why(name, f"{name}.grad was assigned.", [("at", place_of(given.code, given.lasti))])
    if tensor.node is not None:
        return Why(name, f"{name}.grad was kept by retain_grad(), though {name} is not a leaf.", calls(passes))
    if gradient.node is not None:
        sentence = f"{name}.grad was computed with create_graph=True: it has a graph of its own."
        return Why(name, sentence, calls(passes), [])
    changed = changed_at(gradient.version)
    if changed is not None:
        how = "set to zero" if "zero" in changed.source else "changed"
        sentence = f"{name}.grad was {how} in place; what backward() has added since is in it."
        return Why(name, sentence, [("changed", changed), *calls(passes)])
    count = int(gradient.version[0]) + 1
    if count == 1:
        return Why(name, f"{name}.grad is the gradient of one backward call.", calls(passes))
    cleared = clearing(tensor)
    since = "nothing has cleared it in between" if cleared is None else "it was cleared before the first of them only"
    where = f" ({place_of(passes[0].code, passes[0].lasti).spot}, {count} times)" if len(passes) == 1 else ""
    sentence = f"{name}.grad is the sum of {plural(count, 'backward call')}{where}; {since}."
    rows: list[Row] = [] if cleared is None else [("cleared", place_of(cleared.code, cleared.lasti))]
    return Why(name, sentence, [*calls(passes), *rows], [clear_before(name, tensor, passes)])


def calls(passes: list[Event]) -> list[Row]:
    """The last backward calls."""
    places: list[Place] = [place_of(one.code, one.lasti) for one in passes[:3]]
    return [("" if number else "backward", place) for number, place in enumerate(places)]


def clear_before(name: str, leaf: TensorBase, passes: list[Event]) -> str:
    """The line that clears a gradient before the next backward."""
    if not passes:
        return ""
    spot = place_of(passes[0].code, passes[0].lasti).spot
    optimizer = optimizer_of(leaf)
    if optimizer is not None:
        return f"{optimizer}.zero_grad()   # before {spot}"
    return f"{name}.grad = None   # before {spot}"


def optimizer_of(leaf: TensorBase) -> str | None:
    """What the program calls the optimiser that holds a leaf."""
    for value in variables_of(Optimizer):
        if holds(value, leaf):
            return name_of_object(value)
    return None


def variables_of(kind: type) -> list[Any]:
    return [value for names in namespaces() for _, value in names if isinstance(value, kind)]
