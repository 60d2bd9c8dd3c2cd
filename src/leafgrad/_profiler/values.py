"""What a profile keeps of arrays, tensors and the stack."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad._core import origin
from leafgrad._core.tensor import TensorBase


def shape_of(value: Any) -> list[int]:
    array = value.array if isinstance(value, TensorBase) else value
    return list(array.shape) if hasattr(array, "shape") and hasattr(array, "dtype") else []


def concrete(value: Any) -> Any:
    """A number, a flag or a list of them; tensors and arrays are not kept."""
    if isinstance(value, (bool, int, float, complex, str)):
        return value
    if isinstance(value, (list, tuple)) and all([isinstance(v, (bool, int, float)) for v in value]):
        return list(value)
    return None


def stack_lines() -> list[str]:
    """The user's stack, the innermost line first."""
    lines = []
    frame = origin.user_frame()
    while frame is not None:
        code = frame.f_code
        if not origin.is_internal(code.co_filename):
            lines.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back
    return lines


def arrays_in(value: Any) -> list[Any]:
    """All arrays in a result or in arguments."""
    if isinstance(value, TensorBase):
        value = value.array
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, (tuple, list)):
        return [array for one in value for array in arrays_in(one)]
    return []


def owner(array: Any) -> Any:
    """The array whose memory this one looks at."""
    while isinstance(getattr(array, "base", None), np.ndarray):
        array = array.base
    return array
