"""Elements moved and copied: NumPy's ways, or the same natively (_moves.c), by blocks that fit into the cache and on
several threads when large."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Native: Any = None
try:
    from leafgrad.kernels._moves import Native
except ImportError:  # not built
    pass


def native_move(name: str) -> Callable[[Callable[..., Any]], Any]:
    """Before a function on NumPy: computed by the one of this name in _moves.c for the arrays that it takes."""
    if Native is None:
        return lambda otherwise: otherwise
    return lambda otherwise: Native(name, otherwise)


@native_move("copied")
def copied(x: Any) -> Any:
    """A copy, row by row."""
    return x.copy()


@native_move("in_rows")
def in_rows(out: Any) -> Any:
    """A result of NumPy, which follows the layout of its inputs, row by row in memory."""
    return out if out.__class__ is not np.ndarray or out.flags.c_contiguous else copied(out)


@native_move("written")
def written(out: Any, x: Any) -> Any:
    """x written to the memory of `out`."""
    out[...] = x
    return out


@native_move("zeroed")
def zeroed(x: Any) -> Any:
    """Zeros, written to the memory of x."""
    x.fill(0)
    return x


@native_move("taken")
def taken(x: Any, at: Any, dim: int) -> Any:
    """The slices of x, which lies row by row, along a dimension that `at` names."""
    return x.take(at, axis=dim)
