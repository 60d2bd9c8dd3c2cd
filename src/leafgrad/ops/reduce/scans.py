"""Running products. Running sums are among the reductions, whose gradients need them."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad._core.bind import bind
from leafgrad._dtypes import BOOL, from_numpy_dtype
from leafgrad.kernels import native_search
from leafgrad.ops.out import COMPUTED
from leafgrad.ops.promotion import cast, sum_dtype
from leafgrad.ops.reduce.common import F32, Reduction, is_half, one_dim, raw, refuse_integers
from leafgrad.ops.reduce.products import shifted
from leafgrad.ops.reduce.reductions import cumsum
from leafgrad.ops.registry import op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Dim, Dtype, Tensor

A = Any  # an array, or a tensor under create_graph

WIDE = {np.dtype(np.float32): np.float64, np.dtype(np.complex64): np.complex128}


@native_search("running_product")
def _running_product(x: Any, dim: int) -> Any:
    if x.ndim == 0:
        return x.copy()
    kind = F32 if is_half(x.dtype) else WIDE.get(x.dtype, x.dtype)
    return np.cumprod(x, dim, kind, np.empty(x.shape, kind)).astype(x.dtype, copy=False)


@op
class cumprod(Reduction):
    """cumprod(input, dim, *, dtype=None): the product up to and including each element along a dimension."""

    out = COMPUTED
    options = ("dim",)
    refuses = (BOOL,)
    kernel_name = "cumprod_out_cpu"
    in_place = True
    in_place_function = False

    kernel = _running_product

    def call(input: Tensor, dim: Dim, *, dtype: Dtype | None = None) -> Tensor:
        x = cast(input.array, dtype or sum_dtype(from_numpy_dtype(input.array.dtype)))
        place = one_dim(dim, x.ndim)
        cumprod.check(from_numpy_dtype(x.dtype))
        refuse_integers(input, x)
        return bind(cumprod.core, (input,), (place,), (x,))

    def vjp(g: A, input: A, out: A, dim: A) -> A:
        if not raw(input).ndim or raw(input).shape[dim] == 1:
            return g
        if not (raw(input) == 0).any():
            return cumsum(g * out, dim, True) / input
        # Among zeros one cannot divide. An element is a factor of its own product and of all later ones. The sum of
        # their gradients, each times the factors in between, is a recurrence, `later[k] = g[k] + x[k+1] * later[k+1]`,
        # in steps that double, so that a rule made of few operations gives the second derivative as well.
        later, between = g, shifted(input, -1, dim)
        step = 1
        while step < raw(input).shape[dim]:
            later = later + between * shifted(later, -step, dim, np.zeros)
            between = between * shifted(between, -step, dim)
            step *= 2
        return shifted(out, 1, dim) * later

    samples = staticmethod(
        lambda t: [
            *[S(t(*shape, low=0.3), dim) for shape, dim in [((3, 4), 0), ((2, 3, 4), -2), ((), 0), ((0, 3), 0)]],
            S(t(5), -1),
        ]
    )
