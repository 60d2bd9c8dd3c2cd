"""Functions that PyTorch has written in Python, which those who take calls over can tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad.ops.public_forms import overridable_function

__all__: list[str] = []


def overridable(function: Any = None, *, short: Any = None, refusal: str = "") -> Any:
    """`overridable_function`; also with `refusal` alone, as a decorator."""
    if function is None:
        decorate: Callable[[Any], Any] = lambda found: overridable(found, short=short, refusal=refusal)
        return decorate
    return overridable_function(function, True, short, refusal)
