"""Bringing a gradient to the form of the value it belongs to. Rules need not think of broadcasting or promotion:
the engine undoes both, here, for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad._core.tensor import TensorBase


def unbroadcast(r: Any, shape: tuple[int, ...], kind: Any) -> Any:
    """Bring a gradient to the form of the value it belongs to: undo broadcasting, and promotion."""
    if isinstance(r, TensorBase):
        return unbroadcast_tensor(r, shape, kind)
    if r.shape != shape:
        r = sum_to(r, shape)
    if r.dtype != kind:
        if r.dtype.kind == "c" and kind.kind != "c":
            r = r.real
        r = r.astype(kind)
    return r


def sum_to(r: Any, shape: tuple[int, ...]) -> Any:
    """Undo broadcasting: what was copied along a dimension gets the sum of the gradients of its copies."""
    extra = r.ndim - len(shape)
    stretched = [i for i in range(extra)]
    for i, size in enumerate(shape):
        if size == 1 and r.shape[extra + i] != 1:
            stretched.append(extra + i)
    if extra < 0 or any(size != 1 and size != r.shape[extra + i] for i, size in enumerate(shape)):
        from leafgrad import errors

        raise errors.gradient_of_wrong_shape(r.shape, shape)
    if stretched:
        # half precision sums in single precision, as everywhere else
        wide = np.float32 if r.dtype.itemsize == 2 else None
        total = r.sum(axis=tuple(stretched), keepdims=True, dtype=wide)
        r = total if wide is None else total.astype(r.dtype)
    return r.reshape(shape) if extra else r


def unbroadcast_tensor(r: Any, shape: tuple[int, ...], kind: Any) -> Any:
    """The same for gradients that are tensors, so that it is recorded."""
    if r.array.shape != shape:
        r = r.sum_to_size(shape)
    if r.array.dtype != kind:
        if r.array.dtype.kind == "c" and kind.kind != "c":
            r = r.real
        r = r._to_array_dtype(kind)
    return r
