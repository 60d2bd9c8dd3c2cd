"""The native module, see _reductions.c."""

from collections.abc import Callable
from typing import Any

class Reduction:
    """A reduction of arrays over dimensions."""

    __name__: str
    otherwise: Callable[..., Any]

    def __new__(cls, name: str, otherwise: Callable[..., Any]) -> Reduction: ...
    def __call__(self, *args: Any, **options: Any) -> Any: ...
