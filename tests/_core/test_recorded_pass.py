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


@pytest.mark.parametrize("name", ["cos", "log", "erf", "square"])
def test_what_a_recorded_pass_saves_again_must_not_change(name: str) -> None:
    x = lg.rand(3, requires_grad=True)
    y = x + 1
    (g,) = lg.autograd.grad(getattr(y, name)().sum(), x, create_graph=True)
    with lg.no_grad():
        y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        g.sum().backward()


def test_a_constant_of_a_recorded_pass_must_not_change() -> None:
    x, factor = lg.rand(3, requires_grad=True), lg.rand(3)
    (g,) = lg.autograd.grad((2 * x * factor).exp().sum(), x, create_graph=True)
    factor.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        g.sum().backward()


def test_a_hook_of_sgn_sees_the_part_of_the_second_derivative_that_pytorch_shows() -> None:
    x = lg.tensor(3 + 4j, dtype=lg.complex128, requires_grad=True)
    y = x.sgn()
    (g,) = lg.autograd.grad(lg.view_as_real(y).sum(), x, create_graph=True)
    seen: list[Any] = []
    y.register_hook(seen.append)
    lg.view_as_real(g).sum().backward()
    assert complex(seen[0]) == pytest.approx(-0.32 - 0.24j) and complex(x.grad) == pytest.approx(-0.01888 + 0.01216j)
