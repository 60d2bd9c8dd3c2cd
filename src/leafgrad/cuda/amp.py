"""torch.cuda.amp: mixed precision by its old names, of which PyTorch warns."""

from __future__ import annotations

import functools
from typing import Any

from leafgrad import _missing, amp, errors
from leafgrad._dtypes import dtype, float16

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


def _warn(name: str) -> None:
    old, new = f"torch.cuda.amp.{name}(args...)", f"torch.amp.{name}('cuda', args...)"
    errors.warn(f"`{old}` is deprecated. Please use `{new}` instead.", FutureWarning)


class autocast(amp.autocast):
    """autocast(enabled=True, dtype=float16, cache_enabled=True): torch.amp.autocast("cuda", ...)."""

    def __init__(self, enabled: bool = True, dtype: dtype = float16, cache_enabled: bool = True) -> None:
        _warn("autocast")
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """GradScaler(...): torch.amp.GradScaler("cuda", ...)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _warn("GradScaler")
        super().__init__("cuda", *args, **kwargs)


custom_fwd = functools.partial(amp.custom_fwd, device_type="cuda")
custom_bwd = functools.partial(amp.custom_bwd, device_type="cuda")

__getattr__ = _missing.attributes_of(__name__)
