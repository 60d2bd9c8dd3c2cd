"""What checkpointing saves and what it costs: python benchmarks/checkpoint.py

A stack of 24 MLP blocks, x + second(gate(first(x))), with and without a checkpoint around each. Memory is measured in
the graph: the bytes of all arrays that are kept for the backward pass, at the moments when they are the most, which are
the end of the forward pass and, with checkpoints, the end of each recomputation. Parameters and the input, which are
there anyway, are not counted.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import leafgrad as lg
from leafgrad import nn
from leafgrad._core.node import Node
from leafgrad._core.tensor import TensorBase
from leafgrad.autograd.function_saved import SavedTensor
from leafgrad.utils.checkpoint import checkpoint
from leafgrad.utils.recomputing import Frame, Holder

LAYERS = 24


class Block(nn.Module):
    """One MLP with a gate and a way around it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(width, 4 * width)
        self.second = nn.Linear(4 * width, width)

    def forward(self, x: Any) -> Any:
        hidden = self.first(x)
        return x + self.second(hidden * hidden.sigmoid())


class Stack(nn.Module):
    """Many blocks, checkpointed or not."""

    def __init__(self, width: int, checkpointed: bool, layers: int = LAYERS) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(width) for _ in range(layers)])
        self.checkpointed = checkpointed

    def forward(self, x: Any) -> Any:
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.checkpointed else block(x)
        return x


def owner(array: Any) -> Any:
    """The array that has the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def kept_by(root: Any, excluded: set[int]) -> int:
    """The bytes that a graph keeps for its backward pass: what nodes saved, what checkpoints keep of their inputs, and
    what these have recomputed."""
    found: dict[int, int] = {}

    def count(value: Any) -> None:
        if isinstance(value, TensorBase):
            value = value.array
        if isinstance(value, np.ndarray) and id(owner(value)) not in excluded:
            found[id(owner(value))] = owner(value).nbytes

    nodes: list[Any] = [root.node]
    seen: set[int] = set()
    while nodes:
        node = nodes.pop()
        if not isinstance(node, Node) or id(node) in seen:
            continue
        seen.add(id(node))
        nodes.extend(node.inputs)
        for value in node.saved if isinstance(node.saved, tuple) else ():
            count(value)
        for packed in node.hooks.packed.values() if node.hooks is not None else ():
            if isinstance(packed.form, Holder):
                frame = packed.form.frame
                for argument in frame.args:
                    if isinstance(argument, SavedTensor):
                        count(argument.leaf if argument.leaf is not None else argument.array)
                for values in frame.recomputed.values():
                    for value in values.values():
                        count(value)
            else:
                count(packed.form)
    return sum(found.values())


@contextmanager
def told_of_recomputations(callback: Any) -> Iterator[None]:
    """Calls `callback(values)` when a checkpoint has recomputed, before any of the values is used."""
    original = Frame.recompute

    def recompute(self: Frame) -> dict[int, Any]:
        values = original(self)
        callback(values)
        return values

    Frame.recompute = recompute  # type: ignore[method-assign]
    try:
        yield
    finally:
        Frame.recompute = original  # type: ignore[method-assign]


def peak_of_kept_bytes(model: Stack, x: Any) -> int:
    """The most that is kept at any time of one forward and backward pass."""
    excluded = {id(owner(p.array)) for p in model.parameters()} | {id(owner(x.array))}
    loss = model(x).sum()
    peak = kept_by(loss, excluded)

    def look(values: dict[int, Any]) -> None:
        nonlocal peak
        new = {id(owner(v.array)): owner(v.array).nbytes for v in values.values()}
        fresh = sum([size for place, size in new.items() if place not in excluded])
        peak = max(peak, kept_by(loss, excluded) + fresh)

    with told_of_recomputations(look):
        loss.backward()
    return peak


def seconds_of_a_step(model: Stack, x: Any, repeat: int) -> float:
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        model(x).sum().backward()
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--width", type=int, default=128)
    options.add_argument("--batch", type=int, default=256)
    options.add_argument("--repeat", type=int, default=5)
    chosen = options.parse_args()
    lg.manual_seed(0)
    x = lg.randn(chosen.batch, chosen.width)
    print(f"{LAYERS} blocks of width {chosen.width}, batch of {chosen.batch}")
    measured = []
    for checkpointed in (False, True):
        model = Stack(chosen.width, checkpointed)
        kept = peak_of_kept_bytes(model, x)
        took = seconds_of_a_step(model, x, chosen.repeat)
        measured.append((kept, took))
        name = "checkpointed" if checkpointed else "plain"
        print(f"{name:>14}: {kept / 2**20:8.1f} MiB kept at most, {took * 1e3:8.1f} ms a step")
    (kept, took), (less, longer) = measured
    print(f"{'ratio':>14}: {kept / less:8.1f} times less memory, {longer / took:5.2f} times the time")


if __name__ == "__main__":
    main()
