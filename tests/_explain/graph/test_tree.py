"""`leafgrad.graph(...)`: what is found in a graph, and how a terminal shows it."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest

import leafgrad as torch
from leafgrad import nn
from leafgrad.utils.checkpoint import checkpoint
from transformer import Transformer, transformer_loss


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(4, 8), nn.Linear(8, 1)

    def forward(self, x: Any) -> Any:
        return self.fc2(self.fc1(x).relu())


def shown(graph: Any) -> str:
    """The tree, with a star for the numbers of lines and for floating point numbers."""
    return re.sub(r"(?<=\.py:)\d+|(?<== )\S+", "*", graph.text())


def test_the_names_of_the_program_are_found() -> None:
    model = Net()
    x, y = torch.randn(32, 4), torch.randn(32, 1)
    loss = nn.functional.mse_loss(model(x), y)
    expected = """\
loss ()                       = *
└ MseLoss                     test_tree.py:*
  ├ model: Net                3 operations, 4 parameters
  │ └ fc2: Addmm              test_tree.py:*
  │   ├ Relu < fc1: Addmm     test_tree.py:*
  │   │ ├ fc1.weight (8, 4)   leaf
  │   │ ├ fc1.bias (8,)       leaf
  │   │ └ x (32, 4)           does not require grad
  │   ├ fc2.weight (1, 8)     leaf
  │   └ fc2.bias (1,)         leaf
  └ y (32, 1)                 does not require grad
"""
    assert shown(torch.graph(loss, model)) == expected
    assert "│   │ ├ model.fc1.weight (8, 4)   leaf\n" in shown(torch.graph(loss))
    assert str(torch.graph(loss, {"first": model.fc1.weight})).count("first (8, 4)") == 1


def test_gradients_are_read_when_the_graph_is_shown() -> None:
    model = Net()
    x = torch.randn(3, 4)
    loss = model(x).sum()
    graph = torch.graph(loss, model)
    loss.backward()
    norm = model.fc2.weight.grad.norm().item()  # type: ignore[union-attr]
    assert f"leaf, grad norm {norm:.3g}\n" in graph.text()
    assert "x (3, 4)" in graph.text()  # known from before
    after = torch.graph(loss, model).text()
    assert "x (3, 4)" not in after and f"leaf, grad norm {norm:.3g}\n" in after
    assert re.search(r"\nfreed   test_tree\.py:\d+   loss\.backward\(\)\n$", after)


def test_shared_values_and_several_results() -> None:
    x = torch.ones(2, 2, requires_grad=True)
    a, b = x.unbind()
    loss = (a * b + a).sum()
    assert shown(torch.graph(loss)) == (
        "loss ()                        = *\n"
        "└ Sum < Add                    test_tree.py:*\n"
        "  ├ Mul                        test_tree.py:*\n"
        "  │ ├ [1] Unbind  (result 0)   test_tree.py:*\n"
        "  │ │ └ x (2, 2)               leaf\n"
        "  │ └ → [1] Unbind  (result 1)\n"
        "  └ → [1] Unbind  (result 0)\n"
    )


def test_a_value_that_is_used_twice() -> None:
    x = torch.ones(2, requires_grad=True)
    square = x * x
    loss = square * square
    assert shown(torch.graph(loss)) == (
        "loss (2,)\n└ Mul              test_tree.py:*\n  └ Mul  ×2        test_tree.py:*\n    └ x (2,)  ×2   leaf\n"
    )
    assert "×2" in torch.graph(loss).svg()


def test_cut_points_say_their_line() -> None:
    class Cuts(Net):
        def forward(self, x: Any) -> Any:
            hidden = self.fc1(x).relu()
            hidden = hidden.detach()
            return self.fc2(hidden)

    model = Cuts()
    loss = model(torch.randn(3, 4)).sum()
    lines = torch.graph(loss, model).text().splitlines()
    cut = next(number for number, line in enumerate(lines) if "hidden = hidden.detach()" in line)
    assert re.search(r"hidden \(3, 8\) +its graph was cut by detach\(\)   test_tree.py:\d+   hidden", lines[cut])
    assert lines[cut + 1].split() == ["├", "fc1.weight", "(8,", "4)", "behind", "the", "cut:", "no", "gradient"]
    assert lines[cut + 2].split() == ["└", "fc1.bias", "(8,)", "behind", "the", "cut:", "no", "gradient"]

    features = model.fc1(torch.randn(3, 4)).detach()
    loss = model.fc2(features).sum()
    assert "features (3, 8)" in torch.graph(loss).text()


def test_a_result_without_a_graph() -> None:
    w = torch.ones(2, requires_grad=True)
    loss = (w * 2).sum().detach() * 3
    text = torch.graph(loss).text()
    assert re.match(r"loss \(\) += 12   no graph: does not require grad\n└ cut by detach +its graph was cut", text)
    assert "w (2,)" in text and "behind the cut" in text


def test_parameters_that_are_not_reached() -> None:
    model = nn.ModuleDict({"used": nn.Linear(1, 1), "unused": nn.Linear(1, 1), "frozen": nn.Linear(1, 1)})
    model["frozen"].requires_grad_(False)
    loss = model["used"](torch.ones(1)).sum()
    text = torch.graph(loss, model).text()
    rows = text.partition("not reached:\n")[2].splitlines()
    assert rows[:2] == [
        "  unused.weight (1, 1)   not used for this loss; unused was not called",
        "  unused.bias (1,)       not used for this loss; unused was not called",
    ]
    assert [row.partition("frozen: requires_grad=False since test_tree.py")[0].strip() for row in rows[2:]] == [
        "frozen.weight (1, 1)",
        "frozen.bias (1,)",
    ]


def test_modules_are_closed_where_there_are_too_many_lines() -> None:
    model = Transformer()
    loss = transformer_loss(model)
    text = torch.graph(loss, model).text(most=20)
    assert "blocks.3: Block" in text and "36 operations, 12 parameters" in text and "Softmax" not in text
    assert len(text.splitlines()) < 20
    assert "Softmax" in torch.graph(loss, model).text(most=1000)


def test_a_module_that_is_called_several_times() -> None:
    cell = nn.Linear(2, 2)
    h = torch.ones(1, 2)
    for _ in range(3):
        h = cell(h).tanh()
    text = torch.graph(h).text()
    assert text.count("cell: Addmm") == 3 and text.count("cell.weight (2, 2)   leaf") == 1


def test_checkpoints() -> None:
    model = Net()
    x = torch.ones(1, 4, requires_grad=True)
    assert "fc1: Addmm" in torch.graph(checkpoint(model, x, use_reentrant=False), model).text()
    assert "CheckpointFunction" in torch.graph(checkpoint(model, x, use_reentrant=True), model).text()


def test_functions_of_the_users_own() -> None:
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, by: Any) -> Any:
            ctx.save_for_backward(by)
            return x * by

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0], None

    x, by = torch.ones(3, requires_grad=True), torch.full((3,), 2.0)
    loss = Scale.apply(x, by).sum()
    text = torch.graph(loss).text()
    assert "Sum < Scale" in text and re.search(r"├ x \(3,\) +leaf", text)
    assert re.search(r"└ by \(3,\) +does not require grad", text)


def test_very_deep_graphs_have_no_recursion_limit() -> None:
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y * x
    graph = torch.graph(y)
    assert max(map(len, graph.text().splitlines())) < 120
    assert graph.svg().count("<g") < 500
    assert len(torch.graph(y).dot()) > 20_000


def test_inner_gradients_change_nothing() -> None:
    model = Net()
    loss = model(torch.randn(3, 4)).sum()
    calls: list[Any] = []
    model.fc1.weight.register_hook(calls.append)
    graph = torch.graph(loss, model, inner_gradients=True)
    assert calls == [] and all(p.grad is None for p in model.parameters())
    norms = {value.item.title: value.norm for value in graph._contents.values.values() if value.norm is not None}
    loss.backward()  # the graph is still there
    assert norms["fc1.weight"] == pytest.approx(model.fc1.weight.grad.norm().item())  # type: ignore[union-attr]
    assert norms["Sum"] == 1.0 and norms["Relu"] == pytest.approx(3**0.5 * model.fc2.weight.norm().item())
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        torch.graph(loss, inner_gradients=True)
    with pytest.raises(RuntimeError, match=r"single element to start from, but y has shape \(2,\)"):
        y = torch.ones(2, requires_grad=True) * 2
        torch.graph(y, inner_gradients=True)


def test_operations_are_called_what_they_compute() -> None:
    linear = nn.Linear(3, 3)
    x = torch.ones(2, 4, 3)
    assert "Addmm" in torch.graph(linear(x)).text()  # which PyTorch ends with a view
    assert "Bmm" in torch.graph(linear(x) @ torch.ones(2, 3, 1)).text()


@pytest.mark.parametrize("root", [3.0, None, "loss", [], [torch.ones(1), 3], {"loss": torch.ones(1)}])
def test_what_is_not_a_tensor_is_refused(root: Any) -> None:
    with pytest.raises(TypeError, match="expected a tensor or several"):
        torch.graph(root)


@pytest.mark.parametrize("model", [3.0, {"w": 3.0}, [3.0]])
def test_what_is_no_model_is_refused(model: Any) -> None:
    with pytest.raises(TypeError, match="model has to be a Module, a dictionary of tensors, or tensors"):
        torch.graph(torch.ones(1), model)


def of_complex_numbers() -> Any:
    z = torch.randn(3, dtype=torch.complex64, requires_grad=True)
    loss = (z * z.conj()).real.sum()
    loss.backward(retain_graph=True)
    return torch.graph(loss)


def of_bfloat16() -> Any:
    w = torch.ones(3, dtype=torch.bfloat16, requires_grad=True)
    loss = (w * w).sum()
    loss.backward(retain_graph=True)
    return torch.graph(loss)


def inside_of_a_map() -> Any:
    w, found = torch.randn(3, requires_grad=True), []

    def f(x: Any) -> Any:
        found.append(torch.graph((x * w).sum()))
        return x

    torch.func.vmap(f)(torch.randn(4, 3))
    return found[0]


def inside_of_a_derivative() -> Any:
    found = []

    def f(x: Any) -> Any:
        found.append(torch.graph((x * x).sum()))
        return (x * x).sum()

    torch.func.grad(f)(torch.randn(3))
    return found[0]


def of_a_gradient() -> Any:
    x = torch.randn(3, requires_grad=True)
    (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    return torch.graph(g.sum(), inner_gradients=True)


def with_changes_in_place() -> Any:
    x = torch.randn(3, requires_grad=True)
    y = x * 2
    y[0] = y[1] * 3
    y[1:].mul_(2)
    return torch.graph(y.sum(), inner_gradients=True)


def with_hooks_for_saved_tensors() -> Any:
    x = torch.randn(3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(), torch.from_numpy):
        loss = x.exp().sum()
    return torch.graph(loss, inner_gradients=True)


def without_elements() -> Any:
    x = torch.randn(0, 3, requires_grad=True)
    return torch.graph((x * 2).sum(), inner_gradients=True)


def of_a_leaf() -> Any:
    return torch.graph(torch.ones(3, requires_grad=True))


@pytest.mark.parametrize(
    "make",
    [
        of_complex_numbers, of_bfloat16, inside_of_a_map, inside_of_a_derivative, of_a_gradient, with_changes_in_place,
        with_hooks_for_saved_tensors, without_elements, of_a_leaf,
    ],
)  # fmt: skip
def test_unusual_graphs_are_shown(make: Any) -> None:
    graph = make()
    assert "leaf" in graph.text() or make is inside_of_a_derivative
    assert graph.svg(saved=True).endswith("</svg>\n") and graph.html() and graph.dot()


def test_a_graph_that_another_thread_recorded() -> None:
    model = Net()
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(model(torch.ones(1, 4)).sum()))
    thread.start()
    thread.join()
    assert "model: Net" in torch.graph(found[0], {"model": model}).text()
