"""How an operation is computed where one of its arrays holds many samples.

In this order: by the batching rule of the operation (`batching_rules`); by the kernel itself, which NumPy runs on all
samples at once if it is told how (`batched_array`, `numpy_rules`); and where that does not work, by the kernel once for
each sample.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad._core.bind import execute
from leafgrad._core.modes import Below, Mode, Rule, in_vmap
from leafgrad._core.node import Node
from leafgrad._core.op import Op
from leafgrad._core.tensor import TensorBase, links, wrap
from leafgrad._core.thread_state import state
from leafgrad.func import trees
from leafgrad.func.batched_array import sample
from leafgrad.func.batching_rules import compute
from leafgrad.func.level_marks import Levels, PerSample, levels_of
from leafgrad.func.levels import running_levels
from leafgrad.func.many_samples import highest, size_at
from leafgrad.func.map_boundary import enter, enter_map, leave, share_in_map
from leafgrad.func.messages import warn_slow
from leafgrad.ops.shape.join import stack


class Batching(Mode):
    """The mode that is on inside of a vmap, and while a backward pass goes through a graph that one left behind."""

    wants_tensors = True
    batches = True

    def execute(self, op: Op, arrays: Sequence[Any], options: tuple[Any, ...], out: Any, below: Below) -> Any:
        result = compute(op, arrays, options, below, out)
        if out is not None and result is not out:
            np.copyto(out, result, casting="unsafe")
            return out
        return result

    def run_rule(self, node: Node, g: Any, saved: Any, inputs: Any, below: Rule) -> Sequence[Any]:
        """The gradient rule of a node on tensors, some of which may be batched. `inputs` are those of the node, without
        those that the backward pass has no use for."""
        try:
            gradients = below(node, g, saved, inputs)
        except PerSample:
            gradients = rule_by_sample(node.op, g, saved, inputs)
        levels = levels_of(node.shape)
        if levels and node.op is not enter_map.core:
            return settled(levels, gradients, inputs)
        return gradients

    def backward(self, op: Op, g: Any, saved: tuple[Any, ...], inputs: tuple[Any, ...]) -> Sequence[Any]:
        """A gradient rule, for all samples at once or for one after the other."""
        try:
            return op.backward(g, saved, inputs)
        except PerSample:
            return rule_by_sample(op, g, saved, inputs)


links.batching = Batching()


def batching() -> contextlib.AbstractContextManager[Any]:
    """The mode for a vmap. One serves all levels, because an array says itself which ones it has."""
    return contextlib.nullcontext() if in_vmap() else Batching()


# -- gradients --------------------------------------------------------------------------------------------------------


def settled(levels: Levels, gradients: Sequence[Any], inputs: Sequence[Any]) -> Sequence[Any]:
    """An input that was the same for all samples gets the sum of the gradients of the samples. Not so inside of the
    map itself: there each sample has a gradient of its own."""
    inside = running_levels()
    ended = [pair for pair in levels if pair[0] not in inside]
    if not ended:
        return gradients
    result = list(gradients)
    for i, source in enumerate(inputs):
        if source is None or result[i] is None:
            continue
        kept = levels_of(source.shape if isinstance(source, Node) else source.array.shape)
        if kept == levels:
            continue
        for level, size in ended:
            if level not in [own for own, _ in kept]:
                result[i] = total_of_samples(result[i], level, size)
    return result


def total_of_samples(g: Any, level: int, size: int) -> Any:
    """The sum over the samples of a level, of a gradient that is a tensor."""
    if not isinstance(g, TensorBase):
        g = wrap(g)
    array = g.array
    if size_at(array, level) is None:
        return g * size
    if array.level == level and not state.recording and g.rare is None:
        return wrap(execute(links.sum_dim, (array.value,), ((0,), False)))  # what follows, without its views
    return leave(g, 0, level).sum(0)


def rule_by_sample(op: Op, g: Any, saved: tuple[Any, ...], inputs: tuple[Any, ...]) -> list[Any]:
    """A gradient rule that computes with what NumPy knows only of plain arrays, once for each sample."""
    warn_slow(op.name + "_backward")
    leaves, spec = trees.flatten((g, saved))
    arrays = [v.array if isinstance(v, TensorBase) else v for v in leaves]
    level = highest(arrays)
    size = size_at(arrays, level) or 0
    # Outside of the map the samples are the first dimension. So are those of tensors that have none, but may want a
    # gradient, which is to be one for each sample.
    outside: dict[int, Any] = {}
    for place, value in enumerate(leaves):
        if isinstance(value, TensorBase):
            own = value
            if value.needs_grad and size_at(value.array, level) is None:
                own = share_in_map(value, level, size)
            if size_at(own.array, level) is not None:
                outside[place] = leave(own, 0, level)
    each = []
    for i in range(size):
        samples = [outside[k][i] if k in outside else sample(v, i, level) for k, v in enumerate(leaves)]
        one, values = trees.unflatten(samples, spec)
        each.append(links.batching.backward(op, one, values, inputs))
    gradients: list[Any] = []
    for parts in zip(*each, strict=True):
        if parts[0] is None:
            gradients.append(None)
        else:
            joined = stack.function([p if isinstance(p, TensorBase) else wrap(p) for p in parts], 0)
            gradients.append(enter(joined, 0, level))
    return gradients
