"""torch.cpu.amp: mixed precision by its old names, of which PyTorch warns."""

from __future__ import annotations

from typing import Any

from leafgrad import _missing, amp, errors
from leafgrad._dtypes import bfloat16, dtype

__all__ = ["GradScaler", "autocast"]


def _warn(name: str) -> None:
    old, new = f"torch.cpu.amp.{name}(args...)", f"torch.amp.{name}('cpu', args...)"
    errors.warn(f"`{old}` is deprecated. Please use `{new}` instead.", FutureWarning)


class autocast(amp.autocast):
    """autocast(enabled=True, dtype=bfloat16, cache_enabled=True): torch.amp.autocast("cpu", ...)."""

    def __init__(self, enabled: bool = True, dtype: dtype = bfloat16, cache_enabled: bool = True) -> None:
        _warn("autocast")
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """GradScaler(...): torch.amp.GradScaler("cpu", ...)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _warn("GradScaler")
        super().__init__("cpu", *args, **kwargs)


__getattr__ = _missing.attributes_of(__name__)
