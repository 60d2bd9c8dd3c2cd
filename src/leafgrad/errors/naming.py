"""Where in the user's program are we, and what does it call its tensors? Asked only when a message is to be written.

The answers come from the frames that are being executed, the variables, lists and modules in them, and the bytecode
and source of the lines concerned. Three rules hold: a value is judged by its type alone and never asked for an
attribute, so that no code of the user's runs; no frame is kept; and nothing is raised, because a message with less in
it is better than none.
"""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import linecache
import os
import re
import sys
import tokenize
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from leafgrad._core.events import Event
from leafgrad._core.node import Node, Output
from leafgrad._core.origin import is_internal, line_of
from leafgrad._core.tensor import TensorBase

P = ParamSpec("P")
R = TypeVar("R")

MOST_FRAMES = 200
MOST_VALUES = 20_000  # looked at in one search
MOST_ELEMENTS = 200  # looked at in one list
MOST_COLUMNS = 100  # shown of a line of source
CUT_OFF = " ..."  # where more of it follows


def quietly(function: Callable[P, R]) -> Callable[P, R | None]:
    """None instead of an error: what is found out here only ever adds to a message."""

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R | None:
        try:
            return function(*args, **kwargs)
        except Exception:
            return None

    return guarded


# -- places -----------------------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """A line of the user's program: `train.py:12`, and its text if that can be had."""

    spot: str
    source: str

    def __str__(self) -> str:
        return f"{self.spot}   {self.source}" if self.source else self.spot


def place_of(code: Any, lasti: int) -> Place:
    """The line of an instruction."""
    filename, line = line_of(code, lasti)
    return Place(f"{shown_name(filename) or filename}:{line}", source_line(filename, line) or "")


@quietly
def source_line(filename: str, line: int) -> str:
    linecache.checkcache(filename)  # the file may have been edited since
    text = linecache.getline(filename, line).strip()
    if "#" in text:
        text = without_comment(text) or text
    return text if len(text) <= MOST_COLUMNS else text[:MOST_COLUMNS] + CUT_OFF


@quietly
def without_comment(text: str) -> str | None:
    try:
        for token in tokenize.generate_tokens(iter([text]).__next__):
            if token.type == tokenize.COMMENT:
                return text[: token.start[1]].rstrip()
    except tokenize.TokenError:
        pass  # the statement goes on in the next line
    return None


@quietly
def shown_name(filename: str) -> str:
    """The name of a file without its folders, and of a notebook's cell as the notebook numbers it."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None and (number := getattr(shell.compile, "_filename_map", {}).get(filename)) is not None:
        return f"In[{number}]"
    folder, name = os.path.split(filename)
    return os.path.join(os.path.basename(folder), name) if name in ("__init__.py", "__main__.py") else name


def here() -> Place:
    """The line of the user's program that is being executed."""
    frame = users_frame()
    return place_of(frame.f_code, frame.f_lasti)


_STDLIB = os.path.dirname(os.__file__) + os.sep
_NUMPY = os.path.dirname(np.__file__) + os.sep


def is_users(filename: str) -> bool:
    """Is this neither leafgrad's own nor a file of Python's library or NumPy?"""
    if is_internal(filename) or filename.startswith(_NUMPY):
        return False
    return not filename.startswith(_STDLIB) or "site-packages" in filename or "dist-packages" in filename


def users_frame() -> Any:
    """The innermost frame of the user's; where there is none, the innermost that is not leafgrad's."""
    frame: Any
    for frame in users_frames():
        return frame
    frame = sys._getframe(1)
    while frame.f_back is not None and is_internal(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def users_frames() -> Iterator[Any]:
    frame: Any = sys._getframe(1)
    for _ in range(MOST_FRAMES):
        if frame is None:
            return
        if is_users(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


# -- names ------------------------------------------------------------------------------------------------------------


class Found(NamedTuple):
    """A tensor of the user's and what the program calls it: `x`, `xs[2]`, `model.linear.weight`."""

    name: str
    tensor: TensorBase


class Search:
    """One look through the variables of the program for a tensor."""

    def __init__(self, matches: Callable[[TensorBase], bool]) -> None:
        self.matches = matches
        self.left = MOST_VALUES
        self.seen: set[int] = set()

    def run(self) -> Found | None:
        variable: Found | None = None
        for names in namespaces():
            modules: list[tuple[str, Any]] = []
            others: list[tuple[str, Any]] = []
            for name, value in names:
                if is_tensor(value):
                    if variable is None and self.holds(value) and was_written(name):
                        variable = Found(name, value)
                elif is_module(value):
                    modules.append((name, value))
                elif type(value) in (list, tuple, dict) or name == "self":
                    others.append((name, value))
            # a parameter is best known by its path in the model, so that is looked for even if a variable holds it
            if variable is None or variable.tensor.node is None:
                for name, value in modules:
                    if was_written(name) and (found := self.inside(name, value)) is not None:
                        return found
            if variable is not None and variable.tensor.node is not None:
                return variable
            for name, value in others:
                if variable is None and was_written(name):
                    variable = self.inside(name, value)
        return variable

    def holds(self, tensor: TensorBase) -> bool:
        try:
            return self.matches(tensor)
        except AttributeError:  # of a class of the user's that has not set it up yet
            return False

    def inside(self, path: str, value: Any, depth: int = 0) -> Found | None:
        """The tensor in a list, dictionary or module, or in one within it."""
        if id(value) in self.seen or depth > 10:
            return None
        self.seen.add(id(value))
        for name, part in parts(value) or ():
            self.left -= 1
            if self.left < 0:
                return None
            if is_tensor(part):
                if self.holds(part):
                    return Found(path + name, part)
            elif is_module(part) or type(part) in (list, tuple, dict):
                if (found := self.inside(path + name, part, depth + 1)) is not None:
                    return found
        return None


def is_tensor(value: Any) -> bool:
    return issubclass(type(value), TensorBase)  # isinstance would ask the value for its __class__


def is_module(value: Any) -> bool:
    nn = sys.modules.get("leafgrad.nn.modules.module")
    return nn is not None and issubclass(type(value), nn.Module)


@quietly
def parts(value: Any) -> Iterable[tuple[str, Any]]:
    """What a container holds, with what is to be written behind its name to get there."""
    kind = type(value)
    if kind is list or kind is tuple:
        return [(f"[{i}]", part) for i, part in enumerate(value[:MOST_ELEMENTS])]
    if kind is dict:
        return [(f"[{key!r}]", part) for key, part in islice(value.items(), MOST_ELEMENTS) if type(key) in (str, int)]
    own = object.__getattribute__(value, "__dict__")
    found = []
    for table in (own.get("_parameters"), own.get("_buffers"), own.get("_modules"), own):
        if isinstance(table, dict):
            found += [(f".{name}", part) for name, part in list(table.items()) if name[0] != "_" or is_tensor(part)]
    return found


def namespaces() -> Iterator[list[tuple[str, Any]]]:
    """The variables of each frame of the user's, the innermost first, and those of its module."""
    seen: set[int] = set()
    for frame in users_frames():
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED or frame.f_locals is not frame.f_globals:
            yield variables(frame)
        if id(frame.f_globals) not in seen:
            seen.add(id(frame.f_globals))
            yield list(islice(frame.f_globals.items(), MOST_VALUES))


def variables(frame: Any) -> list[tuple[str, Any]]:
    names = frame.f_locals
    found = list(islice(names.items(), MOST_VALUES))
    # Before Python 3.13 a function's f_locals is a copy that its frame keeps, and with it everything that the
    # function lets go of later. If nobody else has asked for that copy, it is emptied again.
    if frame.f_code.co_flags & inspect.CO_OPTIMIZED and type(names) is dict and sys.getrefcount(names) <= 3:
        names.clear()
    return found


def was_written(name: Any) -> bool:
    """Has somebody written this name? Not `_`, `__file__`, those of interactive sessions and generated code."""
    return type(name) is str and name.isidentifier() and not _unnamed(name)


_unnamed = re.compile(r"__\w*__$|_+\d*$|_(i+|i\d+|oh|dh|ih)$").match


@quietly
def find(matches: Callable[[TensorBase], bool]) -> Found | None:
    return Search(matches).run()


def name_of(tensor: Any) -> str | None:
    """What the program calls a tensor: a variable, a place in a list or module, or else what the line that computed it
    stores it in."""
    found = find(lambda t: t is tensor)
    if found is not None:
        return found.name
    return None if tensor.node is None else name_of_result(tensor.node)


def name_of_result(node: Node) -> str | None:
    """What the program calls the result of a node."""
    found = find(lambda t: t.node is node or (isinstance(t.node, Output) and t.node.parent is node))
    if found is not None:
        return found.name
    stored, whole = assignment(node) or (None, False)
    return stored if whole else None


_FLOW = ("JUMP", "POP_JUMP", "FOR_ITER", "RETURN", "YIELD", "POP_TOP", "RAISE")


@quietly
def assignment(node: Node | Event) -> tuple[str, bool] | None:
    """The variable in which the statement that recorded `node` stores something, read from the bytecode; and whether
    that is the result of the node itself, not of something computed from it. The same for what cut a graph."""
    whole, loaded = True, ""
    index = node.index if isinstance(node, Output) else 0
    several = 0
    for step in dis.get_instructions(node.code):
        name = step.opname
        if step.offset <= node.lasti or name in ("COPY", "NOP", "CACHE", "EXTENDED_ARG", "PUSH_NULL"):
            continue
        if name == "UNPACK_SEQUENCE" and whole and isinstance(node, Output):
            several = index + 1
        elif name == "STORE_ATTR":
            return f"{loaded}.{step.argval}", whole
        elif name.startswith("STORE_") and name not in ("STORE_SUBSCR", "STORE_SLICE"):
            # Python 3.13 stores two variables in one step, or stores one and loads one
            names = step.argval if isinstance(step.argval, tuple) else (str(step.argval),)
            for stored in names if name == "STORE_FAST_STORE_FAST" else names[:1]:
                several -= 1
                if several <= 0:
                    return stored, whole
        elif name.startswith(_FLOW) or name.startswith("STORE_"):
            return None
        elif name.startswith("LOAD_"):
            loaded = str(step.argval)
        else:
            whole = False
    return None


# -- code for the fix -------------------------------------------------------------------------------------------------


def as_code(name: str | None, otherwise: str = "tensor") -> str:
    """A name as it is written in a program: `model[0].weight` for `model.0.weight`."""
    return re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", name) if name else otherwise


@quietly
def expression(code: Any, lasti: int) -> str | None:
    """The text of the expression that an instruction belongs to, if it is on one line."""
    line, last_line, start, end = next(islice(code.co_positions(), lasti // 2, None))
    if line is None or line != last_line or start is None or end is None:
        return None
    linecache.checkcache(code.co_filename)
    text = linecache.getline(code.co_filename, line).encode()[start:end].decode()  # columns count bytes
    return text if 0 < len(text) <= MOST_COLUMNS else None


def expression_here() -> str | None:
    frame = users_frame()
    return expression(frame.f_code, frame.f_lasti)


def library() -> str:
    """What the user's program calls leafgrad: `torch`, as a rule."""
    return _library() or "torch"


@quietly
def _library() -> str | None:
    package = sys.modules["leafgrad"]
    for name, value in list(users_frame().f_globals.items()):
        if value is package:
            return str(name)
    return None


def with_argument(call: str | None, argument: str) -> str:
    """A call with one argument more."""
    if not call or not call.endswith(")"):
        return argument
    return call[:-1] + ("" if call[:-1].rstrip().endswith("(") else ", ") + argument + ")"


def statement(source: str) -> str:
    """A line of source, if it is one whole statement; otherwise nothing."""
    return source if _is_statement(source) and not source.endswith(CUT_OFF) else ""


@quietly
def _is_statement(source: str) -> bool:
    (only,) = ast.parse(source).body
    return not isinstance(only, (ast.If, ast.For, ast.While, ast.With))  # with their body on the same line
