"""Mistakes in what a loss is computed from: cut graphs, broadcast shapes, gradients that are nan."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.op import Op
from leafgrad._core.tensor import TensorBase, links
from leafgrad._explain.finding import Finding, Fix
from leafgrad._explain.grad_report import Watch
from leafgrad._explain.rule import Rule, Situation, reference
from leafgrad._explain.source_edits import lines_of
from leafgrad.errors.naming import Place, name_of
from leafgrad.errors.source import expression_at, with_method
from leafgrad.ops.loss.cross_entropy import cross_entropy
from leafgrad.ops.reduce.softmax import softmax

MOST_REMEMBERED = 10_000  # tensors


class CutLoss(Rule):
    """`loss.requires_grad_(True)`, the popular wrong cure for a loss without a graph."""

    def __init__(self, situation: Situation) -> None:
        super().__init__(situation)
        self.asked: dict[int, tuple[Any, Place]] = {}

    def requires_grad_set(self, x: Any) -> None:
        if x.node is None and not x.needs_grad and x.array.ndim == 0 and len(self.asked) < MOST_REMEMBERED:
            self.asked[id(x)] = (reference(x), errors.here())

    def before_backward(self) -> None:
        for start in self.situation.starts:
            known = self.asked.get(id(start))
            if isinstance(start, TensorBase) and known is not None and known[0]() is start:
                answer = errors.why_no_graph(start)
                where = f"the loss has no graph: {answer.sentence}"
                if answer.cuts:
                    where = f"the loss is still cut off at {answer.cuts[0].place}"
                evidence = f"makes backward() run, but {where}, and no parameter will ever move."
                own = f"remove {known[1].spot}"
                lines = [line for line in answer.fix if line != own]
                fixes = (*lines, Fix("", known[1])) if lines else ()
                self.report(Finding("cut loss", known[1], evidence, fixes))


class LateRequiresGrad(Rule):
    """`requires_grad_()` after the tensor was used: what was computed from it before does not know."""

    def __init__(self, situation: Situation) -> None:
        super().__init__(situation)
        self.uses: dict[int, tuple[Any, Place]] = {}
        self.late: dict[int, tuple[Any, Place, Place]] = {}  # the tensor, its use, and where it was set

    def applied(
        self, op: Op, tensors: Sequence[Any], arrays: Sequence[Any], options: tuple[Any, ...], results: Sequence[Any]
    ) -> None:
        if len(self.uses) >= MOST_REMEMBERED:
            self.uses.clear()
        for t in tensors:
            if t is not None and t.node is None and not t.needs_grad and t.array.dtype.kind in "fc":
                self.uses.setdefault(id(t), (reference(t), errors.here()))

    def requires_grad_set(self, x: Any) -> None:
        known = self.uses.get(id(x))
        if known is not None and known[0]() is x and not x.needs_grad:
            self.late[id(x)] = (reference(x), known[1], errors.here())

    def after_backward(self) -> None:
        for key, (held, use, place) in list(self.late.items()):
            tensor = held()
            if tensor is None or key in self.situation.reached_now or not tensor.needs_grad:
                del self.late[key]
                continue
            name = name_of(tensor) or "it"
            evidence = f"comes too late: {name} was used in {use} before it required a gradient, and gets none."
            fixes = (Fix(place.source, use, "before"), Fix("", place))
            self.report(Finding("late requires_grad", place, evidence, fixes))


class Broadcasting(Rule):
    """A prediction of shape (n, 1) and a target of shape (n,): n * n differences instead of n."""

    def compared(self, x: Any, target: Any) -> None:
        self.look_at(x, target)

    def applied(
        self, op: Op, tensors: Sequence[Any], arrays: Sequence[Any], options: tuple[Any, ...], results: Sequence[Any]
    ) -> None:
        if op is links.sub and len(tensors) == 2 and all([t is not None for t in tensors]):
            if tensors[0].needs_grad != tensors[1].needs_grad:  # a prediction and a target
                self.look_at(tensors[0], tensors[1])

    def look_at(self, x: Any, target: Any) -> None:
        shapes = [tuple(t.array.shape) for t in (x, target)]
        column, flat = sorted(shapes, key=len, reverse=True)
        count = int(np.prod(flat))
        if column != (*flat, 1) or count < 2:
            return
        many = int(np.prod(np.broadcast_shapes(column, flat)))
        evidence = f"compares {shapes[0]} with {shapes[1]}: {many:,} differences instead of {count:,}."
        place = errors.here()
        fixed = with_method(0 if shapes[0] == column else 1, f"squeeze({len(flat)})")
        self.report(Finding("broadcasting", place, evidence, (Fix(fixed, place),) if fixed else ()))


class SoftmaxTwice(Rule):
    """cross_entropy of probabilities: it computes the softmax itself."""

    def applied(
        self, op: Op, tensors: Sequence[Any], arrays: Sequence[Any], options: tuple[Any, ...], results: Sequence[Any]
    ) -> None:
        if op is not cross_entropy.core or tensors[0] is None or tensors[0].node is None:
            return
        node = tensors[0].node
        if node.op is softmax.core:
            made = errors.place_of(node.code, node.lasti)
            evidence = (
                f"is given probabilities, the result of softmax at {made}, and takes their softmax once more: "
                "gradients are much too small."
            )
            fixed = without_softmax(node)
            fixes = () if fixed is None else (Fix(fixed, made),)
            self.report(Finding("softmax twice", errors.here(), evidence, fixes))


def without_softmax(node: Any) -> str | None:
    """The line of a softmax with its argument in its place: `model(x)` for `model(x).softmax(1)` or
    `F.softmax(model(x), 1)`."""
    statement, call = expression_at(node.code, node.lasti) or (None, None)
    if statement is None or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr != "softmax":
        return None
    is_function = bool(call.args) and not isinstance(call.args[0], ast.Constant)
    return statement.replaced(call, statement.part(call.args[0] if is_function else call.func.value))


class NanGradient(Rule):
    """The first operation that makes nan or inf of a finite gradient; often one that `where` hides."""

    def __init__(self, situation: Situation) -> None:
        super().__init__(situation)
        self.watch = Watch(())

    def applied(
        self, op: Op, tensors: Sequence[Any], arrays: Sequence[Any], options: tuple[Any, ...], results: Sequence[Any]
    ) -> None:
        self.watch.applied(op, tensors, arrays, options, results)

    def ran(self, node: Any, g: Any, saved: Any, results: Sequence[Any]) -> None:
        self.watch.ran(node, g, saved, results)

    def after_backward(self) -> None:
        for culprit in self.watch.culprits():
            facts = [f"makes the first {culprit.what} of this gradient: {culprit.lines()[0]}", *culprit.reasons]
            fixes = () if culprit.fix is None else tuple([str(line) for line in lines_of([culprit.fix])])
            self.report(Finding("nan gradient", culprit.place, f"{'; '.join(facts)}.", fixes))
