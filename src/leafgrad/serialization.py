"""torch.serialization: files with tensors in them, and what a file may contain that is loaded without running it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad import _missing
from leafgrad._files import restricted
from leafgrad._files.reading import load as load
from leafgrad._files.writing import save as save

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save"]

Global = Callable[..., Any] | tuple[Callable[..., Any], str]


def add_safe_globals(safe_globals: list[Global]) -> None:
    """add_safe_globals(safe_globals): classes and functions that `load` may use; or pairs of one and its
    name in files."""
    restricted.allowed_by_user.update(safe_globals)


def get_safe_globals() -> list[Global]:
    """get_safe_globals(): what `load` may use, beside what it may anyway."""
    return list(restricted.allowed_by_user)


def clear_safe_globals() -> None:
    """clear_safe_globals(): take back what was allowed."""
    restricted.allowed_by_user.clear()


class safe_globals:
    """safe_globals(safe_globals): a context in which `load` may use these classes and functions."""

    def __init__(self, safe_globals: list[Global]) -> None:
        self.safe_globals = safe_globals

    def __enter__(self) -> None:
        add_safe_globals(self.safe_globals)

    def __exit__(self, *exception: object) -> None:
        restricted.allowed_by_user.difference_update(self.safe_globals)


__getattr__ = _missing.attributes_of(__name__)
