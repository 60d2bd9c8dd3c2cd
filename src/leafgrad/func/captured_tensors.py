"""What a function takes from outside: a transform that differentiates it refuses to have that changed in place."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

from leafgrad._core.tensor import TensorBase
from leafgrad.func import trees


def captured_by(func: Any) -> list[Any]:
    """The tensors that a function reads from closures and module variables, functions that it calls included. What is
    hidden in other objects is not found."""
    return list(_tensors(func, set()))


def _tensors(value: Any, seen: set[int]) -> Iterator[Any]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, TensorBase):
        yield value
    elif isinstance(value, functools.partial):
        for part in (value.func, *value.args, *value.keywords.values()):
            yield from _tensors(part, seen)
    elif isinstance(value, MethodType):
        yield from _tensors(value.__func__, seen)
    elif isinstance(value, FunctionType):
        for found in _read_by(value):
            yield from _tensors(found, seen)
    elif isinstance(value, (tuple, list, dict)):
        for leaf in trees.flatten(value)[0]:
            if isinstance(leaf, TensorBase):
                yield leaf


def _read_by(function: FunctionType) -> Iterator[Any]:
    """The values of the free and global variables of a function of the user."""
    if function.__module__ is not None and function.__module__.split(".")[0] == "leafgrad" and not function.__closure__:
        return
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a variable that has no value yet
            continue
    for name in _names(function.__code__):
        found = function.__globals__.get(name)
        if isinstance(found, (TensorBase, FunctionType)):
            yield found


def _names(code: CodeType) -> Iterator[str]:
    """The names that a function and those inside of it look up."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
