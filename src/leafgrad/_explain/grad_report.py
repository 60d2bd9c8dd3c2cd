"""Gradients parameter by parameter after backward(), and where the first nan or inf came from."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from leafgrad._core.modes import Mode, Rule
from leafgrad._core.node import Node, Output, plan_of
from leafgrad._core.reachable import reach
from leafgrad._core.recorder import edge
from leafgrad._core.tensor import TensorBase
from leafgrad._core.thread_state import state
from leafgrad._explain.backward_walk import freed_behind, pull_back
from leafgrad._explain.held_memory import named_tensors, nodes_behind
from leafgrad._explain.known_values import Values, is_finite, is_several, public_name
from leafgrad._explain.nonfinite import Culprit, Finder, array_of
from leafgrad._explain.quantities import amount, few_percent, magnitude, percent, plural, ratio
from leafgrad._explain.reach import operation
from leafgrad._explain.source_edits import lines_of
from leafgrad._explain.table import Report, Table
from leafgrad.errors.form import mistake
from leafgrad.errors.naming import as_code, expression, library, name_of, place_of, with_argument
from leafgrad.nn.modules.module import Module
from leafgrad.ops.registry import registry

VANISHING = 1e-4  # of the largest gradient, and of the weight
EXPLODING = 1e5  # times the weight; or EXPLODING_BESIDE times the median of all, and ten times the weight
EXPLODING_BESIDE = 1e4
MOST_LOSSES = 10  # looked at, if none is given


class Row(NamedTuple):
    """One parameter and its gradient; the numbers are None if it has none."""

    name: str
    shape: tuple[int, ...]
    requires_grad: bool
    norm: float | None = None
    share: float | None = None  # of the sum of all squared norms
    mean: float | None = None  # of |g|
    max: float | None = None
    zeros: int = 0
    nan: int = 0
    inf: int = 0
    ratio: float | None = None  # |g| / |w|
    remark: str = ""

    @property
    def elements(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))


def measured(name: str, parameter: Any) -> Row:
    """The numbers of one parameter, but for its share."""
    array = parameter.array
    empty = Row(name, tuple(array.shape), parameter.requires_grad)
    if parameter._grad is None:
        why = "no gradient" if parameter.requires_grad else "no gradient: requires_grad=False"
        return empty._replace(remark=why)
    g = parameter._grad.array
    if not g.size:
        return empty._replace(norm=0.0, mean=0.0, max=0.0)
    size = np.abs(g.astype(np.complex128 if g.dtype.kind == "c" else np.float64))
    weight = magnitude(array)
    norm = magnitude(g)
    return empty._replace(
        norm=norm,
        mean=float(size.mean()),
        max=float(size.max()),
        zeros=int((g == 0).sum()),
        nan=int(np.isnan(g).sum()),
        inf=int(np.isinf(g).sum()),
        ratio=norm / weight if weight else None,
    )


class Graph:
    """The graph that made the gradients, as far as it is still there."""

    def __init__(self, loss: Any) -> None:
        self.loss = loss
        self.nodes = nodes_behind([loss])
        freed = freed_behind(loss)
        self.freed = None if freed is None else place_of(freed.code, freed.lasti)
        self.backward_call = None if freed is None else expression(freed.code, freed.lasti)

    def layers_before(self, leaf: Any) -> str:
        """What lies between the loss and a leaf, if the gradient has to pass several curved functions: "6 Sigmoid". Of
        several ways that with the fewest counts."""
        fewest: dict[int, tuple[int, Counter[str]]] = {}
        for node in self.nodes:  # inputs before results
            ways = []
            for source in node.inputs:
                source = source.parent if isinstance(source, Output) else source
                if source is leaf:
                    ways.append((0, Counter[str]()))
                elif id(source) in fewest:
                    ways.append(fewest[id(source)])
            if ways:
                count, kinds = min(ways, key=lambda way: way[0])
                if is_curved(node):
                    count, kinds = count + 1, kinds + Counter([operation(node)])
                fewest[id(node)] = (count, kinds)
        root = edge(self.loss)
        root = root.parent if isinstance(root, Output) else root
        _, kinds = fewest.get(id(root), (0, Counter()))
        most = kinds.most_common(1)
        return f"{most[0][1]} layers of {most[0][0]} lie between" if most and most[0][1] > 1 else ""

    @functools.cached_property
    def second_pass(self) -> Finder | str:
        """What is seen when the gradient is sent through the graph once more; or why that cannot be done."""
        finder = Finder(Values(self.nodes))
        try:
            ones = np.ones(self.loss.array.shape, self.loss.array.dtype)
            pull_back(self.loss, ones, finder.visit)
        except RuntimeError as error:
            return str(error)
        return finder

    def silenced_at(self, leaf: Any) -> str:
        """Where the gradient of a leaf became nothing but zeros."""
        node = (
            self.second_pass.silenced_at(leaf) if self.freed is None and isinstance(self.second_pass, Finder) else None
        )
        return "" if node is None else f"{public_name(node)} passes none on: {place_of(node.code, node.lasti)}"


def is_curved(node: Node) -> bool:
    """Is it a function of single elements whose slope depends on them, as sigmoid's does?"""
    entry = registry.get(node.op.name)
    if entry is None or is_several(node) or entry.jvp != "elementwise" or len(entry.inputs) != 1:
        return False
    return bool(plan_of(node))


def found_loss(leaves: Sequence[Any]) -> Any:
    """The latest tensor in the variables of the program that leads to one of the leaves: the loss, most likely."""
    wanted = {id(leaf) for leaf in leaves}
    losses = {id(t): t for _, t in named_tensors() if t.node is not None and t.array.size == 1}
    latest = sorted(losses.values(), key=lambda t: t.node.order)[:MOST_LOSSES]  # these numbers go down
    return next((t for t in latest if any([id(leaf) in wanted for leaf in reach([edge(t)])[1]])), None)


class grad_report(Report):
    """grad_report(model, loss=None): after backward(), the gradient of each parameter in numbers, those that vanish or
    explode, and the operation that made the first nan or inf.

    `model` is a Module, or tensors, or pairs of names and tensors. To find that operation the graph is needed: the one
    of `loss`, or of what looks like the loss among the variables of the program, if backward(retain_graph=True) has
    kept it. Or look while it happens:

        >>> w = torch.tensor([0.0, 4.0], requires_grad=True)
        >>> with leafgrad.grad_report.watch([("w", w)]) as report:
        ...     loss = torch.where(w > 0, w.sqrt(), w).sum()
        ...     loss.backward()
        >>> report.culprit.operation, report.culprit.what
        ('sqrt', 'nan')

    `rows` has a Row for each parameter, `culprits` the operations that made nan or inf, `culprit` the first of them or
    None, `total` the norm of all gradients together.
    """

    rows: list[Row]
    watch: ClassVar[type[Watch]]

    def __init__(self, model: Any, loss: Any = None) -> None:
        self._fill(named_parameters(model), loss)

    def _fill(self, parameters: list[tuple[str, Any]], loss: Any, watched: Finder | None = None) -> None:
        if loss is not None and not isinstance(loss, TensorBase):
            raise mistake(
                TypeError,
                f"grad_report(): loss must be the tensor that backward() was called on, not {type(loss).__name__}",
                fix=f"{library()}.grad_report(model, loss=loss)",
            )
        rows = [measured(name, parameter) for name, parameter in parameters]
        squares = sum([row.norm**2 for row in rows if row.norm is not None])
        self.total = float(np.sqrt(squares))
        shared = [r if r.norm is None else r._replace(share=r.norm**2 / squares if squares else 0.0) for r in rows]
        self.culprits: list[Culprit] = [] if watched is None else watched.culprits
        self._loss: str = ""  # its value, if that is not finite
        self._missing: list[str] = []  # what could not be found out, and what to do for it
        leaves = [parameter for _, parameter in parameters]
        if loss is None and watched is None:
            loss = found_loss(leaves)
        graph = None if loss is None or loss.node is None else Graph(loss)
        if graph is not None and not is_finite(graph.loss.array):
            self._loss = f"{as_code(name_of(graph.loss), 'the loss')} = {graph.loss.array.ravel()[0]}"
        if watched is None and any([row.nan or row.inf for row in rows]):
            self._look_for_culprit(graph)
        self.rows = [self._remarked(row, shared, leaf, graph) for row, leaf in zip(shared, leaves, strict=True)]

    def _look_for_culprit(self, graph: Graph | None) -> None:
        torch = library()
        watch = f"with {torch}.grad_report.watch(model) as report:   # around the lines from the model to backward()"
        if graph is None:
            text = "which operation made it cannot be told: no variable holds the loss, and its graph with it"
            self._missing = [text, f"fix   {watch}"]
        elif graph.freed is not None:
            call = with_argument(graph.backward_call, "retain_graph=True")
            text = f"which operation made it cannot be told any more: the graph was freed by {graph.freed}"
            self._missing = [text, f"fix   {call}   # {graph.freed.spot}"]
        else:
            found = graph.second_pass
            if isinstance(found, Finder) and found.culprits:
                self.culprits = found.culprits
            elif isinstance(found, str):
                self._missing = ["which operation made it cannot be told:", *found.split("\n"), f"fix   {watch}"]
            else:
                name = as_code(name_of(graph.loss), "this loss")
                self._missing = [
                    f"{name} gives finite gradients: the nan or inf came with an earlier backward(), and nothing has "
                    "reset .grad since"
                ]

    def _remarked(self, row: Row, rows: list[Row], leaf: Any, graph: Graph | None) -> Row:
        if row.norm is None:
            return row
        if row.nan or row.inf:
            counts = [f"{n:,} {what}" for n, what in ((row.nan, "nan"), (row.inf, "inf")) if n]
            return row._replace(remark=f"{' and '.join(counts)} of {row.elements:,}")
        if row.elements and row.zeros == row.elements:
            where = "" if graph is None else graph.silenced_at(leaf)
            return row._replace(remark=f"all zero; {where}" if where else "all zero")
        if is_vanishing(row, rows):
            between = "" if graph is None else graph.layers_before(leaf)
            return row._replace(remark=f"vanishing: {between}" if between else "vanishing")
        if is_exploding(row, rows):
            return row._replace(remark=f"exploding: {ratio(row.ratio or 0)} times its weight")
        return row

    @property
    def culprit(self) -> Culprit | None:
        """The operation that made the first nan or inf."""
        return self.culprits[0] if self.culprits else None

    def to_dict(self) -> dict[str, Any]:
        return {
            "total": self.total,
            "rows": [row._asdict() for row in self.rows],
            "culprits": [culprit.to_dict() for culprit in self.culprits],
        }

    def parts(self) -> Iterable[str | Table]:
        numbers = ["norm", "share", "mean |g|", "max |g|", "zeros", "|g|/|w|"]
        table = Table("parameter", *numbers, "", right=numbers)
        explained = False
        for row in self.rows:
            table.add(*cells(row), mark=mark(row))
            if (row.nan or row.inf) and not explained:
                explained = True
                for line in self._explanation():
                    table.below(line)
        if self.rows:
            yield table
        having = [row for row in self.rows if row.norm is not None]
        if not having:
            yield "no parameter has a gradient: no backward() has reached them"
        else:
            without = len(self.rows) - len(having)
            rest = f", {without} without one" if without else ""
            total = f"norm of all {amount(self.total)}, {plural(len(having), 'parameter')} with a gradient{rest}"
            yield f"{total}\n{self._loss}".rstrip()
        if self.culprits and not explained:
            yield "\n".join(self._explanation())

    def _explanation(self) -> list[str]:
        if not self.culprits:
            return self._missing
        lines = [line for i, one in enumerate(self.culprits) for line in (one.first_line(also=i > 0), *one.lines())]
        fix = lines_of([one.fix for one in self.culprits if one.fix is not None])
        return lines + [f"{'fix' if i == 0 else '   '}   {line}" for i, line in enumerate(fix)]


def is_vanishing(row: Row, rows: list[Row]) -> bool:
    largest = max([other.max for other in rows if other.max is not None and np.isfinite(other.max)], default=0.0)
    small_beside = row.max is not None and row.max < VANISHING * largest
    return small_beside and (row.ratio is None or row.ratio < VANISHING)


def is_exploding(row: Row, rows: list[Row]) -> bool:
    if row.ratio is None or row.max is None:
        return False
    others = [other.max for other in rows if other.max]
    beside = len(others) > 2 and row.max > EXPLODING_BESIDE * float(np.median(others)) and row.ratio > 10
    return beside or row.ratio > EXPLODING


def cells(row: Row) -> list[str]:
    if row.norm is None or row.mean is None or row.max is None:
        return [row.name, "", "", "", "", "", "", row.remark]
    finite = np.isfinite(row.norm)
    share = percent(row.share) if finite and row.share is not None and np.isfinite(row.share) else ""
    return [
        row.name,
        amount(row.norm),
        share,
        amount(row.mean) if finite else "",
        amount(row.max) if finite else "",
        few_percent(row.zeros, row.elements),
        ratio(row.ratio) if finite and row.ratio is not None else "",
        row.remark,
    ]


def mark(row: Row) -> str:
    if row.norm is None:
        return "quiet"
    return "bad" if row.remark and not row.remark.startswith("all zero") else ""


def named_parameters(model: Any) -> list[tuple[str, Any]]:
    """The parameters that were meant, with names."""
    if isinstance(model, Module):
        return list(model.named_parameters())
    if isinstance(model, TensorBase):
        model = [model]
    if isinstance(model, dict):
        model = model.items()
    try:
        given = list(model)
    except TypeError:
        given = [model]
    found: list[tuple[str, Any]] = []
    for i, one in enumerate(given):
        if isinstance(one, TensorBase):
            found.append((name_of(one) or f"tensor {i}", one))
        elif isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str) and isinstance(one[1], TensorBase):
            found.append((one[0], one[1]))
        else:
            raise mistake(
                TypeError,
                f"grad_report(): model must be a Module or tensors, with or without names, not {type(one).__name__}",
                fix=(f"{library()}.grad_report(model)", f"{library()}.grad_report(model.named_parameters())"),
            )
    return found


class Watch(Mode):
    """grad_report.watch(model): looks at all operations and gradients of its block. It slows them down, and keeps the
    values of the forward pass. Afterwards it is the report."""

    def __init__(self, model: Any) -> None:
        self._parameters = named_parameters(model)
        self._finder = Finder(Values())
        self._over = False  # has a pass made nan or inf? Then what comes after it does not matter
        self._ran = False  # has a rule run since the last operation was recorded?
        self._report: grad_report | None = None

    def applied(
        self, op: Any, tensors: Sequence[Any], arrays: Sequence[Any], options: tuple[Any, ...], results: Sequence[Any]
    ) -> None:
        if self._over or state.depth:
            return
        if self._ran:  # a new forward pass
            if self._finder.culprits:
                self._over = True
                return
            self._finder, self._ran = Finder(Values()), False
        values = self._finder.values
        for result in results:
            if result.node is not None:
                values.known[result.node] = result.array
                node = result.node.parent if isinstance(result.node, Output) else result.node
                values.calls[node] = (tuple(arrays), tuple(options))

    def run_rule(self, node: Any, g: Any, saved: Any, inputs: Any, below: Rule) -> Sequence[Any]:
        results = below(node, g, saved, inputs)
        self.ran(node, g, saved, results)
        return results

    def ran(self, node: Any, g: Any, saved: Any, results: Sequence[Any]) -> None:
        """The rule of a node has made `results` of `g`."""
        self._ran = True
        if not self._over:
            self._finder.values.saved[node] = array_of(list(saved))
            self._finder.visit(node, g, results)

    def culprits(self) -> list[Culprit]:
        """What was found so far."""
        return self._finder.culprits

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        report = grad_report.__new__(grad_report)
        report._fill(self._parameters, None, self._finder)
        self._finder = Finder(Values())
        self._report = report

    def __getattr__(self, name: str) -> Any:
        """What the report has: `rows`, `culprit`, `to_dict`."""
        if name.startswith("_") and name != "_repr_html_":
            raise AttributeError(name)
        if self._report is None:
            raise RuntimeError("grad_report.watch(): the report is made when the block ends")
        return getattr(self._report, name)

    def __str__(self) -> str:
        return str(self._report) if self._report is not None else "grad_report.watch(): not over yet"

    __repr__ = __str__


grad_report.watch = Watch
