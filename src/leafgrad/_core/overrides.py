"""`__torch_function__`: calls that one of the arguments, or a mode of the thread, takes over.

A public function asks `overridden(...)` before it does anything else, but only where it finds an argument whose class
is not in `plain`, or while a mode is on: for plain tensors that is a look at classes which it needs anyway.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from leafgrad._core.tensor import MetaArrayBase, SparseArrayBase, TensorBase, links, ndarray
from leafgrad._core.threads import local

Method = TypeVar("Method", bound=Callable[..., Any])
UNCHANGED: Any = object()  # nobody has taken the call over
CLASS_METHOD = "Defining your `{}` as a classmethod is not supported, please make it a plain method"  # of a mode


class TakesOver(Exception):
    """Among several tensors there is one that may take the call over."""


# Classes whose instances never take a call over: those of tensors are added when they are defined.
plain: set[type] = {int, float, complex, bool, str, slice, type(None), type(...)}
plain_tensors: set[type] = set()

warn_of_method: list[Callable[[], None]] = []  # leafgrad._tensor.overridable puts it here

# The modes of all threads: while there is one, public functions ask whether it is one of their own thread.
modes_of_all_threads: list[Any] = []


# What the blocks of operations, and the methods of Tensor that are none, say of themselves when they are defined.
methods_of_operators: dict[str, str] = {}  # `__add__` is `add` to those who take calls over; others are themselves
methods_in_python: set[str] = set()  # methods and operators that PyTorch has written in Python: see `overridden`


def is_reflected(name: str) -> bool:
    """Is this an operator like `__radd__`, whose first operand stands on the right? (`__rshift__` is none.)"""
    forward = f"__{name[3:]}"
    return name.startswith("__r") and (hasattr(operator, forward) or forward == "__div__")  # which Python 2 had


def written_in_python(method: Method) -> Method:
    """Says of a method of Tensor that is no operation that PyTorch has written it in Python."""
    methods_in_python.add(method.__name__)
    return method


def add_plain(tensor_class: type) -> None:
    """A class of tensors that take no calls over."""
    plain.add(tensor_class)
    plain_tensors.add(tensor_class)


class Handling(local):
    """Who may take calls over in a thread."""

    def __init__(self) -> None:
        self.modes: list[Any] = []  # the innermost last
        self.by_arguments = True  # may arguments take calls over?
        self.at_all = True  # may anybody?
        self.inside: Any = None  # what takes calls over for the sake of arrays, while it computes one


handling = Handling()


class DisableTorchFunctionSubclass:
    """While it is on, arguments do not take calls over in this thread."""

    def __enter__(self) -> None:
        self.before = handling.by_arguments
        handling.by_arguments = False

    def __exit__(self, *error: Any) -> None:
        handling.by_arguments = self.before


class DisableTorchFunction:
    """While it is on, neither arguments nor modes take calls over in this thread."""

    def __enter__(self) -> None:
        self.before = handling.at_all
        handling.at_all = False

    def __exit__(self, *error: Any) -> None:
        handling.at_all = self.before


class Disabled:
    """The `__torch_function__` of classes that take no calls over. No function, which would become a method."""

    __name__ = "_disabled_torch_function_impl"

    def __call__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

    def __repr__(self) -> str:
        return f"<built-in function {self.__name__}>"


disabled = Disabled()


def takes_over(value: Any) -> bool:
    """Has this argument a `__torch_function__` of its own?"""
    kind = type(value)
    if kind in plain or kind is list or kind is tuple or not handling.by_arguments or not handling.at_all:
        return False
    return getattr(value, "__torch_function__", disabled) is not disabled


def taking_over(values: Iterable[Any], with_tensors: bool = False) -> list[Any]:
    """The arguments that may take a call over, one of each class, subclasses before their superclasses. Functions that
    PyTorch has written in Python count plain tensors among them, `with_tensors`."""
    found: list[Any] = []
    for value in values:
        members = value if value.__class__ is list or value.__class__ is tuple else (value,)
        for member in members:
            kind = type(member)
            if not takes_over(member) and not (with_tensors and kind is links.tensor_class):
                continue
            if all([type(other) is not kind for other in found]):
                above = (at for at, other in enumerate(found) if issubclass(kind, type(other)))
                found.insert(next(above, len(found)), member)
    return found


def call_of_arrays(values: Iterable[Any]) -> Any:
    """What takes calls with these arguments over because one of them, or of the members of a list, is a sparse tensor
    or one without data; otherwise None."""
    found: Any = None
    for value in values:
        members = value if value.__class__ is list or value.__class__ is tuple else (value,)
        for member in members:
            if isinstance(member, TensorBase) and member.array.__class__ is not ndarray:
                if isinstance(member.array, MetaArrayBase):
                    return links.meta_call
                if isinstance(member.array, SparseArrayBase):
                    found = links.sparse_call
    return found


def leaves_usual_way(values: Iterable[Any]) -> bool:
    """Has a function to ask `overridden` about these arguments, which it would take for ordinary tensors?"""
    return bool(taking_over(values)) or call_of_arrays(values) not in (None, handling.inside)


def overridden(
    function: Callable[[], Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    values: Iterable[Any] | None = None,
    in_python: bool = False,
    of_one: Callable[[], bool] | None = None,
) -> Any:
    """What becomes of a call of a public function, if somebody takes it over; otherwise UNCHANGED. `function` returns
    what users call; `values` are the arguments that may take the call over, if not all of them; `in_python` says that
    PyTorch has written the function in Python, of which those who take the call over can tell; and so they can of
    methods `of_one` argument, the tensor, whose class they are told even if it is plain."""
    values = (*args, *kwargs.values()) if values is None else values
    found = taking_over(values)
    if not handling.at_all or (not found and not handling.modes):
        call = call_of_arrays(values)
        return UNCHANGED if call is None else call(function(), args, kwargs)
    if in_python:
        found = taking_over(values, with_tensors=handling.by_arguments)
    elif not found and of_one is not None and of_one():
        found = [args[0]]
    return taken_over(function(), found, args, kwargs, in_python)


def taken_over(function: Any, found: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any], in_python: bool) -> Any:
    """The result of the first who has one: the innermost mode, then the arguments in `found`."""
    types = tuple([type(value) for value in found])
    given = (function, types, args, kwargs) if kwargs or in_python else (function, types, args)
    asked: list[str] = []
    if handling.modes:
        mode = handling.modes.pop()  # what it calls is seen by the mode outside
        try:
            handler = mode.__torch_function__
            if getattr(handler, "__self__", mode) is type(mode):
                raise RuntimeError(CLASS_METHOD.format("__torch_function__"))
            result = handler(*given)
        finally:
            handling.modes.append(mode)
        if result is not NotImplemented:
            return result
        asked.append(f"mode object {mode!r}")
    for value in found:
        if type(value) in plain and not in_python:
            continue
        handler = value.__torch_function__
        if getattr(handler, "__self__", None) is value:
            warn_of_method[0]()
        result = handler(*given)
        if result is not NotImplemented:
            return result
        asked.append(f"{'tensor subclass' if isinstance(value, TensorBase) else 'object with class'} {type(value)!r}")
    name = name_of(function)
    if in_python:
        where = f"on types that implement __torch_function__: {list(types)}"
        raise TypeError(f"no implementation found for '{name}' {where}")
    listed = "\n".join([f"  - {who}" for who in asked])
    raise TypeError(
        f"Multiple dispatch failed for '{name}'; all __torch_function__ handlers returned NotImplemented:\n\n{listed}"
    )


def function_overridden(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], *values: Any) -> Any:
    """The same for a function of `leafgrad` that asks by itself: those that make tensors ask modes, and `values`."""
    given = {key: value for key, value in kwargs.items() if value is not None}
    return overridden(lambda: public_function(name), args, given, values)


def public_function(name: str) -> Any:
    """A function of `leafgrad`, which nobody may have asked for before."""
    found = links.functions.get(name)
    return links.functions["__getattr__"](name) if found is None else found


def operator_overridden(name: str, *operands: Any) -> Any:
    """The same for operators. NotImplemented lets Python try the other operand."""
    called = methods_of_operators.get(name, name)
    function = lambda: getattr(links.tensor_class, called)
    try:
        result = overridden(function, operands, {}, in_python=called in methods_in_python)
    except TypeError:
        return NotImplemented
    return NotImplemented if result is UNCHANGED else result


def method_overridden(name: str, *args: Any, **kwargs: Any) -> Any:
    """The same for a method that finds an argument which is not plain."""
    return overridden(lambda: getattr(links.tensor_class, name), args, kwargs)


def name_of(function: Any) -> str:
    """A public function as PyTorch's messages name it."""
    found: str = getattr(function, "torch_name", "")
    if found:
        return found
    name = function.__name__
    owner: Any = getattr(function, "__self__", None)
    if hasattr(owner, "torch_name"):  # the getter or setter of an attribute
        return f"{owner.torch_name}.{name}"
    if links.functions.get(name) is function:
        return f"torch.{name}"
    if function.__module__.startswith("leafgrad.ops.") or function.__module__ == "leafgrad.nn.functional":
        return f"torch.nn.functional.{name}"
    return f"{function.__module__}.{name}".replace("leafgrad.", "torch.", 1)
