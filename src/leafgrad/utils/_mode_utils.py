"""torch.utils._mode_utils: a part of a program that no TorchDispatchMode is asked about."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from leafgrad import _missing
from leafgrad._core.modes import restore
from leafgrad._core.thread_state import state
from leafgrad.utils._python_dispatch import Dispatching

__all__ = ["all_same_mode", "no_dispatch"]


def all_same_mode(modes: Sequence[Any]) -> bool:
    """all_same_mode(modes): are they all one and the same mode?"""
    return all([mode is modes[0] for mode in modes])


@contextlib.contextmanager
def no_dispatch() -> Iterator[None]:
    """no_dispatch(): inside, the modes of this thread that are on by then do not see operations."""
    modes = list(state.modes)
    restore([mode for mode in modes if not isinstance(mode, Dispatching)])
    try:
        yield
    finally:
        restore(modes)


__getattr__ = _missing.attributes_of(__name__)
