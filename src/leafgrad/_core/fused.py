"""Fused kernels in rules that run on tensors.

A backward pass runs on tensors if its gradients are to be differentiated again, and then the steps of a kernel are
recorded one by one. It also does if a mode observes it; then a kernel is run as it would be without the observer, as
one operation, so that observing changes no bit of a result.

Some kernels change many tensors in place, outside of any graph: change_together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad._core import origin
from leafgrad._core.bind import execute
from leafgrad._core.modes import switches
from leafgrad._core.op import GradientRules, Op, unread
from leafgrad._core.tensor import TensorBase, as_array, is_batched, wrap
from leafgrad._core.thread_state import state
from leafgrad.kernels.fused import in_place

_operations: dict[str, Op] = {}


def only_values(*tensors: TensorBase) -> bool:
    """Does nobody ask for more of these tensors than their values: is there no graph, no tangent and no batch?"""
    if state.recording or any([is_batched(t.array) for t in tensors]):
        return False
    return all([t.rare is None or t.rare.tangents is None for t in tensors])


def run_on_tensors(kernel: Any, function: Any, args: tuple[Any, ...]) -> Any:
    """What a kernel makes of arguments some of which are tensors."""
    if not only_values(*[a for a in args if isinstance(a, TensorBase)]):
        return function(*args)
    name = function.__name__
    if name not in _operations:
        _operations[name] = Op(name, "NotImplemented", kernel, GradientRules(unread, lambda mask: ()))
    values = [a.array if isinstance(a, TensorBase) else a for a in args]
    first = next((i for i, value in enumerate(values) if not is_operand(value)), len(values))
    out = execute(_operations[name], values[:first], tuple(values[first:]))
    return tuple([wrapped(each) for each in out]) if isinstance(out, tuple) else wrapped(out)


def change_together(kernel: Any, groups: Sequence[tuple[TensorBase, ...]], *options: float) -> Sequence[Any]:
    """Run a kernel that updates an array (kernels/fused/in_place.py) for many tensors, in one call: the first of each
    group changes. Returns the groups that were left alone, which the caller is to change one by one: those of other
    dtypes, shapes or layouts, and all if leafgrad was not compiled or if somebody sees operations."""
    native = getattr(kernel, "update", None)
    if native is None or not groups or (switches.modes and state.in_modes):
        return groups
    arrays = [t.array for group in groups for t in group]
    each = len(groups[0])
    if each > 1 and not all([t.array.shape == group[0].array.shape for group in groups for t in group]):
        return groups
    others = native(arrays, options, tuple(range(each)))
    frame = origin.user_frame()
    here, left_alone = (frame.f_code, frame.f_lasti), set(others)
    for number, group in enumerate(groups):
        if number not in left_alone:
            version = group[0].version
            version[0] += 1
            version[1] = here
    return [groups[number] for number in others]


def scale_together(tensors: Sequence[TensorBase], factor: float) -> list[TensorBase]:
    """Multiply tensors by a number. Returns those that were left alone."""
    return [t for (t,) in change_together(in_place.scaled, [(t,) for t in tensors], factor)]


def clip_together(tensors: Sequence[TensorBase], limit: float) -> list[TensorBase]:
    """Bring elements into [-limit, limit]. Returns the tensors that were left alone."""
    return [t for (t,) in change_together(in_place.clipped, [(t,) for t in tensors], limit)]


def is_operand(value: Any) -> bool:
    return value is None or isinstance(value, np.ndarray)


def wrapped(out: Any) -> Any:
    return None if out is None else wrap(as_array(out))
