"""`python -m leafgrad explain script.py`: what the gradients of a program do, without touching the program.

The program runs as it is. At its first backward() the explanation of the loss is printed and the picture of its graph
is written; silent mistakes are named as they are noticed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from leafgrad._core.node import Node
from leafgrad._core.reachable import reach
from leafgrad._core.recorder import edge
from leafgrad._core.tensor import TensorBase
from leafgrad._explain.check import Check
from leafgrad._explain.explanation import explain
from leafgrad._explain.graph import graph
from leafgrad.errors.naming import find, namespaces
from leafgrad.nn.modules.module import Module


class Observed(Check):
    """A check of a whole program, which also explains the first loss."""

    def __init__(self, picture: Path | None) -> None:
        super().__init__(None, None, None)
        self.picture = picture
        self.explained = False

    def run_pass(self, starts: Sequence[Any], delivers: bool, below: Callable[[], Any]) -> Any:
        if delivers and not self.explained and not self.quiet:
            self.explained = self.quiet = True
            try:
                self.explain_first(starts)
            finally:
                self.quiet = False
        return super().run_pass(starts, delivers, below)

    def explain_first(self, starts: Sequence[Any]) -> None:
        loss = self.situation.root
        if loss is None or edge(loss) is not starts[0]:
            loss = starts[0] if isinstance(starts[0], TensorBase) else result_of(starts[0])
        if loss is None:
            return
        model = self.situation.model = model_behind(starts)
        print(f"\n{explain(loss, model)}\n", file=sys.stderr, flush=True)
        if self.picture is not None:
            graph(loss, model).save(self.picture)
            print(f"the picture of its graph: {self.picture}\n", file=sys.stderr, flush=True)


def result_of(node: Node) -> TensorBase | None:
    """The tensor of the program that a node has made."""
    found = find(lambda t: t.node is node)
    return None if found is None else found.tensor


def model_behind(starts: Sequence[Any]) -> Module | None:
    """The module among the variables of the program that has most leaves of a loss; of several, the smallest."""
    leaves = {id(leaf) for leaf in reach(starts)[1]}
    found: list[tuple[int, int, Module]] = []
    for names in namespaces():
        for _, value in names:
            if isinstance(value, Module):
                parameters = list(value.parameters())
                count = sum([id(p) in leaves for p in parameters])
                found.append((count, -len(parameters), value))
    best = max(found, key=lambda one: one[:2], default=(0, 0, None))
    return best[2] if best[0] else None
