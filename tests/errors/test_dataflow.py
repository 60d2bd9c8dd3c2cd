"""From which statements a value comes (leafgrad.errors.dataflow)."""

from __future__ import annotations

import ast

import pytest

from leafgrad.errors.dataflow import Program, Slice

HEADER = "scale = 2\nclass Net:\n"
METHOD = """
    def method{0}(self, x):
        self.value{0} = self.value{1} * x.weight * scale
        return self.method{1}(self.value{0})
"""


def lines_behind(text: str, line: int) -> set[int]:
    program = Program("program.py", text)
    statement = program.statement_at(line)
    assert statement is not None
    return Slice(program, statement).lines()


def test_values_come_from_attributes_globals_and_calls() -> None:
    text = "scale = 2\nclass Net:\n    def set(self, x):\n        self.total = x * scale\n    def get(self):\n"
    text += "        return self.total + 1\nother = 3\nnet.set(other)\ny = net.get()\n"
    assert lines_behind(text, 9) == {1, 4, 6, 7, 8, 9}


def test_statements_are_read_once_however_many_names_lead_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a file of 14,000 lines an error took half a minute to explain."""
    count = 200
    text = HEADER + "".join([METHOD.format(i, i + 1) for i in range(count)]) + "y = net.method0(x)\n"
    program = Program("program.py", text)
    asked: list[ast.stmt] = []
    whole = program.assigned_by
    monkeypatch.setattr(program, "assigned_by", lambda statement: asked.append(statement) or whole(statement))
    statement = program.statement_at(len(text.splitlines()))
    assert statement is not None
    assert len(Slice(program, statement).statements) > 2 * count
    assert len(asked) < 10 * count
