"""The functions of `leafgrad`, the methods of Tensor and what is in namespaces such as `leafgrad.linalg` and
`leafgrad.nn` come from modules that are imported when a program first uses one of their names: leafgrad/ops/names.py
knows which. A module has operations and functions composed of them (see leafgrad/ops/registry.py), and what it says
itself in its FUNCTIONS and METHODS; those of nn have what they list in `__all__`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType
from typing import Any

from leafgrad import _missing
from leafgrad._core.bind import TensorOperators
from leafgrad._core.tensor import links
from leafgrad._tensor.op_methods import OpMethods
from leafgrad.ops import names
from leafgrad.ops.inplace import in_place_method
from leafgrad.ops.public_forms import function_of, method_form, method_of, of_a_tensor, overridable_function
from leafgrad.ops.registry import Operation, entries, in_place_names, in_place_operators

# which module has a function of `leafgrad`
MODULES: dict[str, str] = {}
for _module, _found in names.FUNCTIONS.items():
    MODULES.update(dict.fromkeys(_found.split(), _module))

# The packages whose modules list in `__all__` what they have for a namespace: classes, or functions.
WHOLE: dict[str, tuple[str, type]] = {"nn.modules": ("nn", type), "nn._functional": ("nn.functional", FunctionType)}

# The namespaces whose functions PyTorch calls by both names together.
OWN_NAMES = ("linalg", "fft", "special")


def install(module: ModuleType) -> None:
    """Put what a module has where users find it."""
    for name, method in methods_in(module).items():
        setattr(OpMethods, name, method)
    for name, function in functions_in(module).items():
        links.functions.setdefault(name, function)  # the user may have put another one there


def methods_in(module: ModuleType) -> dict[str, Any]:
    """What is on the class Tensor of what a module has."""
    found: dict[str, Any] = dict(getattr(module, "METHODS", {}))
    for entry in entries(module.__name__):
        found.update(methods_of(entry))
    return found


def functions_in(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """What is under `leafgrad` of what a module has."""
    found: dict[str, Any] = dict(getattr(module, "FUNCTIONS", {}))
    for entry in entries(module.__name__):
        found.update(functions_of(entry))
    at_home(found, "leafgrad")
    return found


def at_home(found: Mapping[str, Any], namespace: str) -> None:
    """Functions say that they are defined where users, pickles and handlers of calls find them."""
    for name, value in found.items():
        if isinstance(value, FunctionType):
            value.__module__, value.__qualname__ = namespace, name


def placed_in(module: ModuleType) -> dict[str, dict[str, Any]]:
    """What a module has for namespaces, by their names."""
    found: dict[str, dict[str, Any]] = {}
    for entry in entries(module.__name__):
        for place in entry.places:
            namespace, _, name = place.rpartition(".")
            # which messages call linalg_solve, as PyTorch's do
            called = f"{namespace}_{name}" if namespace in OWN_NAMES else name
            found.setdefault(namespace, {})[name] = function_of(entry, called, entry.out)
    package = module.__name__.removeprefix("leafgrad.").rpartition(".")[0]
    if package in WHOLE:
        namespace, kind = WHOLE[package]
        listed = {name: getattr(module, name) for name in module.__all__}
        found.setdefault(namespace, {}).update({name: v for name, v in listed.items() if isinstance(v, kind)})
    for namespace, there in found.items():
        at_home(there, f"leafgrad.{namespace}")
    return found


Names = tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]


def namespace(module_name: str, later: Mapping[str, str] | None = None) -> Names:
    """The `__getattr__`, `__dir__` and `__all__` of a module that is such a namespace. `later`: its own modules that
    are imported when they are first asked for, as in `_missing.attributes_of`."""
    here, own = module_name.removeprefix("leafgrad."), sys.modules[module_name]
    places = {name: place for place, found in names.PLACES.get(here, {}).items() for name in found.split()}
    otherwise = _missing.attributes_of(module_name, later)

    def __getattr__(name: str) -> Any:
        if name not in places:
            return otherwise(name)
        for each, value in placed_in(_missing.part(places[name]))[here].items():
            vars(own).setdefault(each, value)  # the user may have put another one there
        return vars(own)[name]

    public = [name for name in vars(own) if name[0] != "_" and name != "annotations"]
    everything = sorted({*public, *places, *(later or ())})
    return __getattr__, lambda: everything, sorted({*places, *public})


def function_called(name: str) -> Callable[..., Any]:
    """A function of `leafgrad` that nobody has asked for before."""
    install(_missing.part(MODULES[name]))
    return links.functions[name]  # type: ignore[no-any-return]


def method_called(name: str) -> Any:
    """A method, an operator or an attribute of Tensor that nobody has used before."""
    place = next(place for place, found in names.METHODS.items() if name in found.split())
    install(_missing.part(place))
    found = vars(OpMethods)[name]
    if isinstance(found, _missing.Later):
        raise AttributeError(f"leafgrad.{place} has no {name}\n  fix: python tools/make_stubs.py")
    return found


# -- the forms of an operation -----------------------------------------------------------------------------------------


def functions_of(entry: Any) -> dict[str, Callable[..., Any]]:
    """What an operation, or a function composed of them, is under `leafgrad`, by all its names."""
    found: dict[str, Callable[..., Any]] = {}
    if entry.public_name and not entry.method_only:
        for name in (entry.public_name, *entry.aliases):
            found[name] = function_of(entry, name, entry.out)
    of_one = isinstance(entry, Operation) and len(entry.inputs) == 1
    if of_one if entry.in_place_function is None else entry.in_place_function:
        for name in in_place_names(entry):
            method = vars(OpMethods)[name]
            found[name] = overridable_function(of_a_tensor(name, method, method.__wrapped__.as_method(False)))
    return found


def assigning(entry: Any) -> Callable[..., None]:
    """`x.real = value`: the elements of the attribute get other values."""

    def assign(tensor: Any, value: Any) -> None:
        entry.function(tensor)[...] = value

    return assign


def methods_of(entry: Any) -> dict[str, Any]:
    """What it is on the class Tensor: methods, in-place methods, attributes and operators."""
    found: dict[str, Any] = {}
    for name in (entry.public_name, *entry.aliases) if entry.public_name else ():
        if entry.is_property:
            found[name] = property(entry.function, assigning(entry) if entry.is_property == "assigned" else None)
        elif entry.method is True:
            found[name] = entry.function if name == entry.public_name else method_of(entry, name)
        elif entry.method:
            found[name] = method_form(entry.name, entry.method)
    for name in in_place_names(entry):
        found[name] = in_place_method(name, entry)
    for name, function in entry.operators.items():
        if function is not getattr(TensorOperators, name, None):
            found[name] = function
    for name in in_place_operators(entry):
        found[name] = in_place_method(in_place_names(entry)[0], entry, True)
    return found
