"""Arguments that a function does not take, in PyTorch's words: which one it is, or which forms the call may have."""

from __future__ import annotations

import dis
import functools
import operator
from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from types import CodeType
from typing import Any

import numpy as np

from leafgrad._core.tensor import TensorBase
from leafgrad.errors.form import mistake
from leafgrad.errors.naming import library, quietly, users_frame

Form = list[Parameter]


class WrongCall:
    """A call of the function `name` with wrong arguments: those by position, and those by name. `forms` are the
    signatures that it has, `aliases` further names of parameters, and `refuses(parameter, value)` tells whether a value
    is not what a parameter takes, by the name of what it takes."""

    def __init__(
        self,
        name: str,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        forms: list[Form],
        aliases: dict[str, str],
        refuses: Callable[[Parameter, Any], str],
    ) -> None:
        self.name = name
        self.args = args
        self.kwargs = kwargs
        self.forms = forms
        self.aliases = aliases
        self.refuses = refuses

    def error(self) -> TypeError:
        count = len(self.args) + len(self.kwargs)
        plausible = [form for form in self.forms if required(form) <= count <= len(form)]
        if len(self.forms) == 1 or len(plausible) == 1:
            found = self.first_mistake((plausible or self.forms)[0])
            if found is not None:
                return found
        got = ", ".join([type_name(v) for v in self.args] + [f"{k}={type_name(v)}" for k, v in self.kwargs.items()])
        got += ", " if self.kwargs and not self.args else ""  # as PyTorch has it
        forms = "\n".join([f" * ({form_text(form)})" for form in self.forms])
        first = f"{self.name}() received an invalid combination of arguments - got ({got}), but expected one of:"
        return mistake(TypeError, f"{first}\n{forms}")

    def first_mistake(self, form: Form) -> TypeError | None:
        """What is wrong with the arguments if the call is meant to have this form."""
        places = [p for p in form if p.kind is not p.KEYWORD_ONLY]
        if len(self.args) > len(places):
            least = required(places)
            takes = f"from {least} to {len(places)}" if least < len(places) else str(len(places))
            takes += f" positional argument{'' if len(places) == 1 else 's'}"
            was = "was" if len(self.args) == 1 else "were"
            return mistake(TypeError, f"{self.name}() takes {takes} but {len(self.args)} {was} given")
        named = {self.aliases.get(key, key): value for key, value in self.kwargs.items()}
        for position, p in enumerate(form):
            if position < len(self.args):
                value, place = self.args[position], f" (position {position + 1})"
            elif p.name in named:
                value, place = named[p.name], ""
            elif p.default is p.empty:
                missing = [q.name for q in form[position:] if q.default is q.empty and q.name not in named]
                plural = "s" if len(missing) == 1 else ""  # as PyTorch has it
                what = f"{len(missing)} required positional argument{plural}"
                listed = ", ".join([f'"{name}"' for name in missing])
                return mistake(TypeError, f"{self.name}() missing {what}: {listed}")
            else:
                continue
            if wanted := self.refuses(p, value):
                return self.wrong_type(p.name, place, wanted, value)
        known = {p.name: position for position, p in enumerate(form)}
        for key in self.kwargs:
            position = known.get(self.aliases.get(key, key), len(form))
            if position < len(self.args):
                return mistake(TypeError, f"{self.name}() got multiple values for argument '{key}'")
            if position == len(form):
                return mistake(TypeError, f"{self.name}() got an unexpected keyword argument '{key}'")
        return None

    def wrong_type(self, argument: str, place: str, wanted: str, value: Any) -> TypeError:
        argument = argument.rstrip("_")  # `from_` is called `from`
        first = f"{self.name}(): argument '{argument}'{place} must be {wanted},"
        if wanted == "tuple of ints" and isinstance(value, (tuple, list)):
            at, wrong = next(((i, v) for i, v in enumerate(value) if not is_index(v)), (0, None))
            if at == 0:
                return mistake(TypeError, f"{first} but found element of type {type_name(wrong)} at pos 0")
            why = f'with error "type must be tuple of ints,but got {type_name(wrong)}"'
            first = f"{self.name}(): argument '{argument}' failed to unpack the object at pos {at + 1} {why}"
            return mistake(TypeError, first)
        return not_taken(first, wanted, value)


def is_index(value: Any) -> bool:
    """Is it an integer, of whatever kind? Tensors are asked, since not all of them can be one."""
    try:
        return not isinstance(value, bool) and operator.index(value) is not None
    except TypeError:
        return False


def refuse_others(refusal: str, parameters: Sequence[Parameter], values: dict[str, Any]) -> None:
    """Refuse the first argument that is no tensor where one is asked for, as PyTorch does: in the name of the function
    that takes them (`cross_entropy_loss()`), or for an attribute (`.size`) that its Python code asks for. What calls
    `anything` takes it."""
    for position, p in enumerate(parameters, 1) if refusal != "anything" else ():
        value, kind = values[p.name], str(p.annotation)
        is_refused = kind == "Tensor" or (kind == "Tensor | None" and value is not None)
        if is_refused and not isinstance(value, TensorBase):
            if refusal.startswith("."):
                first = f"'{type(value).__name__}' object has no attribute '{refusal[1:]}'"
                raise mistake(AttributeError, first, ("argument", f"'{p.name}', which must be a Tensor"))
            raise not_a_tensor(refusal.removesuffix("()"), p.name, position, value)


def not_a_tensor(op: str, argument: str, position: int, got: Any) -> TypeError:
    return not_taken(f"{op}(): argument '{argument}' (position {position}) must be Tensor,", "Tensor", got)


def no_tensor(op: str, *numbers: Any) -> TypeError:
    """The error for operands that are all numbers."""
    kinds = ", ".join([type_name(number) for number in numbers])
    words = f"{op}() received an invalid combination of arguments - got ({kinds}), but one of them has to be a Tensor"
    return mistake(TypeError, words, fix=f"{library()}.as_tensor(...)   # makes a tensor of a number")


def not_taken(first: str, wanted: str, value: Any) -> TypeError:
    numbers = isinstance(value, (int, float, complex, list, tuple, np.ndarray, np.generic))
    fix = f"{library()}.as_tensor(...)   # makes a tensor of numbers, lists and arrays"
    return mistake(TypeError, f"{first} not {type_name(value)}", fix=fix if numbers and wanted == "Tensor" else "")


def required(form: Form) -> int:
    return len([p for p in form if p.default is p.empty])


def type_name(value: Any) -> str:
    """What PyTorch's messages call the type of a value."""
    kind = type(value)
    if kind.__module__ == "builtins" or isinstance(value, TensorBase):
        return kind.__name__
    module = "torch" if kind.__module__.startswith("leafgrad.") else kind.__module__  # dtypes, devices, ...
    return f"{module}.{kind.__name__}"


def form_text(form: Form) -> str:
    """A form of a call as PyTorch writes it: Tensor input, int dim, *, Tensor out = None."""
    parts = []
    for p in form:
        if p.kind is p.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        kind = str(p.annotation).removesuffix(" | None")
        parts.append(f"{TORCH_TYPES.get(kind, kind)} {p.name.rstrip('_')}")
        parts[-1] += "" if p.default is p.empty else f" = {p.default!r}"
    return ", ".join(parts)


TORCH_TYPES = {
    "Dim": "int", "DimOrDims": "tuple of ints", "Shape": "tuple of ints", "Tensors": "tuple of Tensors",
    "Dtype": "torch.dtype", "Device": "torch.device", "Layout": "torch.layout", "Generator": "torch.Generator",
    "MemoryFormat": "torch.memory_format", "Rounding": "str",
    "tuple[Tensor, ...]": "tuple of Tensors", "int | Shape": "tuple of ints",
}  # fmt: skip


def forms_of(signatures: list[Signature], is_method: bool) -> list[Form]:
    """The parameters of each form of a call. A tensor or a number is two forms in PyTorch."""
    forms = []
    for signature in signatures:
        form = list(signature.parameters.values())[is_method:]
        either = any([{"Tensor", "Number"} <= set(p.annotation.split(" | ")) for p in form])
        for other in ("Number", "Tensor") if either else ("",):
            forms.append([p.replace(annotation=without(p.annotation, other)) for p in form])
    return forms


def without(annotation: str, part: str) -> str:
    """`Tensor | Number` without one of them; an annotation that is this part alone stays."""
    return " | ".join([one for one in annotation.split(" | ") if one != part]) or annotation


@quietly
def keywords_here() -> tuple[str, ...]:
    """The names of the keyword arguments in the user's call that is running."""
    frame = users_frame()
    return keywords_at(frame.f_code, frame.f_lasti)


@functools.lru_cache(maxsize=1000)
def keywords_at(code: CodeType, lasti: int) -> tuple[str, ...]:
    """The names of the keyword arguments in a call: Python has them among the constants."""
    run = [i for i in dis.get_instructions(code) if i.offset <= lasti and i.opname != "PRECALL"]
    if run[-1].opname == "CALL_KW" or run[-2].opname == "KW_NAMES":  # from Python 3.13 on, and before
        return tuple(code.co_consts[run[-2].arg or 0])
    return ()
