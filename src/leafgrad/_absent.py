"""What stands for parts of PyTorch that leafgrad does not have, so that programs can import them and ask for them:
questions are answered as PyTorch answers them where the device or the library is missing, use is refused."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from leafgrad._missing import attributes_of, torch_name, torch_names


class Refusing(type):
    """The class of what stands for a class or a function: it can be imported, named in annotations and asked of
    isinstance, and only its use is an error."""

    error: type[BaseException]
    sentence: str

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise cls.error(cls.sentence)


def refusing(name: str, error: type[BaseException], sentence: str) -> Any:
    module, _, own = name.rpartition(".")
    return Refusing(own, (), {"__module__": module, "error": error, "sentence": sentence})


def names_refused(
    package: str,
    sentence: str,
    error: type[BaseException] = NotImplementedError,
    later: Mapping[str, str] | None = None,
) -> Callable[[str], Any]:
    """The `__getattr__` of a module whose names, as PyTorch has them, can be asked for and not used. `{name}` in the
    sentence is what was used; `later` is as in `attributes_of`."""
    otherwise = attributes_of(package, later)

    def __getattr__(name: str) -> Any:
        if name not in torch_names().get(torch_name(package), ()) or name in (later or ()):
            return otherwise(name)
        whole = f"{torch_name(package)}.{name}"
        made = vars(sys.modules[package])[name] = refusing(whole, error, sentence.format(name=whole))
        return made

    return __getattr__


def refused(package: str, sentence: str, names: str) -> dict[str, Any]:
    """The same for a module of which some names are enough: what stands for each of them."""
    whole = {name: f"{torch_name(package)}.{name}" for name in names.split()}
    return {name: refusing(full, NotImplementedError, sentence.format(name=full)) for name, full in whole.items()}


def answers(package: str, **known: Any) -> dict[str, Callable[..., Any]]:
    """Functions by their names, which return the same whatever they are asked."""
    return {name: answer(package, name, value) for name, value in known.items()}


def answer(package: str, name: str, value: Any) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Any:
        return value.copy() if isinstance(value, dict | list) else value

    function.__name__ = function.__qualname__ = name
    function.__module__ = package
    function.__doc__ = f"{name}(...): {value!r}, leafgrad computes on the CPU only."
    return function


class Switch:
    """`with flags(...)`: attributes of a module that are set for a while."""

    def __init__(self, package: str, values: Mapping[str, Any]) -> None:
        self.module = vars(sys.modules[package])
        self.values = {name: value for name, value in values.items() if value is not None}

    def __enter__(self) -> None:
        self.before = {name: self.module[name] for name in self.values}
        self.module.update(self.values)

    def __exit__(self, *error: object) -> None:
        self.module.update(self.before)
