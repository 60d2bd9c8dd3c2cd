"""What events are called. Kernels have PyTorch's names, and so have the public functions that they run for: those are
found on the stack, as the user's line is (leafgrad/_core/origin.py), so that nobody has to announce a call.

The record of a call lies among the local variables of the function: there it is found again by the next kernel of the
same call, and dies with it. A frame that the profiler held would keep all the variables alive.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import Any

from leafgrad._core import origin
from leafgrad._core.op import Op
from leafgrad._core.tensor import links
from leafgrad.ops.arguments import _not_written_yet
from leafgrad.ops.aten import name_of
from leafgrad.ops.creation.fresh import create
from leafgrad.ops.random.functions import bernoulli, multinomial, normal
from leafgrad.ops.registry import composites, entries, registry

NOT_WRITTEN_YET = _not_written_yet.__code__  # of public functions that nobody has called
RECORD = "(profiled)"  # no name that a function could use


def kernel_name(op: Op, arrays: Sequence[Any], options: tuple[Any, ...], out: Any) -> str:
    """What PyTorch calls the kernel of an operation, or that of its in-place form."""
    if op is create.core:
        return f"aten::{options[0]}"
    if op is links.assign and out is not None:
        return "aten::copy_"
    name = name_of(op)
    in_place = out is not None and len(arrays) > 0 and arrays[0] is out
    return f"aten::{name}_" if in_place and not name.endswith("_") else f"aten::{name}"


def arguments_for(op: Op, arrays: Sequence[Any], options: tuple[Any, ...]) -> list[Any]:
    """What a kernel is given: one value, or None, for each parameter of the public function."""
    known = registry.get(op.name)
    code = None if known is None else getattr(inspect.unwrap(known.function), "__code__", None)
    count = 0 if code is None else code.co_argcount + code.co_kwonlyargcount
    return [*arrays, *options, *[None] * (count - len(arrays) - len(options))]


# -- public functions -------------------------------------------------------------------------------------------------

Identity = tuple[int, ...]  # functions that one `def` has made share their code, and differ in what they enclose
Functions = dict[CodeType, dict[Identity, str]]

_known: list[tuple[int, Functions]] = [(0, {})]  # how many operations there were, and their functions


def public_functions() -> Functions:
    """PyTorch's names of the public functions, by their code."""
    count = len(registry) + len(composites)
    if _known[0][0] == count:
        return _known[0][1]
    found: Functions = {}
    for entry in entries():
        for function in (entry.function, entry.method, *entry.operators.values()):
            add(found, function, entry.aten_function)
    for function in (bernoulli, multinomial, normal):
        add(found, function, function.__name__)
    for cls in links.tensor_class.__mro__:
        for name, method in vars(cls).items():
            if name.endswith("_") and not name.startswith("_"):
                add(found, method, name)
    _known[0] = count, found
    return found


def add(found: Functions, function: Any, name: str) -> None:
    code = getattr(function, "__code__", None)
    if code is not None and code is not NOT_WRITTEN_YET and not function.__module__.startswith("leafgrad._core"):
        identity = tuple([id(cell.cell_contents) for cell in function.__closure__ or ()])
        found.setdefault(code, {}).setdefault(identity, f"aten::{name}")


def looks_at_arguments(code: CodeType) -> bool:
    """Is this the code that leafgrad/ops/arguments.py writes around a public function?"""
    return "<arguments of " in code.co_filename


@functools.cache
def public_names() -> dict[str, str]:
    """What PyTorch calls the public functions, by their names here."""
    return {entry.name: f"aten::{entry.aten_function}" for entry in entries()}


def calls_on_stack(frame: FrameType | None) -> list[tuple[FrameType, str]]:
    """The public functions that are running between the user's program and this frame, the outermost first."""
    public = public_functions()
    found: list[tuple[FrameType, str]] = []
    while frame is not None and origin.is_internal(frame.f_code.co_filename):
        code = frame.f_code
        functions = public.get(code)
        if looks_at_arguments(code):
            name = public_names().get(code.co_name, f"aten::{code.co_name}")
        elif frame.f_back is not None and looks_at_arguments(frame.f_back.f_code):
            name = None  # the same call, further in
        elif functions is not None:
            enclosed = frame.f_locals if code.co_freevars else {}
            name = functions.get(tuple([id(enclosed.get(variable)) for variable in code.co_freevars]))
        else:
            name = name_in_functional(frame)
        if name is not None:
            found.append((frame, name))
        frame = frame.f_back
    found.reverse()
    return found


def name_in_functional(frame: FrameType) -> str | None:
    """The name of a function of nn.functional that is no operation of the registry."""
    if frame.f_globals.get("__name__") != "leafgrad.nn.functional":
        return None
    name = frame.f_code.co_name
    return f"aten::{name}" if name in frame.f_globals["__all__"] else None


def arguments_of(frame: FrameType) -> list[Any]:
    """What a function was called with, as far as it has not changed that: one value for each parameter, and what is
    caught by a star counts as one."""
    code, values = frame.f_code, frame.f_locals
    count = code.co_argcount + code.co_kwonlyargcount
    names = [name for name in code.co_varnames[:count] if name != "out" or values.get(name) is not None]
    given = [values.get(name) for name in names]
    if code.co_flags & inspect.CO_VARARGS and not looks_at_arguments(code):
        caught = values.get(code.co_varnames[count], ())
        given.insert(code.co_argcount, caught[0] if len(caught) == 1 else caught)
    return given
