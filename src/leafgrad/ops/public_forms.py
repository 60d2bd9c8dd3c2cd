"""The public forms of an operation, or of another function: what is under `leafgrad`, and the methods of Tensor. Each
has a look at its arguments, or at least asks whether one of them takes the call over (leafgrad/_core/overrides.py)."""

from __future__ import annotations

import functools
from typing import Any

from leafgrad import errors
from leafgrad._core.overrides import UNCHANGED, modes_of_all_threads, overridden, plain, plain_tensors
from leafgrad._core.tensor import TensorBase
from leafgrad.ops.arguments import MISSING, OTHER_NAMES, checked, refused_kind
from leafgrad.ops.autocast import autocasting
from leafgrad.ops.signature import Declaration, documentation, in_python_form, name_code, twin

CO_VARARGS, CO_VARKEYWORDS = 4, 8  # flags of code objects, as `inspect` has them
all_plain = plain.issuperset


def can_be_checked(entry: Any) -> bool:
    """Has it a fixed number of parameters?"""
    return not entry.declaration.__wrapped__.__code__.co_flags & (CO_VARARGS | CO_VARKEYWORDS)


def method_of(entry: Any, name: str = "") -> Any:
    """What an operation, or a function composed of them, is as a method of Tensor (or for other modules of leafgrad, if
    it is none)."""
    declaration = entry.declaration.as_method(bool(entry.method and entry.public_name))
    if entry.checked is True and can_be_checked(entry):
        return checked(name or entry.name, entry.uncast, declaration, entry.silent, autocast=entry.autocast)
    # an alias that looks at its arguments itself is taken over by its own name
    if entry.checked is False and name and name != entry.name and can_be_checked(entry):
        return checked(name, entry.call, declaration, look=False, exact="")
    return twin(entry.call, declaration)


def method_form(name: str, method: Any, forms: tuple[str, ...] = ()) -> Any:
    """The same for a method, or an in-place method, that a block has written itself. Arguments are looked at if they
    are declared by another function, its `__wrapped__`."""
    declaration = Declaration(getattr(method, "__wrapped__", method), forms, is_method=True)
    name_code(method, name)
    if hasattr(method, "__wrapped__"):
        return checked(name, method, declaration)
    others = [kind for key, kind in method.__annotations__.items() if key not in ("self", "return")]
    asks = "method_overridden" in method.__code__.co_names  # by itself
    if not asks and any(["Tensor" in str(kind) for kind in others]):
        return checked(name, method, declaration, look=False, exact="")
    return twin(method, declaration)


def checked_methods(*functions: Any) -> dict[str, Any]:
    """Methods that are no operations, by their names."""
    return {f.__name__: checked(f.__name__, f, Declaration(f, is_method=True)) for f in functions}


def checked_functions(*functions: Any) -> dict[str, Any]:
    """Functions that are no operations, by their names."""
    return {f.__name__: checked(f.__name__, f, Declaration(f)) for f in functions}


def function_of(entry: Any, name: str, has_out: Any) -> Any:
    """What it is under `leafgrad`: the first argument is looked at as well, and there may be `out`."""
    declaration = entry.declaration.with_out(has_out) if has_out else entry.declaration
    in_python = "function" in entry.in_python
    if not can_be_checked(entry):
        return overridable_function(twin(entry.function, declaration), in_python)
    if entry.checked is True:
        return checked(name, entry.uncast, declaration, entry.silent, in_python=in_python, autocast=entry.autocast)
    if entry.checked:
        whole = autocasting(entry.autocast, entry.declaration.__wrapped__)
        return checked(name, whole, declaration, entry.silent, short=entry.call)
    short = entry.function if has_out else None
    return checked(name, entry.function, declaration, look=False, short=short, in_python=in_python)


def of_a_tensor(name: str, method: Any, declaration: Declaration) -> Any:
    """An in-place method of Tensor as a function under `leafgrad`, whose first argument may be anything."""

    def function(input: Any = MISSING, *args: Any, **kwargs: Any) -> Any:
        if isinstance(input, TensorBase):
            return method(input, *args, **kwargs)
        forms = errors.forms_of(declaration.all_signatures(), False)
        given = () if input is MISSING else (input, *args)
        raise errors.WrongCall(name, given, kwargs, forms, OTHER_NAMES, refused_kind).error()

    function.__name__ = function.__qualname__ = name
    function.__doc__, function.__module__ = documentation(method), method.__module__
    function.__wrapped__ = declaration  # type: ignore[attr-defined]
    return function


def overridable_function(function: Any, in_python: bool = False, short: Any = None, refusal: str = "") -> Any:
    """A public function that looks at its arguments itself, behind the question whether one of them takes the call
    over. `refusal` says who refuses what is no tensor, see `errors.refuse_others`."""
    declaration = declaration_of(function)
    if not function.__code__.co_flags & (CO_VARARGS | CO_VARKEYWORDS):
        return checked(
            function.__name__, function, declaration, look=False, short=short, in_python=in_python, exact=refusal
        )

    @functools.cache
    def takes_one_tensor() -> bool:
        forms = [list(form.parameters.values()) for form in declaration.all_signatures()]
        several = any([p.kind is p.VAR_POSITIONAL and p.annotation == "Tensor" for form in forms for p in form])
        kinds = [[str(p.annotation) for p in form] for form in forms]
        return not several and all([form[0] == "Tensor" and "Tensor" not in "".join(form[1:]) for form in kinds])

    def overridable(*args: Any, **kwargs: Any) -> Any:
        if not modes_of_all_threads:
            if args and args[0].__class__ in plain_tensors and takes_one_tensor():
                return function(*args, **kwargs)
            if all_plain(map(type, args)) and all_plain(map(type, kwargs.values())):
                return function(*args, **kwargs)
        given, named = in_python_form(function, args, kwargs) if in_python else (args, kwargs)
        result = overridden(lambda: overridable, given, named, in_python=in_python)
        return function(*args, **kwargs) if result is UNCHANGED else result

    return shown_as(overridable, function)


def shown_as(made: Any, function: Any) -> Any:
    made.__name__ = made.__qualname__ = function.__name__
    made.__doc__, made.__module__ = function.__doc__, function.__module__
    made.__wrapped__ = declaration_of(function)
    return made


def declaration_of(function: Any) -> Declaration:
    """What a function takes, that may be a method as well."""
    known = getattr(function, "__wrapped__", None)
    return known.as_method(False) if isinstance(known, Declaration) else Declaration(function)
