"""The user's source around a recorded operation: the expression it is, its operands, and the line with one replaced."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from leafgrad._core.node import Node
from leafgrad._explain.known_values import public_name
from leafgrad.errors import naming
from leafgrad.errors.dataflow import Program, assigned, program_of
from leafgrad.errors.naming import library, quietly, shown_name, users_frames
from leafgrad.errors.rewriting import Edits
from leafgrad.ops.registry import registry

Piece = tuple[int, int, str]  # from which byte of a program to which, and the new text


class Line(NamedTuple):
    """A line of the program as it should be."""

    text: str
    spot: str

    def __str__(self) -> str:
        return f"{self.text}   # {self.spot}"


class Expression:
    """The expression that recorded a node: `torch.where(x > 0, x.sqrt(), x)`, in the source of its file."""

    def __init__(self, node: Node, tree: ast.expr, program: Program) -> None:
        self.node, self.tree, self.program = node, tree, program
        self.code, self.file = node.code, node.code.co_filename
        self.line = tree.lineno

    def of(self, part: ast.expr) -> str:
        """The text of a part of it, in one line."""
        text = ast.get_source_segment(self.program.text, part)
        return ast.unparse(part) if text is None or "\n" in text else text

    def operand(self, index: int) -> ast.expr | None:
        """The expression that is input `index` of the operation."""
        return operand_in(self.tree, self.node, index, self.file)

    def contains(self, other: Expression) -> bool:
        """Is another expression written inside of this one?"""
        return self.code is other.code and encloses(self.tree, other.tree)

    def replacing(self, part: ast.expr, new: str) -> list[Piece]:
        """New text in the place of a part; nothing if that is on several lines."""
        if part.lineno != part.end_lineno:
            return []
        edits = Edits(self.program)
        return [(edits.start(part), edits.end(part), new)]

    def around(self, before: str, after: str) -> list[Piece]:
        """Text before and behind it."""
        edits = Edits(self.program)
        start, end = edits.start(self.tree), edits.end(self.tree)
        return [(start, start, before), (end, end, after)]


def encloses(outer: ast.expr, inner: ast.expr) -> bool:
    return (outer.lineno, outer.col_offset) <= (inner.lineno, inner.col_offset) and (
        (inner.end_lineno or 0, inner.end_col_offset or 0) <= (outer.end_lineno or 0, outer.end_col_offset or 0)
    )


@quietly
def expression_of(node: Node) -> Expression | None:
    """The expression that recorded a node, if the source of its file can be had."""
    program = program_of(node.code.co_filename)
    tree = None if program is None else program.expression_at(node.code, node.lasti)
    if program is None or not isinstance(tree, ast.Call | ast.BinOp | ast.Subscript | ast.UnaryOp):
        return None
    return Expression(node, tree, program)


def operand_in(tree: ast.expr, node: Node, index: int, file: str) -> ast.expr | None:
    """Which part of an expression is input `index` of the operation that it is."""
    count = len(node.inputs)
    if isinstance(tree, ast.BinOp):
        sides = [tree.left, tree.right]
        variable = [side for side in sides if not isinstance(side, ast.Constant)]
        if len(variable) == 1:
            return variable[0] if count == 1 or node.inputs[index] is not None else None
        return sides[index] if count == 2 else None
    if isinstance(tree, ast.Subscript):
        return tree.value if index == 0 else None
    if not isinstance(tree, ast.Call) or any([isinstance(one, ast.Starred) for one in tree.args]):
        return None
    arguments: list[ast.expr] = list(tree.args)
    if isinstance(tree.func, ast.Attribute) and not is_module(tree.func.value, file):
        if tree.func.attr not in names_of(node):  # a module or function of the user's
            return arguments[0] if count == len(arguments) == 1 else None
        arguments = [tree.func.value, *arguments]
    if index < len(arguments):
        return arguments[index]
    wanted = registry[node.op.name].inputs[index] if node.op.name in registry else None
    return next((one.value for one in tree.keywords if one.arg == wanted), None)


def names_of(node: Node) -> set[str]:
    """The names under which users call an operation."""
    operation = registry.get(node.op.name)
    names = {public_name(node)} if operation is None else {public_name(node), operation.name, *operation.aliases}
    return {form for name in names for form in (name, f"{name}_")}


def is_module(tree: ast.expr, file: str) -> bool:
    """Is an expression a module, as `torch` or `F`, and no tensor?"""
    path: list[str] = []
    while isinstance(tree, ast.Attribute):
        path.append(tree.attr)
        tree = tree.value
    if not isinstance(tree, ast.Name):
        return False
    for names in globals_of(file):
        value: Any = names.get(tree.id)
        for attribute in reversed(path):
            value = getattr(value, attribute, None) if isinstance(value, types.ModuleType) else None
        if value is not None:
            return isinstance(value, types.ModuleType)
    return tree.id in (library(), "torch", "F")


def globals_of(file: str) -> Iterator[dict[str, Any]]:
    for frame in users_frames():
        if frame.f_code.co_filename == file:
            yield frame.f_globals
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == file:
            yield vars(module)


class Fix(NamedTuple):
    """Changes of a program."""

    program: Program
    pieces: list[Piece]


def overlap(one: Piece, other: Piece) -> bool:
    return one != other and one[0] < other[1] and other[0] < one[1]


def lines_of(fixes: Iterable[Fix]) -> list[Line]:
    """The lines that some fixes change, as they are then. A fix that does not go together with those before it is left
    out: what it mends will be seen when they are done."""
    files: dict[str, tuple[Program, list[Piece]]] = {}
    for program, pieces in fixes:
        _, sofar = files.setdefault(program.filename, (program, []))
        if not any([overlap(one, other) for one in pieces for other in sofar]):
            sofar += [one for one in pieces if one not in sofar]
    return [line for program, pieces in files.values() for line in changed_lines(program, pieces) or ()]


@quietly
def changed_lines(program: Program, pieces: list[Piece]) -> list[Line]:
    """The lines of a program that are changed, as they are then; an error, and so None, if that is no program."""
    edits = Edits(program)
    for start, end, new in pieces:
        edits.pieces[start, end] = new
    name = shown_name(program.filename) or program.filename
    numbers = sorted({edits.data.count(b"\n", 0, start) + 1 for start, _, _ in pieces})
    lines = list(program.lines)
    for n in numbers:
        text = edits.text_between(edits.starts[n - 1], edits.starts[n] - 1)
        old = lines[n - 1]
        lines[n - 1] = old[: len(old) - len(old.lstrip())] + (naming.without_comment(text) or text)
    ast.parse("\n".join(lines))
    return [Line(lines[n - 1].strip(), f"{name}:{n}") for n in numbers]


def in_parentheses(text: str, part: ast.expr) -> str:
    """An operand as it can be written before a comparison or a method."""
    simple = ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant
    return text if isinstance(part, simple) else f"({text})"


def assigned_between(expression: Expression, last: int) -> set[str]:
    """The variables and attributes that a file assigns from the statement of an expression to the line `last`."""
    program = expression.program
    statement = program.statement_of(expression.tree)
    first = expression.line if statement is None else statement.lineno
    statements = [one for one in ast.walk(program.tree) if isinstance(one, ast.stmt) and first <= one.lineno <= last]
    return {name for one in statements for names in assigned(one) for name in names}
