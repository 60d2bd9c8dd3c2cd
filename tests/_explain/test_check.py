"""`leafgrad.check`: silent mistakes are named with their line, and the printed fix makes the program right."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import broken_programs
import leafgrad
from leafgrad import nn

PROGRAMS = broken_programs.read_programs()
BROKEN = [name for name, one in PROGRAMS.items() if one.marked]
RIGHT = [name for name, one in PROGRAMS.items() if not one.marked]


@pytest.mark.parametrize("name", BROKEN)
def test_the_line_is_named_and_the_fix_makes_the_program_right(name: str, tmp_path: Path) -> None:
    one = PROGRAMS[name]
    before = broken_programs.run(one, tmp_path)
    assert not before.is_right, "the program is not broken"
    for number in one.marked:
        assert f"{one.file_name}:{number} " in before.printed
    for text in one.says:
        assert text in " ".join(before.printed.split()).replace(" #", "   #")
    fixed = broken_programs.with_fixes(one, before.printed)
    after = broken_programs.run(one, tmp_path, fixed)
    assert after.is_right, f"{fixed}\n{after.printed}"


@pytest.mark.parametrize("name", RIGHT)
def test_right_programs_draw_no_complaint(name: str, tmp_path: Path) -> None:
    outcome = broken_programs.run(PROGRAMS[name], tmp_path)
    assert outcome.printed == ""
    assert outcome.is_right


def test_gradients_that_hold_their_graph_at_the_end() -> None:
    w = leafgrad.ones(3, requires_grad=True)
    with leafgrad.check(file=io.StringIO()) as check:
        with pytest.warns(UserWarning, match="create_graph=True"):
            (w**3).sum().backward(create_graph=True)
        w.grad.square().sum().backward()
        assert check.findings == []
    (finding,) = check.findings
    assert finding.kind == "gradient with a graph"
    assert "behind w.grad, which holds w in turn" in finding.evidence
    assert str(finding).endswith("fix   w.grad = None   # when it has been used")
    assert check.to_dict()["findings"][0]["kind"] == "gradient with a graph"
    w.grad = None
    with leafgrad.check(file=io.StringIO()) as check:
        with pytest.warns(UserWarning, match="create_graph=True"):
            (w**3).sum().backward(create_graph=True)
        w.grad = None
    assert check.findings == []


def test_what_is_not_a_model_is_refused() -> None:
    with pytest.raises(TypeError, match="takes a model"):
        leafgrad.check([leafgrad.ones(2)])
    with pytest.raises(TypeError, match="takes an optimizer"):
        leafgrad.check(nn.Linear(1, 1), 3)
