"""Graphs that are kept longer than they are needed."""

from __future__ import annotations

from leafgrad._explain.finding import Finding, Fix
from leafgrad._explain.growth import gradients_with_graphs, growing
from leafgrad._explain.quantities import memory, plural
from leafgrad._explain.rule import Rule
from leafgrad.errors.naming import Place

PASSES = (4, 12, 40, 120)  # after which the variables of the program are looked through


class GrowingGraph(Rule):
    """`total += loss` holds the graph of every step."""

    def after_backward(self) -> None:
        if self.situation.passes in PASSES:
            for one in growing():
                evidence = (
                    f"keeps the graphs of {plural(one.graphs, 'loss', 'losses')} alive ({memory(one.nbytes)}, about "
                    f"{memory(one.nbytes / one.graphs)} more a step), although their backward pass is over: "
                    f"{one.backward_at}"
                )
                place = one.grows_at or Place(one.name, "")
                self.report(Finding("growing graph", place, evidence, (Fix(one.fix, place),) if one.fix else ()))


class GradientsWithGraphs(Rule):
    """`backward(create_graph=True)` leaves gradients that hold the graph, and the leaf itself."""

    def end(self) -> None:
        leaves = [leaf for leaf in self.situation.reached_ever.values() if leaf._grad is not None]
        for one in gradients_with_graphs([(self.situation.name(leaf), leaf) for leaf in leaves])[:1]:
            evidence = (
                f"leaves a graph of {plural(one.nodes, 'operation')} ({memory(one.nbytes)}) behind {one.name}.grad, "
                f"which holds {one.name} in turn: neither is freed before that .grad is reset."
            )
            fix = Fix(f"{one.name}.grad = None   # when it has been used")
            self.report(Finding("gradient with a graph", self.situation.last_pass, evidence, (fix,)))
