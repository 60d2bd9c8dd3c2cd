"""summary: layers, shapes, parameters, multiply-adds; and nothing of the model is changed."""

from __future__ import annotations

import doctest
from typing import Any

import numpy as np
import pytest

import leafgrad
import leafgrad as torch
from leafgrad import nn
from leafgrad._explain import summary as module


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.q = nn.Linear(width, width)
        self.k = nn.Linear(width, width)
        self.unused = nn.Linear(3, 3)
        self.drop = nn.Dropout(0.5)
        self.register_buffer("steps", torch.zeros(3))
        self.seen: list[Any] = []

    def forward(self, x: Any) -> Any:
        self.steps += 1
        self.last = x
        self.seen.append(torch.rand(1))
        scores = self.q(x) @ self.k(x).transpose(-1, -2)
        return self.drop(self.k(scores.softmax(-1) @ x)), scores


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = Block(16)
        self.b = Block(16)
        self.b.q = self.a.q
        self.head = nn.Linear(16, 2)
        self.head.weight.requires_grad_(False)

    def forward(self, x: Any, scale: float = 1.0) -> Any:
        return self.head(self.b(self.a(x)[0])[0]) * scale


def test_a_tree_with_shared_unused_and_frozen_parameters() -> None:
    assert str(torch.summary(Net(), {"x": torch.ones(2, 5, 16), "scale": 2.0})).splitlines() == [
        "layer                output                  parameters   multiply-adds",
        "Net                  (2, 5, 2)",
        "├ a: Block           (2, 5, 16), (2, 5, 5)                        1,600",
        "│ ├ q: Linear        (2, 5, 16)                     272           2,560",
        "│ ├ k: Linear        (2, 5, 16)                     272           2,560",
        "│ ├ k: Linear        (2, 5, 16)                                   2,560   parameters counted above",
        "│ ├ drop: Dropout    (2, 5, 16)",
        "│ └ unused: Linear                                   12                   not called",
        "├ b: Block           (2, 5, 16), (2, 5, 5)                        1,600",
        "│ ├ q: Linear        (2, 5, 16)                                   2,560   parameters counted above",
        "│ ├ k: Linear        (2, 5, 16)                     272           2,560",
        "│ ├ k: Linear        (2, 5, 16)                                   2,560   parameters counted above",
        "│ ├ drop: Dropout    (2, 5, 16)",
        "│ └ unused: Linear                                   12                   not called",
        "└ head: Linear       (2, 5, 2)                       34             320   32 frozen",
        "",
        "total",
        "parameters      874      3.5 kB, 842 trainable, 32 frozen",
        "buffers                  24 B",
        "outputs                  3.9 kB",
        "multiply-adds   18,880",
    ]


def test_the_numbers() -> None:
    net = Net()
    report = torch.summary(net, torch.ones(2, 5, 16))
    assert report.parameters == sum(p.numel() for p in net.parameters()) == 874
    assert report.trainable == 842 and report.parameter_bytes == 4 * 874 and report.buffer_bytes == 24
    block = 3 * 2 * 5 * 16 * 16 + 2 * (2 * 5 * 5 * 16)
    assert report.multiply_adds == 2 * block + 2 * 5 * 16 * 2
    # three Linear in each block, dropout that passes its input on in evaluation mode, and the head
    assert report.output_bytes == 4 * (2 * 3 * 160 + 20)
    found = report.to_dict()
    assert found["layers"]["children"][2]["output"] == (2, 5, 2) and found["multiply_adds"] == report.multiply_adds
    assert "<table>" in report._repr_html_()


def test_nothing_is_changed() -> None:
    net = Net()
    net.b.eval()
    x = torch.ones(2, 5, 16)
    calls: list[Any] = []
    net.head.register_forward_pre_hook(lambda module, args: calls.append(module))
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    hooks = dict(net.head._forward_pre_hooks)
    weights = {name: p.detach().clone() for name, p in net.state_dict().items()}
    torch.summary(net, x)
    assert torch.rand(3).tolist() == expected.tolist()
    assert net.training and net.a.drop.training and not net.b.training
    assert not hasattr(net.a, "last") and net.a.seen == []
    assert dict(net.head._forward_pre_hooks) == hooks
    assert torch.is_grad_enabled() and all(p.grad is None for p in net.parameters())
    assert all(torch.equal(p, weights[name]) for name, p in net.state_dict().items())
    assert not leafgrad.nn.modules.module._global_hooks.hooks_of_calls


def test_a_graph_that_has_saved_a_buffer_still_works() -> None:
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("scale", torch.ones(2))

        def forward(self, x: Any) -> Any:
            self.scale += 1
            return x * self.scale

    model, w = Counting(), torch.ones(2, requires_grad=True)
    loss = (w * model.scale).sum()
    torch.summary(model, (2,))
    loss.backward()
    np.testing.assert_array_equal(w.grad.numpy(), [1, 1])


def test_after_an_error_nothing_is_changed_either() -> None:
    net = Net()
    with pytest.raises(RuntimeError, match="cannot be multiplied") as caught:
        torch.summary(net, (3, 4))
    assert caught.value.__notes__ == ["  summary() called the model with (3, 4)"]
    assert net.training and net.a.steps.sum() == 0
    assert not leafgrad.nn.modules.module._global_hooks.hooks_of_calls


def test_forms_of_the_input() -> None:
    class Pair(nn.Module):
        def forward(self, a: Any, b: Any) -> Any:
            return {"sum": a + b, "both": (a, b)}

    model = Pair()
    for given in [(torch.ones(2, 3), torch.ones(3)), ((2, 3), (3,)), {"a": torch.ones(2, 3), "b": torch.ones(3)}]:
        assert torch.summary(model, given).layers.output == {"sum": (2, 3), "both": [(2, 3), (3,)]}
    double = nn.Linear(2, 2).double()
    assert torch.summary(double, (1, 2)).output_bytes == 16
    x = torch.ones(3)
    torch.summary(nn.ReLU(inplace=True), x - 2)
    assert x.tolist() == [1, 1, 1]


def test_without_an_input_nothing_is_called() -> None:
    assert str(torch.summary(nn.Sequential(nn.Linear(4, 8), nn.ReLU()))).splitlines() == [
        "layer         parameters",
        "Sequential",
        "├ 0: Linear           40",
        "└ 1: ReLU",
        "",
        "total",
        "parameters   40   160 B, all trainable",
    ]


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match=r"not int\n(.|\n)*fix  leafgrad.summary\(model, x\)"):
        torch.summary(3)
    with pytest.raises(TypeError, match=r"not str\n(.|\n)*fix  leafgrad.summary\(model, x\)"):
        torch.summary(nn.ReLU(), "x")


def test_the_docstring() -> None:
    names = {"torch": leafgrad, "leafgrad": leafgrad}
    found = doctest.DocTestFinder().find(module.summary, "summary", globs=names)[0]
    assert doctest.DocTestRunner().run(found).failed == 0 and found.examples
