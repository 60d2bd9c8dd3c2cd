"""float16 and bfloat16, which are computed in float32: there and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad.kernels.moving import native_move

F32: Any = np.dtype(np.float32)


@native_move("converted")
def converted(x: Any, dtype: Any) -> Any:
    """A copy of x in another dtype."""
    return x.astype(dtype)


def widened(x: Any) -> Any:
    """A copy of x in float32."""
    return converted(x, F32)


def at_least_single(x: Any) -> Any:
    """x, or a copy in float32 if it has 16 bits."""
    return widened(x) if x.itemsize == 2 else x
