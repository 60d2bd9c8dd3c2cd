"""gradcheck and gradgradcheck of every operation: what a user would run to see whether leafgrad is right.

`test_ops_gradients.py` checks the same rules by means of its own; here the public functions do it, which checks them too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from leafgrad.autograd import gradcheck, gradgradcheck
from op_checks import Case, Entry, cases, differentiable, entries
from op_promises import outputs_or_refusal

# complex numbers made real say so, as PyTorch does; whether they should is the subject of other tests
pytestmark = pytest.mark.filterwarnings("ignore:Casting complex values to real")

# What is called a gradient but is none by design: rows that take no part in training, rows scaled by their frequency.
NO_DERIVATIVE = {"embedding": ("padding_idx", "scale_grad_by_freq")}
NO_SECOND_GRADIENT = {"polar": "is itself the gradient of the nuclear norm, which is differentiable twice"}


def differentiable_cases(entry: Entry) -> list[Case]:
    """The samples that have something to differentiate by: in double precision, and as complex numbers where the
    operation takes them."""
    left_out = NO_DERIVATIVE.get(entry.name, ())
    accepted = cases(entry) + [c for c in cases(entry, "complex128") if outputs_or_refusal(c) is not None]
    return [c for c in accepted if c.variable() and not set(left_out) & set(c.apart[1])]


def as_function(case: Case) -> Callable[..., Any]:
    """The call as a function of its variable tensors, which returns all results that are no integers."""

    def function(*variables: Any) -> Any:
        tensors = list(case.tensors)
        for i, x in zip(case.variable(), variables, strict=True):
            tensors[i] = x
        return tuple(differentiable(case.outputs(tensors)))

    return function


candidates = [e for e in entries() if getattr(e, "differentiable", True)]
checked = [e for e in candidates if any([c.variable() for c in cases(e)])]
every_op = pytest.mark.parametrize("entry", checked, ids=lambda entry: entry.name)


def test_hardly_an_operation_is_left_out() -> None:
    names = {e.name for e in checked}
    assert {"mul", "matmul", "exp", "where", "cat", "index", "softmax", "var"} <= names
    assert len(names) > 0.8 * len(candidates)


@every_op
def test_gradcheck(entry: Entry) -> None:
    for case in differentiable_cases(entry):
        function, leaves = as_function(case), case.leaves()
        assert gradcheck(function, leaves), case
        assert gradcheck(function, leaves, fast_mode=True), case


@every_op
def test_gradgradcheck(entry: Entry) -> None:
    for case in differentiable_cases(entry) if entry.name not in NO_SECOND_GRADIENT else []:
        if any([o.requires_grad for o in as_function(case)(*case.leaves())]):
            assert gradgradcheck(as_function(case), case.leaves()), case
