"""What is written, as an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad._core.tensor import TensorBase


def make_np(x: Any) -> Any:
    """make_np(x): the numbers of a tensor or an array, or one number."""
    if isinstance(x, TensorBase):
        array = x.detach().resolve_conj().numpy()  # type: ignore[attr-defined]
        return array.astype(np.float32) if array.dtype.name == "bfloat16" else array
    if isinstance(x, np.ndarray):
        return x
    if np.isscalar(x):
        return np.array([x])
    raise NotImplementedError(f"Got {type(x)}, but numpy array or torch tensor are expected.")
