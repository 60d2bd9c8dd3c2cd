"""The native module, see _loops.c."""

from collections.abc import Callable
from typing import Any

import numpy as np

class Loop:
    """A ufunc that is faster on dense arrays of floats."""

    __name__: str
    ufunc: np.ufunc

    def __new__(
        cls,
        ufunc: np.ufunc,
        otherwise: Callable[..., Any] | None = None,
        split_from: int = 262_144,
        real: bool = False,
        fills: bool = False,
    ) -> Loop: ...
    def __call__(self, *args: Any, **options: Any) -> Any: ...

pool: object  # the helper threads, for other extensions: see pool.h

def align_memory() -> bool: ...
def large_arrays() -> tuple[int, int, int]: ...  # bytes in use, kept, kept at most
def set_threads(count: int) -> None: ...
def get_threads() -> int: ...
