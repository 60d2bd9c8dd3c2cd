"""`leafgrad.explain(loss, model)`: which leaves a loss reaches, which it does not, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from leafgrad._core.events import events_of
from leafgrad._core.module_calls import remembered_since
from leafgrad._core.tensor import TensorBase, is_meta
from leafgrad._dtypes import from_numpy_dtype
from leafgrad._explain.held_memory import named_tensors
from leafgrad._explain.modules import ModuleCalls
from leafgrad._explain.names import Model, Names, parameters_of
from leafgrad._explain.quantities import plural
from leafgrad._explain.reach import Reach
from leafgrad._explain.table import Report, Table
from leafgrad.errors.cuts import Cut, cut_of, cuts_on_the_way, fix_on_the_way, why_no_graph
from leafgrad.errors.naming import name_of, place_of
from leafgrad.nn.modules.module import Module

MOST_ROWS = 100
MOST_NAMES = 8


@dataclass
class Leaf:
    """A leaf that the loss reaches."""

    name: str | None
    shape: tuple[int, ...]
    dtype: str
    gets_gradient: bool
    paths: float
    operations: int  # of the shortest way
    way: str
    note: str = ""


@dataclass
class Unreached:
    """A parameter of the model, or another tensor in the graph, that gets no gradient from this loss."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    reason: str
    place: str = ""  # file:line of what is the reason


@dataclass
class CutOff:
    """A line that cuts the graph, and the leaves that get no gradient because of it."""

    place: str
    source: str
    reason: str
    leaves: list[str] = field(default_factory=list)
    fix: list[str] = field(default_factory=list)
    partial: bool = False  # the loss has a graph all the same


class Explanation(Report):
    """What `leafgrad.explain` found. Prints as a table; `leaves`, `unreached` and `cuts` are the same as data."""

    def __init__(self, losses: Sequence[TensorBase], model: Model) -> None:
        self._names = Names(model)
        self._reach = Reach(*losses)
        self._parameters = parameters_of(model)
        self._model = model
        freed = self._reach.freed
        self.freed_by = "" if freed is None else str(place_of(freed.code, freed.lasti))
        self.operations = self._reach.operations
        self.heading = "\n".join([self._describe(loss) for loss in losses])
        self.cuts: list[CutOff] = []
        self.leaves = [self._leaf(leaf) for leaf in self._in_order(self._reach.leaves)]
        self._answers = [(loss, why_no_graph(loss)) for loss in losses if not loss.needs_grad]
        self._operands = self._find_operands()
        found = self._find_cuts(losses)
        self.unreached = [*self._unreached_parameters(found), *self._inputs()]

    def _describe(self, loss: TensorBase) -> str:
        name = name_of(loss) or "the tensor"
        is_number = loss.array.size == 1 and not is_meta(loss.array)
        value = f"{loss.array.item():.4g}" if is_number else f"shape {tuple(loss.array.shape)}"
        made = "" if loss.node is None else f"   {place_of(loss.node.code, loss.node.lasti)}"
        return f"{name} = {value}{made}"

    def _in_order(self, leaves: list[TensorBase]) -> list[TensorBase]:
        """Leaves as the model lists its parameters, and then the others."""
        place = {id(p): number for number, (_, p) in enumerate(self._parameters)}
        return sorted(leaves, key=lambda leaf: place.get(id(leaf), len(place)))

    def _leaf(self, leaf: TensorBase) -> Leaf:
        way = self._reach.way(leaf)
        gets = leaf.needs_grad
        note = "" if gets else frozen(leaf)[0]
        kind = from_numpy_dtype(leaf.array.dtype).name
        shape = tuple(leaf.array.shape)
        return Leaf(self._names.of(leaf), shape, kind, gets, way.paths, way.operations, str(way), note)

    # -- what is not reached ------------------------------------------------------------------------------------------

    def _find_cuts(self, losses: Sequence[TensorBase]) -> list[Cut]:
        """The cuts on the way to the losses, and what to do about them."""
        reached = {id(leaf) for leaf in self._reach.leaves}
        found: list[Cut] = []
        for loss, answer in self._answers:
            found += answer.cuts
            for number, cut in enumerate(answer.cuts):
                leaves = self._named(cut.leaves)
                fix = answer.fix if number == 0 else []
                sentence = f"{name_of(loss) or 'the tensor'} has no graph: {answer.sentence}"
                self.cuts.append(CutOff(cut.place.spot, cut.place.source, sentence, leaves, fix))
        for loss in losses:
            certain = [t.rare.graph_break for _, t in self._operands if t.rare is not None and t.rare.graph_break]
            for cut in [*map(cut_of, certain), *cuts_on_the_way(loss, self._reach.nodes)] if loss.needs_grad else ():
                behind = [leaf for leaf in cut.leaves if id(leaf) not in reached and leaf.needs_grad]
                if behind and self._concerns(behind) and not any(cut.event is one.event for one in found):
                    found.append(cut)
                    fix = fix_on_the_way(loss, cut)
                    self.cuts.append(
                        CutOff(cut.place.spot, cut.place.source, cut.sentence, self._named(behind), fix, True)
                    )
        return found

    def _concerns(self, leaves: list[TensorBase]) -> bool:
        """Are there parameters of the model among them? Without a model they all are of interest."""
        return self._model is None or any(id(leaf) in self._names.of_model for leaf in leaves)

    def _named(self, leaves: Iterable[TensorBase]) -> list[str]:
        return [name for name in map(self._names.of, leaves) if name is not None]

    def _unreached_parameters(self, cuts: list[Cut]) -> list[Unreached]:
        reached = {id(leaf) for leaf in self._reach.leaves}
        calls = ModuleCalls()
        missing = [(name, p) for name, p in self._parameters if id(p) not in reached]
        return [self._row(name, p, *self._why_unreached(name, p, cuts, calls)) for name, p in missing]

    def _row(self, name: str, tensor: TensorBase, reason: str, place: str) -> Unreached:
        kind = from_numpy_dtype(tensor.array.dtype).name
        return Unreached(name, tuple(tensor.array.shape), kind, reason, place)

    def _why_unreached(self, name: str, p: TensorBase, cuts: list[Cut], calls: ModuleCalls) -> tuple[str, str]:
        if not p.needs_grad:
            return frozen(p)
        for cut in cuts:
            if any(p is leaf for leaf in cut.leaves):
                return f"cut off at {cut.place}", cut.place.spot
        if not self._reach.nodes and not cuts:
            return "the loss has no graph", ""
        path = name.rpartition(".")[0]
        if isinstance(self._model, Module) and path:
            module = dict(self._model.named_modules()).get(path)
            first = max([node.order for node in self._reach.nodes], default=1)  # these numbers go down
            if module is not None and not calls.of_module(module) and first <= remembered_since():
                return f"not used for this loss; {path} was not called", ""
            if module is not None and calls.was_called(module, self._reach.nodes):
                return f"not used for this loss, though {path} was called", ""
        return "not used for this loss", ""

    def _find_operands(self) -> list[tuple[str, TensorBase]]:
        """Tensors with a name that are operands of the graph and need no gradient."""
        held: set[int] = set()
        for node in self._reach.nodes:
            if node.saved.__class__ is tuple:
                held.update(map(id, node.saved))
        if not held:
            return []
        known = {name for name, _ in self._parameters}
        found: dict[int, tuple[str, TensorBase]] = {}
        for name, t in named_tensors():
            if id(t.array) in held and not t.needs_grad and name not in known and self._names.of(t) == name:
                found.setdefault(id(t), (name, t))
        return list(found.values())

    def _inputs(self) -> list[Unreached]:
        rows = []
        for name, t in self._operands:
            cut = None if t.rare is None else t.rare.graph_break
            place = None if cut is None else place_of(cut.code, cut.lasti)
            reason = "does not require grad" if place is None else f"its graph ends at {place}"
            rows.append(self._row(name, t, reason, "" if place is None else place.spot))
        return rows

    # -- how it is shown ----------------------------------------------------------------------------------------------

    def parts(self) -> Iterable[str | Table]:
        lines = [self.heading]
        if self._reach.nodes or self._reach.leaves:
            reached = [leaf for leaf in self.leaves if leaf.gets_gradient]
            if self._parameters:
                ids = {id(leaf) for leaf in self._reach.leaves if leaf.needs_grad}
                count = sum([id(p) in ids for _, p in self._parameters])
                what = f"{count} of {plural(len(self._parameters), 'parameter')}"
            else:
                what = plural(len(reached), "leaf", "leaves")
            did = "reached" if self.freed_by else "will reach"
            lines.append(f"backward() {did} {what} through {plural(self.operations, 'operation')}")
            if self.freed_by:
                lines.append(f"its graph was freed at {self.freed_by}")
        for loss, answer in self._answers:
            lines.append(f"backward() has nowhere to go: {answer.sentence}")
            if answer.since is not None:
                lines.append(f"  since  {answer.since}")
            if not answer.cuts and loss.node is None:
                lines += fix_lines(answer.fix)
        yield "\n".join(lines)
        if self.leaves or self.unreached:
            yield self._table()
        for cut in self.cuts:
            yield shown_cut(cut)

    def _table(self) -> Table:
        table = Table("leaf", "shape", "gets a gradient", "paths", "way", right=["paths"])
        before = ""
        for leaf in self.leaves[:MOST_ROWS]:
            note = leaf.note or ("" if leaf.way == before else leaf.way)
            before = leaf.way
            paths = "" if leaf.paths == 1 else f"{leaf.paths:,.0f}" if leaf.paths < 1e9 else f"{leaf.paths:.1e}"
            gets = "no" if not leaf.gets_gradient else "got one" if self.freed_by else "yes"
            mark = "good" if leaf.gets_gradient else "bad"
            table.add(leaf.name or "(no name)", shown_shape(leaf.shape), gets, paths, note, mark=mark)
        if len(self.leaves) > MOST_ROWS:
            table.below(f"and {len(self.leaves) - MOST_ROWS} more, all in .leaves")
        for one in self.unreached[:MOST_ROWS]:
            quiet = one.reason == "does not require grad"
            table.add(one.name, shown_shape(one.shape), "no", "", one.reason, mark="quiet" if quiet else "bad")
        if len(self.unreached) > MOST_ROWS:
            table.below(f"and {len(self.unreached) - MOST_ROWS} more, all in .unreached")
        return table

    def to_dict(self) -> dict[str, Any]:
        """The explanation as data: dictionaries, lists, texts and numbers."""
        return {
            "loss": self.heading,
            "operations": self.operations,
            "freed_by": self.freed_by,
            "leaves": [asdict(leaf) for leaf in self.leaves],
            "unreached": [asdict(one) for one in self.unreached],
            "cuts": [asdict(cut) for cut in self.cuts],
        }


def shown_shape(shape: tuple[int, ...]) -> str:
    return str(tuple(shape))


def shown_cut(cut: CutOff) -> str:
    """The lines of a cut: where it is, whom it concerns, and the fix."""
    lines = [f"cut  {cut.place}   {cut.source}".rstrip()]
    if cut.leaves:
        more = len(cut.leaves) - MOST_NAMES
        names = ", ".join(cut.leaves[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
        lines.append(f"     everything before this line gets no gradient from this loss: {names}")
        if cut.fix and cut.partial:
            lines.append("     if they should get one:")
    else:
        lines.append(f"     {cut.reason}")
    return "\n".join([*lines, *fix_lines(cut.fix)])


def fix_lines(fix: Sequence[str]) -> list[str]:
    return [f"  {'' if number else 'fix':<3}  {line}" for number, line in enumerate(fix)]


def frozen(leaf: TensorBase) -> tuple[str, str]:
    """Why a leaf does not require grad, and the file and line of that."""
    event = next((event for event in events_of("requires_grad=False") if event.concerns(leaf)), None)
    if event is None:
        return "frozen: requires_grad=False", ""
    place = place_of(event.code, event.lasti)
    return f"frozen: requires_grad=False since {place}", place.spot


def explain(loss: Any, model: Model = None) -> Explanation:
    """explain(loss, model=None): which leaves the gradient of a loss (a tensor or several) reaches, which parameters of
    the model it does not, and why.

        print(leafgrad.explain(loss, model))

    The result prints as a table, shows itself in notebooks, and has `leaves`, `unreached`, `cuts` and `to_dict()`.
    """
    losses = [loss] if isinstance(loss, TensorBase) else list(loss) if isinstance(loss, (list, tuple)) else []
    if not losses or not all([isinstance(one, TensorBase) for one in losses]):
        raise TypeError(f"explain(): argument 'loss' must be Tensor or a list of tensors, not {type(loss).__name__}")
    return Explanation(losses, model)
