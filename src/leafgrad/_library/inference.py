"""The schema of an operator from the annotations of a function."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from leafgrad._core.tensor import links
from leafgrad._device import device
from leafgrad._dtypes import dtype
from leafgrad._library.schema import written

UNKNOWN = "unknown"
# the types that come in lists, and in optional lists
LISTS = {"Tensor", "SymInt", "float", "bool", "Scalar"}
OPTIONAL_LISTS = {"SymInt", "float", "bool"}
Number = int | float | bool  # torch.types.Number
RESULTS = {"Tensor", "Tensor[]", "SymInt", "float", "bool", "Scalar"}


def infer_schema(
    prototype_function: Callable[..., Any], /, *, mutates_args: str | Iterable[str], op_name: str | None = None
) -> str:
    """infer_schema(function, *, mutates_args, op_name=None): the schema of an operator, by the annotations of a
    function: `(Tensor x, SymInt n=2) -> Tensor`."""
    signature = inspect.signature(prototype_function)

    def refuse(why: str) -> NoReturn:
        raise ValueError(f"infer_schema(func): {why} Got func with signature {signature})")

    if isinstance(mutates_args, str) and mutates_args != UNKNOWN:
        raise ValueError(
            "mutates_args must either be a sequence of the names of the arguments that are mutated or the string "
            "'unknown'. "
        )
    hints = annotations_of(prototype_function, refuse)
    words: list[str] = []
    for position, parameter in enumerate(signature.parameters.values()):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            refuse("We do not support positional-only args, varargs, or varkwargs.")
        if parameter.kind == parameter.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        if parameter.annotation is parameter.empty:
            refuse(f"Parameter {parameter.name} must have a type annotation.")
        kind = kind_of_parameter(parameter, hints[parameter.name], refuse)
        if mutates_args == UNKNOWN:
            changed = kind.startswith("Tensor")
        else:
            changed = parameter.name in mutates_args
        if changed and not kind.startswith("Tensor"):
            refuse(
                f"Parameter {parameter.name} is in mutable_args but only Tensors or collections of Tensors can be "
                "mutated"
            )
        if changed:
            kind = f"Tensor(a{position}!){kind.removeprefix('Tensor')}"
        words.append(f"{kind} {parameter.name}{default_of(parameter, refuse)}")
    unseen = set() if mutates_args == UNKNOWN else {*mutates_args} - {*signature.parameters}
    if unseen:
        refuse(
            f"{unseen} in mutates_args were not found in the custom op's signature. mutates_args should contain the "
            "names of all args that the custom op mutates, or just the string 'unknown' if you don't know."
        )
    if signature.return_annotation is signature.empty:
        refuse("No return type annotation was provided. Please add one.")
    return f"{op_name or ''}({', '.join(words)}) -> {results_of(hints.get('return'), refuse)}"


def annotations_of(function: Callable[..., Any], refuse: Callable[[str], NoReturn]) -> dict[str, Any]:
    """The annotations as types, also where they were written as text."""
    found = dict(getattr(function, "__annotations__", {}))
    names = getattr(function, "__globals__", {})
    for name, annotation in found.items():
        if isinstance(annotation, str):
            try:
                found[name] = eval(annotation, names)
            except Exception as error:
                refuse(f"Unsupported type annotation {annotation}. It is not a type. ({error})")
    return found


def kind_of_parameter(parameter: Any, annotation: Any, refuse: Callable[[str], NoReturn]) -> str:
    kind = kind_of(annotation)
    if kind is not None:
        return kind
    workaround = ""
    if typing.get_origin(annotation) is tuple:
        workaround = "We do not support Tuple inputs in schema. As a workaround, please try to use List instead. "
    refuse(f"Parameter {parameter.name} has unsupported type {parameter.annotation}. {workaround}")


def kind_of(annotation: Any) -> str | None:
    """A type in the words of schemas; None if there is no such type there."""
    single = [
        (links.tensor_class, "Tensor"), (int, "SymInt"), (float, "float"), (bool, "bool"), (str, "str"),
        (Number, "Scalar"), (dtype, "ScalarType"), (device, "Device"),
    ]  # fmt: skip
    for known, word in single:
        if annotation == known:
            return word
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType) and type(None) in inner and len(inner) == 2:
        given = kind_of(inner[0] if inner[1] is type(None) else inner[1])
        if given is None or given.endswith("?") or (given.endswith("[]") and given[:-2] not in OPTIONAL_LISTS):
            return None
        return f"{given}?"
    if origin in (list, Sequence) and len(inner) == 1:
        given = kind_of(inner[0])
        return f"{given}[]" if given in LISTS or given == "Tensor?" else None
    return None


def default_of(parameter: Any, refuse: Callable[[str], NoReturn]) -> str:
    value = parameter.default
    if value is parameter.empty:
        return ""
    if value is None or isinstance(value, (int, float, str, device, dtype)):
        return f"={value}" if isinstance(value, float) else f"={written(value)}"
    refuse(
        f"Parameter {parameter.name} has an unsupported default value type {type(value)}. Please file an issue on "
        "GitHub so we can prioritize this."
    )


def results_of(annotation: Any, refuse: Callable[[str], NoReturn]) -> str:
    if annotation is None:
        return "()"
    several = typing.get_origin(annotation) is tuple
    kinds = [kind_of(each) for each in (typing.get_args(annotation) if several else (annotation,))]
    if any([kind not in RESULTS for kind in kinds]):
        refuse(f"Return has unsupported type {annotation}.")
    words = ", ".join([str(kind) for kind in kinds])
    if not several:
        return words
    return f"(({words}))" if len(kinds) == 1 else f"({words})"
