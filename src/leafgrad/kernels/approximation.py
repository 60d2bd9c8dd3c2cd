"""What kernels of special functions are made of: polynomials, and double precision around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

A = Any  # an array


def polynomial(coefficients: Sequence[float], x: A) -> A:
    """c[0] + c[1] * x + c[2] * x**2 + ..."""
    total = x * coefficients[-1]
    for c in coefficients[-2:0:-1]:
        total += c
        total *= x
    total += coefficients[0]
    return total


def in_double(function: Callable[..., A]) -> Callable[..., A]:
    """A kernel that is computed in double precision, on arrays with dimensions, and then rounded to the dtype of its
    first argument."""

    def kernel(*arrays: A) -> A:
        kind = arrays[0].dtype
        shape = arrays[0].shape if len(arrays) == 1 else np.broadcast_shapes(*[x.shape for x in arrays])
        if len(arrays) > 1:
            arrays = tuple(np.broadcast_arrays(*arrays))
        out = function(*[np.atleast_1d(x).astype(np.float64, copy=False) for x in arrays])
        if kind.itemsize == 2:
            out = out.astype(np.float32)  # PyTorch computes in single precision, and so rounds twice
        return out.astype(kind, copy=False).reshape(shape)

    return kernel


def by_cases(x: A, *cases: tuple[A, Callable[[A], A]]) -> A:
    """f(x) for the elements of each mask; nan for those that no mask names. Later masks win."""
    out = np.full_like(x, np.nan)
    for mask, f in cases:
        if mask.all():
            out = f(x)
        elif mask.any():
            out[mask] = f(x[mask])
    return out
