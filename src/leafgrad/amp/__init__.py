"""leafgrad.amp: mixed precision. Which operations compute in half precision, their blocks say: see
leafgrad/ops/autocast.py.

May import `_core`, `_device`, `_dtypes`, `errors` and `ops`.
"""

from __future__ import annotations

from leafgrad import _missing
from leafgrad.amp.autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from leafgrad.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

__getattr__ = _missing.attributes_of(__name__)
