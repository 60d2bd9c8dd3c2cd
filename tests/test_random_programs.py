"""Random programs of arithmetic, views, in-place changes and reductions: their gradients are compared with differences
of the values that the same programs compute without recording."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import event, example, given

import leafgrad as lg
import random_programs as rp
from leafgrad.autograd import forward_ad
from leafgrad.autograd.graph import allow_mutation_on_saved_tensors, saved_tensors_hooks
from random_programs import Program, Step

pytestmark = pytest.mark.slow


def differences(program: Program, run: rp.Run, chosen: list[bool]) -> list[Any]:
    """The gradient of the loss by central differences, leaf by leaf."""

    def value(arrays: list[Any]) -> float:
        again = rp.run(lg, program, arrays, recorded=False, skip=run.errors)
        return float(rp.loss_of(again.values, chosen))

    step = 1e-6
    gradients = []
    start = program.start()
    for which, array in enumerate(start):
        result = np.zeros(array.shape)
        for place in np.ndindex(array.shape):
            ends = []
            for sign in (1, -1):
                moved = [a.copy() for a in start]
                moved[which][place] += sign * step
                ends.append(value(moved))
            result[place] = (ends[0] - ends[1]) / (2 * step)
        gradients.append(result)
    return gradients


def check(program: Program) -> str:
    """Run a program, compare its gradients, and say how it went."""
    run = rp.run(lg, program, program.start())
    chosen = rp.usable(run.values)
    if rp.size_of([v.detach().numpy() for v in run.values]) > 1e3:
        return "too large"
    loss = rp.loss_of(run.values, chosen)
    again = rp.run(lg, program, program.start(), recorded=False, skip=run.errors)
    for recorded, computed in zip(run.values, again.values, strict=True):
        np.testing.assert_array_equal(recorded.detach().numpy(), computed.numpy())
    try:
        loss.backward()
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)
        return "a saved value was changed"
    for leaf, expected in zip(run.leaves, differences(program, run, chosen)):
        found = np.zeros(leaf.shape) if leaf.grad is None else leaf.grad.numpy()
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5)
    return "compared"


@rp.examples(250)
@given(rp.programs([*rp.SMOOTH, *rp.VIEWS, *rp.IN_PLACE], may_cut=False))
@example(Program(((2, 3),), (True,), (Step("sin", 0, 0, 0), Step("t", 1, 0, 0), Step("mul_", 2, 1, 0))))
@example(Program(((3,),), (True,), (Step("mul_scalar", 0, 0, 0), Step("index", 1, 0, 4), Step("copy_", 2, 0, 0))))
def test_gradients_agree_with_differences(program: Program) -> None:
    event(check(program))


@rp.examples(150)
@given(rp.programs([*rp.VIEWS, *rp.IN_PLACE, "mul_scalar", "sin", "clone"], may_cut=False))
def test_gradients_through_views_and_changes_agree_with_differences(program: Program) -> None:
    event(check(program))


def tangent_of_loss(program: Program, run: rp.Run, chosen: list[bool], directions: list[Any]) -> float:
    """The derivative of the loss in the given directions, by forward mode."""

    def dual(number: int, leaf: Any) -> Any:
        return forward_ad.make_dual(leaf, lg.from_numpy(directions[number].copy()))

    with forward_ad.dual_level():
        again = rp.run(lg, program, program.start(), recorded=False, skip=run.errors, start=dual)
        tangent = forward_ad.unpack_dual(rp.loss_of(again.values, chosen)).tangent
        return 0.0 if tangent is None else float(tangent)


@rp.examples(250)
@given(rp.programs([*rp.SMOOTH, *rp.VIEWS, *rp.IN_PLACE], may_cut=False))
@example(Program(((3,),), (True,), (Step("add_scalar", 0, 0, 0), Step("add_", 1, 0, 0))))
def test_tangents_agree_with_gradients(program: Program) -> None:
    run = rp.run(lg, program, program.start())
    chosen = rp.usable(run.values)
    if rp.size_of([v.detach().numpy() for v in run.values]) > 1e3:
        return
    loss = rp.loss_of(run.values, chosen)
    numbers = np.random.RandomState(1)
    directions = [np.asarray(numbers.standard_normal(leaf.shape)) for leaf in run.leaves]
    try:
        loss.backward()
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)
        return
    wanted = [d if leaf.requires_grad else 0 * d for d, leaf in zip(directions, run.leaves, strict=True)]
    gradients = [np.zeros(leaf.shape) if leaf.grad is None else leaf.grad.numpy() for leaf in run.leaves]
    expected = sum(float((g * d).sum()) for g, d in zip(gradients, wanted, strict=True))
    assert tangent_of_loss(program, run, chosen, wanted) == pytest.approx(expected, rel=1e-7, abs=1e-7)


def gradients_of(program: Program) -> list[Any] | None:
    """The gradients of all leaves, or None where a saved value was changed."""
    run = rp.run(lg, program, program.start())
    if rp.size_of([v.detach().numpy() for v in run.values]) > 1e3:
        return None
    try:
        rp.loss_of(run.values, rp.usable(run.values)).backward()
    except RuntimeError:
        return None
    return [None if leaf.grad is None else leaf.grad.numpy() for leaf in run.leaves]


@rp.examples(250)
@given(rp.programs([*rp.SMOOTH, *rp.VIEWS, *rp.IN_PLACE], may_cut=False))
def test_copies_of_saved_values_serve_as_well(program: Program) -> None:
    expected = gradients_of(program)
    if expected is None:
        return
    with saved_tensors_hooks(lambda t: t.detach().numpy().copy(), lg.from_numpy):
        found = gradients_of(program)
    assert found is not None
    for ours, plain in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, plain)


@rp.examples(150)
@given(rp.programs([*rp.SMOOTH, *rp.VIEWS, *rp.IN_PLACE], may_cut=False))
@example(Program(((3,),), (True,), (Step("add", 0, 0, 0), Step("mul_", 1, 1, 0))))
def test_saved_values_may_be_changed_where_that_is_allowed(program: Program) -> None:
    """Inside allow_mutation_on_saved_tensors every program has gradients, and they agree with differences."""
    with allow_mutation_on_saved_tensors():
        run = rp.run(lg, program, program.start())
        if rp.size_of([v.detach().numpy() for v in run.values]) > 1e3:
            return
        chosen = rp.usable(run.values)
        rp.loss_of(run.values, chosen).backward()
    for leaf, expected in zip(run.leaves, differences(program, run, chosen), strict=False):
        found = np.zeros(leaf.shape) if leaf.grad is None else leaf.grad.numpy()
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5)


def works(name: str, shape: rp.Shape, k: int) -> bool:
    """Does an operation do something in this place, and is its gradient right?"""
    program = Program((shape, (3,)), (True, True), (Step("sin", 0, 0, 0), Step(name, 2, 1, k)))
    return rp.run(lg, program, program.start()).errors == [None, None] and check(program) == "compared"


@pytest.mark.parametrize("name", sorted([*rp.SMOOTH, *rp.VIEWS, *rp.IN_PLACE]))
def test_every_operation_of_the_programs_works_somewhere(name: str) -> None:
    """Otherwise the tests above would prove nothing about it."""
    assert any(works(name, shape, k) for shape in rp.SHAPES for k in range(12))


def test_steps_that_are_refused_leave_nothing_behind() -> None:
    program = Program(((2, 3),), (True,), (Step("add_", 0, 0, 0), Step("zero_", 0, 0, 0), Step("set_part", 0, 0, 2)))
    run = rp.run(lg, program, program.start())
    assert run.errors == ["RuntimeError"] * 3 and len(run.values) == 1 and run.values[0]._version == 0
    assert all("leaf Variable that requires grad is being used" in message for message in run.messages)
