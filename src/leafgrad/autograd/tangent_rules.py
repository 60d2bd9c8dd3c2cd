"""The derivatives of operations in forward mode: what an operation does to tangents, by the kind its block names.

"elementwise"   the rule for gradients, applied to the tangent: a diagonal matrix is its own transpose
"linear"        the operation itself, applied to the tangents
"product"       the operation itself, with the tangent of one factor in the place of that factor, for each of two
"transpose"     a gradient rule maps g to J^T g, which is linear in g; the gradient of *that* in direction t is J t
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core import engine
from leafgrad._core.bind import bind, bind_many
from leafgrad._core.op import NOTHING, OPTION, OUT, SHAPE, Op
from leafgrad._core.recorder import is_complex
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._core.thread_state import state
from leafgrad._core.unbroadcast import unbroadcast_tensor


def known_tangents(
    op: Op, primals: list[Any], given: list[Any], options: tuple[Any, ...], results: list[Any], nested: bool
) -> Sequence[Any]:
    """The derivative of the results of an operation in the direction of the given tangents (None: zero), if there is a
    rule. `nested`: have these or the primals tangents themselves?"""
    from leafgrad.ops.registry import registry

    operation = registry[op.name]
    kind = operation.jvp
    if not operation.differentiable:
        return [None] * len(results)
    complex_values = any([is_complex(t.array.dtype) for t in (*primals, *results) if t is not None])
    if kind == "linear":
        filled = [zeros_like(p) if t is None and p is not None else t for p, t in zip(primals, given, strict=True)]
        return [bind(op, tuple(filled), options)] if operation.results == 1 else bind_many(op, tuple(filled), options)
    if kind == "elementwise" and (operation.holomorphic or not complex_values):
        return [elementwise(op, primals, given, options, results)]
    if kind == "product" and (given[0] is not None or given[1] is not None):
        return [product(op, primals, given, options)]
    conjugated = op.conjugated if complex_values and op.conjugated else op
    return transposed(conjugated, primals, given, options, results, nested)


def zeros_like(t: Any) -> Any:
    return wrap(np.zeros_like(t.array, order="C"))  # inside vmap, for each sample


def values_for(op: Op, mask: int, primals: list[Any], options: tuple[Any, ...], results: list[Any]) -> tuple[Any, ...]:
    """The values that a node of the operation would have saved, as tensors."""
    values: list[Any] = []
    for place in op.plan(mask):
        if place >= SHAPE:
            values.append(primals[place - SHAPE].array.shape)
        elif place >= OPTION:
            values.append(options[place - OPTION])
        elif place == NOTHING:
            values.append(None)
        else:
            values.append(primals[place] if place >= 0 else results[OUT - place])
    return tuple(values)


def backward(op: Op, *args: Any) -> Any:
    """The gradient rule of an operation, also on tensors that hold many samples."""
    for mode in reversed(state.modes):
        if mode.batches:
            return mode.backward(op, *args)
    return op.backward(*args)


def elementwise(op: Op, primals: list[Any], given: list[Any], options: tuple[Any, ...], results: list[Any]) -> Any:
    """The sum, over the inputs, of what the gradient rule of each makes of its tangent."""
    total = None
    form = results[0].array
    hidden = op.gradient_rules().hidden
    for index, tangent in enumerate(given):
        if tangent is None or index in hidden:
            continue
        inputs = tuple([primals[i] if i == index else None for i in range(len(primals))])
        part = backward(op, tangent, values_for(op, 1 << index, primals, options, results), inputs)[index]
        if part is None:
            continue
        if part.array.shape != form.shape:
            part = part.expand(form.shape)
        if part.array.dtype != form.dtype:
            part = part._to_array_dtype(form.dtype)
        total = part if total is None else total + part
    return total


def product(op: Op, primals: list[Any], given: list[Any], options: tuple[Any, ...]) -> Any:
    """(ab)' = a'b + ab'. Tangents of further operands, which the operation adds to the product, are added once."""
    total = None
    for index in (0, 1):
        if given[index] is not None:
            added = given[2:] if total is None else [None] * len(given[2:])
            factors = (given[0], primals[1]) if index == 0 else (primals[0], given[1])
            part = bind(op, (*factors, *added), options)
            total = part if total is None else total + part
    return total


def transposed(
    op: Op, primals: list[Any], given: list[Any], options: tuple[Any, ...], results: list[Any], nested: bool
) -> Sequence[Any]:
    """The derivative from the gradient rule, J^T g: it is linear in g, and its gradient in direction t is J t."""
    mask = 0
    hidden = op.gradient_rules().hidden
    for i, tangent in enumerate(given):
        if tangent is not None and i not in hidden:
            mask |= 1 << i
    if not mask:
        return [None] * len(results)
    inputs = tuple([p if mask >> i & 1 else None for i, p in enumerate(primals)])
    record = bool(state.recording) and any([t is not None and t.needs_grad for t in (*primals, *given)])
    before = bool(state.recording)
    state.record(True)
    try:
        # not requires_grad_, which refuses to be called inside vmap, where a user cannot mean it
        places = [
            zeros_like(r)._set_requires_grad(True, errors.CREATED) if r.array.dtype.kind not in "biu" else None
            for r in results
        ]
        g: Any = places[0] if len(places) == 1 else list(places)
        rules = backward(op, g, values_for(op, mask, primals, options, results), inputs)
        found, weights = [], []
        for r, primal, tangent in zip(rules, primals, given, strict=True):
            if r is not None and tangent is not None and r.needs_grad:
                found.append(unbroadcast_tensor(r, primal.array.shape, primal.array.dtype))
                weights.append(tangent)
        wanted = [p for p in places if p is not None]
        on_tensors = record or nested
        starting = weights if on_tensors else [w.array for w in weights]
        arrived = engine.grad(found, starting, wanted, True, on_tensors) if found else [None] * len(wanted)
    finally:
        state.record(before)
    by_place = {id(p): a for p, a in zip(wanted, arrived, strict=True)}
    made = [None if p is None else by_place[id(p)] for p in places]
    return [
        zeros_like(r) if a is None and p is not None else a if a is None or isinstance(a, TensorBase) else wrap(a)
        for a, p, r in zip(made, places, results, strict=True)
    ]
