"""Random programs run with PyTorch and with leafgrad: the same values, flags, versions, gradients and refusals, step by
step, and the same second derivatives."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import example, given

import leafgrad
import random_programs as rp
from random_programs import Program, Step

STALE = "modified inplace"  # PyTorch looks at this before it looks at the arguments


@pytest.fixture(autouse=True, scope="module")
def quiet() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    torch.set_num_threads(threads)


def array(t: Any) -> Any:
    return None if t is None else np.asarray(t.detach().numpy())


def flag(function: Any) -> Any:
    try:
        return function()
    except RuntimeError as error:
        return str(error)[:60]


def facts(run: rp.Run) -> list[Any]:
    """What can be seen of each value."""
    return [
        {
            "shape": tuple(v.shape),
            "requires_grad": v.requires_grad,
            "is_leaf": flag(lambda v=v: v.is_leaf),
            "changes": v._version - born,
            "is a view": v._is_view(),
            "has a history": flag(lambda v=v: v.grad_fn is not None),
        }
        for v, born in zip(run.values, run.born, strict=True)
    ]


def outcome(module: Any, run: rp.Run, order: int) -> tuple[str | None, list[Any]]:
    """The error of the backward pass, or the gradients of all values."""
    try:
        loss = rp.loss_of(run.values, rp.usable(run.values))
        if order == 2:
            leaves = [v for v in run.leaves if v.requires_grad]
            gradients = module.autograd.grad(loss, leaves, create_graph=True, allow_unused=True) if leaves else ()
            terms = [(g * g).sum() for g in gradients if g is not None and g.requires_grad]
            loss = sum(terms, loss * 0)
        loss.backward()
    except RuntimeError as error:
        return str(error).split(": ")[0].split("\n")[0], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return None, [array(v.grad) for v in run.values]


def compare(program: Program, order: int = 1) -> None:
    start = program.start()
    theirs, ours = rp.run(torch, program, start), rp.run(leafgrad, program, start)
    for step, one, other, message in zip(program.steps, theirs.errors, ours.errors, theirs.messages, strict=True):
        same = one == other or (one is not None and other is not None and STALE in message)
        assert same, f"{step}: PyTorch {one} ({message}), leafgrad {other}"
    assert facts(ours) == facts(theirs)
    for number, (one, other) in enumerate(zip(theirs.values, ours.values, strict=True)):
        np.testing.assert_allclose(array(other), array(one), rtol=1e-9, atol=1e-12, err_msg=f"value {number}")
    if rp.size_of([array(v) for v in theirs.values]) > 1e4:
        return
    their_error, their_gradients = outcome(torch, theirs, order)
    our_error, our_gradients = outcome(leafgrad, ours, order)
    assert our_error == their_error or (our_error and their_error and STALE in their_error)
    for number, (one, other) in enumerate(zip(their_gradients, our_gradients, strict=True)):
        assert (one is None) == (other is None), f"gradient of value {number}"
        if one is not None:
            np.testing.assert_allclose(other, one, rtol=1e-7, atol=1e-9, err_msg=f"gradient of value {number}")


def program_of(shape: rp.Shape, *steps: tuple[Any, ...]) -> Program:
    return Program((shape,), (True,), (Step("sin", 0, 0, 0), *[Step(*step) for step in steps]))


@rp.examples(600)
@given(rp.programs(list(rp.ALL_OPS), may_cut=True, longest=14))
@example(program_of((2, 3), ("unbind", 1, 0, 0), ("fill_", 1, 0, 0), ("sin", 2, 0, 0)))
@example(program_of((2, 3), ("index", 1, 0, 2, False), ("add_", 2, 0, 0)))
@example(program_of((3, 3), ("t", 1, 0, 0), ("retain_grad", 2, 0, 0), ("sin_", 1, 0, 0)))
@example(program_of((3,), ("expand", 1, 0, 0), ("add_", 2, 0, 0)))
@example(program_of((2, 3), ("backward", 0, 0, 0), ("backward", 1, 0, 1), ("backward", 1, 0, 0), ("backward", 1, 0, 0)))
def test_the_same_program_does_the_same(program: Program) -> None:
    compare(program)


@rp.examples(500)
@given(rp.programs([*rp.VIEWS, *rp.IN_PLACE, "sin", "detach", "requires_grad_", "retain_grad"], may_cut=True))
@example(Program(((3,),), (False,), (Step("unsqueeze", 0, 0, 0), Step("index", 0, 0, 1), Step("add_", 2, 1, 0))))
def test_views_and_changes_do_the_same(program: Program) -> None:
    compare(program)


@rp.examples(300)
@given(rp.programs([*rp.SMOOTH, *rp.VIEWS, *rp.IN_PLACE, "relu", "abs", "max_dim", "prod", "detach"], may_cut=True))
@example(Program(((),), (True,), (Step("abs", 0, 0, 0), Step("mul_scalar", 1, 0, 0), Step("abs", 2, 0, 0))))
def test_second_derivatives_are_the_same(program: Program) -> None:
    compare(program, order=2)
