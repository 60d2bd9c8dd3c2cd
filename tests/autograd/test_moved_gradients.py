"""When the gradient of a leaf is the very memory that arrived, and which gradients belong to a leaf that was given
other memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import leafgrad as lg
from leafgrad.autograd import Function, graph


def passing(keep: list[Any]) -> Callable[[Any], Any]:
    """A Function that passes its gradient on, and tells where that lies."""

    class Pass(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            keep.append(g.data_ptr())
            return g

    return Pass.apply


@pytest.fixture(params=[False, True], ids=["no hooks", "after a leaf had a hook"])
def hooks(request: Any) -> None:
    if request.param:  # which changes when leaves are served
        lg.ones(1, requires_grad=True).register_hook(lambda g: None)


@pytest.mark.usefixtures("hooks")
def test_what_a_function_passes_on_is_moved() -> None:
    seen: list[int] = []
    x = lg.ones(2, 3, requires_grad=True)
    apply = passing(seen)
    (apply(apply(x)) * 2).sum().backward()
    assert x.grad is not None
    assert seen == [x.grad.data_ptr()] * 2


@pytest.mark.usefixtures("hooks")
def test_of_two_leaves_the_last_one_gets_it() -> None:
    seen: list[int] = []

    class Both(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x + y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.append(g.data_ptr())
            return g, g

    x, y = lg.ones(3, requires_grad=True), lg.ones(3, requires_grad=True)
    (Both.apply(x, y) * 2).sum().backward()
    assert x.grad is not None and y.grad is not None
    assert x.grad.data_ptr() != seen[0] == y.grad.data_ptr()
    x.grad.mul_(5)
    assert y.grad.tolist() == [2, 2, 2]


@pytest.mark.usefixtures("hooks")
def test_what_somebody_holds_is_copied() -> None:
    kept: list[Any] = []

    class Keep(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            kept.append(g)
            return g

    def kept_by_function(x: Any) -> Any:
        return Keep.apply(x) * 2

    def kept_by_hook(x: Any) -> Any:
        y = x.clone()
        y.register_hook(kept.append)
        return passing([])(y) * 2

    def kept_by_leaf_hook(x: Any) -> Any:
        x.register_hook(kept.append)
        return passing([])(x) * 2

    def retained(x: Any) -> Any:
        y = x.clone()
        y.retain_grad()
        kept.append(y)
        return passing([])(y) * 2

    for form in (kept_by_function, kept_by_hook, kept_by_leaf_hook, retained):
        kept.clear()
        x = lg.ones(3, requires_grad=True)
        form(x).sum().backward()
        held = kept[0].grad if form is retained else kept[0]
        assert x.grad is not None
        assert held.data_ptr() != x.grad.data_ptr(), form.__name__
    x, given = lg.ones(3, requires_grad=True), lg.ones(3)
    passing([])(x).backward(given)
    assert x.grad is not None
    assert x.grad.data_ptr() != given.data_ptr()


def test_a_gradient_that_passes_unchanged_is_the_tensor_that_was_given() -> None:
    x, given = lg.ones(3, requires_grad=True), lg.ones(3)
    for y in (x.clone(), passing([])(x)):
        assert lg.autograd.grad(y, x, given)[0] is given
    assert lg.autograd.grad(x * 1, x, given)[0] is not given


def test_a_leaf_with_other_memory_has_no_part_in_older_graphs() -> None:
    x = lg.rand(2, requires_grad=True)
    before = graph.get_gradient_edge(x)
    older = x.clone().sum()
    with lg.no_grad():
        x.set_(lg.rand(2))
    with pytest.raises(RuntimeError, match="not have been used in the graph"):
        lg.autograd.grad(older, x, retain_graph=True)
    assert lg.autograd.grad(older, x, allow_unused=True, retain_graph=True) == (None,)
    assert lg.autograd.grad(older, before)[0].tolist() == [1, 1]
    assert lg.autograd.grad((x * 2).sum(), x)[0].tolist() == [2, 2]
    assert graph.get_gradient_edge(x).node is not before.node
    x.data = lg.ones(2, dtype=lg.float64)
    assert lg.autograd.grad((x * 3).sum(), x)[0].tolist() == [3, 3]


def test_parameters_can_shrink_between_passes() -> None:
    p = lg.nn.Parameter(lg.ones(4))
    for size in (3, 2):
        with lg.no_grad():
            p.set_(p[1:])
            p.grad = None
        lg.cat((p, p)).sum().backward()
        assert p.grad is not None
        assert p.grad.tolist() == [2] * size


def test_leaves_of_another_dtype_are_told_apart_by_who_they_are() -> None:
    layer = lg.nn.Linear(3, 2).double()  # whose parameters have been given other memory
    x = lg.ones(4, 3, dtype=lg.float64, requires_grad=True)
    found = lg.autograd.grad(layer(x).pow(2).sum(), [x, *layer.parameters()])
    assert [g.shape for g in found] == [(4, 3), (2, 3), (2,)]
