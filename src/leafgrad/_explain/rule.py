"""What a rule of `check` is, and what all rules know of the training that is being watched."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from leafgrad import errors
from leafgrad._core.node import Node
from leafgrad._core.op import Op
from leafgrad._core.tensor import TensorBase
from leafgrad._explain.finding import Finding
from leafgrad.errors.naming import Place, as_code, name_of
from leafgrad.errors.source import name_of_object
from leafgrad.nn.modules.module import Module
from leafgrad.optim.optimizer import Optimizer


class Used(NamedTuple):
    """A gradient that a step has used: the tensor in `.grad`, its version, and the line of the step."""

    gradient: Any
    version: int
    place: Place


class Situation:
    """The training as far as it has come."""

    def __init__(
        self, model: Module | None, optimizer: Optimizer | None, begin: Place, report: Callable[[Finding], None]
    ) -> None:
        self.model = model
        self.optimizer = optimizer
        self.begin = begin  # the line of the check itself
        self.report = report
        self.passes = 0  # backward passes so far
        self.root: Any = None  # the tensor whose backward() was called last
        self.starts: Sequence[Any] = ()  # of the current pass
        self.reached_now: dict[int, Any] = {}  # leaves that got a gradient in it, by id
        self.reached: dict[int, dict[int, Any]] = {}  # the same since the last step of an optimizer, by its id
        self.reached_ever: dict[int, Any] = {}
        self.last_pass: Place | None = None
        self.last_zeroed: Place | None = None
        self.cleared_since_pass = False  # were gradients cleared after the last pass?
        self.used: dict[int, Used] = {}  # by the id of the leaf
        self.counts: dict[int, int] = {}  # passes whose gradients are in `.grad`, by the id of the leaf
        self.in_step = 0

    # -- events -------------------------------------------------------------------------------------------------------

    def begin_pass(self, starts: Sequence[Any]) -> None:
        self.passes += 1
        self.starts = starts
        self.reached_now = {}
        self.last_pass = errors.here()
        self.cleared_since_pass = False

    def reach(self, leaf: Any) -> None:
        key = id(leaf)
        self.counts[key] = self.counts.get(key, 0) + 1 if leaf._grad is not None else 1
        for table in (self.reached_now, self.reached_ever, *self.reached.values()):
            table[key] = leaf

    def zeroed(self, optimizer: Any) -> None:
        self.last_zeroed = errors.here()
        if any([id(p) in self.reached_now for p in parameters_of(optimizer)]):
            self.cleared_since_pass = True
        for p in parameters_of(optimizer):
            self.counts.pop(id(p), None)
            self.used.pop(id(p), None)

    def stepped(self, optimizer: Any, with_closure: bool) -> None:
        self.reached[id(optimizer)] = {}
        if not with_closure:  # a closure clears and computes gradients as often as it likes
            for p in parameters_of(optimizer):
                self.use(p)

    def use(self, leaf: Any) -> None:
        """A step changes a leaf, by its gradient if there is one."""
        gradient = leaf._grad
        if gradient is not None:
            self.used[id(leaf)] = Used(gradient, gradient.version[0], errors.here())

    # -- questions ----------------------------------------------------------------------------------------------------

    def reached_for(self, optimizer: Any) -> dict[int, Any]:
        """The leaves that got a gradient since the last step of an optimizer, or ever."""
        return self.reached.get(id(optimizer), self.reached_ever)

    def leaf_behind(self, x: TensorBase) -> Any:
        """The leaf whose memory a tensor shows: itself, or the one whose `.data` it is."""
        if x.node is None and x.needs_grad:
            return x
        address = x.array.ctypes.data
        found = [leaf for leaf in self.reached_ever.values() if leaf.array.ctypes.data == address]
        return found[0] if found else None

    def name(self, t: Any) -> str:
        """What the user calls a tensor: by its path in the model, or as the program has it."""
        if self.model is not None:
            for path, p in self.model.named_parameters():
                if p is t:
                    return f"{name_of_object(self.model) or 'model'}.{path}"
        return name_of(t) or f"a tensor of shape {tuple(t.array.shape)}"

    def names(self, tensors: Sequence[Any], most: int = 4) -> str:
        """Several of them, for a sentence."""
        shown = [self.name(t) for t in tensors[:most]]
        more = f" and {len(tensors) - most} more" if len(tensors) > most else ""
        return ", ".join(shown) + more

    def optimizer_name(self, optimizer: Any) -> str:
        return as_code(name_of_object(optimizer), "optimizer")

    def root_node(self) -> Node | None:
        """The node that the current pass starts at, if it starts at one."""
        return self.starts[0] if len(self.starts) == 1 and isinstance(self.starts[0], Node) else None


def parameters_of(optimizer: Any) -> list[Any]:
    return [p for group in optimizer.param_groups for p in group["params"]]


def reference(t: Any) -> Any:
    """A weak reference to a tensor."""
    return weakref.ref(t)


class Rule:
    """One mistake. A rule overrides what it wants to be told of, and calls `self.report(...)`."""

    def __init__(self, situation: Situation) -> None:
        self.situation = situation
        self.report = situation.report

    def look(self) -> None:
        """The check begins: look at what is there."""

    def end(self) -> None:
        """The check ends."""

    def before_backward(self) -> None:
        """A backward pass begins, at `situation.starts`."""

    def after_backward(self) -> None:
        """It has ended; `situation.reached_now` has the leaves that got a gradient."""

    def before_gradient(self, leaf: Any) -> None:
        """A gradient is about to be added to `leaf.grad`."""

    def ran(self, node: Any, g: Any, saved: Any, results: Sequence[Any]) -> None:
        """The gradient rule of a node made these results of `g`."""

    def before_step(self, optimizer: Any) -> None:
        """A step of an optimizer begins."""

    def before_change(self, leaf: Any) -> None:
        """The program itself is about to change a leaf in place: an update by hand."""

    def requires_grad_set(self, x: Any) -> None:
        """The program calls `requires_grad_` of a tensor, or sets its flag."""

    def compared(self, x: Any, target: Any) -> None:
        """A loss compares two tensors whose shapes differ."""

    def applied(
        self, op: Op, tensors: Sequence[Any], arrays: Sequence[Any], options: tuple[Any, ...], results: Sequence[Any]
    ) -> None:
        """An operation was computed."""
