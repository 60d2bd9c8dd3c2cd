"""Arguments of layers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["consume_prefix_in_state_dict_if_present"]


def _ntuple(n: int) -> Callable[[Any], tuple[Any, ...]]:
    """The function that makes n of one value, for layers of the user's own."""
    return lambda value: ntuple(value, n)


_single, _pair, _triple, _quadruple = (_ntuple(n) for n in range(1, 5))


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """consume_prefix_in_state_dict_if_present(state_dict, prefix): take a prefix off the keys that have it, and off
    those of the metadata, in place."""
    for key in [key for key in state_dict if key.startswith(prefix)]:
        state_dict[key.removeprefix(prefix)] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is None:
        return
    for key in [key for key in metadata if key in ("", prefix.replace(".", "")) or key.startswith(prefix)]:
        if key:  # that of the module itself stays: what was below the prefix takes its place
            metadata[key[len(prefix) :]] = metadata.pop(key)


def ntuple(value: Any, count: int) -> tuple[Any, ...]:
    """One value for each dimension, where there may be one for all."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * count
