"""Single statements of the user's program: where something is assigned, what is running, and the line with a part
replaced. Whoever needs to know where values come from takes dataflow.py, which this is built on.

Everything here may fail (there is no source, the program is written in another way), and then returns None: a finding
without a fix is better than a wrong one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import FunctionType
from typing import Any, NamedTuple

from leafgrad.errors.dataflow import Program, program_of
from leafgrad.errors.naming import Place, namespaces, quietly, users_frame, was_written
from leafgrad.errors.rewriting import ATOMS, Edits, spot


class Statement(NamedTuple):
    """A statement of a file."""

    program: Program
    tree: ast.stmt

    @property
    def text(self) -> str:
        return Edits(self.program).line(self.tree)

    @property
    def place(self) -> Place:
        return Place(spot(self.program, self.tree), self.text)

    def part(self, node: ast.expr) -> str:
        """The text of an expression in the statement, in one line."""
        edits = Edits(self.program)
        return edits.text_between(edits.start(node), edits.end(node))

    def replaced(self, node: ast.expr, new: str) -> str:
        """The statement with other text in the place of an expression."""
        edits = Edits(self.program)
        edits.replace(edits.start(node), edits.end(node), new)
        return edits.line(self.tree)


@quietly
def assignments(filename: str, name: str) -> list[Statement]:
    """The statements of a file that give `name` a value, `model` or `self.layers`, in their order."""
    program = program_of(filename)
    if program is None:
        return []
    found = {stmt for stmt in program.statements.values() if name in program.assigned_by(stmt)[0]}
    return [Statement(program, stmt) for stmt in sorted(found, key=lambda stmt: stmt.lineno)]


def assignment_of_attribute(owner: type, name: str) -> Statement | None:
    """Where the methods of a class assign to `self.name` first: the class itself, or the base that does so."""
    for kind in owner.__mro__:
        for code in [part.__code__ for part in vars(kind).values() if isinstance(part, FunctionType)]:
            lines = [line for _, _, line in code.co_lines() if line is not None]
            this = code.co_varnames[0] if code.co_argcount else "self"
            for one in assignments(code.co_filename, f"{this}.{name}") or []:
                if one.tree.lineno in lines:
                    return one
    return None


def assignment_of_variable(name: str) -> Statement | None:
    """Where a variable of the user's got its value: the last assignment above the line that is running."""
    frame = users_frame()
    above = [one for one in assignments(frame.f_code.co_filename, name) or [] if one.tree.lineno <= frame.f_lineno]
    return above[-1] if above else None


def calls_in(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def name_of_object(value: Any) -> str | None:
    """What the program calls an object: a variable, or an attribute of `self`."""
    return _name_of_object(value)


@quietly
def _name_of_object(value: Any) -> str | None:
    for names in namespaces():
        for name, found in names:
            if found is value and was_written(name) and name != "self":
                return str(name)
        for name, found in names:
            own = getattr(found, "__dict__", None) if name == "self" else None
            if isinstance(own, dict):
                tables = [own, *[table for key in ("_modules",) if isinstance(table := own.get(key), dict)]]
                for key, part in [entry for table in tables for entry in table.items()]:
                    if part is value and was_written(key):
                        return f"self.{key}"
    return None


# -- the line that is running -----------------------------------------------------------------------------------------


def running_expression() -> tuple[Statement, ast.expr] | None:
    """The statement that is running, and the expression in it that is being computed."""
    frame = users_frame()
    return expression_at(frame.f_code, frame.f_lasti)


@quietly
def expression_at(code: Any, lasti: int) -> tuple[Statement, ast.expr] | None:
    """The statement that an instruction belongs to, and the expression in it that it computes."""
    program = program_of(code.co_filename)
    node = None if program is None else program.expression_at(code, lasti)
    stmt = None if program is None or node is None else program.statement_of(node)
    return None if program is None or node is None or stmt is None else (Statement(program, stmt), node)


def with_method(which: int, method: str, keyword: str = "") -> str | None:
    """The line that is running, with `.method` behind an operand of the difference, or an argument of the call, that it
    is computing: `loss = F.mse_loss(model(x).squeeze(1), y)`."""
    statement, node = running_expression() or (None, None)
    operand: ast.expr | None = None
    if isinstance(node, ast.BinOp):
        operand = (node.left, node.right)[which]
    elif isinstance(node, ast.Call):
        given = {one.arg: one.value for one in node.keywords}
        operand = node.args[which] if len(node.args) > which else given.get(keyword)
    if statement is None or operand is None or isinstance(operand, ast.Starred):
        return None
    text = statement.part(operand)
    return statement.replaced(operand, f"{text if isinstance(operand, ATOMS) else f'({text})'}.{method}")
