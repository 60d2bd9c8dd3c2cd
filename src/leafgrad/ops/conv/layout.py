"""Results that lie in memory as their inputs do: channels last, where those have them last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad._core.tensor import is_batched
from leafgrad._device import contiguous_format
from leafgrad._layouts import copy_in_format, format_of

Array = Any


def in_format_of(x: Array, out: Array) -> Array:
    """A result in the memory format of its input."""
    if is_batched(x) or x.flags.c_contiguous or x.ndim != out.ndim or not out.size:
        return out
    wanted = format_of(x)
    return out if wanted is contiguous_format else copy_in_format(out, wanted)


def keeps_format(plain: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel whose results are in the memory format of its first input."""

    def kernel(x: Array, *args: Any) -> Any:
        out = plain(x, *args)
        return [in_format_of(x, each) for each in out] if isinstance(out, list) else in_format_of(x, out)

    return kernel


def keeps_format_of_images(plain: Callable[..., Any]) -> Callable[..., Any]:
    """The same for images only: PyTorch's pools of volumes, but the largest of windows, return rows."""
    keeping = keeps_format(plain)

    def kernel(x: Array, *args: Any) -> Any:
        if x.ndim == 4 or is_batched(x):
            return keeping(x, *args)
        return plain(np.ascontiguousarray(x), *args)

    return kernel
