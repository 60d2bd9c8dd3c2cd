"""Arguments of layers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

__all__: list[str] = []


def _ntuple(n: int) -> Callable[[Any], tuple[Any, ...]]:
    """The function that makes n of one value, for layers of the user's own."""
    return lambda value: ntuple(value, n)


_single, _pair, _triple, _quadruple = (_ntuple(n) for n in range(1, 5))


def ntuple(value: Any, count: int) -> tuple[Any, ...]:
    """One value for each dimension, where there may be one for all."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * count
