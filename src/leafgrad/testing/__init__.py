"""leafgrad.testing: torch.testing, what tests compare tensors with.

May import `leafgrad`, `_core`, `_device`, `_dtypes`, `_tensor`, `errors` and `ops`.
"""

from __future__ import annotations

from leafgrad import _missing
from leafgrad.testing._comparison import assert_allclose, assert_close
from leafgrad.testing._creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

__getattr__ = _missing.attributes_of(__name__)
