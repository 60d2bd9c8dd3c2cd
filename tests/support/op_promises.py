"""What operations promise beside right numbers: whose memory is whose, what is linear, what happens after a change.

Each check takes an operation and raises an AssertionError if it breaks the promise; test_op_checks.py shows that they
do so for operations that are broken on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from leafgrad._core.tensor import wrap
from leafgrad.ops.registry import Operation
from op_checks import (
    Case,
    Entry,
    Recorded,
    assert_close,
    cases,
    differentiable,
    gradients,
    inner,
    nodes_behind,
    overlap,
    raised_by_leafgrad,
    random_like,
    saved_arrays,
    tolerance,
    uses_of,
    wide,
)

DOUBLE = tolerance(np.dtype("float64"))
ERRORS = (RuntimeError, TypeError, NotImplementedError, ValueError)

# -- values -----------------------------------------------------------------------------------------------------------


def outputs_or_refusal(case: Case) -> list[Any] | None:
    """The results; None if the dtype is refused, which has to be leafgrad's decision and not an accident in NumPy."""
    try:
        return case.outputs()
    except ERRORS as error:
        assert raised_by_leafgrad(error), f"{case} fails inside: {error!r}"
        return None


def keeps_dtype(case: Case, found: Any) -> bool:
    """Has a result the dtype of the tensors, or complex numbers that of their parts? Not, if the sample names another
    dtype; and of half precision there are no complex numbers."""
    if any(case.fixed) or any([isinstance(value, lg.dtype) for value in case.apart[0]]):
        return True
    if "dtype" in case.entry.exempt:
        return True
    own = case.tensors[0].dtype.to_real()
    return bool(found.dtype.to_real() == own or (own.itemsize == 2 and found.is_complex()))


def check_narrow_dtype(entry: Entry, dtype: str, may_refuse: bool = False) -> None:
    """Values and gradients in a narrow dtype against those in double precision."""
    reference = "complex128" if dtype == "complex64" else "float64"
    for case, plain in zip(cases(entry, dtype), cases(entry, dtype), strict=True):
        outputs = outputs_or_refusal(case)
        if outputs is None:
            assert may_refuse, f"{case} is refused"
            continue
        plain.tensors = plain.casts(reference)
        for found, expected in zip(outputs, plain.outputs(), strict=True):
            assert found.array.dtype.kind in "biu" or keeps_dtype(case, found), case
            assert_close(found.array, expected.array, tolerance(found.array.dtype), case)
        leaves, cotangents = case.leaves(), random_like([t.array for t in differentiable(outputs)])
        found_gradients = gradients(case, leaves, [wrap(c) for c in cotangents])
        expected_gradients = gradients(plain, plain.leaves(), [wrap(wide(c)) for c in cotangents])
        for leaf, found, expected in zip(leaves, found_gradients, expected_gradients, strict=True):
            assert found.array.dtype == leaf.array.dtype, case
            assert_close(found.array, expected.array, tolerance(leaf.array.dtype), "gradient of", case)


def check_layout(entry: Entry, layout: str) -> None:
    """Values and gradients for tensors whose elements do not lie in memory one after the other."""
    for case, plain in zip(cases(entry, layout=layout), cases(entry, layout=layout), strict=True):
        plain.tensors = plain.casts("float64")
        for found, expected in zip(case.outputs(), plain.outputs(), strict=True):
            assert_close(found.array, expected.array, DOUBLE, case)  # sums may be taken in another order
        for found, expected in zip(gradients(case, case.leaves()), gradients(plain, plain.leaves()), strict=True):
            assert_close(found.array, expected.array, DOUBLE, "gradient of", case)


# -- memory -----------------------------------------------------------------------------------------------------------


def check_memory(entry: Entry, layout: str = "contiguous") -> None:
    """Inputs and given gradients stay as they are. The gradient of a leaf is its own, also after more was added."""
    for case in cases(entry, layout=layout):
        leaves, before = case.leaves(), [t.array.tobytes() for t in case.tensors]
        results = case.outputs()
        outputs = [t for t in results if t.requires_grad]
        if outputs:
            check_accumulation(case, leaves, results, outputs)
        assert [t.array.tobytes() for t in case.tensors] == before, f"{case} changes its input"
        assert [t._version for t in case.tensors] == [0] * len(before)


def check_accumulation(case: Case, leaves: list[Any], results: list[Any], outputs: list[Any]) -> None:
    cotangents = [wrap(c) for c in random_like([t.array for t in outputs])]
    given = [c.array.copy() for c in cotangents]
    others = [t.array for t in [*case.tensors, *results, *cotangents]] + saved_arrays(outputs)
    lg.autograd.backward(outputs, cotangents, retain_graph=True)
    assert_separate(case, leaves, others)
    once = [None if leaf.grad is None else leaf.grad.array.copy() for leaf in leaves]
    lg.autograd.backward(outputs, cotangents, retain_graph=True)
    lg.autograd.backward(outputs, cotangents)  # may reuse what nobody will need again
    assert_separate(case, leaves, others)
    for leaf, g in zip(leaves, once, strict=True):
        if g is not None:
            assert_close(leaf.grad.array, 3 * g, DOUBLE, "three times the gradient of", case)
    assert all([np.array_equal(c.array, g) for c, g in zip(cotangents, given, strict=True)]), f"{case} changes g"


def assert_separate(case: Case, leaves: list[Any], others: list[Any]) -> None:
    grads = [leaf.grad.array for leaf in leaves if leaf.grad is not None]
    for i, g in enumerate(grads):
        assert not any([overlap(g, x) for x in [*others, *grads[:i]]]), f"gradient {i} of {case} is not its own"


# -- rules ------------------------------------------------------------------------------------------------------------


def uses(operation: Operation) -> list[Recorded]:
    """How the samples use the rule: at least once, or there would be nothing to test. Some rules are for complex
    numbers only; where the recorder conjugates, it uses a twin of the rule, which is not looked at here."""
    found = [use for case in cases(operation) for use in uses_of(operation, case)]
    if not operation.holomorphic:
        taken = [case for case in cases(operation, "complex128") if outputs_or_refusal(case) is not None]
        found += [use for case in taken for use in uses_of(operation, case)]
    assert found, f"no sample of {operation.name} reaches its rule"
    return found


def given_again(g: Any, seed: int) -> Any:
    """Another gradient in the form of g: one array, or one for each of several results."""
    if isinstance(g, list):
        return [None if one is None else random_like([one], seed + i)[0] for i, one in enumerate(g)]
    return random_like([np.asarray(g)], seed)[0]


def each(g: Any) -> list[Any]:
    return g if isinstance(g, list) else [g]


def check_rule_memory(operation: Operation, recorded: list[Recorded]) -> None:
    """The engine adds to arrays that rules return, unless they are the gradient it gave them or a view of it."""
    for use in recorded:
        given = given_again(use.g, 7)
        before = [None if one is None else one.copy() for one in each(given)]
        results = [r for r in use.vjp(given) if r is not None]
        for i, r in enumerate(results):
            passed_on = any([overlap(r, one) for one in each(given)])
            kept = any([overlap(r, v) for v in [*use.saved, *use.arrays]])
            assert not kept, f"{operation.name} returns a saved array"
            assert passed_on or not any([overlap(r, s) for s in results[:i]]), (
                f"{operation.name} returns one array twice"
            )
        same = [a is None or np.array_equal(a, b) for a, b in zip(before, each(given), strict=True)]
        assert all(same), f"{operation.name} changes g"


def check_linearity(operation: Operation, recorded: list[Recorded]) -> None:
    """A rule is linear in the gradient. Those without dimensions come as NumPy scalars, as they do from the engine."""
    for use in recorded:
        one, two = given_again(use.g, 8), given_again(use.g, 9)
        both = [None if a is None else 2.0 * a - 3.0 * b for a, b in zip(each(one), each(two), strict=True)]
        third = use.fitted(both if isinstance(one, list) else both[0])
        for a, b, c in zip(use.fitted(one), use.fitted(two), third, strict=True):
            if a is not None:
                assert_close(np.asarray(c), np.asarray(2.0 * a - 3.0 * b), DOUBLE, operation.name)


def check_forward_derivative(operation: Operation, recorded: list[Recorded]) -> None:
    """<change of the result, c> = <change of the inputs, rule(c)> for any changes and any c."""
    for use in recorded:
        tangents = [
            None if edge is None else random_like([x], i)[0]
            for i, (x, edge) in enumerate(zip(use.arrays, use.edges, strict=True))
        ]
        c = given_again(use.g, 10)
        changes = tangent_of_result(operation, use, tangents)
        forward = [inner(a, b) for a, b in zip(each(c), changes, strict=True) if a is not None]
        backward = [inner(r, t) for r, t in zip(use.fitted(c), tangents, strict=True) if r is not None]
        assert_close(np.asarray(sum(forward)), np.asarray(sum(backward)), DOUBLE, operation.name)


def tangent_of_result(operation: Operation, use: Recorded, tangents: Sequence[Any]) -> list[Any]:
    """How the result changes with the inputs, by the kind of forward derivative that the operation claims to have."""
    if operation.jvp == "elementwise":
        shape = np.shape(use.g)
        total = np.zeros(shape)
        for i, t in enumerate(tangents):
            if t is not None:
                total = total + use.vjp(np.broadcast_to(t, shape))[i]
        return [total]
    if operation.jvp == "product":
        still = [
            np.zeros_like(x) if t is None else t for x, t in zip(use.arrays, tangents, strict=True) if x is not None
        ]
        first, second = use.arrays[:2]
        added = still[2:] or [None] * len(use.arrays[2:])
        return [operation.kernel(still[0], second, *added) + operation.kernel(first, still[1], *[None for _ in added])]
    assert operation.jvp == "linear"
    # what does not change has no tangent, which is a zero; but indices and masks stay what they are
    still = [x if x is None or x.dtype.kind in "biu" else np.zeros_like(x) for x in use.arrays]
    moved = [x if t is None else t for x, t in zip(still, tangents, strict=True)]
    found = operation.kernel(*moved, *use.options)
    return list(found) if isinstance(found, (list, tuple)) else [found]


# -- changes after the call -------------------------------------------------------------------------------------------

Expectation = AbstractContextManager[Any]


def check_change(entry: Entry, otherwise: Callable[[], Expectation] | None = None) -> None:
    """A tensor of the call that is changed before backward makes it fail, or does not matter to the gradient; and it
    makes it fail only if a rule needs it (or, for `otherwise`, in all cases, with another error)."""
    for index, case in enumerate(cases(entry)):
        for place in range(len([*case.tensors, *case.outputs()])):
            again = cases(entry)[index]
            leaves, results = again.leaves(), again.outputs()
            roots = [t for t in differentiable(results) if t.requires_grad]
            target = [*again.tensors, *results][place]
            if not roots or target.numel() == 0:
                continue
            cotangents = [wrap(c) for c in random_like([t.array for t in roots])]
            expected = lg.autograd.grad(roots, leaves, cotangents, retain_graph=True, materialize_grads=True)
            noticed = any([target.version is v for v in versions_of(roots)])
            assert noticed or not any([overlap(target.array, x) for x in saved_arrays(roots)]), f"{again}: unprotected"
            with lg.no_grad():
                target.zero_()
            if noticed or otherwise is not None:
                with pytest.raises(RuntimeError, match="modified by an inplace") if otherwise is None else otherwise():
                    lg.autograd.grad(roots, leaves, cotangents, materialize_grads=True)
            else:
                found = lg.autograd.grad(roots, leaves, cotangents, materialize_grads=True)
                for g, e in zip(found, expected, strict=True):
                    assert_close(g.array, e.array, DOUBLE, "gradient of", again, "after a change of", place)


def versions_of(roots: list[Any]) -> list[Any]:
    """The version counters that the graph behind these tensors looks at before it uses what it saved."""
    return [v for node in nodes_behind(roots) for v in (node.versions or ())[::2]]
