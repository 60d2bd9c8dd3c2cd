"""Elements moved and copied: NumPy's ways, or the same natively (_moves.c), by blocks that fit into the cache and on
several threads when large."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad.kernels import native_forms

native_move = native_forms("_moves")


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


@native_move("filled")
def filled(x: Any, value: Any) -> Any:
    """One value, an array without dimensions, written to the memory of x."""
    x[...] = value
    return x


@native_move("full")
def full(shape: tuple[int, ...], value: Any) -> Any:
    """A new array of one value, an array without dimensions."""
    return filled(np.empty(shape, value.dtype), value)


@native_move("spaced")
def spaced(start: Any, end: Any, step: Any, count: int) -> Any:
    """Numbers at equal distances, counted from the nearer end so that they are symmetric. All are arrays without
    dimensions. A product and a sum are rounded once, as in PyTorch; so they are computed in a wider dtype."""
    kind = start.dtype
    wide = WIDER.get(kind, kind).type
    half = count // 2
    places = np.arange(count - half).astype(wide)
    out = np.empty(count, kind)
    out[:half] = wide(start) + wide(step) * places[:half]
    out[half:] = wide(end) - wide(step) * places[::-1]
    return out


WIDER: dict[Any, Any] = {
    np.dtype(np.float32): np.dtype(np.float64),
    np.dtype(np.float64): np.dtype(np.longdouble),
    np.dtype(np.complex64): np.dtype(np.complex128),
    np.dtype(np.complex128): np.dtype(np.clongdouble),
}


@native_move("counted")
def counted(count: int) -> Any:
    """0, 1, ... in int64."""
    return np.arange(count, dtype=np.int64)


@native_move("taken")
def taken(x: Any, at: Any, dim: int) -> Any:
    """The slices of x, which lies row by row, along a dimension that `at` names."""
    return x.take(at, axis=dim)


@native_move("total_of_targets")
def total_of_targets(x: Any, target: Any, mean: bool) -> Any:
    """The negative sum, or mean, of one element of each row. None where the native form does not compute it: then
    the caller takes the elements first."""
    return None
