"""Every gradient rule: against central differences, to second order, for real and complex numbers, and as a rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from op_checks import (
    CONSTANT_ARGUMENTS,
    Case,
    Entry,
    Recorded,
    assert_close,
    cases,
    check_gradient,
    check_second_gradient,
    differentiable,
    entries,
    gradients,
    inner,
    overlap,
    raised_by_leafgrad,
    random_like,
    tolerance,
    uses_of,
)

from leafgrad.ops.registry import Operation, registry

every_op = pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
every_dtype = pytest.mark.parametrize("dtype", ["float64", "complex128"])
# complex numbers made real say so, as PyTorch does; whether they should is the subject of other tests
pytestmark = pytest.mark.filterwarnings("ignore:Casting complex values to real")

DOUBLE = tolerance(np.dtype("float64"))

# What is called a gradient but is none by design: rows that take no part in training, rows scaled by their frequency.
NO_DERIVATIVE = {"embedding": ("padding_idx", "scale_grad_by_freq")}

NO_SECOND_GRADIENT = {"polar": "is itself the gradient of the nuclear norm, which is differentiable twice"}


def accepted(entry: Entry, dtype: str) -> list[Case]:
    """The samples that can be computed in this dtype: all of them in double precision."""
    found = []
    for case in cases(entry, dtype):
        try:
            case.outputs()
        except (RuntimeError, TypeError, NotImplementedError) as error:
            assert dtype != "float64", f"{case}: {error}"
            assert raised_by_leafgrad(error), f"{case} fails inside: {error!r}"
        else:
            found.append(case)
    return found


@every_dtype
@every_op
def test_the_gradient_is_the_derivative(entry: Entry, dtype: str) -> None:
    for case in accepted(entry, dtype):
        if not set(NO_DERIVATIVE.get(entry.name, ())) & set(case.apart[1]):
            check_gradient(case)


@every_dtype
@every_op
def test_the_second_gradient_is_the_derivative_of_the_first(entry: Entry, dtype: str) -> None:
    for case in accepted(entry, dtype) if entry.name not in NO_SECOND_GRADIENT else []:
        check_second_gradient(case)


@every_dtype
@every_op
def test_a_recorded_backward_pass_computes_the_same(entry: Entry, dtype: str) -> None:
    for case in accepted(entry, dtype):
        leaves = case.leaves()
        for g, recorded in zip(gradients(case, leaves), gradients(case, leaves, create_graph=True), strict=True):
            assert g.array.dtype == recorded.array.dtype
            assert_close(g.array, recorded.array, DOUBLE, case)


@every_op
def test_results_want_a_gradient_if_and_only_if_there_is_one(entry: Entry) -> None:
    for case in cases(entry):
        leaves = case.leaves()
        expected = bool(leaves) and getattr(entry, "differentiable", True)
        for result in differentiable(case.outputs()):
            assert result.requires_grad == expected, case


@pytest.mark.parametrize("name", CONSTANT_ARGUMENTS)
def test_arguments_that_have_no_gradient_refuse_one(name: str) -> None:
    argument, _ = CONSTANT_ARGUMENTS[name]
    tried = 0
    for case in cases(registry[name]):
        for i in set(range(len(case.tensors))) - set(case.variable()):
            if case.tensors[i].array.dtype.kind == "f":
                case.tensors[i].requires_grad_()
                with pytest.raises(RuntimeError, match=f"not differentiable with respect to argument '{argument}'"):
                    case.outputs()
                tried += 1
    assert tried > 0


# -- what rules promise -----------------------------------------------------------------------------------------------

differentiable_ops = [o for o in registry.values() if o.differentiable and any([c.leaves() for c in cases(o)])]
every_rule = pytest.mark.parametrize("operation", differentiable_ops, ids=lambda operation: operation.name)


def uses(operation: Operation) -> list[Recorded]:
    """How the samples use the rule: at least once, or there would be nothing to test. Some rules are for complex
    numbers only; where the recorder conjugates, it uses a twin of the rule, which is not looked at here."""
    found = [use for case in cases(operation) for use in uses_of(operation, case)]
    if not operation.holomorphic:
        found += [use for case in accepted(operation, "complex128") for use in uses_of(operation, case)]
    assert found, f"no sample of {operation.name} reaches its rule"
    return found


def given_again(g: Any, seed: int) -> Any:
    """Another gradient in the form of g: one array, or one for each of several results."""
    if isinstance(g, list):
        return [None if one is None else random_like([one], seed + i)[0] for i, one in enumerate(g)]
    return random_like([np.asarray(g)], seed)[0]


def each(g: Any) -> list[Any]:
    return g if isinstance(g, list) else [g]


@every_rule
def test_a_rule_gives_away_only_its_own_memory(operation: Operation) -> None:
    """The engine adds to arrays that rules return, unless they are the gradient it gave them or a view of it."""
    for use in uses(operation):
        given = given_again(use.g, 7)
        before = [None if one is None else one.copy() for one in each(given)]
        results = [r for r in use.vjp(given) if r is not None]
        for i, r in enumerate(results):
            passed_on = any([overlap(r, one) for one in each(given)])
            assert not any([overlap(r, v) for v in [*use.saved, *use.arrays]]), f"{operation.name} returns a saved array"
            assert passed_on or not any([overlap(r, s) for s in results[:i]]), f"{operation.name} returns an array twice"
        assert all([a is None or np.array_equal(a, b) for a, b in zip(before, each(given), strict=True)])


@every_rule
def test_a_rule_is_linear_in_the_gradient(operation: Operation) -> None:
    for use in uses(operation):
        one, two = given_again(use.g, 8), given_again(use.g, 9)
        both = [None if a is None else 2.0 * a - 3.0 * b for a, b in zip(each(one), each(two), strict=True)]
        parts = zip(use.fitted(one), use.fitted(two), use.fitted(both if isinstance(one, list) else both[0]), strict=True)
        for a, b, c in parts:
            if a is not None:
                assert_close(np.asarray(c), np.asarray(2.0 * a - 3.0 * b), DOUBLE, operation.name)


def tangent_of_result(operation: Operation, use: Recorded, tangents: list[Any]) -> list[Any]:
    """How the result changes with the inputs, by the kind of forward derivative that the operation claims to have."""
    if operation.jvp == "elementwise":
        shape = np.shape(use.g)
        total = np.zeros(shape)
        for i, t in enumerate(tangents):
            if t is not None:
                total = total + use.vjp(np.broadcast_to(t, shape))[i]
        return [total]
    # what does not change has no tangent, which is a zero; but indices and masks stay what they are
    still = [x if x is None or x.dtype.kind in "biu" else np.zeros_like(x) for x in use.arrays]
    moved = [x if t is None else t for x, t in zip(still, tangents, strict=True)]
    found = operation.forward(*moved, *use.options)
    return list(found) if isinstance(found, (list, tuple)) else [found]


@pytest.mark.parametrize(
    "operation", [o for o in differentiable_ops if o.jvp != "transpose"], ids=lambda operation: operation.name
)
def test_the_forward_derivative_is_of_the_kind_it_claims_to_be(operation: Operation) -> None:
    """<change of the result, c> = <change of the inputs, rule(c)> for any changes and any c."""
    assert operation.jvp in ("elementwise", "linear")
    for use in uses(operation):
        tangents = [None if e is None else random_like([x], i)[0] for i, (x, e) in enumerate(zip(use.arrays, use.edges))]
        c = given_again(use.g, 10)
        forward = [inner(a, b) for a, b in zip(each(c), tangent_of_result(operation, use, tangents)) if a is not None]
        backward = [inner(r, t) for r, t in zip(use.fitted(c), tangents, strict=True) if r is not None and t is not None]
        assert_close(np.asarray(sum(forward)), np.asarray(sum(backward)), DOUBLE, operation.name)
