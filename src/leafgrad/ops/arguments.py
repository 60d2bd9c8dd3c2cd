"""Arguments as PyTorch takes them: looked at before an operation is called, against its declaration.

`checked(call, ...)` is a function with the parameters of `call`, which asks whether each argument is what its
annotation says and passes them on. It is written from the declaration, as text, when it is first called (no program
calls all functions), so that arguments of the usual kinds cost a few comparisons. The others go to `unusual`: NumPy's
names of parameters, which PyTorch takes as well, integers that are not Python's own, `out`, and mistakes, in PyTorch's
words.
"""

from __future__ import annotations

import functools
import linecache
from collections.abc import Callable
from operator import index
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import TensorBase, links
from leafgrad._core.thread_state import state
from leafgrad._device import layout, memory_format
from leafgrad._dtypes import PYTHON_DTYPES, dtype
from leafgrad.ops.out import into_out
from leafgrad.ops.signature import Declaration, documentation, is_method, name_code, twin

# NumPy's names of parameters, and a word that Python keeps for itself.
OTHER_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}
OTHER_NAMES |= {"from": "from_"}
MISSING: Any = type("Missing", (), {"__slots__": (), "__repr__": lambda self: "..."})()
REFUSED: Any = object()
CO_VARARGS, CO_VARKEYWORDS = 4, 8  # flags of code objects, as `inspect` has them

# -- kinds of arguments -----------------------------------------------------------------------------------------------


def as_int(value: Any) -> Any:
    """Integers of NumPy and tensors that hold one are integers, True and False are not."""
    if isinstance(value, TensorBase) and value.array.dtype.kind == "b":
        return REFUSED
    try:
        return REFUSED if isinstance(value, (bool, np.bool_)) else index(value)
    except TypeError:
        return REFUSED


def as_ints(value: Any) -> Any:
    if not isinstance(value, (tuple, list)):
        return REFUSED
    found = [int(v) if v.__class__ is bool and at else as_int(v) for at, v in enumerate(value)]  # as PyTorch has it
    return REFUSED if REFUSED in found else tuple(found)


def all_ints(values: tuple[Any, ...]) -> bool:
    return [value.__class__ for value in values].count(int) == len(values)


def as_number(value: Any) -> Any:
    if isinstance(value, (np.number, np.bool_)):
        return value.item()
    if isinstance(value, TensorBase) and value.array.ndim == 0 and not value.needs_grad:
        return value.array.item()
    return value if isinstance(value, (int, float, complex)) else REFUSED


def as_float(value: Any) -> Any:
    number = as_number(value)
    return REFUSED if isinstance(number, complex) else number


def as_dtype(value: Any) -> Any:
    """Python's own types of numbers stand for dtypes."""
    if isinstance(value, type):
        return PYTHON_DTYPES.get(value, REFUSED)
    return value if isinstance(value, dtype) else REFUSED


def instance_of(*kinds: type) -> Callable[[Any], Any]:
    return lambda value: value if isinstance(value, kinds) else REFUSED


class Kind:
    """What an annotation asks for: what PyTorch's messages call it, a condition (on `{0}`) that holds for the usual
    values, and a function that turns others into one, or refuses."""

    def __init__(self, name: str, usual: str, take: Callable[[Any], Any]) -> None:
        self.name = name
        self.usual = usual
        self.take = take


def generator(value: Any) -> Any:
    return value if type(value).__name__ == "Generator" else REFUSED


KINDS = {
    "Tensor": Kind("Tensor", "({0}.__class__ is Tensor or isinstance({0}, TensorBase))", instance_of(TensorBase)),
    "Tensors": Kind("tuple of Tensors", "({0}.__class__ is list or {0}.__class__ is tuple)", instance_of(tuple, list)),
    "Dim": Kind("int", "{0}.__class__ is int", as_int),
    "int": Kind("int", "{0}.__class__ is int", as_int),
    "bool": Kind("bool", "({0} is False or {0} is True)", instance_of(bool)),
    "str": Kind("str", "{0}.__class__ is str", instance_of(str)),
    "float": Kind("float", "({0}.__class__ is float or {0}.__class__ is int)", as_float),
    "Number": Kind("Number", "({0}.__class__ is int or {0}.__class__ is float)", as_number),
    "Shape": Kind("tuple of ints", "({0}.__class__ is tuple and all_ints({0}))", as_ints),
    "Dtype": Kind("torch.dtype", "{0}.__class__ is Dtype", as_dtype),
    "MemoryFormat": Kind("torch.memory_format", "{0}.__class__ is MemoryFormat", instance_of(memory_format)),
    "Layout": Kind("torch.layout", "{0}.__class__ is Layout", instance_of(layout)),
    "Generator": Kind("torch.Generator", "{0}.__class__.__name__ == 'Generator'", generator),
    "None": Kind("None", "{0} is None", lambda value: REFUSED if value is not None else None),
}


@functools.cache
def kind_of(annotation: str) -> Kind | None:
    """The kind that an annotation names; None if it says nothing that could be checked."""
    if annotation == "DimOrDims":
        annotation = "Shape | int"
    elif annotation.startswith("DimOrDims | "):
        annotation = "Shape | int | " + annotation.partition(" | ")[2]
    elif annotation == "Rounding | None":
        annotation = "str | None"
    elif annotation == "Sequence[Tensor | None]":
        annotation = "Tensors"
    parts = [KINDS.get(part) for part in annotation.split(" | ")]
    known = [part for part in reversed(parts) if part is not None]  # None first: it is the quickest to see
    if len(known) < len(parts):
        return None
    if len(known) == 1:
        return known[0]

    tensors_first = sorted(known, key=lambda part: part is not KINDS["Tensor"])  # a tensor is no number where it may be

    def take(value: Any) -> Any:
        for part in tensors_first:
            if (taken := part.take(value)) is not REFUSED:
                return taken
        return REFUSED

    return Kind(known[-1].name, f"({' or '.join([part.usual for part in known])})", take)


# What the text of a function may name, beside its own parameters: no name that a parameter has.
NAMES: dict[str, Any] = {
    "Dtype": dtype, "Layout": layout, "MISSING": MISSING, "MemoryFormat": memory_format, "TensorBase": TensorBase,
    "all_ints": all_ints, "state": state,
}  # fmt: skip

# -- the function before an operation ---------------------------------------------------------------------------------


def checked(
    name: str,
    call: Callable[..., Any],
    declaration: Declaration,
    silent: bool = False,
    look: bool = True,
    short: Callable[..., Any] | None = None,
) -> Any:
    """`call`, behind a look at its arguments (without `look`: at their names, and at the first one). `silent` says that
    it computes before the executor is asked, when NumPy has to be silent in its thread already; `short` is a shorter
    way if none of the optional arguments is given."""
    space: dict[str, Any] = {"__builtins__": __builtins__}

    def first_call(*args: Any, **kwargs: Any) -> Any:
        arguments = Arguments(name, call, declaration, silent, look, short)
        space.update(arguments.names)
        function.__defaults__, function.__kwdefaults__ = arguments.defaults, arguments.keyword_defaults
        function.__code__ = arguments.code  # last: other threads may be here as well
        return function(*args, **kwargs)

    space["first_call"] = first_call
    function: Any = FunctionType(_not_written_yet.__code__, space, name)
    function.__qualname__, function.__doc__, function.__module__ = name, documentation(call), call.__module__
    function.__wrapped__ = declaration
    return function


def declared_and_checked(call: Callable[..., Any]) -> Any:
    """`declared` (leafgrad/ops/signature.py) for a function whose arguments are looked at. It gets all its `**options`,
    or none of them, if none is given."""
    short = call if "options" in call.__annotations__ else None
    return checked(call.__name__, call, Declaration(call, is_method=is_method(call)), short=short)


def can_be_checked(entry: Any) -> bool:
    """Has it a fixed number of parameters?"""
    return not entry.declaration.__wrapped__.__code__.co_flags & (CO_VARARGS | CO_VARKEYWORDS)


def method_of(entry: Any, name: str = "") -> Any:
    """What an operation, or a function composed of them, is as a method of Tensor (or for other modules of leafgrad, if
    it is none)."""
    declaration = entry.declaration.as_method(bool(entry.method and entry.public_name))
    if entry.checked is True and can_be_checked(entry):
        return checked(name or entry.name, entry.call, declaration, entry.silent)
    return twin(entry.call, declaration)


def method_form(name: str, method: Any, forms: tuple[str, ...] = ()) -> Any:
    """The same for a method, or an in-place method, that a block has written itself. Arguments are looked at if they
    are declared by another function, its `__wrapped__`."""
    declaration = Declaration(getattr(method, "__wrapped__", method), forms, is_method=True)
    name_code(method, name)
    return checked(name, method, declaration) if hasattr(method, "__wrapped__") else twin(method, declaration)


def checked_methods(*functions: Any) -> dict[str, Any]:
    """Methods that are no operations, by their names."""
    return {f.__name__: checked(f.__name__, f, Declaration(f, is_method=True)) for f in functions}


def checked_functions(*functions: Any) -> dict[str, Any]:
    """Functions that are no operations, by their names."""
    return {f.__name__: checked(f.__name__, f, Declaration(f)) for f in functions}


def function_of(entry: Any, name: str, has_out: Any) -> Any:
    """What it is under `leafgrad`: the first argument is looked at as well, and there may be `out`."""
    declaration = entry.declaration.with_out(has_out) if has_out else entry.declaration
    if not can_be_checked(entry):
        return twin(entry.function, declaration)
    if entry.checked is True:
        return checked(name, entry.call, declaration, entry.silent)
    if entry.checked:
        return checked(name, entry.declaration.__wrapped__, declaration, entry.silent, short=entry.call)
    if has_out:
        return checked(name, entry.function, declaration, look=False, short=entry.function)
    return twin(entry.function, declaration)


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


def _not_written_yet(*args: Any, **kwargs: Any) -> Any:
    return first_call(*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821


class Arguments:
    """The arguments of one function: how they are looked at, and what is said if they are wrong."""

    def __init__(
        self,
        name: str,
        call: Callable[..., Any],
        declaration: Declaration,
        silent: bool,
        look: bool,
        short: Callable[..., Any] | None,
    ) -> None:
        self.name = name
        self.call = call
        self.declaration = declaration
        self.parameters = dict(declaration.with_deprecated().parameters)
        if declaration.has_out:
            del self.parameters["out"]
        self.kinds: dict[str, Kind] = {}
        for position, (key, p) in enumerate(self.parameters.items()):
            kind = kind_of(str(p.annotation))
            if position == 0 and (declaration.is_method or not (look or p.annotation == "Tensor")):
                kind = None
            if kind is not None and (look or position == 0):
                self.kinds[key] = kind
        self.rows = [row_of(p, self.kinds.get(key)) for key, p in self.parameters.items()]
        self.positional = [p for p in self.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        self.keywords = [p for p in self.parameters.values() if p.kind is p.KEYWORD_ONLY]
        self.defaults = tuple([MISSING if p.default is p.empty else p.default for p in self.positional])
        self.keyword_defaults = {p.name: MISSING if p.default is p.empty else p.default for p in self.keywords}
        if declaration.has_out:
            self.keyword_defaults["out"] = None
        self.names = {**NAMES, "call": call, "unusual": self.unusual, "Tensor": links.tensor_class}
        self.code = self.write(silent, short)

    def write(self, silent: bool, short: Callable[..., Any] | None) -> Any:
        """The function as text, and what Python makes of it. Its file counts as one of leafgrad's."""
        first = [p.name for p in self.positional]
        further = [*[p.name for p in self.keywords], *(["out"] if self.declaration.has_out else [])]
        taken = [f"{key}=0" for key in first] + ["*rest"] + [f"{key}=0" for key in further] + ["**others"]
        usual = [kind.usual.format(key) for key, kind in self.kinds.items()]
        unlooked = [p for p in self.parameters.values() if p.default is p.empty and p.name not in self.kinds]
        usual += [f"{p.name} is not MISSING" for p in unlooked[self.declaration.is_method :]]
        usual += ["out is None"] if self.declaration.has_out else []
        passed = first + [f"{p.name}={p.name}" for p in self.keywords]
        by_name = ", ".join([f"{key!r}: {key}" for key in first + further])
        lines = [f"def {self.name}({', '.join(taken)}):"]
        optional = {p.name: p.default for p in self.parameters.values() if p.default is not p.empty}
        if short is not None and optional:
            self.names |= {"short": short, **{f"default_{key}": value for key, value in optional.items()}}
            plain = [kind.usual.format(key) for key, kind in self.kinds.items() if key not in optional]
            plain += [*usual[len(self.kinds) :], *[f"{key} is default_{key}" for key in optional]]
            required = ", ".join([key for key in first if key not in optional])
            lines += [f"    if {' and '.join([*plain, 'not rest', 'not others'])}:"]
            lines += ["        state.recording"] if silent else []
            lines += [f"        return short({required})"]
        lines += [f"    if {' and '.join([*usual, 'not rest', 'not others'])}:"]
        lines += ["        state.recording"] if silent else []
        lines += [f"        return call({', '.join(passed)})", f"    return unusual({{{by_name}}}, rest, others)"]
        owner = "Tensor." if self.declaration.is_method else ""
        file = __file__.replace("arguments.py", f"<arguments of {owner}{self.name}>")
        text = "\n".join(lines) + "\n"
        linecache.cache[file] = (len(text), None, [line + "\n" for line in lines], file)
        code = next(code for code in compile(text, file, "exec").co_consts if isinstance(code, CodeType))
        inner = short or self.call
        # PyTorch's name, see `name_code`; if this is an alias, that of the alias
        aten = inner.__code__.co_name if inner.__name__ == self.name else ""
        return code.replace(co_name=aten if aten.startswith("aten::") else f"aten::{self.name}")

    def unusual(self, values: dict[str, Any], rest: tuple[Any, ...], others: dict[str, Any]) -> Any:
        """Call it with arguments that the text above does not know, if they are right."""
        out = values.pop("out") if self.declaration.has_out else None
        named = {name: values[name] for name, p in self.parameters.items() if not is_default(p, values[name])}
        renamed = {OTHER_NAMES.get(key, key): value for key, value in others.items()}
        clear = not rest and named.keys().isdisjoint(renamed)
        given = fitted(([], self.rows), (), {**named, **renamed}) if clear else None
        if given is None:
            raise self.wrong_call(values, rest, others)
        state.recording  # noqa: B018  see `silent`
        first = [given[p.name] for p in self.positional]
        further = {p.name: given[p.name] for p in self.keywords}
        if out is not None:
            return into_out(self.name, self.call, first, further, out, self.declaration.has_out)
        return self.call(*first, **further)

    def wrong_call(self, values: dict[str, Any], rest: tuple[Any, ...], others: dict[str, Any]) -> TypeError:
        """The error for these arguments. Which of them have been named is in the user's code."""
        named = errors.keywords_here() or ()
        is_method = self.declaration.is_method
        asked = [p for p in self.parameters.values() if not is_default(p, values[p.name])][is_method:]
        by_name = {p.name: values[p.name] for p in asked if p.name in named or p.kind is p.KEYWORD_ONLY}
        last = max([i for i, p in enumerate(self.positional) if p in asked and p.name not in by_name], default=-1)
        last = len(self.positional) if rest else last
        by_position = [values[p.name] for p in self.positional[is_method : last + 1]]
        forms = errors.forms_of(self.declaration.all_signatures(), is_method)
        args, kwargs = [*by_position, *rest], {**by_name, **others}
        return errors.WrongCall(self.name, args, kwargs, forms, OTHER_NAMES, refused_kind).error()


# -- one of several forms ---------------------------------------------------------------------------------------------


def matched(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], name: str = "") -> dict[str, Any]:
    """All arguments of a call by their names, in the first form of a declared function that they fit. (For a method
    they do not include the tensor.) Messages may call the function by another name."""
    declaration: Declaration = function.__wrapped__
    named = {OTHER_NAMES.get(key, key): value for key, value in kwargs.items()}
    for form in forms_of(declaration):
        if (values := fitted(form, args, named)) is not None:
            return values
    forms = errors.forms_of(declaration.all_signatures(), declaration.is_method)
    raise errors.WrongCall(name or function.__name__, args, kwargs, forms, OTHER_NAMES, refused_kind).error()


Row = tuple[str, Any, Callable[[Any], Any] | None]  # a parameter: its name, its default and what takes a value for it
Form = tuple[list[str], list[Row]]


@functools.cache
def forms_of(declaration: Declaration) -> list[Form]:
    """For each form the parameters that may go without their names, and all with their defaults and kinds."""
    forms: list[Form] = []
    for signature in declaration.all_signatures():
        parameters = list(signature.parameters.values())[declaration.is_method :]
        places = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
        forms.append((places, [row_of(p, kind_of(str(p.annotation))) for p in parameters]))
    return forms


def row_of(p: Any, kind: Kind | None) -> Row:
    return p.name, MISSING if p.default is p.empty else p.default, None if kind is None else kind.take


def fitted(form: Form, args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any] | None:
    places, parameters = form
    given = dict(zip(places, args))
    if len(args) > len(places) or not given.keys().isdisjoint(named):
        return None
    given.update(named)
    values: dict[str, Any] = {}
    for name, default, take in parameters:
        value = given.pop(name, default)
        if value is not default and take is not None:
            value = take(value)
        if value is REFUSED or value is MISSING:
            return None
        values[name] = value
    return None if given else values


def is_default(p: Any, value: Any) -> bool:
    return value is (MISSING if p.default is p.empty else p.default)


def refused_kind(p: Any, value: Any) -> str:
    """What a parameter takes, if that is something else than this value; otherwise nothing."""
    kind = kind_of(str(p.annotation))
    return kind.name if kind is not None and value is not p.default and kind.take(value) is REFUSED else ""
