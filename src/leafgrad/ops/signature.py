"""What a public function takes and returns: the words of declarations, and how a declaration is read.

An operation declares its parameters by the annotations of its `call`, a composite function by its own, both in the
words below. Where one list of parameters does not say it, there are `signatures`, one for each form of the call. From
the declaration come what `help()` shows and the stubs that type checkers read (tools/make_stubs.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal

from leafgrad import _device, _dtypes

if TYPE_CHECKING:
    from inspect import Parameter, Signature

# -- words ------------------------------------------------------------------------------------------------------------

# leafgrad.Tensor. In a block, whose functions have no `self`, mypy takes a first parameter of this type alone.
Tensor = Any
Tensors = Any  # a list or tuple of them
Number = int | float | complex
Dim = int  # negative ones count from the end
DimOrDims = int | Sequence[int]
Shape = Sequence[int]
Sizes = int | Sequence[int]  # `*size: Sizes` is a shape, as ints one by one or as one sequence
Dtype = _dtypes.dtype
Device = _device.device | str | int
Layout = _device.layout
MemoryFormat = _device.memory_format
Generator = Any  # leafgrad.Generator
Rounding = Literal["trunc", "floor"]
Prepared = Any  # what the `prepare` of an operation that overwrites elements returns; users get a Tensor
Options = Any  # `**options: Options` are the keywords that every creation function takes
OutOptions = Any  # those and `out`
Deprecated = Any  # a parameter that old programs give, without its name
LikeOptions = Any  # those and `memory_format`
OPTION_KINDS = {"dtype": "Dtype", "layout": "Layout", "device": "Device", "requires_grad": "bool", "pin_memory": "bool"}
_OPTIONS = ", ".join(
    [f"{key}: {kind} | None = {False if kind == 'bool' else None}" for key, kind in OPTION_KINDS.items()]
)
_SHOWN = "dtype=None, layout=strided, device=None, requires_grad=False, pin_memory=False"
_FORMAT = "memory_format: MemoryFormat | None = None"
KEYWORDS = {  # how they are declared, and how `**options` is shown in documentation
    "Options": (_OPTIONS, _SHOWN),
    "OutOptions": (f"out: Tensor | None = None, {_OPTIONS}", f"out=None, {_SHOWN}"),
    "LikeOptions": (f"{_OPTIONS}, {_FORMAT}", f"{_SHOWN}, memory_format=preserve_format"),
}

# -- declarations -----------------------------------------------------------------------------------------------------


class Text(str):
    """An annotation, or the name of a default value, which help() shows without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


class Declaration:
    """What a public function takes and returns. It is read when somebody asks: it lies between the function and the
    `call` that declares the parameters, each the `__wrapped__` of the one before, and there `inspect` looks for it."""

    __slots__ = ("__wrapped__", "forms", "has_out", "is_method")

    def __init__(self, call: Any, forms: tuple[str, ...] = (), has_out: Any = False, is_method: bool = False) -> None:
        self.__wrapped__ = call
        self.forms = forms
        self.has_out = has_out  # or what is said of an `out` of another dtype
        self.is_method = is_method  # is the first parameter shown as `self`?

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # for inspect, which looks at callables only
        return self.__wrapped__(*args, **kwargs)

    def with_out(self, has_out: Any = True) -> Declaration:
        """The same with a further parameter `out`."""
        return Declaration(self.__wrapped__, self.forms, has_out, self.is_method)

    def as_method(self, yes: bool = True) -> Declaration:
        """The same for a method."""
        return Declaration(self.__wrapped__, self.forms, self.has_out, yes)

    @property
    def __signature__(self) -> Signature:
        """One list of parameters, for help()."""
        found = self.with_deprecated()
        return found.replace(parameters=[p for p in found.parameters.values() if p.annotation != "Deprecated"])

    def with_deprecated(self) -> Signature:
        """The same with the parameters that only old programs give."""
        own = self.signature_of(self.__wrapped__)
        unclear = any([p.kind is p.VAR_POSITIONAL and p.annotation == "Any" for p in own.parameters.values()])
        return max(self.all_signatures(), key=lambda s: len(s.parameters)) if unclear and self.forms else own

    def all_signatures(self) -> list[Signature]:
        """Every form of the call, for type checkers."""
        if self.forms:
            return [self.signature_of(_function_of(form)) for form in self.forms]
        return _with_sizes(self.signature_of(self.__wrapped__))

    def signature_of(self, function: Any) -> Signature:
        from inspect import Parameter, Signature, signature

        found = signature(function)
        parameters = [p.replace(annotation=Text(p.annotation)) for p in found.parameters.values()]
        if parameters and (options := KEYWORDS.get(parameters[-1].annotation)):
            known = signature(_function_of(f"(*, {options[0]}) -> None")).parameters.values()
            parameters[-1:] = [p.replace(annotation=Text(p.annotation)) for p in known]
        if self.is_method:
            parameters[0] = Parameter("self", parameters[0].kind)
        elif parameters and parameters[0].name == "self":  # a method that is a function as well
            parameters[0] = parameters[0].replace(name="input")
        returns = Text(found.return_annotation.replace("Prepared", "Tensor"))
        if self.has_out:
            kind = "tuple[Tensor, ...] | None" if returns.startswith(("return_types", "tuple")) else "Tensor | None"
            parameters.append(Parameter("out", Parameter.KEYWORD_ONLY, default=None, annotation=Text(kind)))
        return Signature(parameters, return_annotation=returns)


def _function_of(form: str) -> Callable[..., Any]:
    """A function with the parameter list `form`, whose annotations stay texts, as they are elsewhere."""
    made: dict[str, Any] = {}
    exec(f"from __future__ import annotations\ndef function{form}: ...", made)
    return made.pop("function")  # type: ignore[no-any-return]  # and so no cycle is left behind


def _with_sizes(found: Signature) -> list[Signature]:
    """A shape may come as ints one by one, or as one sequence, which has the name of the keyword next to them."""
    parameters: list[Parameter] = list(found.parameters.values())
    for at, p in enumerate(parameters):
        if p.kind is p.VAR_POSITIONAL and p.annotation == "Sizes":
            rest = parameters[at + 1 :]
            named = bool(rest) and str(rest[0].annotation) in ("Shape | None", "DimOrDims | None")
            name = rest[0].name if named else p.name
            rest = rest[1:] if named else rest
            one_by_one = p.replace(name=name, annotation=Text("int"))
            together = p.replace(name=name, annotation=Text("Shape"), kind=p.POSITIONAL_OR_KEYWORD)
            return [found.replace(parameters=[*parameters[:at], shape, *rest]) for shape in (one_by_one, together)]
    return [found]


def twin(function: Any, declaration: Declaration) -> Any:
    """The same function once more, shown as a declaration says, which may have the function itself behind it."""
    made = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    made.__doc__ = documentation(function)
    made.__dict__.update(function.__dict__)  # such as what lies `behind` the conversions of autocast
    made.__wrapped__ = declaration  # type: ignore[attr-defined]
    return made


def documentation(function: Any) -> str | None:
    """What is written about a function, with the keywords that `**options` stands for."""
    doc: str | None = function.__doc__
    if doc is None or "**options" not in doc:
        return doc
    return doc.replace("**options", KEYWORDS[function.__annotations__["options"]][1])


def declared(*forms: str) -> Callable[[Any], Any]:
    """For functions that are no operations: declared by their annotations, or by the forms of their calls."""

    def declare(function: Any) -> Any:
        name_code(function, function.__name__)
        return twin(function, Declaration(function, forms, is_method=is_method(function)))

    return declare


def by_name(*functions: Any) -> dict[str, Any]:
    """Functions with their names, as a module says in its FUNCTIONS and METHODS which of them are public."""
    return {function.__name__: function for function in functions}


def name_code(function: Any, name: str) -> None:
    """Put PyTorch's name of an operation on the code of a function, where profiles (leafgrad/_profiler) and tracebacks
    find it. Functions of other folders, compiled or methods of Tensor, do without."""
    if isinstance(function, FunctionType) and function.__module__.startswith(("leafgrad.ops.", "leafgrad.nn.")):
        function.__code__ = function.__code__.replace(co_name=f"aten::{name}")


def is_method(function: Any) -> bool:
    code = function.__code__
    return bool(code.co_argcount and code.co_varnames[0] == "self")


def in_python_form(function: Any, args: Any, kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call as PyTorch's Python code hands them on to who takes it over: all optional ones, by
    name."""
    from inspect import Parameter, signature

    declaration = getattr(function, "__wrapped__", None)
    form = declaration.all_signatures()[0] if isinstance(declaration, Declaration) else signature(function)
    try:
        bound = form.bind(*args, **kwargs)
    except TypeError:  # the call is wrong, which the function will explain
        return tuple(args), kwargs
    bound.apply_defaults()
    required: list[Any] = []
    optional: dict[str, Any] = {}
    for key, value in bound.arguments.items():
        parameter = form.parameters[key]
        if parameter.kind is Parameter.VAR_POSITIONAL:
            required.extend(value)
        elif parameter.kind is Parameter.VAR_KEYWORD:
            optional.update(value)
        elif parameter.default is Parameter.empty:
            required.append(value)
        else:
            optional[key] = value
    return tuple(required), optional
