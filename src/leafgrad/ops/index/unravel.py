"""Positions in a flat array as positions in each of its dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import wrap
from leafgrad._dtypes import INTEGER, from_numpy_dtype
from leafgrad._layouts import row_major_steps
from leafgrad.ops.pointwise.division import floor_divide, remainder
from leafgrad.ops.registry import composite
from leafgrad.ops.samples import S
from leafgrad.ops.shape.split import unbind
from leafgrad.ops.shape.views import unsqueeze
from leafgrad.ops.signature import Shape, Tensor


@composite(
    lambda t: [
        S(t(5, dtype="int64", low=0, high=12), (3, 4)),
        S(t(dtype="int64", low=0, high=4), 4),
        S(t(2, 2, dtype="int64", low=-3, high=30), (2, 2, 2)),
    ],
    method=False,
    checked=False,  # PyTorch has words of its own for wrong shapes
)
def unravel_index(indices: Tensor, shape: int | Shape) -> tuple[Tensor, ...]:
    """unravel_index(indices, shape): for positions in a flat array, the positions in each dimension of this shape."""
    kind = from_numpy_dtype(indices.array.dtype)
    if kind.category != INTEGER:
        raise errors.mistake(TypeError, f"expected 'indices' to be integer dtype, but got {kind}")
    sizes = checked_shape(shape)
    if any([n < 0 for n in sizes]):
        raise errors.mistake(ValueError, f"'shape' cannot have negative values, but got {sizes}")
    if not sizes:
        return ()
    if 0 in sizes and indices.array.size:
        raise errors.mistake(RuntimeError, "ZeroDivisionError", ("shape", f"{sizes}, in which nothing has a position"))
    steps, lengths = wrap(np.array(row_major_steps(sizes), np.int64)), wrap(np.maximum(np.array(sizes, np.int64), 1))
    positions = floor_divide.function(unsqueeze.function(indices, -1), steps)
    return unbind.function(remainder.function(positions, lengths), -1)  # type: ignore[no-any-return]


def checked_shape(shape: Any) -> tuple[int, ...]:
    if isinstance(shape, int):
        return (shape,)
    if not isinstance(shape, Sequence):
        raise errors.mistake(
            TypeError, f"expected 'shape' to be int or sequence of ints, but got {type(shape).__name__}"
        )
    for size in shape:
        if not isinstance(size, int):
            first = f"expected 'shape' sequence to only contain ints, but got {type(size).__name__}"
            raise errors.mistake(TypeError, first)
    return tuple(shape)
