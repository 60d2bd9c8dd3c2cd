"""The native module, see _fourier.c."""

from collections.abc import Callable
from typing import Any

class Native:
    """A transform of arrays in C, and one in Python for the arguments that it does not take."""

    __name__: str
    otherwise: Callable[..., Any]

    def __new__(cls, name: str, otherwise: Callable[..., Any]) -> Native: ...
    def __call__(self, *args: Any, **options: Any) -> Any: ...
