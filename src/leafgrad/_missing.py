"""Parts of leafgrad that are imported when a program asks for them, and what is said of those that it does not have."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Mapping
from functools import cache
from importlib import import_module
from os import path
from types import ModuleType
from typing import Any


def torch_name(name: str) -> str:
    """The name that the user knows: `leafgrad.nn` is `torch.nn` in PyTorch code."""
    if name == "leafgrad" or name.startswith("leafgrad."):
        return "torch" + name.removeprefix("leafgrad")
    return name


@cache  # programs that ask by hasattr ask often
def explanation(name: str) -> str:
    """The sentence that follows PyTorch's (or Python's) own message: is it a name of PyTorch's that leafgrad lacks, and
    which is the nearest that it has; or was another one meant?"""
    name = torch_name(name)
    namespace, _, last = name.rpartition(".")
    if last.startswith("_"):  # of which PyTorch has many, and promises none
        return f"leafgrad does not have {name}."
    if namespace in torch_names() and last not in torch_names()[namespace]:
        near = nearest(namespace, last, torch_names()[namespace])
        return f"{name}: did you mean {near}?" if near else f"leafgrad does not have {name}, and neither has PyTorch."
    near = nearest(namespace, last, ())
    return f"leafgrad does not have {name} (yet)." + (f" The nearest name that it has is {near}." if near else "")


@cache
def torch_names() -> dict[str, frozenset[str]]:
    """PyTorch's public names, by their namespaces (written by tools/make_torch_names.py)."""
    file = path.join(path.dirname(__file__), "torch_names.txt")
    loader: Any = sys.modules[__name__].__loader__  # which reads zip files as well
    text = str(loader.get_data(file), "utf-8")
    parts = [part.split() for part in re.split(r"\n(?! )", text) if part]
    return {words[0]: frozenset(words[1:]) for words in parts}


def nearest(namespace: str, name: str, others: Collection[str]) -> str:
    """The name that is spelled most like this one, of those that leafgrad has in a namespace and of `others`."""
    from difflib import get_close_matches

    here = namespace.replace("torch", "leafgrad", 1)
    owner = sys.modules["leafgrad"].Tensor if here == "leafgrad.Tensor" else sys.modules.get(here)
    known = [*others, *[each for each in (() if owner is None else dir(owner)) if each[0] != "_" and each != name]]
    if found := get_close_matches(name, known, 1, 0.75):
        return f"{namespace}.{found[0]}"
    small = {each.lower(): each for each in known}
    found = get_close_matches(name.lower(), small, 1, 0.75)
    return f"{namespace}.{small[found[0]]}" if found else ""


def missing_attribute(module_name: str, name: str) -> AttributeError:
    """The error for `module_name.name`, to be raised by the module's `__getattr__`."""
    message = f"module '{torch_name(module_name)}' has no attribute '{name}'"
    if not name.startswith("__"):  # tools look for dunder names; there is nothing to explain to them
        message += f"\n{explanation(f'{module_name}.{name}')}"
    return AttributeError(message, name=name)  # without the module, or Python would guess at the spelling once more


def missing_method(name: str, of: str) -> AttributeError:
    """The error for an attribute of a tensor, or of its class, whichever `of` says."""
    explained = "" if name.startswith("_") else f"\n{explanation(f'leafgrad.Tensor.{name}')}"
    return AttributeError(f"{of} has no attribute '{name}'{explained}", name=name)


def part(place: str) -> ModuleType:
    """A module of leafgrad, which may have to be imported first."""
    return import_module(f"leafgrad.{place}")


def moved(module: str, places: dict[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a module for names that PyTorch has there and leafgrad elsewhere."""

    def found(name: str) -> Any:
        if name in places:
            return getattr(part(places[name]), name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return found


class Later(str):
    """Stands for a method, an operator or an attribute of Tensor until it is first used. It is its name, and nothing
    else: there are hundreds, and an `__init__` for each would be felt at import."""

    __slots__ = ()

    def loaded(self) -> Any:
        """What it stands for, which has taken its place."""
        return part("_tensor.install").method_called(self)

    def __get__(self, tensor: Any, cls: type | None = None) -> Any:
        return self.loaded().__get__(tensor, cls)

    def __set__(self, tensor: Any, value: Any) -> None:
        self.loaded()
        setattr(tensor, self, value)


class Absent(str):
    """Stands for a method that PyTorch's tensors have and ours have not: who asks for it is told. (A `__getattr__`
    would do the same, but a class that has one takes longer for all attributes: a tenth of a small step.)"""

    __slots__ = ()

    def __get__(self, tensor: Any, cls: type | None = None) -> Any:
        raise missing_method(self, f"'{type(tensor).__name__}' object")


def attributes_of(package: str, later: Mapping[str, str] | None = None) -> Callable[[str], Any]:
    """The `__getattr__` of a module: what is imported when it is first asked for (`later`: name -> the module of the
    package that is it, or has it), and the error for the rest."""

    def __getattr__(name: str) -> Any:
        if name == "torch":  # each module of PyTorch's has it, because it imports it
            return sys.modules["leafgrad"]
        if later is None or name not in later:
            raise missing_attribute(package, name)
        module = import_module(f"{package}.{later[name]}")
        return module if name == later[name] else getattr(module, name)

    return __getattr__


def names_of(module: ModuleType) -> dict[str, Any]:
    """The dictionary of a module as it is: one whose parts come later may fill it when it is asked for by name."""
    names: dict[str, Any] = vars(ModuleType)["__dict__"].__get__(module)
    return names


def missing_module(name: str) -> ModuleNotFoundError:
    """The error for `import name`."""
    name = torch_name(name)
    return ModuleNotFoundError(f"No module named '{name}'\n{explanation(name)}", name=name)
