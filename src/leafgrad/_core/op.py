"""`Op`: an operation as the recorder and the engine see it: kernel, gradient rules, and what these save."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

# backward(g, saved, inputs) returns one gradient for each input; for those where `inputs` has None, anything
Backward = Callable[[Any, tuple[Any, ...], tuple[Any, ...]], Sequence[Any]]


class GradientRules:
    """How the gradients of an operation are computed (`backward`), and from what.

    `saves(mask)` tells what has to be kept for it when the inputs of `mask` (bit i for input i) need a gradient.
    """

    __slots__ = ("backward", "hidden", "passed_on", "piecewise_linear", "saved_names", "saves", "shown", "vjp_in_place")

    def __init__(
        self,
        backward: Backward,
        saves: Callable[[int], tuple[int, ...]],
        saved_names: tuple[str, ...] = (),
        hidden: tuple[int, ...] = (),
        vjp_in_place: Backward | None = None,
    ) -> None:
        self.backward = backward
        self.saves = saves
        self.saved_names = saved_names  # what PyTorch calls the saved values, in the order of `saves`
        self.shown: dict[str, Any] = {}  # further attributes of grad_fn: see `shows` in ops/registry.py
        self.hidden = hidden  # inputs that are never differentiated, which PyTorch does not show
        # for large arrays when the graph is not kept: may overwrite g, and saved arrays of which `is_free` says so
        self.vjp_in_place = vjp_in_place
        # the gradients for hooks, if the node stands for several nodes of PyTorch's: see `passes_on` in ops/registry.py
        self.passed_on: Callable[[str, Any, Sequence[Any]], Any] | None = None
        self.piecewise_linear: Any = False  # see ops/registry.py


def unread(g: Any, saved: tuple[Any, ...], inputs: tuple[Any, ...]) -> Sequence[Any]:
    raise AssertionError("a node of an operation whose gradient rules have not been read")


class Op:
    """An operation. Built by the `@op` decorator from one block in `leafgrad.ops`.

    `kernel(*arrays, *options)` computes on plain arrays. The gradient rules are read when the operation is recorded
    for the first time: no program uses all operations, and to read the rules of all would be a fifth of the time of
    `import leafgrad`. The argument `rules` is a function that reads them, or the rules.
    """

    __slots__ = (
        "backward",
        "composition",
        "conjugated",
        "differentiable",
        "follows_layout",
        "keeps",
        "kernel",
        "name",
        "node_class",
        "node_name",
        "plans",
        "read",
        "rules",
        "vjp_in_place",
        "vmap",
        "writes_into",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        node_name: str,
        kernel: Callable[..., Any],
        rules: GradientRules | Callable[[], GradientRules],
        vmap: tuple[Any, tuple[str, ...]] = ("kernel", ()),
        differentiable: bool = True,
    ) -> None:
        self.name = name
        self.node_name = node_name
        self.kernel = kernel
        self.vmap = vmap  # the batching rule, and the names of the options: see leafgrad.func
        self.backward: Backward = unread
        self.vjp_in_place: Backward | None = None
        self.plans: dict[int, tuple[int, ...]] = {}  # by mask: what `saves` returned
        self.keeps: list[int] = [UNREAD, UNREAD, UNREAD, UNREAD]  # by mask, for two operands: what `keep` returned
        self.differentiable = differentiable  # if not, it is never recorded
        self.writes_into = False  # does the kernel take an array for its result as one more argument?
        self.follows_layout = False  # is the memory layout of the result computed from those of the operands?
        self.conjugated: Op | None = None  # the same operation with the rules of complex numbers: leafgrad.ops.registry
        self.node_class: Any = None
        # What `next_functions` shows where PyTorch records several nodes: an expression and the names of the inputs in
        # it, or a function that returns both for a node. See leafgrad.autograd.composition.
        self.composition: Any = None
        self.rules: GradientRules | None = None
        self.read: Callable[[], GradientRules] | None = None
        if isinstance(rules, GradientRules):
            self.set_rules(rules)
        else:
            self.read = rules

    def gradient_rules(self) -> GradientRules:
        rules = self.rules
        if rules is None:
            read: Any = self.read
            rules = self.set_rules(read())
        return rules

    def set_rules(self, rules: GradientRules) -> GradientRules:
        self.backward = rules.backward
        self.vjp_in_place = rules.vjp_in_place
        self.rules = rules  # last, because other threads look whether it is there
        return rules

    def plan(self, mask: int) -> tuple[int, ...]:
        """What has to be kept when the inputs of `mask` need a gradient, as a tuple of places (see below)."""
        plan = self.plans.get(mask)
        if plan is None:
            plan = self.plans[mask] = self.gradient_rules().saves(mask)
        return plan

    def keep(self, mask: int) -> int:
        """`plan` of an operation with two operands as bits: 1 for the first, 2 for the second, 4 for the result."""
        kept = 0
        for i, place in enumerate(self.plan(mask)):
            if place != NOTHING:
                kept |= 1 << i
        self.keeps[mask] = kept
        return kept


UNREAD: Final = 8  # in `Op.keeps`: not computed yet

# A plan is a tuple of places. i >= 0 is input i, and further:
OUT: Final = -1  # OUT - i: result i of the operation
NOTHING: Final = -1000  # not needed this time
OPTION: Final = 1000  # OPTION + i: option i (a dimension, a flag), kept as it is
SHAPE: Final = 2000  # SHAPE + i: the shape of input i
