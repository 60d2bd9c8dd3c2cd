"""leafgrad.nn.functional: what layers compute, as functions. They are in nn/_functional, or operations."""

from __future__ import annotations

from typing import Any as _Any

from leafgrad._missing import part as _part
from leafgrad._tensor.install import namespace as _namespace

_found, __dir__, __all__ = _namespace(__name__)


def __getattr__(name: str) -> _Any:
    return _part("nn.grad") if name == "grad" else _found(name)
