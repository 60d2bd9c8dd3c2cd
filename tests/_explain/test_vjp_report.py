"""vjp_report: the Jacobian, the weights and their product, beside what backward(gradient) puts into the leaves."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leafgrad
import leafgrad as torch
from leafgrad._explain import vjp_report as module
from written_programs import run

PROGRAM = """\
import leafgrad as torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = torch.stack([2 * x[0], x[1] ** 2, 2 * x[0] + x[1] ** 2])
v = torch.tensor([1.0, 0.1, 0.01])
before = torch.vjp_report(y, gradient=v)
y.backward(v, retain_graph=True)
after = str(torch.vjp_report(y, v))
y.backward(v, retain_graph=True)
twice = str(torch.vjp_report(y, v))
x.grad += 1
other = str(torch.vjp_report(y, v))
"""


def test_the_example(tmp_path: Path) -> None:
    names = run(tmp_path / "train.py", PROGRAM)
    assert str(names["before"]).splitlines() == [
        "y = f(x), x of 2 elements, y of 3 elements; backward(gradient=v) computes v @ J",
        "",
        "        dy/dx0   dy/dx1      v",
        "y0           2        0      1",
        "y1           0        4    0.1",
        "y2           2        4   0.01",
        "v @ J     2.02     0.44          x.grad is None so far",
    ]
    assert names["after"].endswith("v @ J     2.02     0.44          = x.grad")
    assert names["twice"].endswith("x.grad is 2 times this")
    assert names["other"].endswith("x.grad holds something else: 5.04, 1.88")


def test_the_data(tmp_path: Path) -> None:
    report = run(tmp_path / "train.py", PROGRAM)["before"]
    (leaf,) = report.leaves
    np.testing.assert_array_equal(leaf.jacobian, [[2, 0], [0, 4], [2, 4]])
    found = report.to_dict()
    assert found["output"] == "y" and found["output_shape"] == (3,)
    assert found["leaves"][0]["jacobian"] == [[2.0, 0.0], [0.0, 4.0], [2.0, 4.0]]
    np.testing.assert_allclose(found["leaves"][0]["product"], [2.02, 0.44], rtol=1e-6)
    assert "<table>" in report._repr_html_() and "dy/dx1" in report._repr_html_()


def test_it_changes_nothing_and_calls_no_hook() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x * x
    h.retain_grad()
    calls: list[Any] = []
    h.register_hook(lambda g: calls.append(g))
    x.register_hook(lambda g: calls.append(g))
    y = h.exp()
    torch.vjp_report(y, torch.ones(2))
    assert x.grad is None and h.grad is None and calls == []
    y.backward(torch.ones(2))  # the graph is still there
    np.testing.assert_allclose(x.grad.numpy(), (2 * x * (x * x).exp()).detach().numpy(), rtol=1e-6)


def test_one_table_for_each_leaf_and_names_of_parameters() -> None:
    model = torch.nn.Linear(2, 1)
    out = model(torch.tensor([[3.0, 4.0]]))
    report = torch.vjp_report(out.sum())
    assert [leaf.name for leaf in report.leaves] == ["model.weight", "model.bias"]
    lines = str(report).splitlines()
    assert "               model.weight[0, 0]   model.weight[0, 1]   gradient" in lines
    assert (
        "gradient @ J                    3                    4              model.weight.grad is None so far" in lines
    )


def test_of_a_large_leaf_the_largest_elements_are_shown() -> None:
    w = torch.linspace(-3, 2, 20).requires_grad_()
    loss = (w**2).sum()
    assert str(torch.vjp_report(loss)).splitlines()[2:] == [
        "element   gradient @ J",
        "w0                  -6   w.grad is None so far",
        "w1              -5.474",
        "w2              -4.947",
        "w3              -4.421",
        "w19                  4",
        "  shape [20], norm 1.4e+01, and 15 others",
    ]


def test_results_of_operations_with_several_and_of_functions() -> None:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            return a * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    x = torch.tensor([3.0, 1.0], requires_grad=True)
    values, _ = x.sort()
    report = torch.vjp_report(Twice.apply(values), torch.tensor([1.0, 10.0]))
    np.testing.assert_array_equal(report.leaves[0].jacobian, [[0, 2], [2, 0]])
    np.testing.assert_array_equal(report.leaves[0].product, [20, 2])


def test_a_leaf_that_is_the_output_itself() -> None:
    x = torch.ones(2, requires_grad=True)
    np.testing.assert_array_equal(torch.vjp_report(x, torch.ones(2)).leaves[0].jacobian, np.eye(2))


def test_wrong_arguments() -> None:
    y = torch.ones(3, requires_grad=True) * 2
    with pytest.raises(TypeError, match="output must be a tensor, not int"):
        torch.vjp_report(3)
    with pytest.raises(TypeError, match=r"fix  leafgrad.vjp_report\(y, gradient=leafgrad.ones_like\(y\)\)"):
        torch.vjp_report(y, [1.0, 2.0, 3.0])
    with pytest.raises(RuntimeError, match=r"fix +torch.vjp_report\(y, gradient=leafgrad.ones_like\(y\)\)"):
        torch.vjp_report(y)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        torch.vjp_report(y, torch.ones(2))
    with pytest.raises(RuntimeError, match="does not require grad"):
        torch.vjp_report(torch.ones(3), torch.ones(3))


def test_a_freed_graph() -> None:
    x = torch.ones(3, requires_grad=True)
    loss = x.exp().sum()
    loss.backward()
    with pytest.raises(RuntimeError, match=r"fix    loss.backward\(retain_graph=True\)   # or vjp_report before it"):
        torch.vjp_report(loss)


def test_the_docstring() -> None:
    names = {"torch": leafgrad, "leafgrad": leafgrad}
    found = doctest.DocTestFinder().find(module.vjp_report, "vjp_report", globs=names)[0]
    assert doctest.DocTestRunner().run(found).failed == 0 and found.examples
