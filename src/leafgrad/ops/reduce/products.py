"""Products of elements, and what their gradients need."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad._core.bind import bind
from leafgrad._dtypes import dtype as Dtype
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.kernels import native_reduction
from leafgrad.kernels.moving import in_rows
from leafgrad.ops.index.slices import slice_
from leafgrad.ops.out import COMPUTED
from leafgrad.ops.promotion import cast, sum_dtype
from leafgrad.ops.reduce.common import (
    BLOCK,
    F32,
    F64,
    Dims,
    Reduction,
    dims_of,
    expand_gradient,
    has_zero,
    is_half,
    raw,
    refuse_integers,
    restore,
)
from leafgrad.ops.registry import op
from leafgrad.ops.samples import S
from leafgrad.ops.shape.join import cat
from leafgrad.ops.shape.split import range_of
from leafgrad.ops.signature import Dim, Tensor

A = Any  # an array, or a tensor under create_graph

multiply_reduce: Any = np.multiply.reduce


@native_reduction("prod")
def _prod(x: Any, dims: Dims | None = None, keepdim: bool = False) -> Any:
    kind = x.dtype
    if dims is None and (kind is F32 or kind is F64) and x.flags.c_contiguous:
        if x.size < 16 * BLOCK:
            return multiply_reduce(x, None)
        # rows times rows, many products at once
        whole = x.size // BLOCK * BLOCK
        flat = x.reshape(-1)
        return multiply_reduce(multiply_reduce(flat[:whole].reshape(-1, BLOCK), 0)) * multiply_reduce(flat[whole:])
    if is_half(kind):
        return in_rows(multiply_reduce(x, dims, F32, None, keepdim)).astype(kind)
    return in_rows(multiply_reduce(x, dims, kind, None, keepdim))


@op
class prod(Reduction):
    """prod(input, dim, keepdim=False, *, dtype=None): the product of all elements, or along a dimension."""

    out = COMPUTED
    autocast = "float32"
    options = ("dims", "keepdim")
    node_name = "ProdBackward1"
    node_names = ("ProdBackward0",)  # of all elements
    hides = {"ProdBackward0": ("dims", "keepdim")}
    signatures = (
        "(input: Tensor, *, dtype: Dtype | None = None) -> Tensor",
        "(input: Tensor, dim: Dim, keepdim: bool = False, *, dtype: Dtype | None = None) -> Tensor",
    )
    kernel = _prod

    def call(input: Tensor, dim: Dim | None = None, keepdim: bool = False, *, dtype: Dtype | None = None) -> Tensor:
        x = input.array
        if dtype is not None or x.dtype.kind in "biu":
            x = cast(x, dtype or sum_dtype(from_numpy_dtype(x.dtype)))
            refuse_integers(input, x)
        if dim is None:
            return bind(prod.named["ProdBackward0"], (input,), (), (x,))
        return bind(prod.core, (input,), (dims_of(dim, x.ndim) or None, keepdim), (x,))

    def vjp(g: A, input: A, out: A, input_shape: A, dims: A = None, keepdim: A = False) -> A:
        g = restore(g, input_shape, dims or (), keepdim)
        count = math.prod(input_shape) if dims is None else input_shape[dims[0]]
        if not input_shape or (count == 1 and has_zero(raw(input))):
            return expand_gradient(g, input_shape)  # no others
        if dims is None:
            return g * product_of_others(input.reshape((-1,)), out, 0).reshape(input_shape)
        return g * product_of_others(input, restore(out, input_shape, dims, keepdim), dims[0])

    samples = staticmethod(
        lambda t: [
            *[S(t(*shape)) for shape in [(3, 4), (5,), (), (0,)]],
            S(t(3, 4), 0),
            S(t(2, 3, 4), -2, keepdim=True),
            S(t(), 0),
            S(t(0, 3), 0),
        ]
    )


def product_of_others(x: A, product: A, dim: int) -> A:
    """For each element the product of all others along `dim`: how fast the product grows with that element."""
    if not (raw(x) == 0).any():
        return product / x
    # Among zeros one cannot divide. Two running products, from either end and without the element itself; their
    # steps double, so that a rule made of few operations gives the second derivative at zeros as well.
    before, after = shifted(x, 1, dim), shifted(x, -1, dim)
    step = 1
    while step < raw(x).shape[dim]:
        before = before * shifted(before, step, dim)
        after = after * shifted(after, -step, dim)
        step *= 2
    return before * after


def shifted(x: A, by: int, dim: int, fill: Callable[..., Any] = np.ones) -> A:
    """x moved by so many places along a dimension, with ones (or what else `fill` makes) in the places left free."""
    shape, free = x.shape, abs(by)
    rest = slice_(x, range_of(dim, max(-by, 0), shape[dim] - free))
    filled = fill((*shape[:dim], free, *shape[dim + 1 :]), raw(x).dtype)
    parts = (filled, rest) if by > 0 else (rest, filled)
    return cat(*parts, dim, tuple([part.shape[dim] for part in parts]))
