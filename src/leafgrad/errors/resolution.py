"""What names in the source of the program mean while it runs, without running any of its code."""

from __future__ import annotations

import ast
from types import FunctionType, ModuleType
from typing import Any

from leafgrad._core.tensor import TensorBase
from leafgrad.errors.dataflow import Slice, dotted, header
from leafgrad.errors.naming import is_module, is_users, parts, users_frames


def files_called(reached: Slice) -> set[str]:
    """The other files whose functions, and whose modules, the statements of a slice call."""
    found = {filename for call in calls_of(reached) for filename in files_of(call)}
    return {filename for filename in found if is_users(filename)} - {reached.program.filename}


def calls_of(reached: Slice) -> list[ast.Call]:
    parts = [part for stmt in reached.statements for part in header(stmt)]
    return [node for part in parts for node in ast.walk(part) if isinstance(node, ast.Call)]


def files_of(call: ast.Call) -> set[str]:
    """The files of the code that a call runs: of a function, or of a module and those in it."""
    value = value_of(dotted(call.func) or "")
    functions = [value]
    if is_module(value):
        functions = [getattr(type(module), "forward", None) for module in (value, *inner_modules(value))]
    return {function.__code__.co_filename for function in functions if isinstance(function, FunctionType)}


def value_of(name: str) -> Any:
    """What a dotted name means in the program, without running any of its code."""
    first, *rest = name.split(".")
    for frame in users_frames():
        for space in (frame.f_locals, frame.f_globals):
            if first in space:
                value = space[first]
                for part in rest:
                    inside = dict(parts(value) or ()) if is_module(value) or first == "self" else {}
                    value = vars(value).get(part) if isinstance(value, ModuleType) else inside.get(f".{part}")
                return value
    return None


def leaves_of(module: Any) -> list[TensorBase]:
    """The parameters of a module and of those within it."""
    tables = [object.__getattribute__(one, "__dict__").get("_parameters") for one in (module, *inner_modules(module))]
    return [p for table in tables if isinstance(table, dict) for p in table.values() if p is not None]


def inner_modules(module: Any) -> list[Any]:
    """All modules within one."""
    found: list[Any] = []
    waiting = [module]
    while waiting:
        for _, part in parts(waiting.pop()) or ():
            if is_module(part) and not any(part is one for one in found):
                found.append(part)
                waiting.append(part)
    return found
