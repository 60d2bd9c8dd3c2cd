"""Arguments as PyTorch takes them: looked at before an operation is called, against its declaration.

`checked(call, ...)` is a function with the parameters of `call`, which asks whether each argument is what its
annotation says and passes them on. It is written from the declaration, as text, when it is first called (no program
calls all functions), so that arguments of the usual kinds cost a few comparisons. The others go to `unusual`: NumPy's
names of parameters, which PyTorch takes as well, integers that are not Python's own, `out`, mistakes, in PyTorch's
words, and arguments that take the call over by their `__torch_function__` (leafgrad/_core/overrides.py).
"""

from __future__ import annotations

import functools
import linecache
import sys
from collections.abc import Callable
from operator import index
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.modes import switches
from leafgrad._core.overrides import (
    UNCHANGED,
    DisableTorchFunctionSubclass,
    TakesOver,
    handling,
    leaves_usual_way,
    modes_of_all_threads,
    overridden,
    plain,
    plain_tensors,
)
from leafgrad._core.tensor import TensorBase, links
from leafgrad._core.thread_state import state
from leafgrad._device import device, layout, memory_format
from leafgrad._dtypes import PYTHON_DTYPES, dtype
from leafgrad.ops.autocast import autocasting
from leafgrad.ops.dimensions import all_ints
from leafgrad.ops.out import into_out
from leafgrad.ops.signature import Declaration, documentation, in_python_form, is_method

# NumPy's names of parameters, and a word that Python keeps for itself.
OTHER_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}
OTHER_NAMES |= {"from": "from_"}
MISSING: Any = type("Missing", (), {"__slots__": (), "__repr__": lambda self: "..."})()
REFUSED: Any = object()

plain.update({device, dtype, layout, memory_format})

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


PLAIN = "({0}.__class__ is Tensor or {0}.__class__ in plain)"  # takes no call over
LIST_OR_TUPLE = "({0}.__class__ is list or {0}.__class__ is tuple)"
KINDS = {
    "Tensor": Kind("Tensor", "({0}.__class__ is Tensor or {0}.__class__ in plain_tensors)", instance_of(TensorBase)),
    "Tensors": Kind("tuple of Tensors", LIST_OR_TUPLE, instance_of(tuple, list)),
    "Indices": Kind("tuple of Tensors", f"({LIST_OR_TUPLE} and all_plain(map(type, {{0}})))", instance_of(tuple, list)),
    "Dim": Kind("int", "{0}.__class__ is int", as_int),
    "int": Kind("int", "{0}.__class__ is int", as_int),
    "bool": Kind("bool", "({0} is False or {0} is True)", instance_of(bool)),
    "str": Kind("str", "{0}.__class__ is str", instance_of(str)),
    "float": Kind("float", "({0}.__class__ is float or {0}.__class__ is int)", as_float),
    "Number": Kind("Number", "({0}.__class__ is int or {0}.__class__ is float)", as_number),
    "Shape": Kind("tuple of ints", "({0}.__class__ is tuple and all_ints({0}))", as_ints),
    "Dtype": Kind("torch.dtype", "{0}.__class__ is Dtype", as_dtype),
    "MemoryFormat": Kind("torch.memory_format", "{0}.__class__ is MemoryFormat", instance_of(memory_format)),
    "Device": Kind("torch.device", "({0}.__class__ is str or {0}.__class__ is Device)", instance_of(device, str, int)),
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
        annotation = "Indices"
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
    "Device": device, "Dtype": dtype, "Layout": layout, "MISSING": MISSING, "MemoryFormat": memory_format,
    "TakesOver": TakesOver, "all_ints": all_ints, "all_plain": plain.issuperset, "plain": plain, "state": state,
    "modes_of_all_threads": modes_of_all_threads, "plain_tensors": plain_tensors, "switches": switches,
}  # fmt: skip

# -- the function before an operation ---------------------------------------------------------------------------------


def checked(
    name: str,
    call: Callable[..., Any],
    declaration: Declaration,
    silent: bool = False,
    look: bool = True,
    short: Callable[..., Any] | None = None,
    in_python: bool = False,
    exact: str | None = None,
    autocast: str | None = None,
) -> Any:
    """`call`, behind a look at its arguments (without `look`: at their names, at the first one, and whether one of them
    takes the call over). `silent` says that it computes before the executor is asked, when NumPy has to be silent in
    its thread already; `short` is a shorter way if none of the optional arguments is given. `in_python` says that
    PyTorch has written the function in Python, see `overridden`; `exact`, that a wrong call is Python's affair, and who
    refuses what is no tensor, see `errors.refuse_others`; `autocast`, in which dtype it computes in mixed precision."""
    space: dict[str, Any] = {"__builtins__": __builtins__}

    def first_call(*args: Any, **kwargs: Any) -> Any:
        inner = autocasting(autocast, call)
        arguments = Arguments(function, inner, declaration, silent, look, short, in_python, exact)
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


def _not_written_yet(*args: Any, **kwargs: Any) -> Any:
    return first_call(*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821


# By the factors of a function and whether it is a method: where numbers (n) and tensors (t) stood once.
OLD_ORDERS: dict[tuple[Any, ...], tuple[str, ...]] = {
    ("beta", "alpha", False): ("nttt", "ntntt"),
    ("beta", "alpha", True): ("tntt", "tnntt"),
    ("value", False): ("tntt",),
    ("value", True): ("tntt",),
}


class Arguments:
    """The arguments of one function: how they are looked at, and what is said if they are wrong."""

    def __init__(
        self,
        function: Any,
        call: Callable[..., Any],
        declaration: Declaration,
        silent: bool,
        look: bool,
        short: Callable[..., Any] | None,
        in_python: bool,
        exact: str | None,
    ) -> None:
        self.function = function
        self.in_python = in_python
        self.exact = exact
        # is_tensor looks at arguments of every kind, and nobody can take it over
        self.for_anything = "object" in [str(p.annotation) for p in declaration.with_deprecated().parameters.values()]
        self.name: str = function.__name__
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
            asked = exact is not None and p.annotation in ("Tensor", "Tensor | None")
            if kind is not None and (look or position == 0 or asked):
                self.kinds[key] = kind
        self.rows = [row_of(p, self.kinds.get(key)) for key, p in self.parameters.items()]
        self.positional = [p for p in self.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        self.keywords = [p for p in self.parameters.values() if p.kind is p.KEYWORD_ONLY]
        self.defaults: Any = tuple([MISSING if p.default is p.empty else p.default for p in self.positional])
        if exact is not None:
            self.defaults = tuple([default for default in self.defaults if default is not MISSING])
        self.keyword_defaults = {p.name: MISSING if p.default is p.empty else p.default for p in self.keywords}
        if declaration.has_out:
            self.keyword_defaults["out"] = None
        self.names = {**NAMES, "call": call, "unusual": self.unusual, "Tensor": links.tensor_class}
        self.code = self.write(silent, short)

    def write(self, silent: bool, short: Callable[..., Any] | None) -> Any:
        """The function as text, and what Python makes of it. Its file counts as one of leafgrad's."""
        first = [p.name for p in self.positional]
        further = [*[p.name for p in self.keywords], *(["out"] if self.declaration.has_out else [])]
        taken, rest = self.parameter_list(first, further)
        usual = self.conditions()
        passed = first + [f"{p.name}={p.name}" for p in self.keywords]
        by_name = ", ".join([f"{key!r}: {key}" for key in first + further])
        lines = [f"def {self.name}({', '.join(taken)}):"]
        optional = {p.name: p.default for p in self.parameters.values() if p.default is not p.empty}
        if short is not None and optional:
            self.names |= {"short": short, **{f"default_{key}": value for key, value in optional.items()}}
            plain = [kind.usual.format(key) for key, kind in self.kinds.items() if key not in optional]
            plain += [*usual[len(self.kinds) :], *[f"{key} is default_{key}" for key in optional]]
            required = ", ".join([key for key in first if key not in optional])
            lines += [f"    if {' and '.join([*plain, *rest])}:"]
            lines += ["        state.recording"] if silent else []
            lines += [f"        return short({required})"]
        lines += [f"    if {' and '.join([*usual, *rest])}:"]
        lines += ["        state.recording"] if silent else []
        behind = self.names["behind"] = getattr(self.call, "behind", None)  # conversions that autocast asks for
        called = "call" if behind is None else "(call if switches.autocasts else behind)"
        returned = f"return {called}({', '.join(passed)})"
        if any([p.annotation == "Tensors" for p in self.parameters.values()]):
            lines += ["        try:", f"            {returned}", "        except TakesOver:", "            pass"]
        else:
            lines += [f"        {returned}"]
        lines += [f"    return unusual({{{by_name}}}, {'rest, others' if self.exact is None else '(), {}'})"]
        owner = "Tensor." if self.declaration.is_method else ""
        file = __file__.replace("arguments.py", f"<arguments of {owner}{self.name}>")
        text = "\n".join(lines) + "\n"
        linecache.cache[file] = (len(text), None, [line + "\n" for line in lines], file)
        code = next(code for code in compile(text, file, "exec").co_consts if isinstance(code, CodeType))
        inner = short or self.call
        inner = getattr(inner, "behind", inner)  # the conversions of leafgrad/ops/autocast.py
        # PyTorch's name, see `name_code`; if this is an alias, that of the alias
        aten = inner.__code__.co_name if inner.__name__ == self.name else ""
        return code.replace(co_name=aten if aten.startswith("aten::") else f"aten::{self.name}")

    def parameter_list(self, first: list[str], further: list[str]) -> tuple[list[str], list[str]]:
        """The parameters of the function, and the conditions on those that take what else is given."""
        if self.exact is None:
            others = ["*rest", *[f"{key}=0" for key in further], "**others"]
            return [*[f"{key}=0" for key in first], *others], ["not rest", "not others"]
        required = len(first) - len(self.defaults)
        optional = [f"{key}=0" for key in first[required:]]
        return [*first[:required], *optional, *(["*"] if further else []), *[f"{key}=0" for key in further]], []

    def conditions(self) -> list[str]:
        """What holds for the usual arguments."""
        usual = [kind.usual.format(key) for key, kind in self.kinds.items()]
        for p in list(self.parameters.values())[self.declaration.is_method :]:
            if p.name in self.kinds:
                continue
            if p.annotation == "Sequence[Tensor | None]":
                usual.append(KINDS["Indices"].usual.format(p.name))
            elif "Tensor" in str(p.annotation):
                none = f"{p.name} is None or " if p.default is None else ""
                usual.append(f"({none}{PLAIN.format(p.name)})")
            elif p.default is p.empty:
                usual.append(f"{p.name} is not MISSING")
        usual += ["out is None"] if self.declaration.has_out else []
        return usual if self.declaration.is_method else [*usual, "not modes_of_all_threads"]

    def unusual(self, values: dict[str, Any], rest: tuple[Any, ...], others: dict[str, Any]) -> Any:
        """Call it with arguments that the text above does not know, if they are right."""
        result = self.overridden(values, rest, others)
        if result is not UNCHANGED:
            return result
        if self.exact is not None:
            errors.refuse_others(self.exact or f"{self.name}()", self.positional[self.declaration.is_method :], values)
            first = [values[p.name] for p in self.positional]
            return self.call(*first, **{p.name: values[p.name] for p in self.keywords})
        out = values.pop("out") if self.declaration.has_out else None
        named = {name: values[name] for name, p in self.parameters.items() if not is_default(p, values[name])}
        renamed = {OTHER_NAMES.get(key, key): value for key, value in others.items()}
        clear = not rest and named.keys().isdisjoint(renamed)
        given = fitted(([], self.rows), (), {**named, **renamed}) if clear else None
        if given is None and not others:
            given = self.factors_in_front(values, rest)
        if given is None:
            raise self.wrong_call(values, rest, others)
        state.recording  # noqa: B018  see `silent`
        first = [given[p.name] for p in self.positional]
        further = {p.name: given[p.name] for p in self.keywords}
        if out is not None:
            return into_out(self.name, self.call, first, further, out, self.declaration.has_out)
        return self.call(*first, **further)

    def factors_in_front(self, values: dict[str, Any], rest: tuple[Any, ...]) -> dict[str, Any] | None:
        """The arguments of addmm(beta, input, alpha, mat1, mat2) or addcmul(input, value, tensor1, tensor2), forms that
        PyTorch has deprecated and still takes: numbers that are given by name today stand before tensors."""
        places, factors = [p.name for p in self.positional], [p.name for p in self.keywords]
        args = [*[values[name] for name in places if values[name] is not MISSING], *rest]
        order = "".join(
            ["t" if isinstance(v, TensorBase) else "n" if as_number(v) is not REFUSED else "?" for v in args]
        )
        if order not in OLD_ORDERS.get((*factors, self.declaration.is_method), ()):
            return None
        tensors = [v for v in args if isinstance(v, TensorBase)]
        numbers = [as_number(v) for v in args if not isinstance(v, TensorBase)]
        names = iter(places), iter(factors)
        old = ", ".join([f"Tensor {next(names[0])}" if kind == "t" else f"Number {next(names[1])}" for kind in order])
        new = ", ".join([*[f"Tensor {name}" for name in places], "*", *[f"Number {name} = 1" for name in factors]])
        errors.warn(
            f"This overload of {self.name} is deprecated:\n\t{self.name}({old})\nConsider using one of the following "
            f"signatures instead:\n\t{self.name}({new})"
        )
        return {**dict.fromkeys(factors, 1), **dict(zip(factors, numbers)), **dict(zip(places, tensors))}

    def overridden(self, values: dict[str, Any], rest: tuple[Any, ...], others: dict[str, Any]) -> Any:
        """What becomes of the call if an argument or a mode takes it over."""
        if self.for_anything:
            return UNCHANGED
        asked = [value for key, value in values.items() if not is_number_for(self.parameters.get(key), value)]
        found = (*asked, *rest, *others.values())
        if not handling.modes and not leaves_usual_way(found):
            return UNCHANGED
        if self.in_python:
            named = {p.name: values[p.name] for p in self.parameters.values() if not is_default(p, values[p.name])}
            args, kwargs = in_python_form(self.function, rest, {**named, **others})
        else:
            by_name = names_in_call(3)  # above `unusual` and the text of the function
            by_position, kwargs = self.as_called(values, rest, others, by_name)
            args = (*[values[p.name] for p in self.positional[: self.declaration.is_method]], *by_position)
        return overridden(self.public_function, args, kwargs, found, self.in_python)

    def public_function(self) -> Any:
        """What users call."""
        return getattr(links.tensor_class, self.name) if self.declaration.is_method else self.function

    def as_called(
        self, values: dict[str, Any], rest: tuple[Any, ...], others: dict[str, Any], named: tuple[str, ...]
    ) -> tuple[list[Any], dict[str, Any]]:
        """The arguments as they were given, by position and by name, without the tensor of a method."""
        is_method = self.declaration.is_method
        parameters = list(self.parameters.values())[is_method:]
        given = [p for p in parameters if p.name in named or not is_default(p, values[p.name])]
        by_name = {p.name: values[p.name] for p in given if p.name in named or p.kind is p.KEYWORD_ONLY}
        by_name |= {} if values.get("out") is None else {"out": values["out"]}
        last = max([i for i, p in enumerate(self.positional) if p in given and p.name not in by_name], default=-1)
        last = len(self.positional) if rest else last
        by_position = [values[p.name] for p in self.positional[is_method : last + 1]]
        return [*by_position, *rest], {**by_name, **others}

    def wrong_call(self, values: dict[str, Any], rest: tuple[Any, ...], others: dict[str, Any]) -> TypeError:
        """The error for these arguments. Which of them have been named is in the user's code."""
        args, kwargs = self.as_called(values, rest, others, errors.keywords_here() or ())
        forms = errors.forms_of(self.declaration.all_signatures(), self.declaration.is_method)
        return errors.WrongCall(self.name, args, kwargs, forms, OTHER_NAMES, refused_kind).error()


def names_in_call(up: int) -> tuple[str, ...]:
    """The names that the user's call gives to arguments: who takes the call over gets them as they were given, by
    position or by name. The call is `up` frames above the one that asks, or above further ones of the same file."""
    file = sys._getframe(1).f_code.co_filename
    frame = sys._getframe(1 + up)
    while frame.f_back is not None and frame.f_code.co_filename == file:
        frame = frame.f_back
    return errors.keywords_at(frame.f_code, frame.f_lasti)


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


def is_number_for(p: Any, value: Any) -> bool:
    """Is this a tensor in the place of a number or a dtype? Then it does not take the call over, as in PyTorch."""
    if p is None or not isinstance(value, TensorBase) or "Tensor" in str(p.annotation):
        return False
    kind = kind_of(str(p.annotation))
    with DisableTorchFunctionSubclass():  # a question that is not the program's
        return kind is not None and kind.take(value) is not REFUSED


def is_default(p: Any, value: Any) -> bool:
    return value is (MISSING if p.default is p.empty else p.default)


def refused_kind(p: Any, value: Any) -> str:
    """What a parameter takes, if that is something else than this value; otherwise nothing."""
    kind = kind_of(str(p.annotation))
    return kind.name if kind is not None and value is not p.default and kind.take(value) is REFUSED else ""
