"""The user's source around a recorded operation: the expression it is, its operands, and the line with one replaced."""

from __future__ import annotations

import ast
import linecache
import sys
import types
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from leafgrad._core.node import Node
from leafgrad._core.origin import line_of
from leafgrad._explain.known_values import public_name
from leafgrad.errors import naming
from leafgrad.errors.naming import library, quietly, shown_name, users_frames
from leafgrad.ops.registry import registry


class Line(NamedTuple):
    """A line of the program as it should be."""

    text: str
    spot: str

    def __str__(self) -> str:
        return f"{self.text}   # {self.spot}"


class Edit(NamedTuple):
    """New text for a part of a line; columns count bytes."""

    line: int
    start: int
    stop: int
    new: str


class Expression:
    """The expression that recorded a node: `torch.where(x > 0, x.sqrt(), x)`, in the source of its file."""

    def __init__(self, node: Node, tree: ast.expr, source: str) -> None:
        self.node, self.tree, self.source = node, tree, source
        self.code, self.file = node.code, node.code.co_filename
        self.line = tree.lineno

    def of(self, part: ast.expr) -> str:
        """The text of a part of it, in one line."""
        text = ast.get_source_segment(self.source, part)
        return ast.unparse(part) if text is None or "\n" in text else text

    def operand(self, index: int) -> ast.expr | None:
        """The expression that is input `index` of the operation."""
        return operand_in(self.tree, self.node, index, self.file)

    def contains(self, other: Expression) -> bool:
        """Is another expression written inside of this one?"""
        return self.code is other.code and encloses(self.tree, other.tree)

    def statement(self) -> ast.stmt:
        """The innermost statement that it is part of."""
        around = [
            one
            for one in ast.walk(ast.parse(self.source))
            if isinstance(one, ast.stmt) and begin(one) <= begin(self.tree) and end(self.tree) <= end(one)
        ]
        return max(around, key=begin)


def begin(tree: ast.expr | ast.stmt) -> tuple[int, int]:
    return tree.lineno, tree.col_offset


def end(tree: ast.expr | ast.stmt) -> tuple[int, int]:
    return tree.end_lineno or 0, tree.end_col_offset or 0


def encloses(outer: ast.expr, inner: ast.expr) -> bool:
    return begin(outer) <= begin(inner) and end(inner) <= end(outer)


def names_in(tree: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)}


def names_stored(tree: ast.AST) -> set[str]:
    """The variables that a statement assigns."""
    return {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


@quietly
def expression_of(node: Node) -> Expression | None:
    """The expression that recorded a node, if the source of its file can be had."""
    filename, _ = line_of(node.code, node.lasti)
    first, last, start, stop = next(islice(node.code.co_positions(), node.lasti // 2, None))
    linecache.checkcache(filename)
    source = "".join(linecache.getlines(filename))
    for tree in ast.walk(ast.parse(source)):
        if isinstance(tree, ast.Call | ast.BinOp | ast.Subscript | ast.UnaryOp):
            if (*begin(tree), *end(tree)) == (first, start, last, stop):
                return Expression(node, tree, source)
    return None


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


def replacing(part: ast.expr, new: str) -> list[Edit] | None:
    """The edit that puts new text in the place of an expression; None if it is on several lines."""
    if part.lineno != part.end_lineno:
        return None
    return [Edit(part.lineno, part.col_offset, end(part)[1], new)]


def around(part: ast.expr, before: str, after: str) -> list[Edit]:
    """The edits that put text before and behind an expression."""
    (first, start), (last, stop) = begin(part), end(part)
    return [Edit(first, start, start, before), Edit(last, stop, stop, after)]


class Fix(NamedTuple):
    """Edits of the file that an expression is in."""

    expression: Expression
    edits: list[Edit]


def overlap(one: Edit, other: Edit) -> bool:
    return one != other and one.line == other.line and one.start < other.stop and other.start < one.stop


def lines_of(fixes: Iterable[Fix]) -> list[Line]:
    """The lines that some fixes change, as they are then. A fix that does not go together with those before it is left
    out: what it mends will be seen when they are done."""
    files: dict[str, tuple[Expression, list[Edit]]] = {}
    for expression, edits in fixes:
        _, sofar = files.setdefault(expression.file, (expression, []))
        if not any([overlap(one, other) for one in edits for other in sofar]):
            sofar += [one for one in edits if one not in sofar]
    return [line for expression, edits in files.values() for line in edited(expression, edits) or ()]


@quietly
def edited(expression: Expression, edits: list[Edit]) -> list[Line]:
    """The lines of a file that edits change, as they are then; an error, and so None, if that is no program."""
    lines = expression.source.split("\n")
    name = shown_name(expression.file) or expression.file
    for edit in sorted(edits, key=lambda one: (one.line, one.start, one.stop), reverse=True):
        raw = lines[edit.line - 1].encode()
        lines[edit.line - 1] = (raw[: edit.start] + edit.new.encode() + raw[edit.stop :]).decode()
    ast.parse("\n".join(lines))
    return [Line(without_comment(lines[n - 1].strip()), f"{name}:{n}") for n in sorted({edit.line for edit in edits})]


def without_comment(text: str) -> str:
    return naming.without_comment(text) or text


def in_parentheses(text: str, part: ast.expr) -> str:
    """An operand as it can be written before a comparison or a method."""
    simple = ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant
    return text if isinstance(part, simple) else f"({text})"


def assigned_between(expression: Expression, last: int) -> set[str]:
    """The variables that a file assigns in the lines from that of an expression to `last`."""
    tree = ast.parse(expression.source)
    stored = [one for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    return {one.id for one in stored if expression.statement().lineno <= one.lineno <= last}
