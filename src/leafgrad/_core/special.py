"""What is unusual about a backward pass, or about one of its nodes: hooks, a restriction to some tensors, gradients
that are tensors, modes. The walk itself (leafgrad/_core/engine.py) knows nothing of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from leafgrad._core import thread_state
from leafgrad._core.modes import run_rule_in_modes
from leafgrad._core.node import Node
from leafgrad._core.saved import saved_tensors

Gradient = Any
state: Final[Any] = thread_state.state


class Special:
    """One unusual pass. `wanted` restricts it to a part of the graph: place -> must its rule run? `captured` are the
    nodes whose gradients are asked for. `expected` says how many gradients each leaf will get: a leaf that has them
    all is given its gradient at once, by `deliver`."""

    __slots__ = ("captured", "deliver", "expected", "found", "on_tensors", "wanted")

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

    def wanted_among(self, places: Sequence[Any]) -> Sequence[Any]:
        """The places that the pass goes to, with None for the others: rules need not compute what nobody asked for."""
        wanted = self.wanted
        if wanted is None:
            return places
        return tuple([place if place is not None and place in wanted else None for place in places])

    def delivered(self, targets: Sequence[Any], waiting: dict[Any, Gradient], ours: set[Any]) -> None:
        """Gradients were sent to `targets`: serve the leaves that have all of theirs."""
        expected = self.expected
        if expected is None:
            return
        for target in targets:
            if target in expected:
                expected[target] -= 1
                if expected[target] == 0 and target in waiting:
                    self.deliver(target, waiting.pop(target), target in ours, self.on_tensors)

    def arrived(self, node: Node, g: Gradient) -> Gradient:
        """The gradient of a node is complete. None: the walk does not go on from there."""
        hooks = node.hooks
        if self.wanted is not None:
            runs = self.wanted[node]
            if self.captured is not None and node in self.captured:
                self.found[node] = g if runs or hooks is None else hooks.arrived(node, g, self.on_tensors)
            if not runs:
                return None
        return g if hooks is None else hooks.arrived(node, g, self.on_tensors)

    def run(self, node: Node, g: Gradient, saved: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        """Run the rule of a node: where its results go, and the results."""
        hooks = node.hooks
        inputs = self.wanted_among(node.inputs)
        if hooks is not None:
            g = hooks.about_to_run(node, g, self.on_tensors)
            if g is None:
                return (), ()
            saved = hooks.unpacked(node, saved)
        if self.on_tensors:
            saved = saved_tensors(node, saved)
        if state.in_modes:
            results = run_rule_in_modes(rule_of, node, g, saved, inputs)
        else:
            results = rule_of(node, g, saved, inputs)
        return inputs, results if hooks is None else hooks.ran(node, results, g)


def rule_of(node: Node, g: Gradient, saved: Any, inputs: Any) -> Sequence[Any]:
    """The gradient rule of a node, at the bottom of all modes."""
    return node.op.backward(g, saved, inputs)


ORDINARY: Final = Special()  # for a node with hooks in a pass that is ordinary otherwise
