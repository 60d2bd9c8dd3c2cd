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

from leafgrad import errors
from leafgrad._core.modes import Below, Mode, Rule, in_vmap
from leafgrad._core.node import Node
from leafgrad._core.op import Op
from leafgrad._core.tensor import TensorBase, links, wrap
from leafgrad.func import batched_array as b
from leafgrad.func import trees
from leafgrad.func.batched_array import BatchedArray
from leafgrad.func.batching_rules import KINDS, Batch
from leafgrad.func.level_marks import Levels, PerSample, levels_of
from leafgrad.func.levels import running_levels
from leafgrad.func.map_boundary import enter, enter_map, leave, share_in_map
from leafgrad.func.messages import SLOW
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


def compute(op: Op, arrays: Sequence[Any], options: tuple[Any, ...], below: Below, out: Any) -> Any:
    """What an operation makes of arrays of which some may be batched."""
    level = 0
    for array in arrays:
        if array.__class__ is BatchedArray and array.level > level:
            level = array.level
    for option in options:  # an index array may be among them
        kind = option.__class__
        if kind is BatchedArray or kind is tuple or kind is list:
            level = max(level, b.highest(option))
    if not level:
        return below(op, arrays, options, out)
    batch = Batch(op, level, arrays, options)
    rule = KINDS.get(op.vmap[0], op.vmap[0])
    if rule is not None:
        result = rule(batch, *arrays, *options)
        if result is not NotImplemented:
            return result
    try:
        return below(op, arrays, options, out)
    except PerSample:
        return sample_by_sample(batch)


def sample_by_sample(batch: Batch) -> Any:
    errors.warn(SLOW.format(name=batch.op.name))
    try:
        return batch.by_sample()
    except ValueError as error:
        if "same shape" in str(error):  # of np.stack
            raise batch.dynamic_shape() from None
        raise


# -- gradients --------------------------------------------------------------------------------------------------------


def settled(levels: Levels, gradients: Sequence[Any], inputs: Sequence[Any]) -> Sequence[Any]:
    """An input that was the same for all samples gets the sum of the gradients of the samples. Not so inside of the
    map itself: there each sample has a gradient of its own."""
    inside = running_levels()
    levels = tuple([pair for pair in levels if pair[0] not in inside])
    if not levels:
        return gradients
    result = list(gradients)
    for i, (g, source) in enumerate(zip(gradients, inputs, strict=False)):
        if g is None or source is None:
            continue
        kept = [level for level, _ in levels_of(source.shape if isinstance(source, Node) else source.array.shape)]
        for level, size in levels:
            if level not in kept:
                g = total_of_samples(g, level, size)
        result[i] = g
    return result


def total_of_samples(g: Any, level: int, size: int) -> Any:
    """The sum over the samples of a level, of a gradient that is a tensor."""
    if not isinstance(g, TensorBase):
        g = wrap(g)
    if b.size_at(g.array, level) is None:
        return g * size
    return leave(g, 0, level).sum(0)


def rule_by_sample(op: Op, g: Any, saved: tuple[Any, ...], inputs: tuple[Any, ...]) -> list[Any]:
    """A gradient rule that computes with what NumPy knows only of plain arrays, once for each sample."""
    errors.warn(SLOW.format(name=op.name + "_backward"))
    leaves, spec = trees.flatten((g, saved))
    arrays = [v.array if isinstance(v, TensorBase) else v for v in leaves]
    level = b.highest(arrays)
    size = b.size_at(arrays, level) or 0
    # Outside of the map the samples are the first dimension. So are those of tensors that have none, but may want a
    # gradient, which is to be one for each sample.
    outside: dict[int, Any] = {}
    for place, value in enumerate(leaves):
        if isinstance(value, TensorBase):
            own = value
            if value.needs_grad and b.size_at(value.array, level) is None:
                own = share_in_map(value, level, size)
            if b.size_at(own.array, level) is not None:
                outside[place] = leave(own, 0, level)
    each = []
    for i in range(size):
        samples = [outside[k][i] if k in outside else b.sample(v, i, level) for k, v in enumerate(leaves)]
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
