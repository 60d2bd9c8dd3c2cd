"""Methods that are written once for several layers, and that each of them has under its own name."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)

__all__: list[str] = []


def named_by_subclass(*names: str) -> Callable[[Class], Class]:
    """For a class of leafgrad's that has such methods. Python's messages about wrong calls show where a method was
    defined: `Conv2d.__init__() missing 1 required positional argument: 'kernel_size'`."""

    def decorate(base: Any) -> Any:
        def init_subclass(cls: Any, **options: Any) -> None:
            super(base, cls).__init_subclass__(**options)
            if cls.__module__ == base.__module__ and not cls.__name__.startswith("_"):
                for name in names:
                    if getattr(cls, name) is vars(base)[name]:
                        setattr(cls, name, renamed(vars(base)[name], f"{cls.__name__}.{name}"))

        base.__init_subclass__ = classmethod(init_subclass)  # type: ignore[arg-type]
        return base

    return decorate


def renamed(function: Any, name: str) -> FunctionType:
    """The same function under another name."""
    other = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    other.__kwdefaults__, other.__annotations__ = function.__kwdefaults__, function.__annotations__
    other.__doc__, other.__module__, other.__qualname__ = function.__doc__, function.__module__, name
    return other
