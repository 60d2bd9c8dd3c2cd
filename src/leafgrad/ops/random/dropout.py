"""Dropout: what it multiplies by, and its kinds."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import execute
from leafgrad._core.tensor import is_batched, wrap
from leafgrad._layouts import order_in_memory
from leafgrad.ops.public_forms import overridable_function
from leafgrad.ops.random.drawing import Drawing, numbers, program
from leafgrad.ops.registry import op
from leafgrad.ops.signature import Tensor, declared

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


# What is switched off is -ALPHA after alpha_dropout, the limit of selu, and then everything is scaled so that mean and
# variance stay as they are.
ALPHA = 1.7580993408473766


def dropped(input: Any, p: float, in_place: bool, features: bool = False, alpha: bool = False) -> Any:
    """A tensor after dropout: of elements or, `features`, of whole channels (dimension 1); of what is switched off
    zero is left or, `alpha`, another constant."""
    x = input.array
    if p == 0 or x.size == 0:
        return input
    if features and x.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    if x.dtype.kind in "biu" and p < 1:
        own = input.dtype.alias
        raise RuntimeError(f"result type Float can't be cast to the desired output type {own}\n  at {errors.here()}")
    mask = execute(dropout_mask.core, (one_of_each_channel(x) if features else x,), (float(p),))
    if not alpha or p == 1:
        return input.mul_(wrap(mask)) if in_place else input * wrap(mask)
    scale = 1 / math.sqrt((ALPHA**2 * p + 1) * (1 - p))
    kept = (mask != 0).astype(x.dtype)
    off = ((kept - 1) * (ALPHA * scale)).astype(x.dtype, copy=False)  # bfloat16 does not stay so by itself
    shift = wrap((off + ALPHA * scale * p).astype(x.dtype, copy=False))
    factor = wrap((kept * scale).astype(x.dtype, copy=False))
    return input.mul_(factor).add_(shift) if in_place else input * factor + shift


def one_of_each_channel(x: Any) -> Any:
    """An array with an element for each channel of each sample, in one order whatever that of the input."""
    part = x[(slice(None), slice(None), *[slice(0, 1)] * (x.ndim - 2))]
    return part if is_batched(x) else np.empty(part.shape, part.dtype)


def _function(name: str, features: bool, alpha: bool, in_place: bool) -> Any:
    def function(input: Tensor, p: float, train: bool) -> Tensor:
        if p < 0 or p > 1:
            raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
        return dropped(input, p, in_place, features, alpha) if train else input

    function.__name__ = function.__qualname__ = name
    what = "channels" if features else "elements"
    function.__doc__ = f"{name}(input, p, train): {what} switched off with probability p{', in place' * in_place}."
    return overridable_function(declared()(function))


FUNCTIONS = {
    f"{name}{'_' * in_place}": _function(f"{name}{'_' * in_place}", features, alpha, in_place)
    for name, features, alpha in [
        ("dropout", False, False),
        ("feature_dropout", True, False),
        ("alpha_dropout", False, True),
        ("feature_alpha_dropout", True, True),
    ]
    for in_place in (False, True)
}
