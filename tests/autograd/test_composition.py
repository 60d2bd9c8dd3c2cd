"""Operations that are one in leafgrad and several in PyTorch: what is shown of them, and what cannot be had."""

from __future__ import annotations

from typing import Any

import pytest

import leafgrad as torch
import leafgrad.nn.functional as F
from leafgrad.autograd.composition import Part, read
from leafgrad.ops.registry import entries, registry


def test_expressions() -> None:
    inputs = ("input", "weight", "bias")
    part = read("AddmmBackward0(bias, input, TBackward0(weight))", inputs)
    assert part == Part("AddmmBackward0", ((2, 0), (0, 0), (Part("TBackward0", ((1, 0),)), 0)))
    svd = Part("LinalgSvdBackward0", ((0, 0),))
    assert read("SumBackward1(LinalgSvdBackward0(input).1)", inputs) == Part("SumBackward1", ((svd, 1),))


def test_every_expression_can_be_read() -> None:
    entries()
    read_some = 0
    for operation in registry.values():
        for core in (operation.core, *operation.named.values(), operation.by_number):
            if isinstance(core.composition, tuple) and core.composition:
                assert read(*core.composition).name == core.node_name
                read_some += 1
    assert read_some > 20


def loss() -> Any:
    w = torch.ones(4, 3, requires_grad=True)
    return F.cross_entropy(F.linear(torch.ones(2, 3), w), torch.tensor([0, 1]))


@pytest.mark.parametrize(
    "use",
    [
        lambda node: node.register_hook(print),
        lambda node: node.register_prehook(print),
        lambda node: node(torch.ones(2, 4)),
        lambda node: torch.autograd.grad(loss(), torch.autograd.graph.GradientEdge(node, 0)),
    ],
)
def test_what_is_only_shown_says_so(use: Any) -> None:
    node = loss().grad_fn.next_functions[0][0]
    assert node.name() == type(node).__name__ == "LogSoftmaxBackward0" and repr(node).startswith("<LogSoftmaxBackward0")
    with pytest.raises(NotImplementedError, match="leafgrad computes `cross_entropy` in one step") as caught:
        use(node)
    assert "register_full_backward_hook" in str(caught.value) and "test_composition.py" in str(caught.value)


@pytest.mark.parametrize("use", [lambda node: node.register_hook(print), lambda node: node(torch.ones(()))])
def test_a_gradient_that_is_never_computed_is_not_given_to_hooks(use: Any) -> None:
    with pytest.raises(NotImplementedError, match="passes its gradient on to ViewAsRealBackward0"):
        use(torch.ones((), dtype=torch.cfloat, requires_grad=True).real.grad_fn)


def test_the_outermost_node_of_a_loss_can_be_called() -> None:
    gradient = loss().grad_fn(torch.ones(()))
    assert gradient.tolist() == [[-0.5, 0.0, 0.0, 0.0], [0.0, -0.5, 0.0, 0.0]]


def test_a_hook_of_a_loss_cannot_replace_the_gradient_in_between() -> None:
    found = loss()
    found.grad_fn.register_hook(lambda inner, outer: (inner[0] * 2,))
    with pytest.raises(NotImplementedError, match="A hook has replaced the gradient that NllLossBackward0 passes on"):
        found.backward()


def test_the_hook_before_the_node_works() -> None:
    w = torch.ones(4, 3, requires_grad=True)
    found = F.cross_entropy(F.linear(torch.ones(2, 3), w), torch.tensor([0, 1]))
    seen: list[Any] = []
    found.grad_fn.register_prehook(seen.append)
    found.backward()
    assert [g.item() for (g,) in seen] == [1.0] and w.grad is not None


def test_a_gradient_in_between_cannot_be_replaced_where_nothing_is_computed_from_it() -> None:
    result = F.linear(torch.ones(2, 2, 3), torch.ones(4, 3, requires_grad=True))
    assert result.grad_fn.next_functions[0][0].name() == "MmBackward0"
    result.grad_fn.register_hook(lambda inner, outer: (inner[0] * 2,))
    with pytest.raises(NotImplementedError, match="A hook has replaced the gradient"):
        result.sum().backward()


def test_inner_nodes_keep_their_graph_alive_and_nothing_else() -> None:
    x = torch.ones(3, requires_grad=True)
    inner = (x * 1).view(1, 3)[0, 1:].grad_fn.next_functions[0][0]
    assert [inner.name(), inner.next_functions[0][0].name()] == ["SelectBackward0", "ViewBackward0"]
    assert inner.origin[0] == __file__ and inner._sequence_nr() > 0 and not hasattr(inner, "_saved_self")


def test_steps_that_are_not_shown_are_counted_in_gradients() -> None:
    x, y = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    result = torch.add(x, y, alpha=2)
    assert [node.variable is leaf for (node, _), leaf in zip(result.grad_fn.next_functions, (x, y))] == [True, True]
    result.sum().backward()
    assert y.grad.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("shapes", [((3,), (3, 2)), ((2, 2, 3), (3, 2)), ((2, 3), (3,))])
def test_a_factor_that_was_detached_in_place(shapes: tuple[tuple[int, ...], ...]) -> None:
    x, y = [torch.ones(shape, requires_grad=True) * 1 for shape in shapes]
    product = x @ y
    y.detach_()
    with pytest.raises(RuntimeError, match="detached in-place"):
        product.sum().backward()
