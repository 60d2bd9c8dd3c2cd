"""What dropout multiplies by."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from leafgrad._layouts import order_in_memory
from leafgrad.ops.random.drawing import Drawing, numbers, program
from leafgrad.ops.registry import op

A = Any


@op
class dropout_mask(Drawing):
    """dropout_mask(input, p): zeros, and 1 / (1 - p) for what is kept."""

    options = ("p",)
    aten = "bernoulli_"
    samples = program(lambda torch, x: torch.nn.functional.dropout(x, 0.25))

    @staticmethod
    def kernel(input: A, p: float) -> A:
        if p == 1:
            return np.zeros_like(input)  # without drawing
        contiguous = input.flags.c_contiguous
        order = range(input.ndim) if contiguous else order_in_memory(input)  # that of memory, as in PyTorch
        drawn = numbers().bernoulli_p(None, [input.shape[d] for d in order], input.dtype, 1 - p)
        drawn *= kept_scale(p, input.dtype)
        return drawn if contiguous else drawn.transpose(np.argsort(order))


@functools.lru_cache(100)
def kept_scale(p: float, kind: Any) -> Any:
    """By what dropout multiplies the elements that it keeps, as an array without dimensions."""
    wide = np.float64 if kind == np.float64 else np.float32
    return np.asarray((wide(1) / wide(1 - p)).astype(kind))
