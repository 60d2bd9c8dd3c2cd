"""Arguments of layers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__: list[str] = []


def ntuple(value: Any, count: int) -> tuple[Any, ...]:
    """One value for each dimension, where there may be one for all."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * count
