"""grad_report: gradients in numbers, those that vanish or explode, and the operation that made the first nan or inf."""

from __future__ import annotations

import doctest
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leafgrad
import leafgrad as torch
from leafgrad import nn
from nan_programs import HEAD, PROGRAMS, NanProgram
from written_programs import mended, run

AFTER = """
loss.backward(retain_graph=True)
report = torch.grad_report([("x", x)])
"""
WATCHED = """
loss.backward()
watch.__exit__()
report = watch
"""
WATCH = "requires_grad=True); watch = torch.grad_report.watch([('x', x)]); watch.__enter__()\n"


def reported(tmp_path: Path, lines: str, watched: bool = False) -> Any:
    """The report about a program, which looks at the graph afterwards or, `watched`, while it runs."""
    if watched:
        return run(tmp_path / "train.py", HEAD.replace("requires_grad=True)\n", WATCH) + lines + WATCHED)["report"]
    return run(tmp_path / "train.py", HEAD + lines + AFTER)["report"]


# -- numbers ----------------------------------------------------------------------------------------------------------

EXAMPLE = """\
import leafgrad as torch

w = torch.tensor([[3.0, 0.0], [0.0, 4.0]], requires_grad=True)
b = torch.tensor([1.0, 0.0], requires_grad=True)
frozen = torch.ones(2)
loss = (w * torch.tensor([[1.0, 0.0], [0.0, 2.0]])).sum() + 2 * b[0]
loss.backward()
report = torch.grad_report([("w", w), ("b", b), ("frozen", frozen)])
"""


def test_the_example(tmp_path: Path) -> None:
    report = run(tmp_path / "train.py", EXAMPLE)["report"]
    assert str(report).splitlines() == [
        "parameter      norm    share   mean |g|   max |g|    zeros   |g|/|w|",
        "w           2.2e+00   55.6 %    7.5e-01   2.0e+00   50.0 %      0.45",
        "b           2.0e+00   44.4 %    1.0e+00   2.0e+00   50.0 %         2",
        "frozen                                                                 no gradient: requires_grad=False",
        "",
        "norm of all 3.0e+00, 2 parameters with a gradient, 1 without one",
    ]
    w, b, frozen = report.rows
    assert w.norm == pytest.approx(math.sqrt(5)) and w.share == pytest.approx(5 / 9) and w.mean == 0.75
    assert (w.max, w.zeros, w.nan, w.inf) == (2.0, 2, 0, 0) and w.ratio == pytest.approx(math.sqrt(5) / 5)
    assert b.ratio == 2.0 and frozen.norm is None and report.total == pytest.approx(3.0)
    assert report.culprit is None and report.to_dict()["rows"][1]["max"] == 2.0
    assert "<table>" in report._repr_html_() and "|g|/|w|" in report._repr_html_()


def test_what_may_be_given() -> None:
    model = nn.Linear(2, 1)
    model(torch.ones(1, 2)).sum().backward()
    assert [row.name for row in torch.grad_report(model).rows] == ["weight", "bias"]
    assert [row.name for row in torch.grad_report(model.named_parameters()).rows] == ["weight", "bias"]
    assert [row.name for row in torch.grad_report(model.parameters()).rows] == ["model.weight", "model.bias"]
    assert [row.name for row in torch.grad_report(model.weight).rows] == ["model.weight"]
    assert [row.name for row in torch.grad_report({"w": model.weight}).rows] == ["w"]
    with pytest.raises(TypeError, match=r"with or without names, not int\n(.|\n)*fix  leafgrad.grad_report\(model\)"):
        torch.grad_report(3)
    with pytest.raises(TypeError, match=r"fix  leafgrad.grad_report\(model, loss=loss\)"):
        torch.grad_report(model, loss=2.0)


def test_before_backward() -> None:
    assert str(torch.grad_report(nn.Linear(2, 1))).splitlines() == [
        "parameter",
        "weight      no gradient",
        "bias        no gradient",
        "",
        "no parameter has a gradient: no backward() has reached them",
    ]


def test_large_halves_do_not_overflow() -> None:
    w = torch.ones(4, dtype=torch.float16, requires_grad=True)
    (w * 60000).sum().backward()
    assert torch.grad_report([w]).rows[0].norm == pytest.approx(2 * 60000, rel=1e-3)


class Deep(nn.Module):
    def __init__(self, activation: Any, layers: int = 7, scale: float = 1.0) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(layers)])
        self.head = nn.Linear(8, 1)
        self.activation = activation
        with torch.no_grad():
            for p in self.parameters():
                p.mul_(scale)

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = self.activation(layer(x))
        return self.head(x)


def remarks(model: Any) -> dict[str, str]:
    loss = model(torch.randn(16, 8)).pow(2).mean()
    loss.backward()
    return {row.name: row.remark for row in torch.grad_report(model).rows if row.remark}


def test_vanishing_with_what_lies_between() -> None:
    found = remarks(Deep(torch.sigmoid))
    assert found["layers.0.weight"] == "vanishing: 7 layers of Sigmoid lie between"
    assert found["layers.1.weight"] == "vanishing: 6 layers of Sigmoid lie between"
    assert "layers.5.weight" not in found and "head.weight" not in found


def test_vanishing_without_a_graph_says_no_more() -> None:
    model = Deep(torch.sigmoid)
    model(torch.randn(16, 8)).pow(2).mean().backward()
    assert torch.grad_report(model).rows[0].remark == "vanishing"


def test_exploding() -> None:
    found = remarks(Deep(lambda x: x, scale=20.0))
    assert found["layers.0.weight"].startswith("exploding: ") and found["layers.0.weight"].endswith(" times its weight")


@pytest.mark.parametrize("activation", [torch.relu, torch.tanh, lambda x: x])
def test_ordinary_models_draw_no_remark(activation: Any) -> None:
    assert remarks(Deep(activation, layers=2)) == {}


def test_a_gradient_of_zeros() -> None:
    w = torch.ones(3, requires_grad=True)
    torch.relu(w - 2).sum().backward()
    assert torch.grad_report([w]).rows[0].remark == "all zero"


def test_where_a_gradient_became_zero(tmp_path: Path) -> None:
    lines = "h = torch.relu(x - 5)\nloss = (h * 3).exp().sum()"
    row = reported(tmp_path, lines).rows[0]
    assert row.remark == "all zero; relu passes none on: train.py:4   h = torch.relu(x - 5)"
    assert reported(tmp_path, "loss = x.sum() - x.sum()").rows[0].remark == "all zero"  # two ways that cancel


# -- nan and inf ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("watched", [False, True], ids=["afterwards", "watched"])
@pytest.mark.parametrize("program", PROGRAMS, ids=[program.name for program in PROGRAMS])
def test_the_operation_is_named_and_the_fix_mends_the_program(
    tmp_path: Path, program: NanProgram, watched: bool
) -> None:
    report = reported(tmp_path, program.lines, watched)
    culprit = report.culprit
    assert (culprit.operation, culprit.place.spot) == (program.operation, f"train.py:{program.line}")
    assert culprit.first_line() in str(report)
    if program.gradient is None:
        assert "fix" not in str(report)
        return
    source = HEAD + program.lines + "\nloss.backward()\n"
    before = run(tmp_path / "train.py", source)
    after = run(tmp_path / "train.py", mended(source, str(report)) + "again = torch.grad_report([x])\n")
    np.testing.assert_allclose(after["x"].grad.numpy(), program.gradient, rtol=1e-4)
    if np.isfinite(before["loss"].item()):
        assert after["loss"].item() == pytest.approx(before["loss"].item(), abs=1e-5)
    again = after["again"]  # the mended program draws no complaint
    assert again.culprit is None and again.rows[0].nan == again.rows[0].inf == 0


def test_the_text_of_the_pattern(tmp_path: Path) -> None:
    assert str(reported(tmp_path, "loss = torch.where(x > 0, x.sqrt(), x).sum()")).splitlines() == [
        "parameter   norm   zeros",
        "x            nan     0 %   1 nan of 3",
        "  nan first made at train.py:4   loss = torch.where(x > 0, x.sqrt(), x).sum()",
        "  sqrt of x [3] from 0 to 4",
        "  sqrt's slope at x = 0 is inf; where does not use these elements: their gradient is 0, and 0 * inf is nan",
        "  fix   loss = torch.where(x > 0, torch.where(x > 0, x, 1.).sqrt(), x).sum()   # train.py:4",
        "",
        "norm of all nan, 1 parameter with a gradient",
    ]


def test_a_freed_graph_and_what_to_do_for_the_answer(tmp_path: Path) -> None:
    program = HEAD + "loss = torch.where(x > 0, x.sqrt(), x).sum()\nloss.backward()\nreport = torch.grad_report([x])\n"
    report = run(tmp_path / "train.py", program)["report"]
    assert report.culprit is None
    assert str(report).splitlines()[2:4] == [
        "  which operation made it cannot be told any more: the graph was freed by train.py:5   loss.backward()",
        "  fix   loss.backward(retain_graph=True)   # train.py:5",
    ]
    again = run(tmp_path / "train.py", mended(program, str(report)))["report"]
    assert again.culprit.operation == "sqrt"


def test_without_a_loss_it_says_how_to_watch() -> None:
    x = torch.zeros(2, requires_grad=True)
    x.sqrt().sum().mul(0).backward()
    text = str(torch.grad_report([x]))
    assert "no variable holds the loss" in text and "fix   with leafgrad.grad_report.watch(model) as report:" in text


def test_a_nan_of_an_earlier_backward() -> None:
    x = torch.zeros(2, requires_grad=True)
    x.sqrt().sum().mul(0).backward()
    loss = (x * 2).sum()
    loss.backward(retain_graph=True)
    assert "loss gives finite gradients: the nan or inf came with an earlier backward()" in str(torch.grad_report([x]))


def test_an_overflow_is_found_where_it_began(tmp_path: Path) -> None:
    lines = "e = (x * 250).exp()\np = e / e.sum()\nloss = p.pow(2).sum()"
    for watched in (False, True):
        report = reported(tmp_path, lines, watched)
        assert report.culprit.what == "inf" and report.culprit.made_by == "value"
        assert str(report).splitlines()[2:5] == [
            "  inf first made at train.py:4   e = (x * 250).exp()",
            "  exp of x * 250 [3] from 0 to 1000",
            "  its result is inf at x * 250 from 250 to 1000, and div makes nan of it: train.py:5   p = e / e.sum()",
        ]


def test_an_element_that_is_masked_in_several_places(tmp_path: Path) -> None:
    lines = "m = torch.tensor([[False, True, True], [False, True, False]])\nloss = torch.where(m, x.sqrt(), 0.0).sum()"
    assert "fix   loss = torch.where(m, torch.where(m, x, 1.).sqrt(), 0.0).sum()   # train.py:5" in str(
        reported(tmp_path, lines)
    )


def test_a_slope_of_zero_is_no_mask_in_words(tmp_path: Path) -> None:
    report = reported(tmp_path, "loss = x.log().clamp(min=-5.0).sum()")
    assert report.culprit.reasons == ["log's slope at x = 0 is inf; clamp's slope there is 0, and 0 * inf is nan"]


def test_complex_numbers_are_not_compared() -> None:
    z = torch.tensor([0j, 1.0 + 0j], requires_grad=True)
    loss = z.sqrt().abs().sum()
    loss.backward(retain_graph=True)
    report = torch.grad_report([z])
    assert report.culprit is not None and report.culprit.operation == "sqrt" and report.culprit.fix is None


def test_other_modes_and_functions(tmp_path: Path) -> None:
    w = torch.tensor([0.0, 1.0], requires_grad=True)
    with torch.grad_report.watch([w]) as report:
        y = torch.where(w > 0, w.sqrt(), w).sum()
        torch.autograd.grad(y, w, create_graph=True)
    assert report.culprit.operation == "sqrt" and report.rows[0].norm is None
    assert "nan first made at" in str(report)
    with torch.grad_report.watch([w]) as report:
        torch.func.vmap(lambda v: (v * w).sqrt().sum())(torch.ones(3, 2)).sum().backward()
    assert report.rows[0].inf == 1

    class Root(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            ctx.save_for_backward(a)
            return a.sqrt()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g / (2 * ctx.saved_tensors[0].sqrt())

    w.grad = None
    loss = torch.where(w > 0, Root.apply(w), w).sum()
    loss.backward(retain_graph=True)
    found = torch.grad_report([w])
    assert found.culprit is not None and found.culprit.operation == "Root" and found.culprit.fix is None


def test_an_overflow_that_nothing_hides(tmp_path: Path) -> None:
    report = reported(tmp_path, "loss = torch.log(1 + torch.exp(50 * x)).sum()")  # log's slope at inf is 0
    assert report.culprit.what == "inf" and report.culprit.reasons == ["its result is inf at 50 * x = 200"]
    assert "fix" not in str(report)


def test_several_operations_are_named_and_mended_together(tmp_path: Path) -> None:
    report = reported(tmp_path, "a = x.sqrt()\nb = x.log()\nm = x > 0\nloss = (torch.where(m, a, 0.0) + (b * m)).sum()")
    assert [(one.operation, one.place.spot) for one in report.culprits] == [
        ("log", "train.py:5"),
        ("sqrt", "train.py:4"),
    ]
    assert "  nan also made at train.py:4   a = x.sqrt()" in str(report).splitlines()
    assert report.to_dict()["culprits"][1]["operation"] == "sqrt"


def test_data_and_parameters_that_hold_nan() -> None:
    model = nn.Linear(2, 1)
    data = torch.tensor([[1.0, 2.0], [torch.nan, 1.0]])
    loss = nn.functional.mse_loss(model(data), torch.zeros(2, 1))
    loss.backward(retain_graph=True)
    report = torch.grad_report(model)
    assert report.culprit is not None and report.culprit.made_by == "input"
    assert report.culprit.reasons == ["data [2, 2] holds 1 nan or inf before anything is computed"]
    assert "loss = nan" in str(report)
    with torch.no_grad():
        model.weight[0, 0] = torch.inf
    loss = nn.functional.mse_loss(model(torch.ones(2, 2)), torch.zeros(2, 1))
    model.zero_grad()
    loss.backward(retain_graph=True)
    report = torch.grad_report(model)
    assert report.culprit is not None
    assert report.culprit.reasons == ["model.weight [1, 2] holds 1 nan or inf before anything is computed"]


def test_infinities_that_are_meant_are_not_blamed(tmp_path: Path) -> None:
    lines = "m = torch.tensor([True, False, False])\np = (x + 0).masked_fill(m, -torch.inf).softmax(0)\n"
    assert reported(tmp_path, lines + "loss = (p * x).sum()").culprit is None
    report = reported(tmp_path, lines + "loss = (p * x).sum() + (x * 0).sqrt().sum()")
    assert report.culprit.operation == "sqrt"


def test_a_gradient_that_was_given() -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.grad_report.watch([x]) as report:
        y = x * 2
        y.backward(torch.tensor([torch.inf, 1.0]))
    assert report.culprit.reasons == ["backward() was given a gradient that is not finite"]


def test_a_graph_that_cannot_be_walked_any_more() -> None:
    x = torch.zeros(2, requires_grad=True)
    h = x.sqrt()
    loss = h.sum()
    loss.backward(retain_graph=True)
    with torch.no_grad():
        h += 1
    x.grad.fill_(torch.nan)
    text = str(torch.grad_report([x]))
    assert "which operation made it cannot be told:" in text and "modified by an inplace operation" in text


# -- watching ---------------------------------------------------------------------------------------------------------


def test_watching_changes_no_number_and_stops_at_the_end() -> None:
    def train(watched: bool) -> list[Any]:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def steps() -> None:
            for _ in range(3):
                optimizer.zero_grad()
                model(torch.ones(2, 3)).pow(2).sum().backward()
                optimizer.step()

        if watched:
            with torch.grad_report.watch(model) as report:
                steps()
            assert report.culprit is None and len(report.rows) == 4
            assert str(report) == str(torch.grad_report(model))
        else:
            steps()
        return [p.tolist() for p in model.parameters()]

    assert train(True) == train(False)


def test_watching_keeps_one_forward_pass_at_most() -> None:
    w = torch.ones(3, requires_grad=True)
    watch = torch.grad_report.watch([w])
    with watch:
        sizes = []
        for _ in range(5):
            (w * 2).exp().sum().backward()
            sizes.append(len(watch._finder.values.calls))
    assert sizes == [3] * 5


def test_the_report_of_watching_is_made_at_its_end() -> None:
    watch = torch.grad_report.watch([torch.ones(1)])
    with pytest.raises(RuntimeError, match="when the block ends"):
        watch.rows
    assert str(watch) == "grad_report.watch(): not over yet"


def test_reports_call_no_hooks_and_change_no_gradient() -> None:
    x = torch.zeros(2, requires_grad=True)
    h = x.sqrt()
    loss = h.sum()
    loss.backward(retain_graph=True)
    calls: list[Any] = []
    h.register_hook(lambda g: calls.append(g))
    before = x.grad.clone()
    torch.grad_report([x], loss=loss)
    assert calls == [] and torch.equal(x.grad, before)


def test_the_docstring() -> None:
    names = {"torch": leafgrad, "leafgrad": leafgrad}
    found = doctest.DocTestFinder(recurse=False).find(torch.grad_report, "grad_report", globs=names)[0]
    assert doctest.DocTestRunner().run(found).failed == 0 and found.examples


def test_import_leafgrad_loads_none_of_it() -> None:
    code = "import sys, leafgrad; print([n for n in sys.modules if n.startswith('leafgrad._explain')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
