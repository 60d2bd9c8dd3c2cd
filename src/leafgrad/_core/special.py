"""Backward passes with hooks, to some tensors only, with gradients that are tensors, or under modes. The loop of the
engine (`walk` in leafgrad/_core/engine.py) calls `Special` where such a pass differs from an ordinary one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from leafgrad._core import thread_state
from leafgrad._core.function import CallNode
from leafgrad._core.held import last_view
from leafgrad._core.modes import run_rule_in_modes, switches
from leafgrad._core.node import Freed, Node, Output
from leafgrad._core.origin import recorded_pass
from leafgrad._core.saved import refuse_detached, saved_tensors
from leafgrad._core.tensor import TensorBase, links, wrap
from leafgrad._core.unbroadcast import fitted, unbroadcast

Gradient = Any
state: Final[Any] = thread_state.state
STOP: Final[Any] = object()  # in place of a gradient: the walk does not go on


class Special:
    """One unusual pass. `wanted` restricts it to a part of the graph: place -> must its rule run? `captured` are the
    nodes whose gradients are asked for. `expected` says how many gradients each leaf will get: a leaf that has them
    all is given its gradient at once, by `deliver`, or in `found` if that is None."""

    __slots__ = ("captured", "deliver", "expected", "found", "line", "on_tensors", "wanted")

    def __init__(
        self,
        on_tensors: bool = False,
        wanted: dict[Any, bool] | None = None,
        captured: set[Any] | None = None,
        expected: dict[Any, int] | None = None,
        deliver: Any = None,
    ) -> None:
        self.on_tensors = on_tensors
        self.wanted = wanted
        self.captured = captured
        self.expected = expected
        self.deliver = deliver
        self.found: dict[Any, Gradient] = {}  # what arrived at captured nodes
        self.line: tuple[int, Any] | None = None  # in a recorded pass: see origin.RecordedPass.rule

    def in_form(self, places: tuple[Any, ...], gradients: Sequence[Gradient]) -> Sequence[Gradient]:
        """Gradients that are tensors, unbroadcast to the shape and dtype of the nodes and leaves that they go to. The
        walk does that itself for arrays, whose shape and dtype are found faster."""
        for index, place in enumerate(places):
            if place is None:
                continue
            r = gradients[index]
            if r is None:
                continue
            array = r.array if isinstance(r, TensorBase) else r
            if isinstance(place, Node):
                if array.dtype is place.dtype and array.shape == place.shape:
                    continue
                r = unbroadcast(r, place.shape, place.dtype)
            else:
                leaf: TensorBase = place
                form = leaf.array
                if leaf.rare is None and array.dtype is form.dtype and array.shape == form.shape:
                    continue
                r = fitted(leaf, r)
            gradients = list(gradients)
            gradients[index] = r
        return gradients

    def wanted_among(self, places: tuple[Any, ...]) -> tuple[Any, ...]:
        """The edges that lead to wanted tensors, with None for the others, whose gradients need not be computed."""
        wanted = self.wanted
        if wanted is None:
            return places
        for place in places:
            if place is not None and place not in wanted:
                return tuple([place if place is not None and place in wanted else None for place in places])
        return places

    def delivered(self, targets: tuple[Any, ...], waiting: dict[Any, Gradient], ours: set[Any]) -> None:
        """Gradients were sent to `targets`: deliver those of leaves that have received all of theirs."""
        expected = self.expected
        if expected is None:
            return
        for target in targets:
            if target in expected:
                expected[target] -= 1
                if expected[target] != 0:
                    continue
                g = waiting.pop(target, None)
                if self.deliver is not None:
                    owned = target in ours and self.wanted is None
                    if not owned:
                        g = last_view(g)
                    self.deliver(target, g, owned, self.on_tensors)
                else:
                    self.found[target] = after_hooks(target, g, self.on_tensors)

    def arrived(self, node: Node, g: Gradient) -> Gradient:
        """The gradient of a node is complete, or is known to be missing (None)."""
        hooks = node.hooks
        if self.wanted is not None:
            runs = self.wanted[node]
            if self.captured is not None and node in self.captured:
                self.found[node] = g if runs or hooks is None else hooks.arrived(node, g, self.on_tensors)
            elif not runs and hooks is not None and not hooks.results:
                hooks.arrived(node, g, self.on_tensors)  # the root of a pass to other tensors: see paths_to
            if not runs:
                if hooks is not None and hooks.results:
                    self.results_arrived(node, g)
                return STOP
        return g if hooks is None else hooks.arrived(node, g, self.on_tensors)

    def results_arrived(self, node: Node, g: Gradient) -> None:
        """The pass ends at an operation with several results: all hooks of these are called, also of results that no
        gradient has come for."""
        gradients = node.hooks.arrived(node, g, self.on_tensors)
        for target in self.captured or ():
            if isinstance(target, Output) and target.parent is node:
                self.found[target] = None if gradients is None else gradients[target.index]

    def run(self, node: Node, g: Gradient, saved: Any) -> tuple[tuple[Any, ...], Sequence[Any]]:
        """Run the rule of a node: where its results go, and the results."""
        hooks = node.hooks
        late = False
        thread: dict[str, Any] = state.__dict__  # at once: a single look at the state of a thread takes as long
        if hooks is not None:
            g = hooks.about_to_run(node, g, self.on_tensors)
            late = not hooks.after
        outer, thread["evaluating"] = thread["evaluating"], node
        before = saved
        try:
            inputs, results, saved = self.evaluated(node, g, saved, thread["in_modes"])
        except BaseException:
            if isinstance(node.saved, Freed):
                node.saved = before  # not freed: another pass fails in the same way
            raise
        finally:
            thread["evaluating"] = outer
        if node.hooks is not None:
            results = node.hooks.ran(node, results, g, saved, late)
        return inputs, self.in_form(inputs, results) if self.on_tensors else results

    def evaluated(
        self, node: Node, g: Gradient, saved: Any, in_modes: bool
    ) -> tuple[tuple[Any, ...], Sequence[Any], Any]:
        """What the rule itself returns, and what it was given."""
        inputs = self.wanted_among(node.inputs)
        if switches.detached:
            refuse_detached(node, saved)
        if node.hooks is not None:
            saved = node.hooks.unpacked(node, saved)
        if self.on_tensors:
            saved = saved_tensors(node, saved)
        if g is None:
            g = missing(node)
        if g is None:
            results: Sequence[Any] = (None,) * len(inputs)
        elif in_modes:
            results = run_rule_in_modes(rule_of, node, g, saved, inputs)
        elif isinstance(node, CallNode):
            results = rule_of(node, g, saved, inputs)
        else:
            recorded_pass.rule = self.line
            try:
                results = rule_of(node, g, saved, inputs)
            finally:
                recorded_pass.rule = None  # not what it was: another thread may have set it
        if self.on_tensors and node.op.rules is not None and node.op.rules.piecewise_linear:
            results = as_functions_of_inputs(node, inputs, results)
        if self.on_tensors and isinstance(node, CallNode):  # given no gradient, it may return arrays
            results = [wrap(r) if r is not None and not isinstance(r, TensorBase) else r for r in results]
        return inputs, results, saved


def as_functions_of_inputs(node: Node, inputs: Sequence[Any], results: Sequence[Any]) -> Sequence[Any]:
    """The gradients of an operation that is linear in pieces, the first of them recorded as a function of its input."""
    names = node.op.gradient_rules().piecewise_linear
    if inputs[0] is None or results[0] is None or not state.recording:
        return results
    is_defined = names != "undefined"
    if is_defined and names is not True and node.op.node_name not in names:
        return results
    return [links.as_function_of(results[0], inputs[0], is_defined), *results[1:]]


def missing(node: Node) -> Any:
    """The gradients for the rule of a node none of whose results has one: the backward of a user's Function runs all
    the same, and may be given zeros. Other rules do not run (None)."""
    if not isinstance(node, CallNode):
        return None
    forms = node.context._record.forms
    return [None] if forms is None else [None] * len(forms)


def after_hooks(leaf: Any, g: Gradient, on_tensors: bool) -> Gradient:
    """The gradient of a leaf, as its hooks return it, where it is not added to `.grad`."""
    if leaf.rare is None or leaf.rare.hooks is None:
        return g
    return leaf.rare.hooks.arrived(leaf, g, on_tensors)


def rule_of(node: Node, g: Gradient, saved: Any, inputs: Any) -> Sequence[Any]:
    """The gradient rule of a node, at the bottom of all modes."""
    rule = node.op.backward  # in two steps, see `walk`
    results: Sequence[Any] = rule(g, saved, inputs)
    return results


ORDINARY: Final = Special()  # for a node with hooks in a pass that is ordinary otherwise
