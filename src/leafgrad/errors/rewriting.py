"""Lines of the user's program as they should be: the fixes that are printed below a message.

A fix is code that can be pasted, and where it goes:

    pred = out   # train.py:15                        in place of that line
    optimizer.zero_grad()   # before train.py:14      as a new line
    remove train.py:15
"""

from __future__ import annotations

import ast
import inspect
import os
import sys
from collections.abc import Sequence
from typing import Any

from leafgrad.errors.dataflow import WITH, Program, assigned, block_of, calls_in, dotted, header, lines_of, names_in
from leafgrad.errors.naming import library, shown_name

# Methods that hand out what a tensor holds without its history; after one of them the others do no harm any more.
LEAVING = {"item", "numpy", "tolist", "detach", "cpu", "detach_"}
TO_INTEGERS = {"long", "int", "short", "bool", "byte", "char", "to", "type", "type_as"}
CONVERSIONS = {"float", "int", "complex"}
MAKERS = {"tensor", "as_tensor", "from_numpy", "asarray", "FloatTensor", "DoubleTensor", "Tensor"}
OF_NUMPY = {"asarray", "array", "float32", "float64", "asanyarray"}
ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.List, ast.Tuple, ast.ListComp)


class Edits:
    """Changes of a program's text: pieces that are left out or replaced."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.data = program.text.encode()  # columns count bytes
        self.starts = [0]
        for line in program.lines:
            self.starts.append(self.starts[-1] + len(line.encode()) + 1)
        self.pieces: dict[tuple[int, int], str] = {}

    def start(self, node: Any) -> int:
        return int(self.starts[node.lineno - 1] + node.col_offset)

    def end(self, node: Any) -> int:
        return int(self.starts[node.end_lineno - 1] + node.end_col_offset)

    def replace(self, start: int, end: int, text: str = "") -> None:
        if start < end:
            self.pieces[start, end] = text

    def insert(self, at: int, text: str) -> None:
        self.pieces[at, at] = text

    def without_method(self, attribute: ast.Attribute, last: ast.expr) -> None:
        """`x` for `x.item()` or `x.data`."""
        dot = self.data.rindex(b".", self.end(attribute.value), self.end(attribute))
        self.replace(dot, self.end(last))

    def only_argument(self, call: ast.Call) -> None:
        """`x` for `float(x)`, and `(a + b)` for `float(a + b)` where it is a part of something."""
        argument = call.args[0]
        alone = isinstance(argument, ATOMS) or not isinstance(self.program.parents.get(call), ast.expr)
        self.replace(self.start(call), self.start(argument), "" if alone else "(")
        self.replace(self.end(argument), self.end(call), "" if alone else ")")

    def as_leaf(self, value: ast.expr) -> None:
        """`(a * b).requires_grad_()` for `a * b`."""
        simple = isinstance(value, ATOMS)
        if not simple:
            self.insert(self.start(value), "(")
        self.insert(self.end(value), ".requires_grad_()" if simple else ").requires_grad_()")

    def text_between(self, start: int, end: int) -> str:
        """A part of the program as it should be, in one line."""
        result = b""
        at = start
        for (first, last), text in sorted(self.pieces.items()):
            if first >= at and last <= end:
                result += self.data[at:first] + text.encode()
                at = last
        lines = (result + self.data[at:end]).decode().split("\n")
        return " ".join([line.strip() for line in lines]).strip()

    def changes(self, stmt: ast.stmt) -> bool:
        """Does a statement, or the head of a compound one, become another?"""
        spans = [(self.start(part), self.end(part)) for part in header(stmt) if hasattr(part, "lineno")]
        return any(start <= first and last <= end for first, last in self.pieces for start, end in spans)

    def statement(self, stmt: ast.stmt) -> str:
        """A statement as it should be; of a compound one the head."""
        inner = [child for child in ast.iter_child_nodes(stmt) if isinstance(child, ast.stmt)]
        if not inner or inner[0].lineno == stmt.lineno:
            return self.text_between(self.start(stmt), self.end(stmt))
        return self.text_between(self.start(stmt), self.starts[max(lines_of(stmt))])

    def line(self, stmt: ast.stmt) -> str:
        """All that is on the line of a statement, as it should be: other statements, or what it is the body of."""
        parent = self.program.parents.get(stmt)
        if isinstance(parent, ast.stmt) and parent.lineno == stmt.lineno:
            return self.line(parent)
        if parent is None:
            return self.statement(stmt)
        block = block_of(parent, stmt)
        return "; ".join([self.statement(one) for one in block if one.lineno == stmt.lineno])


def spot(program: Program, stmt: ast.stmt) -> str:
    """`train.py:15` of a statement."""
    return f"{shown_name(program.filename) or os.path.basename(program.filename)}:{stmt.lineno}"


def in_place_of(program: Program, stmt: ast.stmt, edits: Edits) -> str:
    """The fix that replaces the line of a statement; if nothing is left of it, removes it."""
    code = edits.line(stmt)
    left, equals, right = code.partition(" = ")
    if code.isidentifier() or (equals and left == right):
        parent = program.parents.get(stmt)
        if parent is None or len(block_of(parent, stmt)) > 1:
            return f"remove {spot(program, stmt)}"
        code = "pass"
    return f"{code}   # {spot(program, stmt)}"


# -- computing on with tensors ----------------------------------------------------------------------------------------


class Connecting:
    """Rewrites the statements between a cut and a loss, so that they compute with tensors."""

    def __init__(
        self, program: Program, statements: list[ast.stmt], cuts: list[ast.expr], lists: Sequence[ast.expr] = ()
    ) -> None:
        self.program = program
        self.statements = sorted(statements, key=lambda stmt: stmt.lineno)
        self.cuts = cuts
        self.edits = Edits(program)
        self.of_lists = set(lists)  # calls whose argument is a list of tensors
        self.names: set[str] = set()  # what is computed from what has left the graph,
        self.lists: set[str] = set()  # those that are lists of it,
        self.functions: set[str] = set()  # and functions that return it
        self.torch = library()

    def run(self) -> list[str]:
        """The fixes, one for each line that has to change."""
        for cut in self.cuts:
            self.follow(cut)
        count = -1
        while count < len(self.names) + len(self.functions):
            count = len(self.names) + len(self.functions)
            for stmt in self.statements:
                if self.touches(stmt):
                    self.spread(stmt)
        for stmt in self.statements:
            for top in header(stmt):
                for node in ast.walk(top):
                    if isinstance(node, ast.Call) and self.is_made_of_cut(node):
                        self.connect(node)
        return [in_place_of(self.program, stmt, self.edits) for stmt in self.statements if self.edits.changes(stmt)]

    def spread(self, stmt: ast.stmt) -> None:
        """A statement computes with what has left the graph: then so does what comes from it."""
        new, changed = assigned(stmt)
        self.names |= new | changed
        if isinstance(stmt, ast.Expr):  # losses.append(loss)
            self.lists |= changed
        elif isinstance(getattr(stmt, "value", None), (ast.List, ast.ListComp)):
            self.lists |= new
        scope = self.program.scope_of(stmt)
        yields = isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Yield)
        if (isinstance(stmt, ast.Return) or yields) and not isinstance(scope, ast.Module):
            self.functions.add(scope.name)

    def touches(self, stmt: ast.stmt) -> bool:
        return self.has_cut(header(stmt))

    def has_cut(self, nodes: list[ast.AST]) -> bool:
        """Is something among these parts that has left the graph, or that is computed from it?"""
        read = names_in(nodes)
        if read & self.names or calls_in(nodes) & self.functions:
            return True
        attributes = {name.removeprefix("self.") for name in self.names if name.startswith("self.")}
        if any("." in name and name.rpartition(".")[2] in attributes for name in read):
            return True  # set as self.total, read as model.total
        return any(node in self.cuts for top in nodes for node in ast.walk(top))

    def is_made_of_cut(self, call: ast.Call) -> bool:
        return self.has_cut([*call.args, *([call.func.value] if isinstance(call.func, ast.Attribute) else [])])

    def follow(self, cut: ast.expr) -> None:
        """Leave out the call or attribute that cut the graph, and what goes with it."""
        if isinstance(cut, ast.Call) and isinstance(cut.func, ast.Attribute) and cut.func.attr in TO_INTEGERS:
            self.edits.without_method(cut.func, cut)
        elif isinstance(cut, ast.Call):
            self.connect(cut)
        elif isinstance(cut, ast.Attribute):
            self.edits.without_method(cut, cut)
        node: ast.AST = cut
        while True:  # .detach().cpu().numpy()
            method, call = self.program.parents.get(node), None
            if isinstance(method, ast.Attribute) and method.attr in LEAVING:
                call = self.program.parents.get(method)
            if not isinstance(call, ast.Call) or not isinstance(method, ast.Attribute):
                return
            self.edits.without_method(method, call)
            node = call

    def connect(self, call: ast.Call) -> None:
        """The same call as it is written for tensors, if it is one of those that lead out of a graph."""
        called = dotted(call.func) or (f"?.{call.func.attr}" if isinstance(call.func, ast.Attribute) else "")
        owner, _, name = called.rpartition(".")
        ours, numpys = owner == self.torch, owner in ("np", "numpy")
        if isinstance(call.func, ast.Attribute) and not ours and name in (*LEAVING, "astype", "requires_grad_"):
            self.edits.without_method(call.func, call)
        elif isinstance(call.func, ast.Attribute) and name == "copy":
            self.edits.replace(self.edits.end(call.func) - len("copy"), self.edits.end(call.func), "clone")
        elif not call.args:
            return
        elif (
            (not owner and name in CONVERSIONS)
            or (numpys and name in OF_NUMPY)
            or (ours and name == "detach")
            or name in ("Parameter", "new_tensor")
        ):
            self.edits.only_argument(call)
        elif ours and name in MAKERS:
            if self.is_list(call.args[0]) or call in self.of_lists:
                self.edits.replace(self.edits.start(call.func), self.edits.end(call.func), f"{self.torch}.stack")
                self.edits.replace(self.edits.end(call.args[0]), self.edits.end(call) - 1)
            else:
                self.edits.only_argument(call)
        elif (numpys or owner == "math") and isinstance(call.func, ast.Attribute) and is_function(name):
            self.edits.replace(self.edits.start(call.func.value), self.edits.end(call.func.value), self.torch)
            if self.is_list(call.args[0]):
                self.edits.insert(self.edits.start(call.args[0]), f"{self.torch}.stack(")
                self.edits.insert(self.edits.end(call.args[0]), ")")

    def is_list(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call) and dotted(node.func) in ("list", "tuple", "sorted"):
            return True
        return isinstance(node, (ast.List, ast.Tuple, ast.ListComp)) or dotted(node) in self.lists


def is_function(name: str) -> bool:
    """Does leafgrad have a function of this name?"""
    return hasattr(sys.modules["leafgrad"], name)


# -- other mistakes ---------------------------------------------------------------------------------------------------


def recording_again(program: Program, stmt: ast.stmt, mode: str, path: Sequence[ast.stmt]) -> str:
    """The `with no_grad():` around a statement, or the decorator, turned into its opposite. It may stand in a function
    that calls the one with the statement: around one of those on the `path` to the loss."""
    names = {mode, "no_grad", "inference_mode", "set_grad_enabled"}
    on = f"{library()}.enable_grad()"
    for parent in [parent for one in (stmt, *path) for parent in program.above(one)]:
        for item in parent.items if isinstance(parent, WITH) else ():
            call = item.context_expr
            if isinstance(call, ast.Call) and (dotted(call.func) or "").rpartition(".")[2] in names:
                edits = Edits(program)
                edits.replace(edits.start(call), edits.end(call), on)
                return in_place_of(program, parent, edits)  # type: ignore[arg-type]
        for decorator in getattr(parent, "decorator_list", ()):
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if (dotted(called) or "").rpartition(".")[2] in names:
                where = f"{shown_name(program.filename)}:{decorator.lineno}"
                return f"@{on}   # {where}"
    if mode == "no_grad" and header(stmt) and not hasattr(stmt, "body"):
        edits = Edits(program)
        return f"with {on}: {edits.statement(stmt)}   # {spot(program, stmt)}"
    return ""


def update_in_place(program: Program, stmt: ast.stmt, recording: bool) -> str:
    """`w = w - 0.1 * w.grad`, which makes a new w, as a change of the same one; nothing for other statements."""
    if not isinstance(stmt, ast.Assign) or len(stmt.targets) != 1:
        return ""
    name = dotted(stmt.targets[0])
    if name is None or f"{name}.grad" not in names_in([stmt.value]):
        return ""
    edits = Edits(program)
    value = stmt.value
    for node in ast.walk(value):
        if isinstance(node, ast.Attribute) and node.attr == "data":
            edits.without_method(node, node)
    inner: ast.expr = value
    while isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in (
        "detach", "requires_grad_", "clone"
    ):  # fmt: skip
        inner = inner.func.value
    before = "with " + library() + ".no_grad(): " if recording else ""
    if isinstance(inner, ast.BinOp) and isinstance(inner.op, (ast.Add, ast.Sub)):
        left = inner.left.value if is_data(inner.left) else inner.left  # type: ignore[attr-defined]
        if dotted(left) == name:
            sign = "+" if isinstance(inner.op, ast.Add) else "-"
            code = f"{name} {sign}= {edits.text_between(edits.start(inner.right), edits.end(inner.right))}"
            return f"{before}{code}   # {spot(program, stmt)}"
    code = f"{name}.copy_({edits.text_between(edits.start(inner), edits.end(inner))})"
    return f"{before}{code}   # {spot(program, stmt)}"


def is_data(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "data"


def requiring_grad(program: Program, stmt: ast.stmt) -> str:
    """A statement that makes a tensor, so that it requires grad; nothing if it says so already."""
    value = getattr(stmt, "value", None)
    target = stmt.targets[0] if isinstance(stmt, ast.Assign) else getattr(stmt, "target", None)
    if not isinstance(value, ast.expr) or not isinstance(target, (ast.Name, ast.Attribute)):
        return ""
    edits = Edits(program)
    before = edits.statement(stmt)
    given = [k for k in value.keywords if k.arg == "requires_grad"] if isinstance(value, ast.Call) else []
    if given:
        edits.replace(edits.start(given[0].value), edits.end(given[0].value), "True")
    elif isinstance(value, ast.Call) and takes_requires_grad(dotted(value.func) or ""):
        comma = ", " if value.args or value.keywords else ""
        edits.replace(edits.end(value) - 1, edits.end(value), f"{comma}requires_grad=True)")
    else:
        edits.as_leaf(value)
    return "" if edits.statement(stmt) == before else in_place_of(program, stmt, edits)


def takes_requires_grad(called: str) -> bool:
    """Is this a function of leafgrad that makes tensors?"""
    owner, _, name = called.rpartition(".")
    function = getattr(sys.modules["leafgrad"], name, None) if owner == library() else None
    try:
        return function is not None and "requires_grad" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def made_as_leaf(program: Program, stmt: ast.stmt) -> str:
    """`w = (torch.randn(3) * 0.1).requires_grad_()` for `w = torch.randn(3, requires_grad=True) * 0.1`, which is no
    leaf; nothing for other statements."""
    value = getattr(stmt, "value", None)
    if not isinstance(stmt, (ast.Assign, ast.AnnAssign)) or not isinstance(value, ast.expr):
        return ""
    edits = Edits(program)
    for call in [node for node in ast.walk(value) if isinstance(node, ast.Call) and node is not value]:
        for number, keyword in enumerate(call.keywords):
            if keyword.arg == "requires_grad":
                before = [*call.args, *[k.value for k in call.keywords[:number]]]
                start = edits.end(before[-1]) if before else edits.start(keyword)
                edits.replace(start, edits.end(keyword.value))
        if isinstance(call.func, ast.Attribute) and call.func.attr == "requires_grad_":
            edits.without_method(call.func, call)
    if not edits.pieces:
        return ""
    edits.as_leaf(value)
    return in_place_of(program, stmt, edits)


def smooth_step(program: Program, stmt: ast.stmt, cut: ast.expr) -> str:
    """`torch.sigmoid(a - b)` for `a > b`: a step has no slope, this has one."""
    if not isinstance(cut, ast.Compare) or len(cut.ops) != 1 or is_condition(program, cut):
        return ""
    edits = Edits(program)
    left = edits.text_between(edits.start(cut.left), edits.end(cut.left))
    right = edits.text_between(edits.start(cut.comparators[0]), edits.end(cut.comparators[0]))
    if isinstance(cut.ops[0], (ast.Lt, ast.LtE)):
        left, right = right, left
    elif not isinstance(cut.ops[0], (ast.Gt, ast.GtE)):
        return ""
    wrapped = right if right.replace(".", "").replace("_", "").isalnum() else f"({right})"
    edits.replace(edits.start(cut), edits.end(cut), f"{library()}.sigmoid({left} - {wrapped})")
    return in_place_of(program, stmt, edits)


def is_condition(program: Program, compare: ast.Compare) -> bool:
    """Does a comparison choose, in `where(x > 0, a, b)` or `x[x > 0]`, so that it has to be one?"""
    parent = program.parents.get(compare)
    if isinstance(parent, ast.Call):
        return (dotted(parent.func) or "").endswith("where")
    return isinstance(parent, (ast.Subscript, ast.If, ast.While, ast.BoolOp))


def switched(program: Program, stmt: ast.stmt) -> str:
    """A statement with True in the place of False: `p.requires_grad_(True)`."""
    edits = Edits(program)
    for node in ast.walk(stmt):
        if isinstance(node, ast.Constant) and node.value is False:
            edits.replace(edits.start(node), edits.end(node), "True")
    return in_place_of(program, stmt, edits) if edits.pieces else ""


def loss_of_classes(program: Program, stmt: ast.stmt | None, cut: ast.expr) -> str:
    """`loss = torch.nn.functional.cross_entropy(logits, y)` for a loss that counts `logits.argmax(1) == y`."""
    parent = program.parents.get(cut)
    if not isinstance(parent, ast.Compare) or not isinstance(parent.ops[0], (ast.Eq, ast.NotEq)):
        return ""
    if not isinstance(cut, ast.Call) or not isinstance(cut.func, ast.Attribute) or not isinstance(stmt, ast.Assign):
        return ""
    edits = Edits(program)
    logits = cut.args[0] if dotted(cut.func.value) == library() and cut.args else cut.func.value
    classes = parent.comparators[0] if parent.left is cut else parent.left
    given = [edits.text_between(edits.start(node), edits.end(node)) for node in (logits, classes)]
    loss = f"{library()}.nn.functional.cross_entropy({given[0]}, {given[1]})"
    edits.replace(edits.start(stmt.value), edits.end(stmt.value), loss)
    return in_place_of(program, stmt, edits)


def before_it(program: Program, cut: ast.expr, reason: str) -> str:
    """What to do about an operation that has no gradient and no smooth relative."""
    if not isinstance(cut, ast.Call) or not isinstance(cut.func, ast.Attribute):
        return ""
    edits = Edits(program)
    given = cut.args[0] if dotted(cut.func.value) == library() and cut.args else cut.func.value
    return f"compute the loss from {edits.text_between(edits.start(given), edits.end(given))}, before {reason}()"
