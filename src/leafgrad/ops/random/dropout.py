"""What dropout multiplies by."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from leafgrad._layouts import order_in_memory
from leafgrad.ops.random.functions import numbers, random_kernel

A = Any


def _mask(x: A, p: float) -> A:
    """Zeros, and 1 / (1 - p) for what is kept. Drawn in the order of memory, as PyTorch does."""
    if p == 1:
        return np.zeros_like(x)  # without drawing
    if x.flags.c_contiguous:  # the usual case: nothing to be put in order
        drawn = numbers().bernoulli_p(None, x.shape, x.dtype, 1 - p)
        drawn *= kept_scale(p, x.dtype)
        return drawn
    order = order_in_memory(x)
    drawn = numbers().bernoulli_p(None, [x.shape[d] for d in order], x.dtype, 1 - p)
    drawn *= kept_scale(p, x.dtype)[()]
    return drawn.transpose(np.argsort(order)) if x.ndim > 1 else drawn


@functools.lru_cache(100)
def kept_scale(p: float, kind: Any) -> Any:
    """By what dropout multiplies the elements that it keeps, as an array without dimensions."""
    wide = np.float64 if kind == np.float64 else np.float32
    return np.asarray((wide(1) / wide(1 - p)).astype(kind))


dropout_mask = random_kernel(
    "dropout_mask", ("input",), ("p",), "zeros, and 1 / (1 - p) for what is kept.", _mask,
    lambda torch, x: torch.nn.functional.dropout(x, 0.25), aten="bernoulli_",
)  # fmt: skip
