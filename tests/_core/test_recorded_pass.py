"""Passes that become a graph themselves, and those that return gradients: whose lines their nodes have, whose memory
they use."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest

import leafgrad as lg
from leafgrad._core import origin


class Square(lg.autograd.Function):
    line = 0

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        Square.line = sys._getframe().f_lineno + 1
        return g * 2 * x


def lines_behind(t: Any) -> set[int]:
    found, nodes = set(), [t.node]
    while nodes:
        node = nodes.pop()
        if node is not None and hasattr(node, "code"):
            file, line = origin.line_of(node.code, node.lasti)
            assert file == __file__
            found.add(line)
            nodes += node.inputs
    return found


def test_nodes_of_a_recorded_pass_have_the_line_that_asked_for_it_or_that_of_a_function() -> None:
    x = lg.rand(3, requires_grad=True)
    here = sys._getframe().f_lineno
    y = (x.exp() * x[:1]).sum()
    (slope,) = lg.autograd.grad(y, x, create_graph=True)
    assert lines_behind(slope) == {here + 1, here + 2}
    here = sys._getframe().f_lineno
    y = Square.apply(x.exp()).sum()
    (slope,) = lg.autograd.grad(y, x, create_graph=True)
    assert lines_behind(slope) == {here + 1, here + 2, Square.line}
    here = sys._getframe().f_lineno
    assert lines_behind(x.exp()) == {here + 1}


def test_a_thread_beside_a_recorded_pass_has_lines_of_its_own() -> None:
    """A hook of the pass runs an operation in another thread while the pass is under way."""
    x, found = lg.rand(3, requires_grad=True), []

    def elsewhere() -> None:
        found.append(lines_behind(x.cos()))

    def hook(*args: Any) -> None:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()

    y = x.exp()
    y.grad_fn.register_hook(hook)
    lg.autograd.grad(y.sin().sum(), x, create_graph=True)
    assert found == [{elsewhere.__code__.co_firstlineno + 1}]


def test_rules_that_fail_leave_no_line_behind() -> None:
    x = lg.rand(3, requires_grad=True)
    y = x.exp()
    with pytest.raises(RuntimeError):
        lg.autograd.grad(y, x, lg.rand(4), create_graph=True)
    here = sys._getframe().f_lineno
    assert origin.recorded_pass.rule is None and lines_behind(x.cos()) == {here + 1}


@pytest.mark.parametrize("size", [3, 100_000])
@pytest.mark.parametrize("keep", [False, True])
def test_a_pass_to_all_leaves_leaves_given_gradients_and_values_alone(size: int, keep: bool) -> None:
    x, w = lg.rand(size, requires_grad=True), lg.rand(size, requires_grad=True)
    given = lg.rand(size)
    values = [t.detach().clone() for t in (x, w, given)]
    middle = (x * w).relu()
    y = (middle.tanh() + x).sigmoid()
    result = y.detach().clone()
    found = lg.autograd.grad(y, (x, w), given, retain_graph=keep)
    for t, before in zip((x, w, given), values, strict=True):
        assert lg.equal(t.detach(), before)
    assert lg.equal(y.detach(), result)
    y = (((x * w).relu()).tanh() + x).sigmoid()
    y.backward(given)
    for g, t in zip(found, (x, w), strict=True):
        assert lg.equal(g, t.grad)
