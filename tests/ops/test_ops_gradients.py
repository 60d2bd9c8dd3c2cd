"""Every gradient rule: against central differences, to second order, for real and complex numbers, and as a rule."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from leafgrad._core.held import is_free
from leafgrad._core.tensor import wrap
from leafgrad.ops.registry import Operation, registry
from op_checks import (
    Case,
    Entry,
    assert_close,
    cases,
    check_gradient,
    check_second_gradient,
    differentiable,
    entries,
    gradients,
    overlap,
)
from op_promises import (
    DOUBLE,
    check_forward_derivative,
    check_linearity,
    check_rule_memory,
    outputs_or_refusal,
    uses,
)

every_op = pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
# complex numbers made real say so, as PyTorch does; whether they should is the subject of other tests
pytestmark = pytest.mark.filterwarnings("ignore:Casting complex values to real")


def accepted(entry: Entry) -> list[Case]:
    """All samples in double precision, and those that can be computed with complex numbers."""
    for case in (real := cases(entry)):
        assert outputs_or_refusal(case) is not None, f"{case} is refused"
    return real + [case for case in cases(entry, "complex128") if outputs_or_refusal(case) is not None]


@every_op
def test_the_gradient_is_the_derivative(entry: Entry) -> None:
    for case in accepted(entry):
        if not set(entry.pseudo_gradient) & set(case.apart[1]):
            check_gradient(case)


@pytest.mark.slow
@every_op
def test_the_second_gradient_is_the_derivative_of_the_first(entry: Entry) -> None:
    for case in accepted(entry) if entry.derivatives >= 2 else []:
        check_second_gradient(case)


@every_op
def test_a_recorded_backward_pass_computes_the_same(entry: Entry) -> None:
    for case in accepted(entry):
        leaves = case.leaves()
        for g, recorded in zip(gradients(case, leaves), gradients(case, leaves, create_graph=True), strict=True):
            assert g.array.dtype == recorded.array.dtype
            assert_close(g.array, recorded.array, DOUBLE, case)


@every_op
def test_results_want_a_gradient_if_and_only_if_there_is_one(entry: Entry) -> None:
    for case in cases(entry):
        leaves = case.leaves()
        expected = bool(leaves) and entry.differentiable
        for i, result in enumerate(differentiable(case.outputs())):
            assert result.requires_grad == (expected and not (i == 0 and "first result" in entry.exempt)), case


with_constants = [e for e in entries() if e.constants and cases(e)]


@pytest.mark.parametrize("entry", with_constants, ids=lambda entry: entry.name)
def test_arguments_that_have_no_gradient_refuse_one(entry: Entry) -> None:
    arguments = "|".join(entry.constants)
    tried = 0
    for case in cases(entry):
        for i in set(range(len(case.tensors))) - set(case.variable()):
            if case.tensors[i].array.dtype.kind == "f":
                case.tensors[i].requires_grad_()
                with pytest.raises(RuntimeError, match=f"not differentiable with respect to argument '({arguments})'"):
                    case.outputs()
                case.tensors[i].requires_grad_(False)
                tried += 1
    assert tried > 0


# -- what rules promise -----------------------------------------------------------------------------------------------

differentiable_ops = [o for o in registry.values() if o.differentiable and any([c.variable() for c in cases(o)])]
every_rule = pytest.mark.parametrize("operation", differentiable_ops, ids=lambda operation: operation.name)


@every_rule
def test_a_rule_keeps_its_promises(operation: Operation) -> None:
    recorded = uses(operation)
    check_rule_memory(operation, recorded)
    check_linearity(operation, recorded)
    assert operation.jvp in ("elementwise", "linear", "product", "transpose")
    if operation.jvp != "transpose":  # which says nothing more than that there is a rule
        check_forward_derivative(operation, recorded)


# -- large arrays -----------------------------------------------------------------------------------------------------

# The engine adds to large gradients in place, and lets rules overwrite what nobody will need again.
LARGE = (96, 96)
plain = [
    o for o in differentiable_ops if not o.options and not o.variadic and not o.constants and o.jvp == "elementwise"
]
overwriting = [o for o in differentiable_ops if o.core.gradient_rules().vjp_in_place is not None]


def large_gradients(operation: Operation, times: int = 1, **how: bool) -> list[Any]:
    """Each input and result is used more than once, each is made by an operation of its own, and all are still held
    by somebody when the gradients are computed."""
    rng = np.random.default_rng(0)
    leaves = [wrap(rng.uniform(0.3, 0.9, LARGE)).requires_grad_() for _ in operation.inputs]
    copies = [leaf * 1.5 for leaf in leaves]
    one, two = operation.function(*copies), operation.function(*[t + 0.05 for t in copies])
    total = ((one * two).sum() + (one + two + copies[0] * one).sin().sum()) * wrap(np.asarray(0.5))
    held = [*leaves, *copies, one, two]
    before = [t.array.copy() for t in held]
    for _ in range(times):
        total.backward(**how)
    same = [np.array_equal(t.array, x, equal_nan=True) for t, x in zip(held, before, strict=True)]
    assert all(same), "a tensor was overwritten"
    assert not any([overlap(a.grad.array, b.grad.array) for a, b in itertools.combinations(leaves, 2)])
    return [leaf.grad.array for leaf in leaves]


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True")
@pytest.mark.parametrize("operation", {o.name: o for o in [*plain, *overwriting]}.values(), ids=lambda o: o.name)
def test_large_gradients_do_not_depend_on_who_keeps_the_graph(operation: Operation) -> None:
    used_up = large_gradients(operation)
    kept = large_gradients(operation, retain_graph=True)
    twice = large_gradients(operation, times=2, retain_graph=True)
    recorded = large_gradients(operation, create_graph=True)
    for a, b, c, d in zip(used_up, kept, twice, recorded, strict=True):
        assert_close(a, b, DOUBLE, operation.name)
        assert_close(c, 2 * b, DOUBLE, operation.name)
        assert_close(d, b, DOUBLE, operation.name)


def test_operations_that_overwrite_are_among_them() -> None:
    assert {"mul"} <= {o.name for o in overwriting}


def test_memory_of_a_saved_array_is_free_if_nobody_else_holds_it() -> None:
    g = np.ones((200, 200))
    saved = (None, np.ones(3), np.ones((200, 200)))
    assert [is_free(saved, i, g) for i in range(3)] == [False, False, True]
    holder = saved[2]
    assert not is_free(saved, 2, g)
    others = (holder[:], np.ones((200, 200), np.float32))
    assert not is_free(others, 0, g) and not is_free(others, 1, g)
    assert not is_free((np.ones((9, 9)),), 0, np.ones((9, 9)))  # not worth it


def test_a_product_computes_its_gradients_in_memory_that_nobody_needs() -> None:
    rule = registry["mul"].core.gradient_rules().vjp_in_place
    assert rule is not None
    saved, edge = (np.full((200, 200), 2.0), np.full((200, 200), 3.0), None), object()
    place = saved[0].ctypes.data
    g = np.full((200, 200), 5.0)
    first, second = rule(g, saved, (edge, edge))
    assert first is g and second.ctypes.data == place and np.all(first == 15) and np.all(second == 10)
    held = np.full((200, 200), 2.0)
    first, second = rule(g, (held, saved[1], None), (edge, edge))
    assert second is not held and np.all(held == 2) and np.all(second == 30)


def test_a_product_by_a_constant_computes_its_gradient_in_that_of_its_result() -> None:
    rule = registry["mul"].core.gradient_rules().vjp_in_place
    assert rule is not None
    x, edge = np.full(300, 3.0), object()
    g = np.full(300, 2.0)
    first, second = rule(g, (None, x, None), (edge, None))
    assert first is g and second is None and np.all(g == 6)
    first, second = rule(g, (x, None, None), (None, edge))
    assert first is None and second is g and np.all(g == 18)
