"""Functions that PyTorch has written in Python, which those who take calls over can tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from leafgrad.ops.public_forms import overridable_function

__all__: list[str] = []

Function = TypeVar("Function", bound=Callable[..., Any])


@overload
def overridable(function: Function, *, short: Any = None, refusal: str = "") -> Function: ...


@overload
def overridable(function: None = None, *, short: Any = None, refusal: str = "") -> Callable[[Function], Function]: ...


def overridable(function: Any = None, *, short: Any = None, refusal: str = "") -> Any:
    """`overridable_function`; also with `refusal` alone, as a decorator."""
    if function is None:
        return lambda found: overridable(found, short=short, refusal=refusal)
    return overridable_function(function, True, short, refusal)
