"""Every operation returns what PyTorch returns, and has its gradients: compared with values that a file holds.

tests/support/op_values.py says what is in the file, tests/data/make_op_values.py writes it, with PyTorch installed, and
tests/torch/test_op_values_torch.py finds out whether it is up to date.
"""

from __future__ import annotations

import numpy as np
import pytest

from leafgrad.ops.registry import Composite, Operation, composites, registry
from op_checks import Entry, entries
from op_values import HINT, LEAFGRAD, check, check_replay, samples_of, stored, stored_values
from wrong_ops import WrongKernel, wrong_function, wrong_rule

# complex numbers made real say so, as PyTorch does; whether they should is the subject of other tests
pytestmark = pytest.mark.filterwarnings("ignore:Casting complex values to real")

every_op = pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)


@every_op
def test_results(entry: Entry) -> None:
    assert check(entry, "result") > 0
    check_replay(entry)


@every_op
def test_gradients(entry: Entry) -> None:
    check(entry, "gradient")


@every_op
def test_second_gradients(entry: Entry) -> None:
    check(entry, "second gradient")


def test_nothing_is_missing_in_the_file_and_nothing_left_over() -> None:
    assert stored_values().keys() == {entry.name for entry in entries()}, HINT


# -- the checks themselves: operations that are made wrong are found --------------------------------------------------


@pytest.mark.parametrize("operation", [*registry.values()], ids=lambda operation: operation.name)
def test_a_kernel_that_returns_something_else_is_found(operation: Operation) -> None:
    """By the results alone: the gradient of a wrong function may be right for that function."""
    with WrongKernel(operation.name), pytest.raises(AssertionError, match=r"result \d+ of"):
        check(operation, "result")
        check_replay(operation)
        check(operation, "gradient")  # for kernels that run only where something is recorded


@pytest.mark.parametrize("composite", [*composites.values()], ids=lambda composite: composite.name)
def test_a_function_that_returns_something_else_is_found(composite: Composite) -> None:
    with wrong_function(composite), pytest.raises(AssertionError):
        check(composite, "result")


with_rule = [
    o
    for o in registry.values()
    if o.differentiable and o.derivatives and any([c.variable() for c in samples_of(o, "float64")])
]


@pytest.mark.parametrize("operation", with_rule, ids=lambda operation: operation.name)
def test_a_rule_that_returns_something_else_is_found(operation: Operation) -> None:
    wrong = wrong_rule(operation.name, lambda g: g * 1.01 + 0.015625)
    with pytest.raises(AssertionError, match=r"gradient \d+ of"):
        check(operation, "gradient", LEAFGRAD._replace(grad=wrong))


def has(operation: Operation, order: int) -> bool:
    """Are any of the derivatives of this order not zero?"""
    return any([np.any(g) for values in stored(operation.name, "float64") for g in (values and values[order]) or ()])


@pytest.mark.parametrize("operation", [o for o in with_rule if has(o, 2)], ids=lambda operation: operation.name)
def test_a_rule_that_leaves_the_graph_is_found(operation: Operation) -> None:
    wrong = wrong_rule(operation.name, lambda g: g.detach())
    with pytest.raises(AssertionError, match=r"second gradient \d+ of"):
        check(operation, "second gradient", LEAFGRAD._replace(grad=wrong))


def test_rules_without_a_second_gradient_have_none_or_return_zeros() -> None:
    for operation in with_rule:
        assert has(operation, 2) or operation.derivatives == 1 or not has(operation, 1), operation.name
