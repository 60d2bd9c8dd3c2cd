"""`leafgrad.check`: silent mistakes of a training loop, each reported once, with the line, the evidence and the fix.

    with leafgrad.check(model, optimizer):
        for x, y in data: ...

`Check` is a mode. It tells a list of rules what happens (a backward pass, gradients that arrive, a step), and each rule
looks for one mistake. Nothing of it exists while no check is on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from leafgrad import errors
from leafgrad._core.modes import Mode
from leafgrad._core.modes import Rule as GradientRule
from leafgrad._core.op import Op
from leafgrad._core.tensor import TensorBase
from leafgrad._explain.finding import Finding
from leafgrad._explain.rule import Rule, Situation
from leafgrad._explain.rules_of_graphs import Broadcasting, CutLoss, LateRequiresGrad, NanGradient, SoftmaxTwice
from leafgrad._explain.rules_of_memory import GradientsWithGraphs, GrowingGraph
from leafgrad._explain.rules_of_training import (
    ForgottenZeroGrad,
    HiddenParameters,
    OtherParameters,
    StepWithoutGradients,
    UnreachedParameters,
)
from leafgrad.nn.modules.module import Module
from leafgrad.optim.optimizer import Optimizer

RULES: tuple[type[Rule], ...] = (
    HiddenParameters,
    OtherParameters,
    StepWithoutGradients,
    ForgottenZeroGrad,
    UnreachedParameters,
    CutLoss,
    LateRequiresGrad,
    Broadcasting,
    SoftmaxTwice,
    NanGradient,
    GrowingGraph,
    GradientsWithGraphs,
)


def check(model: Module | None = None, optimizer: Optimizer | None = None, *, file: TextIO | None = None) -> Check:
    """check(model=None, optimizer=None, *, file=sys.stderr): report silent mistakes.

    Called after a step, it looks at what is there: parameters that `model.parameters()` does not know, an optimizer
    that holds others. As a context manager around a training loop it also watches what happens. Each mistake is written
    to `file` once, as it is noticed; `.findings` has all of them.

        with leafgrad.check(model, optimizer):
            for x, y in data:
                ...
    """
    if model is not None and not isinstance(model, Module):
        if isinstance(model, Optimizer) and optimizer is None:
            model, optimizer = None, model
        else:
            raise TypeError(
                f"check() takes a model, an nn.Module, but got {type(model).__name__}\n"
                "  fix   leafgrad.check(model, optimizer)"
            )
    if optimizer is not None and not isinstance(optimizer, Optimizer):
        raise TypeError(
            f"check() takes an optimizer of leafgrad.optim, but got {type(optimizer).__name__}\n"
            "  fix   leafgrad.check(model, optimizer)"
        )
    return Check(model, optimizer, file)


class Check(Mode):
    """What `check` returns: `.findings`, and a context manager that watches."""

    def __init__(self, model: Module | None, optimizer: Optimizer | None, file: TextIO | None) -> None:
        self.file = file
        self.findings: list[Finding] = []
        self.reported: set[tuple[str, str]] = set()
        self.situation = Situation(model, optimizer, errors.here(), self.report)
        self.rules = [rule(self.situation) for rule in RULES]
        self.quiet = False  # while a rule looks at something: what it computes is not the user's
        self.tell(lambda rule: rule.look())

    def report(self, finding: Finding) -> None:
        """Write a finding, unless the same was said of this line before."""
        key = (finding.kind, finding.place.spot if finding.place else "")
        if key not in self.reported:
            self.reported.add(key)
            self.findings.append(finding)
            print(f"{finding}\n", file=self.file or sys.stderr, flush=True)

    def tell(self, event: Callable[[Rule], None]) -> None:
        if self.quiet:
            return
        self.quiet = True
        try:
            for rule in self.rules:
                event(rule)
        finally:
            self.quiet = False

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        if error[0] is None:
            self.tell(lambda rule: rule.end())

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.findings)) or "nothing was found"

    def __repr__(self) -> str:
        return f"<check: {len(self.findings)} found>"

    def to_dict(self) -> dict[str, Any]:
        """The findings as data."""
        return {"findings": [finding.to_dict() for finding in self.findings]}

    # -- what happens -------------------------------------------------------------------------------------------------

    def run_pass(self, starts: Sequence[Any], delivers: bool, below: Callable[[], Any]) -> Any:
        if self.quiet or not delivers:
            return below()
        self.situation.begin_pass(starts)
        self.tell(lambda rule: rule.before_backward())
        result = below()
        self.tell(lambda rule: rule.after_backward())
        return result

    def accumulate(self, add: Callable[..., None], leaf: Any, *args: Any) -> None:
        self.tell(lambda rule: rule.before_gradient(leaf))
        self.situation.reach(leaf)
        add(leaf, *args)

    def run_rule(self, node: Any, g: Any, saved: Any, inputs: Any, below: GradientRule) -> Sequence[Any]:
        results = below(node, g, saved, inputs)
        self.tell(lambda rule: rule.ran(node, g, saved, results))
        return results

    def call(self, owner: Any, name: str, is_operation: bool, below: Callable[[], Any]) -> Any:
        if self.quiet or not isinstance(owner, Optimizer):
            return below()
        if name.endswith(".zero_grad"):
            result = below()
            self.situation.zeroed(owner)
            return result
        if name.endswith(".step"):
            return self.step(owner, below)
        return below()

    def step(self, optimizer: Any, below: Callable[[], Any]) -> Any:
        """A step may compute the loss itself, with a closure, so what it has used is looked at afterwards as well."""
        passes = self.situation.passes
        if not self.situation.in_step:
            self.tell(lambda rule: rule.before_step(optimizer))
        self.situation.in_step += 1
        try:
            result = below()
        finally:
            self.situation.in_step -= 1
        self.situation.stepped(optimizer, with_closure=self.situation.passes > passes)
        return result

    def asked(self, what: str, x: Any) -> None:
        if what == "backward":
            self.situation.root = x
        elif what == "requires_grad_":
            self.tell(lambda rule: rule.requires_grad_set(x))

    def compared(self, x: Any, target: Any) -> None:
        self.tell(lambda rule: rule.compared(x, target))

    def applied(
        self, op: Op, tensors: Sequence[Any], arrays: Sequence[Any], options: tuple[Any, ...], results: Sequence[Any]
    ) -> None:
        self.tell(lambda rule: rule.applied(op, tensors, arrays, options, results))

    def about_to_change(self, x: TensorBase) -> None:
        leaf = None if self.situation.in_step else self.situation.leaf_behind(x)
        if leaf is not None:  # an update by hand
            self.tell(lambda rule: rule.before_change(leaf))
            self.situation.use(leaf)
