"""Results that lie in memory as their inputs do: channels last, where those have them last, or row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad._core.tensor import TensorBase, is_batched, with_layout_noted
from leafgrad._device import contiguous_format
from leafgrad._layouts import copy_in_format, format_of, laid_like
from leafgrad.kernels.moving import in_rows

Array = Any


def in_format_of(x: Array, out: Array) -> Array:
    """A result in the memory format of its input; row by row, if that is none with channels last."""
    if is_batched(x) or is_batched(out) or x.flags.c_contiguous or not out.size:
        return out
    wanted = format_of(x) if x.ndim == out.ndim else contiguous_format
    return in_rows(out) if wanted is contiguous_format else copy_in_format(out, wanted)


def lay_as(input: TensorBase, out: TensorBase) -> None:
    """Let a new result, of an input's shape, lie in memory as that does."""
    if out.array.__class__ is np.ndarray:
        out.array = laid_like(input.array, out.array)
        with_layout_noted(out)


def keeps_format(plain: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel whose results are in the memory format of its first input."""

    def kernel(x: Array, *args: Any) -> Any:
        out = plain(x, *args)
        return out if x.__class__ is np.ndarray and x.flags.c_contiguous else all_in_format_of(x, out)

    return kernel


def all_in_format_of(x: Array, out: Any) -> Any:
    """`in_format_of` for one result or a list of them."""
    return [in_format_of(x, each) for each in out] if isinstance(out, list) else in_format_of(x, out)


def keeps_format_of_images(plain: Callable[..., Any]) -> Callable[..., Any]:
    """The same for windows, the sizes of which are the second argument; where they have three dimensions, results lie
    row by row."""

    def kernel(x: Array, sizes: tuple[int, ...], *args: Any) -> Any:
        out = plain(x, sizes, *args)
        if len(sizes) < 3:
            return out if x.__class__ is np.ndarray and x.flags.c_contiguous else all_in_format_of(x, out)
        return [in_rows(each) for each in out] if isinstance(out, list) else in_rows(out)

    return kernel
