"""The user's program as text: where something is assigned, what a call passes on, and lines with a part replaced.

Everything here may fail (there is no source, the program is written in another way), and then returns None: a finding
without a fix is better than a wrong one."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, NamedTuple

from leafgrad.errors.naming import Place, namespaces, quietly, shown_name, users_frame, was_written


class Statement(NamedTuple):
    """A statement on one line of a file."""

    filename: str
    line: int
    text: str  # without indentation
    tree: ast.stmt

    @property
    def place(self) -> Place:
        return Place(f"{shown_name(self.filename) or self.filename}:{self.line}", self.text)

    def part(self, node: ast.expr) -> str:
        """The text of an expression in the statement."""
        return ast.get_source_segment(self.text, node) or ast.unparse(node)

    def replaced(self, node: ast.expr, new: str) -> str | None:
        """The statement with other text in the place of an expression, if that is on its line."""
        if node.lineno != node.end_lineno or node.end_col_offset is None:
            return None
        text = self.text.encode()  # columns count bytes
        return (text[: node.col_offset] + new.encode() + text[node.end_col_offset :]).decode()


def statement_at(filename: str, line: int) -> Statement | None:
    """The statement on a line, if it begins and ends there."""
    text = linecache.getline(filename, line).strip()
    return parsed(filename, line, text)


@quietly
def parsed(filename: str, line: int, text: str) -> Statement | None:
    (tree,) = ast.parse(text).body
    return Statement(filename, line, text, tree)


@quietly
def assignments(filename: str, wanted: Callable[[ast.expr], bool]) -> list[Statement]:
    """The statements of a file that assign to something, in their order."""
    source = "".join(linecache.getlines(filename))
    found: list[Statement] = []
    for node in ast.walk(ast.parse(source)):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any([wanted(target) for target in targets]) and node.lineno == node.end_lineno:  # type: ignore[attr-defined]
            one = statement_at(filename, node.lineno)  # type: ignore[attr-defined]
            if one is not None:
                found.append(one)
    return sorted(found, key=lambda one: one.line)


def assignment_of_attribute(owner: type, name: str) -> Statement | None:
    """Where the methods of a class assign to `self.name` first: the class itself, or the base that does so."""
    for kind in owner.__mro__:
        for code in [part.__code__ for part in vars(kind).values() if isinstance(part, FunctionType)]:
            lines = [line for _, _, line in code.co_lines() if line is not None]
            found = assignments(code.co_filename, lambda target: is_attribute_of_self(target, name))
            for one in found or []:
                if one.line in lines:
                    return one
    return None


def is_attribute_of_self(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.attr == name


def assignment_of_variable(name: str, frame: Any = None) -> Statement | None:
    """Where a variable of the user's got its value: the last assignment above the line that is running."""
    frame = users_frame() if frame is None else frame
    code = frame.f_code
    found = assignments(code.co_filename, lambda target: isinstance(target, ast.Name) and target.id == name)
    above = [one for one in found or [] if one.line <= frame.f_lineno]
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
    line, _, start, end = list(code.co_positions())[lasti // 2]
    statement = None if line is None else statement_at(code.co_filename, line)
    if statement is None or start is None or end is None:
        return None
    whole = linecache.getline(code.co_filename, line)
    indent = len(whole) - len(whole.lstrip())
    for node in ast.walk(statement.tree):
        if isinstance(node, ast.expr) and (node.col_offset, node.end_col_offset) == (start - indent, end - indent):
            return statement, node
    return None


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
    simple = isinstance(operand, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    return statement.replaced(operand, f"{text if simple else f'({text})'}.{method}")
