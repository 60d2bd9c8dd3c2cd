"""torch.fx for programs that import it: leafgrad does not trace programs into graphs that could be changed.

May import `_absent` and `_missing`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad import _absent

__all__ = ["wrap"]


def wrap(fn_or_name: str | Callable[..., Any]) -> str | Callable[..., Any]:
    """wrap(fn_or_name): what it was given. A tracer would not look into this function, and there is none."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    return fn_or_name


__getattr__ = _absent.names_refused(__name__, "leafgrad does not have {name}: it does not make programs of graphs")
