"""Parts of leafgrad that are imported when a program asks for them, and what is said of those that it does not have."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


def torch_name(name: str) -> str:
    """The name that the user knows: `leafgrad.nn` is `torch.nn` in PyTorch code."""
    if name == "leafgrad" or name.startswith("leafgrad."):
        return "torch" + name.removeprefix("leafgrad")
    return name


def explanation(name: str) -> str:
    """The sentence that follows PyTorch's (or Python's) own message."""
    return f"leafgrad does not have {torch_name(name)} (yet)."


def missing_attribute(module_name: str, name: str) -> AttributeError:
    """The error for `module_name.name`, to be raised by the module's `__getattr__`.

    It carries the module, so that Python adds its own "Did you mean: ...?" where a name is close.
    """
    message = f"module '{torch_name(module_name)}' has no attribute '{name}'"
    if not name.startswith("__"):  # tools look for dunder names; there is nothing to explain to them
        message += f"\n{explanation(f'{module_name}.{name}')}"
    return AttributeError(message, name=name, obj=sys.modules.get(module_name))


def part(place: str) -> ModuleType:
    """A module of leafgrad, which may have to be imported first."""
    return import_module(f"leafgrad.{place}")


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


def missing_module(name: str) -> ModuleNotFoundError:
    """The error for `import name`."""
    name = torch_name(name)
    return ModuleNotFoundError(f"No module named '{name}'\n{explanation(name)}", name=name)
