"""gradcheck and gradgradcheck of every operation: what a user would run to see whether leafgrad is right.

`test_ops_gradients.py` checks the same rules by means of its own; here the public functions do it and are tested too.
"""

from __future__ import annotations

import pytest

from leafgrad.autograd import gradcheck, gradgradcheck
from op_checks import Entry
from registry_cases import as_function, candidates, checked, differentiable_cases

# complex numbers made real say so, as PyTorch does; whether they should is the subject of other tests
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Casting complex values to real")]

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
    for case in differentiable_cases(entry) if entry.derivatives >= 2 else []:
        if any([o.requires_grad for o in as_function(case)(*case.leaves())]):
            assert gradgradcheck(as_function(case), case.leaves()), case


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@every_op
def test_gradcheck_of_forward_mode_and_of_batches(entry: Entry) -> None:
    for case in differentiable_cases(entry):
        how = {"check_forward_ad": True, "check_batched_forward_grad": True, "check_batched_grad": True}
        assert gradcheck(as_function(case), case.leaves(), fast_mode=True, **how), case


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@every_op
def test_gradgradcheck_of_forward_mode_and_of_batches(entry: Entry) -> None:
    for case in differentiable_cases(entry) if entry.derivatives >= 2 else []:
        if any([o.requires_grad for o in as_function(case)(*case.leaves())]):
            how = {"check_fwd_over_rev": True, "check_batched_grad": True}
            assert gradgradcheck(as_function(case), case.leaves(), fast_mode=True, **how), case
