"""graph_memory: what a graph keeps; growth.py: what keeps old graphs."""

from __future__ import annotations

import doctest
import warnings
from pathlib import Path
from typing import Any

import pytest

import leafgrad
import leafgrad as torch
from leafgrad._explain import graph_memory as module
from leafgrad._explain.growth import gradients_with_graphs, growing
from written_programs import mended, run

PROGRAM = """\
import leafgrad as torch

x = torch.ones(1000, 100)
model = torch.nn.Sequential(torch.nn.Linear(100, 10), torch.nn.ReLU(), torch.nn.Linear(10, 10))
out = model(x)
loss = out.exp().sum()
history = [loss]
report = torch.graph_memory(loss)
"""


def test_the_example(tmp_path: Path) -> None:
    report = run(tmp_path / "train.py", PROGRAM)["report"]
    assert str(report).splitlines() == [
        "loss keeps 480.0 kB in 3 saved buffers of 5 operations",
        "not counted: 400 B of leaves, which exist anyway",
        "",
        "operation   line                                  saved     memory    share",
        "Addmm x 2   train.py:5   out = model(x)               1   400.0 kB   83.3 %",
        "Relu        train.py:5   out = model(x)               1    40.0 kB    8.3 %",
        "Exp         train.py:6   loss = out.exp().sum()       1    40.0 kB    8.3 %",
        "",
        "the graph lives as long as one of these: out, loss, history[0]",
    ]
    assert report.by_line() == {"train.py:5": 440_000, "train.py:6": 40_000}
    found = report.to_dict()
    assert found["total"] == 480_000 and found["rows"][0]["nbytes"] == 400_000 and found["freed"] is None
    assert "<table>" in report._repr_html_()


def test_a_buffer_counts_once_and_a_view_is_the_buffer() -> None:
    x = torch.ones(100, requires_grad=True)
    h = x.exp()  # 400 bytes, saved by exp, by both products and, as a view, by the third
    loss = (h * h).sum() + (h * 2).sum() + (h[:50] * h[50:]).sum()
    assert torch.graph_memory(loss).total == 400
    assert torch.graph_memory([loss, loss]).total == 400


def test_of_parameters_and_their_views_nothing_counts() -> None:
    w = torch.ones(10, 10, requires_grad=True)
    loss = (w * w.T).sum()
    report = torch.graph_memory(loss)
    assert (report.total, report.leaf_bytes) == (0, 400)


def test_what_functions_and_hooks_keep_counts() -> None:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            ctx.save_for_backward(a)
            ctx.doubled = a * 2
            return a * a

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.doubled

    x = torch.ones(100, requires_grad=True)
    assert torch.graph_memory(Square.apply(x + 1).sum()).total == 800
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.double(), lambda t: t.float()):
        loss = (x + 1).exp().sum()
    assert torch.graph_memory(loss).total == 800


def test_a_freed_graph() -> None:
    x = torch.ones(100, requires_grad=True)
    loss = x.exp().sum()
    loss.backward()
    report = torch.graph_memory(loss)
    assert report.total == 0 and report.freed is not None and report.freed.source == "loss.backward()"
    assert str(report).startswith("loss keeps 0 B in 0 saved buffers of 2 operations\nfreed  test_graph_memory.py:")


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match=r"must be a tensor or a list of tensors, not float\n(.|\n)*fix"):
        torch.graph_memory(1.5)
    with pytest.raises(RuntimeError, match="does not require grad"):
        torch.graph_memory(torch.ones(3))


def test_the_docstring() -> None:
    names = {"torch": leafgrad, "leafgrad": leafgrad}
    found = doctest.DocTestFinder().find(module.graph_memory, "graph_memory", globs=names)[0]
    assert doctest.DocTestRunner().run(found).failed == 0 and found.examples


# -- graphs that grow -------------------------------------------------------------------------------------------------

TRAINING = """\
import leafgrad as torch
from leafgrad._explain.growth import growing

model = torch.nn.Linear(10, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.ones(5, 10)
total = 0
losses = []
for step in range(40):
    loss = model(x).exp().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {line}
found = growing()
text = "\\n".join([line for one in found for line in one.lines()])
fixes = "\\n".join([f"fix   {{one.fix}}   # {{one.grows_at.spot}}" for one in found])
"""


@pytest.mark.parametrize(
    ("line", "fix"),
    [
        ("total += loss", "total += loss.item()"),
        ("total = total + loss", "total = total + loss.item()"),
        ("total = 0.9 * loss + total", "total = (0.9 * loss).item() + total"),
        ("losses.append(loss)", "losses.append(loss.item())"),
    ],
)
def test_what_holds_old_graphs_and_the_fix(tmp_path: Path, line: str, fix: str) -> None:
    program = TRAINING.format(line=line)
    names = run(tmp_path / "train.py", program)
    (one,) = names["found"]
    assert one.graphs == 40 and one.nodes >= 120 and one.nbytes > 0 and one.fix == fix
    first, *rest = names["text"].splitlines()
    assert first == f"train.py:14   {line}"
    assert rest[0].startswith("  keeps the graphs of 40 losses alive (")
    assert rest[1:] == [
        "  although their backward pass is over: train.py:12   loss.backward()",
        f"  fix   {fix}",
    ]
    fixed = mended(program, names["fixes"])
    names.clear()  # and with it what holds the graphs
    assert run(tmp_path / "train.py", fixed)["found"] == []


def test_the_memory_of_a_sum_of_losses_says_that_it_grows(tmp_path: Path) -> None:
    program = TRAINING.format(line="total += loss") + "report = torch.graph_memory(total)\n"
    text = str(run(tmp_path / "train.py", program)["report"])
    assert "\n\ntrain.py:14   total += loss\n  keeps the graphs of 40 losses alive (" in text
    assert "\n  fix   total += loss.item()\n\n" in text


@pytest.mark.parametrize("line", ["total += loss.item()", "losses.append(loss.detach())", "last = loss"])
def test_right_loops_hold_nothing(tmp_path: Path, line: str) -> None:
    assert run(tmp_path / "train.py", TRAINING.format(line=line))["found"] == []


def test_losses_that_are_added_up_before_one_backward_are_right() -> None:
    w = torch.ones(3, requires_grad=True)
    total = torch.zeros(())
    for step in range(10):
        total = total + (w * step).exp().sum()
    total.backward()
    assert growing() == []


def test_gradients_that_hold_graphs() -> None:
    w = torch.ones(3, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (w**3).sum().backward(create_graph=True)
    (one,) = gradients_with_graphs([("w", w), ("x", torch.ones(2, requires_grad=True))])
    assert one.name == "w" and one.nodes >= 2 and one.nbytes > 0
    assert one.made_at.source == "(w**3).sum().backward(create_graph=True)"
    exec(one.fix, {"w": w})
    assert gradients_with_graphs([("w", w)]) == []
