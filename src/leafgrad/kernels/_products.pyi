"""The native module, see _products.c."""

from collections.abc import Callable
from typing import Any

class Native:
    """A function of arrays in C, and one in Python for the arguments that it does not take."""

    __name__: str
    otherwise: Callable[..., Any]

    def __new__(cls, name: str, otherwise: Callable[..., Any]) -> Native: ...
    def __call__(self, *args: Any) -> Any: ...

def use(wide: bool, sgemm: int, dgemm: int, strsm: int, dtrsm: int, set_threads: int, get_threads: int, /) -> None: ...
