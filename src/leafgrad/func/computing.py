"""How an operation is computed where one of its arrays holds many samples.

In this order: a rule for the operation in `op_rules`; the kernel itself, which NumPy runs on all samples at once if it
is told how (`batched`, `numpy_rules`); and where that does not work, the kernel once for each sample.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad import _core
from leafgrad._core import TensorBase, wrap
from leafgrad.autograd.graph import Node, Op
from leafgrad.func import batched as b
from leafgrad.func import op_rules
from leafgrad.func.batched import BatchedArray, PerSample
from leafgrad.func.messages import SLOW

# Kernels that go sample by sample however one writes them, or where nobody would notice: no warning for these.
QUIET = frozenset(["nonzero", "masked_select"])


def compute(op: Op, arrays: Sequence[Any], options: tuple[Any, ...]) -> Any:
    """`op.forward(*arrays, *options)` for arrays of which some may be batched."""
    level = max(b.highest(tuple(arrays)), b.highest(options))
    if not level or op.name in ("enter_map", "leave_map"):
        return op.forward(*arrays, *options)
    rule = op_rules.RULES.get(op.name)
    if rule is not None:
        out = rule(op, level, tuple(arrays), options)
        if out is not op_rules.NO_RULE:
            return out
    try:
        return op.forward(*arrays, *options)
    except PerSample:
        return sample_by_sample(op, arrays, options)


op_rules.compute = compute


def sample_by_sample(op: Op, arrays: Sequence[Any], options: tuple[Any, ...]) -> Any:
    if op.name not in QUIET:
        warnings.warn(SLOW.format(name=op.name), UserWarning, stacklevel=3)
    try:
        return b.by_sample(lambda *args: compute(op, args[: len(arrays)], args[len(arrays) :]), (*arrays, *options), {})
    except ValueError as error:
        if "same shape" in str(error):  # of np.stack
            raise RuntimeError(op_rules.dynamic(op.name)) from None
        raise


# -- gradients --------------------------------------------------------------------------------------------------------


def settle_levels(node: Node, gradients: Sequence[Any], inputs: Sequence[Any]) -> Sequence[Any]:
    """An input that was the same for all samples gets the sum of the gradients of the samples."""
    levels = b.levels_of(node.dtype)
    if not levels or node.op.name == "enter_map":
        return gradients
    settled = list(gradients)
    for i, (g, source) in enumerate(zip(gradients, inputs, strict=False)):
        if g is None or source is None:
            continue
        kept = b.levels_of(source.dtype if isinstance(source, Node) else source.array.dtype)
        for level, size in levels:
            if not any([level == k for k, _ in kept]):
                g = total_of_samples(g, level, size)
        settled[i] = g
    return settled


def total_of_samples(g: Any, level: int, size: int) -> Any:
    """The sum over the samples of a level, of a gradient that is a tensor."""
    if any([level == k for k, _ in b.levels_of(g.array.dtype)]):
        from leafgrad.func.entering import leave

        return leave(g, 0, level).sum(0)
    return g * size


def as_tensor(g: Any) -> Any:
    """A gradient of the engine, wherever it is kept, as a tensor."""
    if isinstance(g, list):
        return [as_tensor(one) for one in g]
    return g if g is None or isinstance(g, TensorBase) else wrap(g)


def install() -> None:
    """From now on the recorder knows of batched arrays."""
    late = _core.late
    late.batched_array = BatchedArray
    late.settle_levels = settle_levels
    late.batched = compute


def is_batched(t: Any) -> bool:
    return isinstance(t, TensorBase) and t.array.__class__ is BatchedArray


def clean(array: Any) -> Any:
    """An array on its way out of all maps, under NumPy's own dtype object."""
    return b.unmarked(array) if array.__class__ is np.ndarray else array
