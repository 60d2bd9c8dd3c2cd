"""Dropout."""

from __future__ import annotations

from leafgrad import errors
from leafgrad._core.bind import execute
from leafgrad._core.tensor import wrap
from leafgrad.nn._functional.overridable import overridable
from leafgrad.ops.random.dropout import dropout_mask as _dropout_mask
from leafgrad.ops.signature import Tensor, declared

__all__ = ["dropout"]


@overridable
@declared()
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """dropout(input, p=0.5, training=True, inplace=False): zero with probability p, else x / (1 - p)."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0 or input.array.size == 0:
        return input
    if input.array.dtype.kind in "biu" and p < 1:
        own = input.dtype.alias
        raise RuntimeError(f"result type Float can't be cast to the desired output type {own}\n  at {errors.here()}")
    kept = wrap(execute(_dropout_mask.core, (input.array,), (float(p),)))
    return input.mul_(kept) if inplace else input * kept
