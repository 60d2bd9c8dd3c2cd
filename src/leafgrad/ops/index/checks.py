"""What is refused of indices: other dtypes, indices out of bounds, shapes that do not fit together."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import is_batched, is_meta
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.kernels.moving import native_move

Array = Any

INT64 = np.dtype(np.int64)  # to compare with: NumPy would have to make a dtype of np.int64 first, each time
LONG = (INT64,)
LONG_OR_INT = (INT64, np.dtype(np.int32))


def alias(array: Array) -> str | None:
    return from_numpy_dtype(array.dtype).alias


def check_index(index: Any, kinds: tuple[Any, ...], message: str) -> None:
    """An index must be of one of the integer dtypes in `kinds`. The message has {} where it names the one it is of."""
    if index.array.dtype not in kinds and (index.array.size or len(kinds) == 1):  # nothing is said of empty ones
        kind = from_numpy_dtype(index.array.dtype)
        raise errors.mistake(RuntimeError, message.format(kind.alias), ("index", f"{errors.describe(index)}, {kind}"))


@native_move("first_outside")
def outside(index: Array, low: int, size: int) -> int | None:
    """The first index that is not in [low, size), where low is not positive."""
    index = index.memory() if is_batched(index) else index
    if index.size == 0 or is_meta(index):
        return None
    if index.dtype == INT64 and index.view(np.uint64).max() < size:
        return None  # one look at them, because negative ones seem very large
    if index.min() >= low and index.max() < size:
        return None
    flat = index.reshape(-1)
    return int(flat[np.argmax((flat < low) | (flat >= size))])


def check_range(index: Array, low: int, size: int, dim: int, shape: Any, error: type[Exception] = RuntimeError) -> None:
    if (wrong := outside(index, low, size)) is not None:
        first = f"index {wrong} is out of bounds for dimension {dim} with size {size}"
        raise errors.mistake(error, first, ("indexed", f"shape {errors.size(shape)}"))


def check_flat_range(index: Array, count: int) -> None:
    if (wrong := outside(index, -count, count)) is not None:
        raise errors.mistake(
            IndexError, f"out of range: tried to access index {wrong} on a tensor of {count} elements."
        )


def check_along(index: Array, dim: int, x: Array, name: str, src: Array | None = None) -> None:
    """May `index` be used along `dim` of x (and of src)?"""
    if index.shape != x.shape or (src is not None and index.shape != src.shape):
        check_sizes_along(index, dim, x, name, src)
    check_range(index, 0, (x.shape or (1,))[dim], dim, x.shape)


def check_sizes_along(index: Array, dim: int, x: Array, name: str, src: Array | None = None) -> None:
    """The same, as far as their shapes say it."""
    if not index.size:
        return
    for other, who in ((x, name), (src, "src")):
        if other is not None and max(index.ndim, 1) != max(other.ndim, 1):
            raise errors.mistake(
                RuntimeError,
                f"Index tensor must have the same number of dimensions as {who} tensor",
                ("index", f"shape {errors.size(index.shape)}"),
                (who, f"shape {errors.size(other.shape)}"),
            )
    own = x.shape or (1,)
    for d, size in enumerate(index.shape):
        if (d != dim and size > own[d]) or (src is not None and size > (src.shape or (1,))[d]):
            first = f"Size does not match at dimension {d} expected" if name == "input" else "Expected"
            than = "" if src is None else f" and to be no larger size than src {errors.size(src.shape)}"
            raise errors.mistake(
                RuntimeError,
                f"{first} index {errors.size(index.shape)} to be no larger than self {errors.size(x.shape)} apart "
                f"from dimension {dim}{than}",
            )
