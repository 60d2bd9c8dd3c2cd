"""The loops that a kernel becomes: which of them computes a vector, and where later ones find it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from leafgrad.kernels.translator.values import (
    ARGUMENTS,
    BOOL,
    MADE,
    NUMBER,
    TAKEN,
    VECTOR,
    Module,
    NotInTheLanguage,
    Value,
)


@dataclass
class Loop:
    """One pass over a row."""

    declarations: list[str] = field(default_factory=list)  # before it: numbers as reals, totals
    locals: list[str] = field(default_factory=list)  # names of the loop that get their values in branches
    loads: list[tuple[str, str]] = field(default_factory=list)  # what is read of memory: (declaration, place)
    body: list[str] = field(default_factory=list)
    # what a lane takes in: the statement, the number of the lanes, and what idle ones add to the statement
    reductions: list[tuple[str, int, str]] = field(default_factory=list)
    stores: list[str] = field(default_factory=list)  # at its end, because results may lie in the memory of arguments
    block_starts: list[str] = field(default_factory=list)
    block_ends: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    known: set[str] = field(default_factory=set)  # the named vectors that its body has computed


@dataclass
class Named:
    """A vector with a name."""

    value: Value
    place: str = ""  # of an argument: its memory
    kept: str = ""  # where later loops find it,
    last_read: int = 0  # and the last of these


class Loops:
    """The loops of a kernel, and which named values they have computed."""

    def __init__(self, node: ast.FunctionDef, name: str, kind: str, module: Module) -> None:
        self.node, self.name, self.kind, self.path = node, name, kind, module.path
        self.constants, self.functions = dict(module.constants), dict(module.functions)
        self.bound: dict[str, Value] | None = None  # the names of a kernel that is written out inside of this one
        self.by_rows = kind != "elementwise"
        self.arguments: list[tuple[str, str]] = []  # (name, letter)
        for argument in node.args.args:
            annotation = argument.annotation
            word = "Vector" if annotation is None else ast.unparse(annotation).removesuffix(" | None")
            if word not in ARGUMENTS:
                raise self.error(argument, f"an argument cannot be a {word}, only one of {', '.join(ARGUMENTS)}")
            self.arguments.append((argument.arg, ARGUMENTS[word]))
        self.letters = dict(self.arguments)
        self.loops: list[Loop] = [Loop()]
        self.named: dict[str, Named] = {}
        for name, letter in self.arguments if self.by_rows else []:
            if letter in "vus":
                self.named[name] = Named(Value(name, VECTOR), f"in_{name}[i]")
            elif letter == "m":
                self.named[name] = Named(Value(name, VECTOR, BOOL, uses=(name,)), f"in_{name}[i]")
        self.numbers: dict[str, Value] = {}
        self.results: list[str] = []  # letters
        self.written: dict[int, int] = {}  # results that are vectors, and the loops that write them
        self.scratch = 0
        self.cost = 0
        self.count = 0
        self.condition = ""  # of the branch that is being translated
        for each in ast.walk(node):
            used = each.id if isinstance(each, ast.Name) else each.arg if isinstance(each, ast.arg) else ""
            if used in TAKEN or MADE.fullmatch(used):
                raise self.error(each, f"the name {used} is taken, by C or by the loops around a kernel")

    def error(self, node: ast.AST, text: str) -> NotInTheLanguage:
        line = getattr(node, "lineno", self.node.lineno)
        return NotInTheLanguage(f"{self.path}:{line}: kernel {self.name}: {text}")

    def loop(self, level: int) -> Loop:
        while len(self.loops) <= level:
            self.loops.append(Loop())
        return self.loops[level]

    def read(self, value: Value, level: int | None = None) -> str:
        """A vector's text, usable in the loop of a level: everything it names is computed or fetched there."""
        for name in value.uses:
            self.bring(name, value.level if level is None else level)
        return value.text

    def bring(self, name: str, level: int) -> None:
        loop = self.loop(level)
        if name in loop.known:
            return
        loop.known.add(name)
        named = self.named[name]
        if named.place:
            loop.loads.append((f"const {'int' if named.value.kind == BOOL else 'real'} {name}", named.place))
            return
        own = named.value.level
        if own == level or named.value.plain:
            text = self.read(named.value, level)
            loop.body.append(f"const real {name} = {text};")
            return
        if not named.kept:
            self.bring(name, own)
            named.kept = f"kept_{name}"
            self.loop(own).stores.append(f"kept_{name}[i] = {name};")
        named.last_read = max(named.last_read, level)
        loop.loads.append((f"const real {name}", f"{named.kept}[i]"))

    def define_number(self, name: str, value: Value) -> None:
        self.when_known(value, f"const double {name} = {value.text};")
        self.numbers[name] = Value(name, NUMBER, value.kind, value.level)

    def hoisted(self, value: Value, kind: str = "real") -> str:
        """A number as the loops want it, computed before them."""
        if value.literal and kind == "real":
            return f"(real){value.text}"
        self.count += 1
        name = f"{'k' if kind == 'real' else 'c'}{self.count}"
        self.when_known(value, f"const {kind} {name} = ({kind})({value.text});")
        return name

    def when_known(self, value: Value, line: str) -> None:
        """Put a line where a number is known: before the first loop, or after the one that reduces a row to it."""
        if value.level == 0:
            self.loops[0].declarations.append(line)
        else:
            self.loop(value.level - 1).after.append(line)
