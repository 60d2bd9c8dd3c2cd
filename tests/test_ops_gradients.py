"""Every gradient rule: against central differences, to second order, for real and complex numbers, and as a rule."""

from __future__ import annotations

import pytest

from leafgrad.ops.registry import Operation, registry
from op_checks import (
    CONSTANT_ARGUMENTS,
    Case,
    Entry,
    assert_close,
    cases,
    check_gradient,
    check_second_gradient,
    differentiable,
    entries,
    gradients,
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

# What is called a gradient but is none by design: rows that take no part in training, rows scaled by their frequency.
NO_DERIVATIVE = {"embedding": ("padding_idx", "scale_grad_by_freq")}

NO_SECOND_GRADIENT = {"polar": "is itself the gradient of the nuclear norm, which is differentiable twice"}


def accepted(entry: Entry) -> list[Case]:
    """All samples in double precision, and those that can be computed with complex numbers."""
    for case in (real := cases(entry)):
        assert outputs_or_refusal(case) is not None, f"{case} is refused"
    return real + [case for case in cases(entry, "complex128") if outputs_or_refusal(case) is not None]


@every_op
def test_the_gradient_is_the_derivative(entry: Entry) -> None:
    for case in accepted(entry):
        if not set(NO_DERIVATIVE.get(entry.name, ())) & set(case.apart[1]):
            check_gradient(case)


@every_op
def test_the_second_gradient_is_the_derivative_of_the_first(entry: Entry) -> None:
    for case in accepted(entry) if entry.name not in NO_SECOND_GRADIENT else []:
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

differentiable_ops = [o for o in registry.values() if o.differentiable and any([c.variable() for c in cases(o)])]
every_rule = pytest.mark.parametrize("operation", differentiable_ops, ids=lambda operation: operation.name)


@every_rule
def test_a_rule_keeps_its_promises(operation: Operation) -> None:
    recorded = uses(operation)
    check_rule_memory(operation, recorded)
    check_linearity(operation, recorded)
    assert operation.jvp in ("elementwise", "linear", "transpose")
    if operation.jvp != "transpose":  # which says nothing more than that there is a rule
        check_forward_derivative(operation, recorded)
