"""Mistakes in the order of a training loop, and in what an optimizer holds."""

from __future__ import annotations

import ast
import sys
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._explain.finding import Finding, Fix
from leafgrad._explain.hidden_parameters import hidden_parameters
from leafgrad._explain.reach import Reach
from leafgrad._explain.rule import Rule, Situation, parameters_of
from leafgrad.errors.cuts import Cut, cuts_on_the_way, fix_on_the_way
from leafgrad.errors.naming import Place, find, namespaces
from leafgrad.errors.source import Statement, assignment_of_variable, calls_in, name_of_object
from leafgrad.optim.optimizer import Optimizer

MOST_PASSES = 3  # whose graphs are searched for cuts


class HiddenParameters(Rule):
    """Modules in a plain list, tensors that are no Parameters."""

    def look(self) -> None:
        situation = self.situation
        if situation.model is None:
            return
        held = set() if situation.optimizer is None else {id(p) for p in parameters_of(situation.optimizer)}
        for finding in hidden_parameters(situation.model, held):
            self.report(finding)

    def before_step(self, optimizer: Any) -> None:
        self.look()  # a model may have been built further since


class ForgottenZeroGrad(Rule):
    """A step uses a gradient to which a part was added that an earlier step had used already."""

    def __init__(self, situation: Situation) -> None:
        super().__init__(situation)
        self.sums: dict[int, tuple[Any, Place, Place]] = {}  # the gradient, the earlier step, the pass; by leaf

    def before_gradient(self, leaf: Any) -> None:
        situation = self.situation
        used, gradient = situation.used.get(id(leaf)), leaf._grad
        if gradient is None or situation.in_step or not np.any(gradient.array):
            self.sums.pop(id(leaf), None)
        elif used is not None and gradient is used.gradient and gradient.version[0] == used.version:
            self.sums[id(leaf)] = (gradient, used.place, errors.here())  # nobody has cleared or changed it since

    def before_step(self, optimizer: Any) -> None:
        for p in parameters_of(optimizer):
            self.before_change(p)

    def before_change(self, leaf: Any) -> None:
        gradient, step, place = self.sums.pop(id(leaf), (None, None, None))
        if gradient is None or gradient is not leaf._grad:
            return
        assert step is not None
        evidence = (
            f"{self.situation.counts.get(id(leaf), 2)} backward calls since the last zero_grad; the gradient of "
            f"{self.situation.name(leaf)} is their sum, and the step of {step.spot} has already used a part of it."
        )
        self.report(Finding("forgotten zero_grad", place, evidence, (Fix(self.clearing(leaf), place, "before"),)))

    def clearing(self, leaf: Any) -> str:
        """The code that clears the gradient."""
        for optimizer in all_optimizers(self.situation.optimizer):
            if any([p is leaf for p in parameters_of(optimizer)]):
                return f"{self.situation.optimizer_name(optimizer)}.zero_grad()"
        model = self.situation.model
        if model is not None and any([p is leaf for p in model.parameters()]):
            return f"{name_of_object(model) or 'model'}.zero_grad()"
        return f"{errors.as_code(self.situation.name(leaf))}.grad = None"


class StepWithoutGradients(Rule):
    """`step()` before `backward()`, or after `zero_grad()`: no parameter moves."""

    def __init__(self, situation: Situation) -> None:
        super().__init__(situation)
        self.waiting: tuple[Place, str] | None = None  # a step before the first backward(), and the optimizer's name

    def before_step(self, optimizer: Any) -> None:
        situation = self.situation
        if any([p._grad is not None for p in parameters_of(optimizer)]) or situation.in_step:
            return
        name, place = situation.optimizer_name(optimizer), errors.here()
        if situation.cleared_since_pass and situation.last_pass and situation.last_zeroed:
            evidence = (
                f"has no gradients to use: {name}.zero_grad() of {situation.last_zeroed.spot} cleared what backward() "
                f"of {situation.last_pass.spot} computed, so that no parameter moves."
            )
            first = Fix(f"{name}.zero_grad()", situation.last_pass, "before")
            self.report(Finding("step without gradients", place, evidence, (first, Fix("", situation.last_zeroed))))
        elif not situation.reached_for(optimizer) and not has_closure():
            self.waiting = (place, name)

    def before_backward(self) -> None:
        if self.waiting is not None:
            place, name = self.waiting
            self.waiting = None
            here = errors.here()
            evidence = (
                f"comes before backward(), {here.spot}: there are no gradients yet, and those that backward() computes "
                "afterwards are not used."
            )
            fixes = (Fix(f"{name}.step()", here, "after"), Fix("", place))
            self.report(Finding("step without gradients", place, evidence, fixes))

    def end(self) -> None:
        if self.waiting is not None:
            place, _ = self.waiting
            loss = find(lambda t: t.node is not None and t.array.ndim == 0)
            evidence = "has no gradients to use: backward() was not called, so that no parameter moves."
            fixes = (Fix(f"{loss.name}.backward()", place, "before"),) if loss is not None else ()
            self.report(Finding("step without gradients", place, evidence, fixes))


class OtherParameters(Rule):
    """The optimizer holds parameters of another model, or of a layer that was replaced since."""

    def look(self) -> None:
        situation = self.situation
        if situation.model is None or situation.optimizer is None:
            return
        held = {id(p): p for p in parameters_of(situation.optimizer)}
        own = {id(p): p for p in situation.model.parameters() if p.needs_grad}
        if own and held and not held.keys() & own.keys():
            self.report(self.finding(situation.optimizer, list(held.values()), list(own.values()), "the model has"))

    def before_step(self, optimizer: Any) -> None:
        situation = self.situation
        reached = situation.reached_for(optimizer)
        roots = {id(start) for start in situation.starts}
        held = {id(p): p for p in parameters_of(optimizer)}
        if situation.in_step or not held or not any([t.node is None and id(t) not in roots for t in reached.values()]):
            return  # nothing was reached, or only a loss without a graph, which is another mistake
        if not held.keys() & reached.keys() and not held.keys() & situation.reached_ever.keys():
            self.report(self.finding(optimizer, list(held.values()), list(reached.values()), "the loss reaches"))
        elif situation.model is not None:
            own = {id(p): p for p in situation.model.parameters() if p.needs_grad}
            lost = [p for key, p in held.items() if key not in own and key not in situation.reached_ever]
            left = [p for key, p in own.items() if key not in held and key in situation.reached_ever]
            if lost and left:
                self.report(self.replaced(optimizer, lost, left))

    def finding(self, optimizer: Any, held: list[Any], wanted: list[Any], where: str) -> Finding:
        situation = self.situation
        name = situation.optimizer_name(optimizer)
        many = "a parameter" if len(held) == 1 else f"{len(held)} parameters"
        evidence = (
            f"changes nothing that this loss depends on: {name} holds {many} of another model "
            f"({situation.names(held)}), {where} {situation.names(wanted)}."
        )
        statement = assignment_of_variable(name)
        model = None if situation.model is None else name_of_object(situation.model)
        fixed = with_parameters_of(statement, model or owner_of(situation.name(wanted[0])))
        fixes: tuple[Fix, ...] = ()
        if statement is not None and fixed == statement.text:  # that model was made anew since
            fixes = (Fix(fixed, situation.begin, "before"),)
        elif statement is not None and fixed is not None:
            fixes = (Fix(fixed, statement.place),)
        return Finding("other parameters", errors.here(), evidence, fixes)

    def replaced(self, optimizer: Any, lost: list[Any], left: list[Any]) -> Finding:
        situation = self.situation
        name = situation.optimizer_name(optimizer)
        evidence = (
            f"does not train {situation.names(left)}: they came into the model after {name} was made, which still "
            f"holds {len(lost)} that {'is' if len(lost) == 1 else 'are'} no longer part of it."
        )
        statement = assignment_of_variable(name)
        fixes = (Fix(statement.text, situation.begin, "before"),) if statement is not None else ()
        return Finding("other parameters", errors.here(), evidence, fixes)


class UnreachedParameters(Rule):
    """A parameter that the optimizer holds never gets a gradient, because the graph is cut on the way to it."""

    def __init__(self, situation: Situation) -> None:
        super().__init__(situation)
        self.cuts: list[tuple[Cut, list[str]]] = []  # on the way to the first losses, and what to do about each

    def before_backward(self) -> None:
        root = self.situation.root
        if self.situation.passes <= MOST_PASSES and root is not None and root.node is not None:
            for cut in cuts_on_the_way(root, Reach(root).nodes):
                self.cuts.append((cut, fix_on_the_way(root, cut)))

    def before_step(self, optimizer: Any) -> None:
        held = {id(p) for p in parameters_of(optimizer)}
        ever = self.situation.reached_ever
        for cut, fix in self.cuts:
            lost = [p for p in cut.leaves if id(p) in held and p.needs_grad and id(p) not in ever]
            if lost:
                get, them = ("gets", "it") if len(lost) == 1 else ("get", "them")
                evidence = (
                    f"cuts the graph: {self.situation.names(lost)} {get} no gradient from this loss, and "
                    f"{self.situation.optimizer_name(optimizer)}.step() does not move {them}."
                )
                self.report(Finding("cut on the way", cut.place, evidence, tuple(fix)))
        self.cuts = []


def has_closure() -> bool:
    """Is the step that is running given a closure? Then it computes the gradients itself."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "step" and frame.f_locals.get("closure") is not None:
            return True
        frame = frame.f_back
    return False


def all_optimizers(given: Any) -> list[Any]:
    """The optimizer that the check was given, and those that variables of the program hold."""
    found = [] if given is None else [given]
    for names in namespaces():
        found += [value for _, value in names if isinstance(value, Optimizer)]
    return found


def owner_of(name: str) -> str | None:
    """The model whose parameter has this name: `net` of `net.fc.weight`."""
    owner, dot, _ = name.partition(".")
    return owner if dot and owner.isidentifier() else None


def with_parameters_of(statement: Statement | None, model: str | None) -> str | None:
    """The statement that makes an optimizer, with the parameters of another model."""
    if statement is None or model is None:
        return None
    for call in calls_in(statement.tree):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "parameters":
            return statement.replaced(call.func.value, model)
    return None
