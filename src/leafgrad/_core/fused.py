"""Fused kernels in rules that run on tensors.

A backward pass runs on tensors if its gradients are to be differentiated again, and then the steps of a kernel are
recorded one by one. It also does if a mode observes it; then a kernel is run as it would be without the observer, as
one operation, so that observing changes no bit of a result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad._core.bind import execute
from leafgrad._core.op import GradientRules, Op, unread
from leafgrad._core.tensor import TensorBase, as_array, is_batched, wrap
from leafgrad._core.thread_state import state

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


def is_operand(value: Any) -> bool:
    return value is None or isinstance(value, np.ndarray)


def wrapped(out: Any) -> Any:
    return None if out is None else wrap(as_array(out))
