"""The native module, see _fused.c."""

from collections.abc import Callable
from typing import Any

instructions: str  # x86-64-v4, ...

class Kernel:
    """A kernel in machine code, and the function in Python that it was made of."""

    __name__: str
    python: Callable[..., Any]

    def __new__(cls, name: str, python: Callable[..., Any]) -> Kernel: ...
    def __call__(self, *args: Any) -> Any: ...
    def update(self, arrays: list[Any], options: tuple[Any, ...], places: tuple[int, ...], /) -> list[int] | None: ...
