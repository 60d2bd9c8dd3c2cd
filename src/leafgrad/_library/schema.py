"""What an operator takes and returns, in PyTorch's words: `sin(Tensor x, float s=1., *, bool fast=False) -> Tensor`."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leafgrad import _dtypes, errors
from leafgrad._core.tensor import TensorBase
from leafgrad._device import device
from leafgrad._dtypes import dtype

# what messages call the types
SPOKEN = {"SymInt": "int", "Scalar": "number", "ScalarType": "int"}
NO_DEFAULT = object()


@dataclass(frozen=True)
class AliasInfo:
    """What is said of the memory of a tensor: `(a!)` is written to."""

    name: str
    is_write: bool


@dataclass(frozen=True)
class Kind:
    """A type: `Tensor(a!)[]?` is an optional list of tensors that are written to."""

    base: str
    alias_info: AliasInfo | None = None
    suffix: str = ""  # "", "?", "[]", "[]?", "?[]", or with a number in the brackets

    def __str__(self) -> str:
        alias = self.alias_info
        inner = "" if alias is None else f"({alias.name}{'!' if alias.is_write else ''})"
        return f"{self.base}{inner}{self.suffix}"

    @property
    def is_tensor(self) -> bool:
        return self.base == "Tensor"

    def spoken(self) -> str:
        """What an error message calls it."""
        said = SPOKEN.get(self.base, self.base)
        for part in re.findall(r"\?|\[\d*\]", self.suffix):
            said = f"Optional[{said}]" if part == "?" else f"List[{said}]"
        return said

    def converted(self, value: Any) -> Any:
        """A value as this type; a ValueError if it is none."""
        return convert(self.base, re.findall(r"\?|\[\d*\]", self.suffix), value)


def convert(base: str, parts: list[str], value: Any) -> Any:
    """The same for a type without its last parts."""
    if not parts:
        return convert_one(base, value)
    last, inner = parts[-1], parts[:-1]
    if last == "?":
        return None if value is None else convert(base, inner, value)
    if last != "[]" and isinstance(value, int):  # int[2]: one number stands for both
        return [value] * int(last[1:-1])
    if not isinstance(value, (list, tuple)):
        raise ValueError
    return [convert(base, inner, each) for each in value]


def convert_one(base: str, value: Any) -> Any:
    if value is None and base == "Tensor":
        return None  # an undefined tensor, which PyTorch's dispatcher takes
    if base == "float" and isinstance(value, (int, float)):
        return float(value)
    if base == "Device" and isinstance(value, str):
        return device(value)
    if isinstance(value, TYPES.get(base, object)):
        return value
    raise ValueError


# What is said of the names that types have elsewhere.
OTHER_NAMES = {
    "int64_t": "Use `SymInt` or `int` instead of `int64_t` in an operator's schema string. `SymInt` corresponds to "
    "c10::SymInt in C++ while `int` in schema corresponds to the int64_t type in C++.",
    "double": "Use `float` instead of `double` in an operator's schema string. `float` in schema corresponds to the "
    "double type in C++",
}


def check_type(base: str, schema: str) -> None:
    """Refuse a type that there is not."""
    if base in TYPES or base in UNCHECKED:
        return
    common = "Common valid schema types include Tensor, SymInt, int, float, bool, Scalar; for a full list, please see "
    where = "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#func "
    why = OTHER_NAMES.get(base) or f"unknown type specifier. {common}{where}"
    mark = " " * re.search(rf"\b{base}\b", schema).start() + "~" * len(base)  # type: ignore[union-attr]
    raise RuntimeError(f"\n{why}:\n{schema}\n{mark} <--- HERE\n  at {errors.here()}")


UNCHECKED = {
    "Any", "Dimname", "DispatchKeySet", "Future", "Generator", "Layout", "MemoryFormat", "QScheme", "Storage", "Stream",
    "complex", "number",
}  # fmt: skip
TYPES: dict[str, Any] = {
    "Tensor": TensorBase,
    "int": int,
    "SymInt": int,
    "float": float,
    "bool": bool,
    "str": str,
    "Scalar": (int, float, complex),
    "ScalarType": dtype,
    "Device": device,
}


@dataclass(frozen=True)
class Argument:
    """One parameter, or one result (which may have no name)."""

    name: str
    type: Kind
    default: Any = NO_DEFAULT
    kwarg_only: bool = False

    @property
    def default_value(self) -> Any:
        """The default, None also if there is none."""
        return self.default if self.has_default_value() else None

    @property
    def alias_info(self) -> AliasInfo | None:
        return self.type.alias_info

    def has_default_value(self) -> bool:
        return self.default is not NO_DEFAULT

    def __str__(self) -> str:
        named = f"{self.type} {self.name}".rstrip()
        return f"{named}={written(self.default_value)}" if self.has_default_value() else named


def written(value: Any) -> str:
    """A default value as schemas have it."""
    if isinstance(value, (str, device)):
        return f'"{value}"'
    if isinstance(value, dtype):
        return str(value).removeprefix("torch.")
    text = str(value)
    return text[:-1] if isinstance(value, float) and text.endswith(".0") else text


@dataclass(frozen=True)
class Schema:
    """The whole line. `name` has the library before it: mylib::sin."""

    name: str
    overload_name: str
    arguments: tuple[Argument, ...]
    returns: tuple[Argument, ...]
    in_tuple: bool = False  # is the only result in a tuple?

    def __str__(self) -> str:
        words = [str(a) for a in self.arguments]
        if self.keywords:
            words.insert(len(self.positional), "*")
        results = ", ".join([str(r) for r in self.returns])
        if len(self.returns) != 1:
            results = f"({results})"
        elif self.in_tuple:
            results = f"(({results}))"
        overload = f".{self.overload_name}" if self.overload_name else ""
        return f"{self.name}{overload}({', '.join(words)}) -> {results}"

    @property
    def positional(self) -> tuple[Argument, ...]:
        return tuple([a for a in self.arguments if not a.kwarg_only])

    @property
    def keywords(self) -> tuple[Argument, ...]:
        return tuple([a for a in self.arguments if a.kwarg_only])

    @property
    def is_mutable(self) -> bool:
        return any([a.alias_info is not None and a.alias_info.is_write for a in self.arguments])

    def bound(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments in their places, checked: those by position, without the defaults at their end, and the others."""
        places, more = self.positional, dict(kwargs)
        if len(args) > len(places):
            raise self.refused(self.too_many(len(args)))
        values: list[Any] = []
        for i, place in enumerate(places):
            if i < len(args):
                values.append(self.checked(place, i, args[i]))
            elif place.name in more:
                values.append(self.checked(place, i, more.pop(place.name)))
            elif place.has_default_value():
                values.append(place.default_value)
            else:
                raise self.refused(f"{self.name}() is missing value for argument '{place.name}'.")
        by_name = {}
        for place in self.keywords:
            if place.name in more:
                by_name[place.name] = self.checked(place, len(args), more.pop(place.name))
            elif not place.has_default_value():
                raise self.refused(f"{self.name}() is missing value for argument '{place.name}'.")
        if more:
            name = next(iter(more))
            raise RuntimeError(
                f"Unknown keyword argument '{name}' for operator '{self.name}'. Schema: {self}\n  at {errors.here()}"
            )
        while values and is_default(places[len(values) - 1], values[-1]):
            values.pop()
        return tuple(values), by_name

    def filled(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The same with all defaults."""
        rest = [place.default_value for place in self.positional[len(args) :]]
        return (*args, *rest), {p.name: kwargs.get(p.name, p.default_value) for p in self.keywords}

    def too_many(self, given: int) -> str:
        if self.keywords:
            return f"{self.name}() takes {len(self.positional)} positional argument(s) but {given} was/were given. "
        return f"{self.name}() expected at most {len(self.positional)} argument(s) but received {given} argument(s)."

    def checked(self, place: Argument, position: int, value: Any) -> Any:
        try:
            return place.type.converted(value)
        except ValueError:
            raise RuntimeError(
                f"{self.name}() Expected a value of type '{place.type.spoken()}' for argument '{place.name}' but "
                f"instead found type '{type(value).__name__}'.\nPosition: {position}\nValue: {value!r}\nDeclaration: "
                f"{self}\n  at {errors.here()}"
            ) from None

    def refused(self, why: str) -> RuntimeError:
        return RuntimeError(f"{why} Declaration: {self}\n  at {errors.here()}")


def is_default(place: Argument, value: Any) -> bool:
    if not place.has_default_value() or isinstance(value, (TensorBase, list)):
        return False
    return type(value) is type(place.default_value) and bool(value == place.default_value)


# -- reading ----------------------------------------------------------------------------------------------------------

TYPE = r"(\w+)(?:\((\w+)(!?)(?: -> \*)?\))?((?:\?|\[\d*\])*)"
PARAMETER = re.compile(rf"{TYPE}\s+(\w+)\s*(?:=\s*(.+))?")
RESULT = re.compile(rf"{TYPE}\s*(\w*)")


def parsed(text: str, library: str) -> Schema:
    """Read `name.overload(parameters) -> results`."""
    whole = re.fullmatch(r"\s*(?:\w+::)?(\w+)(?:\.(\w+))?\s*\((.*)\)\s*->\s*(.+?)\s*", text, re.DOTALL)
    if whole is None:
        raise RuntimeError(
            f"{text!r} is no schema; one is 'name(Tensor x, float s=1.0) -> Tensor'\n  at {errors.here()}"
        )
    name, overload, parameters, results = whole.groups()
    arguments, by_name = [], False
    for word in separated(parameters):
        if word == "*":
            by_name = True
        else:
            arguments.append(read_parameter(word, by_name, text))
    in_parentheses = results.startswith("(") and results.endswith(")")
    in_tuple = in_parentheses and results.startswith("((")
    inner = results.strip("()") if in_tuple else results[1:-1] if in_parentheses else results
    returns = [read_result(word, text) for word in separated(inner)]
    return Schema(f"{library}::{name}", overload or "", tuple(arguments), tuple(returns), in_tuple)


def separated(text: str) -> list[str]:
    """The parts between commas that are in no brackets and no quotes."""
    found = re.findall(r"(?:\([^)]*\)|\[[^\]]*\]|\"[^\"]*\"|'[^']*'|[^,])+", text)
    return [part.strip() for part in found if part.strip()]


def read_parameter(text: str, by_name: bool, schema: str) -> Argument:
    found = PARAMETER.fullmatch(text)
    if found is None:
        raise RuntimeError(f"{text!r} is no parameter, in the schema {schema!r}\n  at {errors.here()}")
    base, alias, write, suffix, name, default = found.groups()
    check_type(base, schema)
    kind = Kind(base, AliasInfo(alias, bool(write)) if alias else None, suffix)
    return Argument(name, kind, NO_DEFAULT if default is None else read_default(kind, default.strip()), by_name)


def read_default(kind: Kind, text: str) -> Any:
    if kind.base == "ScalarType" and text != "None":
        return next(each for each in vars(_dtypes).values() if isinstance(each, dtype) and str(each) == f"torch.{text}")
    value = ast.literal_eval(text)
    return kind.converted(value)


def read_result(text: str, schema: str) -> Argument:
    found = RESULT.fullmatch(text)
    if found is None:
        raise RuntimeError(f"{text!r} is no result, in the schema {schema!r}\n  at {errors.here()}")
    base, alias, write, suffix, name = found.groups()
    check_type(base, schema)
    return Argument(name, Kind(base, AliasInfo(alias, bool(write)) if alias else None, suffix))
