"""The source of the user's program: the statement of a line, the expression of an instruction, and from which
statements a value comes.

    names = {"total"} at the line `loss = torch.tensor(total)`
    behind it: `total = total + error.item()`, `total = 0.0`, `error = f(model(x), y)`, and what `f` returns

This is read from the syntax tree alone, as a reader of the program would, so it can say more than is true (a branch
that is never taken) but rarely less. It is used to choose among things that are known to have happened.
"""

from __future__ import annotations

import ast
import builtins
import functools
import linecache
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from leafgrad._core.tensor import links

MOST_STATEMENTS = 2000
Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
WITH = (ast.With, ast.AsyncWith)


class Program:
    """A file of the user's as a syntax tree in which every node knows its parent."""

    def __init__(self, filename: str, text: str) -> None:
        self.filename = filename
        self.text = text
        self.tree = ast.parse(text)
        self.lines = text.split("\n")
        self.functions: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
        self.parents: dict[ast.AST, ast.AST] = {}
        self.imported = {"torch", "nn", "F", "optim", "np", "math"}  # or given to a cell of a notebook
        self._assigned: dict[ast.stmt, tuple[set[str], set[str]]] = {}
        self._inside: dict[ast.AST, list[ast.stmt]] = {}
        self.statements: dict[int, ast.stmt] = {}  # by line, the innermost
        self.expressions: dict[tuple[int | None, int | None], list[ast.expr]] = {}  # by where they end
        self.calls: dict[str, list[ast.Call]] = {}  # by the last name of what is called
        for node in ast.walk(self.tree):  # from the outside to the inside
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
            if isinstance(node, ast.stmt):
                for line in range(first_line(node), (node.end_lineno or node.lineno) + 1):
                    before = self.statements.get(line)
                    if before is None or first_line(node) >= first_line(before):
                        self.statements[line] = node
            elif isinstance(node, ast.expr):
                self.expressions.setdefault((node.end_lineno, node.end_col_offset), []).append(node)
                if isinstance(node, ast.Call):
                    self.calls.setdefault((dotted(node.func) or "").rpartition(".")[2], []).append(node)
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self.imported |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
            if isinstance(node, FUNCTIONS):
                self.functions.setdefault(node.name, []).append(node)

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node is part of, the innermost first."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def statement_at(self, line: int) -> ast.stmt | None:
        """The innermost statement that has something on this line."""
        return self.statements.get(line)

    def statement_of(self, node: ast.AST) -> ast.stmt | None:
        """The statement that an expression is part of."""
        return (
            node if isinstance(node, ast.stmt) else next((n for n in self.above(node) if isinstance(n, ast.stmt)), None)
        )

    def scope_of(self, node: ast.AST) -> Scope:
        """The function, or the module, that a statement is in."""
        return next((n for n in self.above(node) if isinstance(n, FUNCTIONS)), self.tree)

    def statements_in(self, stmt: ast.AST) -> list[ast.stmt]:
        """A statement and those in it that belong to the same function."""
        found = self._inside.get(stmt)
        if found is None:
            found = [stmt] if isinstance(stmt, ast.stmt) else []
            for child in ast.iter_child_nodes(stmt):
                if isinstance(child, (ast.stmt, ast.ExceptHandler)) and not isinstance(
                    child, (*FUNCTIONS, ast.ClassDef)
                ):
                    found = found + self.statements_in(child)
            self._inside[stmt] = found
        return found

    def set_in(self, *blocks: list[ast.stmt]) -> dict[str, list[ast.stmt]]:
        """For each name the statements that give it a value or change it, among those of some blocks."""
        found: dict[str, list[ast.stmt]] = {}
        for stmt in [stmt for block in blocks for stmt in block]:
            if not isinstance(stmt, (*FUNCTIONS, ast.ClassDef)):
                for part in self.statements_in(stmt):
                    for name in set().union(*self.assigned_by(part)):
                        found.setdefault(name, []).append(part)
        return found

    @functools.cached_property
    def set_by_module(self) -> dict[str, list[ast.stmt]]:
        return self.set_in(self.tree.body)

    @functools.cached_property
    def set_by_functions(self) -> dict[str, list[ast.stmt]]:
        return self.set_in(*[function.body for same in self.functions.values() for function in same])

    def assigned_by(self, stmt: ast.stmt) -> tuple[set[str], set[str]]:
        """The same as `assigned`, worked out once."""
        if stmt not in self._assigned:
            self._assigned[stmt] = assigned(stmt)
        return self._assigned[stmt]

    def expression_at(self, code: Any, lasti: int) -> ast.expr | None:
        """The expression that an instruction computes."""
        line, last, start, end = next(islice(code.co_positions(), lasti // 2, None))
        call: ast.expr | None = None
        for node in self.expressions.get((last, end), ()):
            if (node.lineno, node.col_offset) == (line, start):
                return node
            # a call of a method in several lines is said to begin with the name of the method
            if isinstance(node, ast.Call) and node.lineno < (line or 0) and call is None:
                call = node
        return call


@functools.lru_cache(maxsize=32)
def _parsed(filename: str, text: str) -> Program | None:
    try:
        return Program(filename, text)
    except (SyntaxError, ValueError, RecursionError):  # a cell of a notebook with commands in it, for instance
        return None


def program_of(filename: str) -> Program | None:
    """The source of a file, if it can be had and read."""
    linecache.checkcache(filename)
    text = "".join(linecache.getlines(filename))
    return _parsed(filename, text) if text.strip() else None


def first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *[d.lineno for d in decorators]])


# -- names ------------------------------------------------------------------------------------------------------------


def dotted(node: ast.AST) -> str | None:
    """`self.h` of an attribute or name; None of anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (base := dotted(node.value)) is not None:
        return f"{base}.{node.attr}"
    return None


def header(stmt: ast.stmt) -> list[ast.AST]:
    """The parts of a statement that are no statements themselves."""
    if isinstance(stmt, (*FUNCTIONS, ast.ClassDef)):
        return []
    return [child for child in ast.iter_child_nodes(stmt) if not isinstance(child, (ast.stmt, ast.ExceptHandler))]


def names_in(nodes: list[ast.AST]) -> set[str]:
    """The names that are read: of `self.h.mean()` that is `self`, `self.h` and `self.h.mean`."""
    found = set()
    for top in nodes:
        for node in ast.walk(top):
            if isinstance(node, (ast.Name, ast.Attribute)) and not isinstance(node.ctx, ast.Store):
                found |= {name for name in [dotted(node)] if name is not None}
    return found


def calls_in(nodes: list[ast.AST]) -> set[str]:
    """The names of what is called."""
    calls = [node.func for top in nodes for node in ast.walk(top) if isinstance(node, ast.Call)]
    return {f.id for f in calls if isinstance(f, ast.Name)} | {f.attr for f in calls if isinstance(f, ast.Attribute)}


def assigned(stmt: ast.stmt) -> tuple[set[str], set[str]]:
    """The names that a statement gives a new value, and those whose value it changes."""
    new: set[str] = set()
    changed: set[str] = set()
    targets: list[ast.AST] = []
    if isinstance(stmt, ast.Assign):
        targets += stmt.targets
    elif isinstance(stmt, (ast.AnnAssign, ast.For, ast.AsyncFor)):
        targets.append(stmt.target)
    elif isinstance(stmt, ast.AugAssign):
        changed |= {name for name in [dotted(stmt.target)] if name}
    elif isinstance(stmt, WITH):
        targets += [item.optional_vars for item in stmt.items if item.optional_vars is not None]
    elif isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call) and isinstance(stmt.value.func, ast.Attribute):
        if (name := dotted(stmt.value.func.value)) is not None:  # losses.append(loss)
            changed.add(name)
    targets += [node.target for top in header(stmt) for node in ast.walk(top) if isinstance(node, ast.NamedExpr)]
    for target in targets:
        for node in ast.walk(target):
            if isinstance(node, ast.Subscript) and (name := dotted(node.value)) is not None:
                changed.add(name)
            elif isinstance(getattr(node, "ctx", None), ast.Store) and (name := dotted(node)) is not None:
                new.add(name)
    return new, changed


# -- where a value comes from -----------------------------------------------------------------------------------------


class Slice:
    """The statements that a value comes from: those of the functions, too, that are called on the way."""

    def __init__(
        self,
        program: Program,
        start: ast.stmt,
        names: set[str] | None = None,
        ends: Callable[[ast.stmt], bool] | None = None,
    ) -> None:
        self.program = program
        self.ends = ends  # at which statements to look no further back
        self.statements: list[ast.stmt] = []
        self.taken: set[ast.stmt] = set()
        self.calls: set[str] = set()
        self.wanted: list[tuple[ast.stmt, set[str]]] = []
        self.asked: set[tuple[ast.stmt, str]] = set()
        self.entered: set[str] = set()  # functions, from their calls
        self.left: set[str] = set()  # functions, to their calls
        if names is None:
            self.take(start)
        else:
            self.wanted.append((start, names))
        while self.wanted and len(self.statements) < MOST_STATEMENTS:
            use, names = self.wanted.pop()
            for name in names:
                if (use, name) not in self.asked:
                    self.asked.add((use, name))
                    self.find(use, name)

    def take(self, stmt: ast.stmt) -> None:
        """A statement from which the value comes: and so do the values that it reads."""
        if stmt in self.taken:
            return
        self.taken.add(stmt)
        self.statements.append(stmt)
        if self.ends is not None and self.ends(stmt):
            return
        parts = header(stmt)
        if isinstance(stmt, ast.AugAssign):
            parts.append(ast.Name(dotted(stmt.target) or "", ast.Load()))
        self.wanted.append((stmt, names_in(parts)))
        self.calls |= calls_in(parts)
        for call in [node for top in parts for node in ast.walk(top) if isinstance(node, ast.Call)]:
            called = ast.unparse(call.func)
            if called not in self.entered:
                self.entered.add(called)
                self.enter(call.func)

    def enter(self, called: ast.expr) -> None:
        """A function that is called: its value comes from its returns. What is no function may be a module."""
        name = called.attr if isinstance(called, ast.Attribute) else dotted(called) or ""
        known = self.program.functions.get(name, [])
        if not known and self.may_be_module(called, name):
            known = [*self.program.functions.get("forward", []), *self.program.functions.get("__call__", [])]
        for function in known:
            if function.name == "forward" and "staticmethod" in map(dotted, function.decorator_list):
                continue  # of an autograd.Function, which has its own backward
            for node in ast.walk(function):
                if isinstance(node, (ast.Return, ast.Yield)) and self.program.scope_of(node) is function:
                    stmt = self.program.statement_of(node)
                    if stmt is not None:
                        self.take(stmt)

    def may_be_module(self, called: ast.expr, name: str) -> bool:
        """Is what is called neither a function of Python, nor of an imported module, nor a method of tensors?"""
        root = (dotted(called) or "").partition(".")[0]
        if isinstance(called, ast.Attribute):
            return root not in self.program.imported and not hasattr(links.tensor_class, name)
        return not hasattr(builtins, name)

    def find(self, use: ast.stmt, name: str) -> None:
        """The statements before `use` that give `name` its value there."""
        stmt: ast.AST = use
        for parent in self.program.above(use):
            block = block_of(parent, stmt)
            for before in reversed(block[: block.index(stmt)] if stmt in block else []):
                if self.defines(before, name):
                    return
            if isinstance(parent, LOOPS):  # what an earlier turn of it has left
                if self.defines(parent, name) and name in assigned(parent)[0]:
                    return
            elif isinstance(parent, ast.stmt) and not isinstance(parent, FUNCTIONS) and name in assigned(parent)[0]:
                self.take(parent)  # with f() as name, if (name := f())
                return
            if isinstance(parent, FUNCTIONS):
                self.find_attribute(name)
                if name.partition(".")[0] in {a.arg for a in ast.walk(parent.args) if isinstance(a, ast.arg)}:
                    self.callers(parent.name)
                else:
                    for outer in self.program.set_by_module.get(name, ()):  # a global
                        self.take(outer)
                return
            stmt = parent
        self.find_attribute(name)

    def find_attribute(self, name: str) -> None:
        """Attributes may be set by any function; what is `model.total` outside is `self.total` there."""
        if "." in name:
            for each in {name, f"self.{name.rpartition('.')[2]}"}:
                for stmt in self.program.set_by_functions.get(each, ()):
                    self.take(stmt)

    def callers(self, function: str) -> None:
        """A value that a function was given: it comes from the calls of that function."""
        calls = [] if function in self.left else self.program.calls.get(function, [])
        self.left.add(function)
        for node in calls:
            stmt = self.program.statement_of(node)
            if stmt is not None:
                self.entered.add(ast.unparse(node.func))
                self.take(stmt)

    def defines(self, stmt: ast.AST, name: str) -> bool:
        """Take the statements in `stmt` that give `name` a value or change it. Is that certain to be done?"""
        if isinstance(stmt, (*FUNCTIONS, ast.ClassDef)):
            return False
        certain = False
        for part in self.program.statements_in(stmt):
            new, changed = self.program.assigned_by(part)
            if name in new or name in changed:
                self.take(part)
                certain = certain or (part is stmt and name in new)
        return certain

    def lines(self) -> set[int]:
        return {line for stmt in self.statements for line in lines_of(stmt)}


def block_of(parent: ast.AST, stmt: ast.AST) -> list[Any]:
    """The list of statements of `parent` that has `stmt` in it."""
    for field in ("body", "orelse", "finalbody", "handlers"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and stmt in block:
            return block
    return []


def lines_of(stmt: ast.stmt) -> range:
    """The lines of a statement, without those of the statements in it."""
    inner = [child.lineno for child in ast.iter_child_nodes(stmt) if isinstance(child, ast.stmt)]
    return range(first_line(stmt), max(min(inner, default=(stmt.end_lineno or stmt.lineno) + 1), stmt.lineno + 1))
