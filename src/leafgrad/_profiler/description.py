"""What is written down of an event: its name, what it was given, where in the program it is, whose memory it uses.

Kernels have PyTorch's names, and so have the public functions that they run for: those are found on the stack, as the
user's line is (leafgrad/_core/origin.py), so that nobody has to announce a call. Their code bears the name (`name_code`
in leafgrad/ops/signature.py).
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from types import FrameType
from typing import Any

import numpy as np

from leafgrad._core import origin
from leafgrad._core.op import Op
from leafgrad._core.tensor import TensorBase, links
from leafgrad.ops.aten import name_of
from leafgrad.ops.creation.fresh import create
from leafgrad.ops.registry import registry


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
    if code is not None and "deprecated" in code.co_varnames[: code.co_argcount]:
        count -= 1
    return [*arrays, *options, *[None] * (count - len(arrays) - len(options))]


# -- public functions -------------------------------------------------------------------------------------------------


def calls_on_stack(frame: FrameType | None, key: str) -> list[tuple[FrameType, str, Any]]:
    """The public functions that are running between the user's program and this frame, the outermost first, with what
    lies under `key` among their variables. A function inside of one of the same name is the same call, further in."""
    found: list[tuple[FrameType, str, Any]] = []
    while frame is not None and origin.is_internal(frame.f_code.co_filename):
        name = frame.f_code.co_name
        if name.startswith("aten::"):
            further_in = bool(found) and same_function(name, found[-1][1])
            if further_in and not passes_on(frame):
                found.pop()
            if not further_in or not passes_on(frame):
                found.append((frame, name, frame.f_locals.get(key)))
        frame = frame.f_back
    found.reverse()
    return found


def passes_on(frame: FrameType) -> bool:
    """Has a function no parameters of its own, but hands on whatever it is given?"""
    code = frame.f_code
    return code.co_argcount == 0 and bool(code.co_flags & inspect.CO_VARARGS)


def same_function(name: str, other: str) -> bool:
    """Do two names stand for one function, in place or not?"""
    return name.removesuffix("_") == other.removesuffix("_")


def arguments_of(frame: FrameType) -> list[Any]:
    """What a function was called with, as far as it has not changed that: one value for each parameter, and what is
    caught by a star counts as one."""
    code, values = frame.f_code, frame.f_locals
    count = code.co_argcount + code.co_kwonlyargcount
    optional = ("out", "deprecated")  # which do not count if they are not given
    names = [name for name in code.co_varnames[:count] if name not in optional or values.get(name) is not None]
    given = [values.get(name) for name in names]
    if code.co_flags & inspect.CO_VARARGS and "<arguments of " not in code.co_filename:  # where there are too many
        caught = values.get(code.co_varnames[count], ())
        given.insert(code.co_argcount, caught[0] if len(caught) == 1 else caught)
    return given


# -- values and the stack ---------------------------------------------------------------------------------------------


def shape_of(value: Any) -> list[int]:
    array = value.array if isinstance(value, TensorBase) else value
    return list(array.shape) if hasattr(array, "shape") and hasattr(array, "dtype") else []


def concrete(value: Any) -> Any:
    """A number, a flag or a list of them; tensors and arrays are not kept."""
    if isinstance(value, (bool, int, float, complex, str)):
        return value
    if isinstance(value, (list, tuple)) and all([isinstance(v, (bool, int, float)) for v in value]):
        return list(value)
    return None


def stack_lines() -> list[str]:
    """The user's stack, the innermost line first."""
    lines = []
    frame = origin.user_frame()
    while frame is not None:
        code = frame.f_code
        if not origin.is_internal(code.co_filename):
            lines.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back
    return lines


def arrays_in(value: Any) -> list[Any]:
    """All arrays in a result or in arguments."""
    if isinstance(value, TensorBase):
        value = value.array
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, (tuple, list)):
        return [array for one in value for array in arrays_in(one)]
    return []


def owner(array: Any) -> Any:
    """The array whose memory this one looks at."""
    while isinstance(getattr(array, "base", None), np.ndarray):
        array = array.base
    return array
