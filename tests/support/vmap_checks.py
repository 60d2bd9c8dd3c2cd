"""Every operation under vmap against a loop over the samples: values, gradients, one or all tensors mapped, nested."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import leafgrad as lg
from leafgrad._core.tensor import wrap
from leafgrad.func import jvp, vmap
from op_checks import Case, Entry, cases

SAMPLES = 3


def samples_of(entry: Entry) -> list[list[Case]]:
    """For each sample of an entry, the same call with SAMPLES different sets of numbers."""
    return [list(same) for same in zip(*[cases(entry, seed=seed) for seed in range(SAMPLES)], strict=True)]


def stacked(same: Sequence[Case], index: int, requires_grad: bool = False) -> Any:
    """The tensors of one argument of all calls, as one."""
    made: Any = wrap(np.stack([case.tensors[index].array for case in same]))
    return made.requires_grad_() if requires_grad else made


def choices(count: int) -> list[tuple[bool, ...]]:
    """Which tensors are mapped: all, or each one alone."""
    alone = [tuple([i == k for i in range(count)]) for k in range(count)] if count > 1 else []
    return [(True,) * count, *alone]


def check(same: Sequence[Case], gradients: bool) -> list[str]:
    """What is wrong with one call under vmap."""
    wrong = []
    for mapped in choices(len(same[0].tensors)):
        if not mapped:
            continue
        variable = [i for i in same[0].variable() if gradients]
        tensors = [
            stacked(same, i, i in variable) if is_mapped else leaf(same[0].tensors[i], i in variable)
            for i, is_mapped in enumerate(mapped)
        ]
        dims = tuple([0 if is_mapped else None for is_mapped in mapped])
        got = vmap(lambda *args, case=same[0]: tuple(outputs_of(case, args)), dims)(*tensors)
        other = [t.detach().clone().requires_grad_(t.requires_grad) for t in tensors]
        each = []
        for k in range(SAMPLES):
            each.append(outputs_of(same[0], [t[k].clone() if m else t for t, m in zip(other, mapped, strict=True)]))
        expected = [lg.stack(list(parts)) for parts in zip(*each, strict=True)]
        wrong += compare(f"{same[0]!r} mapped {mapped}", got, expected)
        if gradients:
            wrong += compare_gradients(f"{same[0]!r} mapped {mapped}", got, expected, tensors, other)
    return wrong


def check_nested(same: Sequence[Case]) -> list[str]:
    """What is wrong with one call under vmap under vmap: of 2 x 2 samples, all tensors mapped."""
    if not same[0].tensors:
        return []
    tensors = [grid(same, i) for i in range(len(same[0].tensors))]
    got = vmap(vmap(lambda *args: tuple(outputs_of(same[0], args))))(*tensors)
    rows = [[outputs_of(same[0], [t[i, k].clone() for t in tensors]) for k in range(2)] for i in range(2)]
    each = [[lg.stack([one[n] for one in row]) for row in rows] for n in range(len(rows[0][0]))]
    return compare(f"{same[0]!r} nested", got, [lg.stack(parts) for parts in each])


def check_tangents(same: Sequence[Case]) -> list[str]:
    """What is wrong with the tangents of one call, in a map or of a map."""
    variable = same[0].variable()
    if not variable:
        return []
    fixed = same[0].tensors

    def call(*chosen: Any) -> tuple[Any, ...]:
        tensors = list(fixed)
        for i, t in zip(variable, chosen, strict=True):
            tensors[i] = t
        return tuple([t for t in outputs_of(same[0], tensors) if t.is_floating_point() or t.is_complex()])

    if not same[0].entry.differentiable:
        return []
    values = tuple([stacked(same, i) for i in variable])
    if not call(*[v[0] for v in values]):  # results that have no tangents: indices, truth values
        return []
    tangents = tuple([wrap(np.cos(t.array * 7)) for t in values])
    inside = vmap(lambda *both: jvp(call, both[: len(values)], both[len(values) :])[1])(*values, *tangents)
    outside = jvp(lambda *chosen: vmap(call)(*chosen), values, tangents)[1]
    rows = [
        jvp(call, tuple([v[k].clone() for v in values]), tuple([t[k].clone() for t in tangents]))[1]
        for k in range(SAMPLES)
    ]
    expected = [lg.stack(list(parts)) for parts in zip(*rows, strict=True)]
    what = f"{same[0]!r} tangents"
    return compare(what + " in a map", inside, expected) + compare(what + " of a map", outside, expected)


def grid(same: Sequence[Case], index: int) -> Any:
    arrays = [case.tensors[index].array for case in same]
    return wrap(np.stack([arrays[0], arrays[1], arrays[2], arrays[0]]).reshape((2, 2, *arrays[0].shape)))


def leaf(t: Any, requires_grad: bool) -> Any:
    made: Any = wrap(t.array.copy())
    return made.requires_grad_() if requires_grad else made


def outputs_of(case: Case, tensors: Sequence[Any]) -> list[Any]:
    return case.outputs(tensors)


def compare(what: str, got: Sequence[Any], expected: Sequence[Any]) -> list[str]:
    if len(got) != len(expected):
        return [f"{what}: {len(got)} results instead of {len(expected)}"]
    wrong = []
    for i, (a, b) in enumerate(itertools.zip_longest(got, expected)):
        x, y = a.detach().numpy(), b.detach().numpy()
        if x.shape != y.shape or x.dtype != y.dtype:
            wrong.append(f"{what}, result {i}: {x.dtype} {x.shape} instead of {y.dtype} {y.shape}")
        elif x.dtype.kind == "b":
            if not np.array_equal(x, y):
                wrong.append(f"{what}, result {i}: {x} instead of {y}")
        elif not np.allclose(x, y, rtol=1e-10, atol=1e-10, equal_nan=True):
            wrong.append(f"{what}, result {i}:\n{x}\ninstead of\n{y}")
    return wrong


def compare_gradients(
    what: str, got: Sequence[Any], expected: Sequence[Any], tensors: Sequence[Any], other: Sequence[Any]
) -> list[str]:
    found = []
    for outputs, leaves in ((got, tensors), (expected, other)):
        wanted = [t for t in leaves if t.requires_grad]
        roots = [t for t in outputs if t.requires_grad]
        if not wanted or not roots:
            found.append([])
            continue
        rng = np.random.default_rng(0)
        weights = [wrap(rng.uniform(0.5, 1.5, tuple(t.shape)).astype(t.array.dtype)) for t in roots]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append([*lg.autograd.grad(roots, wanted, weights, allow_unused=True, materialize_grads=True)])
    return compare(what + ", gradients", *found)
