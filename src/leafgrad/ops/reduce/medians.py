"""Medians: the element in the middle of the order; of an even number, the lower of the two."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind, bind_many
from leafgrad.ops.creation.fresh import zero_like
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.reduce.common import Reduction, one_dim, raw, refused, restore
from leafgrad.ops.reduce.extremes import put_along
from leafgrad.ops.reduce.ordering import comparable, of_rank
from leafgrad.ops.registry import Family, Operation, op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Dim, Tensor

A = Any  # an array, or a tensor under create_graph

_WITH_DIM = staticmethod(lambda t: [S(t(3, 4), 0, False), S(t(2, 3, 5), 1, True)])
_FORMS = staticmethod(
    lambda t: [S(t(3, 4)), S(t(5)), S(t()), S(t(3, 4), 0), S(t(2, 3, 5), -2, keepdim=True), S(t(), 0), S(t(0, 3), 1)]
)


def _whole(x: A, skips_nan: bool) -> A:
    flat = x if x.ndim == 1 else x.reshape(-1)
    size = flat.size
    if size == 0:
        return np.full((), np.nan if x.dtype.kind in "fV" else np.iinfo(x.dtype).min, x.dtype)
    return of_rank(flat, (size - 1) // 2, 0, False, "skipped" if skips_nan else "wins")[0]


def _median(name: str, skips_nan: bool, doc: str) -> tuple[Any, Any]:
    """median or nanmedian: (the op for a whole tensor with its two call forms, the op along a dimension)."""

    def call(input: Tensor, dim: Dim | None = None, keepdim: bool = False) -> Any:
        x = input.array
        if x.dtype.kind in "cb":
            raise refused("median_cpu" if dim is None else "median_out", input)
        if dim is None:
            return bind(whole.core, (input,))
        at = one_dim(dim, x.ndim)
        if x.ndim and x.shape[at] == 0:
            raise errors.mistake(IndexError, f"median(): Expected reduction dim {at} to have non-zero size.")
        return whole.result_of(bind_many(along.core, (input,), (at, keepdim)))

    def along_kernel(x: A, dim: int, keepdim: bool) -> Any:
        middle = (x.shape[dim] - 1) // 2 if x.ndim else 0
        return of_rank(x, middle, dim, keepdim, "skipped" if skips_nan else "wins")

    def along_vjp(g: A, input_shape: A, dim: A, keepdim: A, out1: A) -> A:
        if not input_shape:
            return g[0].reshape(())
        index = restore(raw(out1), input_shape, (dim,), keepdim)
        return put_along(restore(g[0], input_shape, (dim,), keepdim), index, dim, input_shape[dim])

    def whole_vjp(g: A, input: A, out: A) -> A:
        x, value = comparable(raw(input)), comparable(raw(out))
        equal = x != x if value != value else x == value
        return where(equal, g / max(int(np.count_nonzero(equal)), 1), zero_like(g))

    def whole_vmap(batch: A, x: A) -> A:
        if not x.size:
            return NotImplemented
        return batch.wrap(along(batch.flat(x), 1, False)[0])

    node_name = name.capitalize()
    along: Any = Operation(
        f"{name}_dim",
        Family,
        {
            "__module__": __name__,
            "__doc__": f"{name}_dim(input, dim, keepdim): the medians along a dimension, and their indices.",
            "options": ("dim", "keepdim"),
            "results": 2,
            "row_major": True,
            "finds_any": True,
            "kernel": along_kernel,
            "call": lambda input, dim, keepdim: tuple(along.record(input, dim, keepdim)),
            "vjp": along_vjp,
            "vmap": "dims",
            "node_name": f"{node_name}Backward1",
            "public_name": "",
            "reference": name,
            "aten": name,
            "samples": _WITH_DIM,
        },
    )
    whole: Any = Operation(
        name,
        Reduction,
        {
            "__module__": __name__,
            "__doc__": f"{name}(input), {name}(input, dim, keepdim=False): {doc} Along a dimension, as "
            "(values, indices).",
            "kernel": lambda x: _whole(x, skips_nan),
            "call": call,
            "vjp": whole_vjp,
            "vmap": whole_vmap,
            "node_name": f"{node_name}Backward0",
            "result_names": ("values", "indices"),
            "finds_any": True,
            "samples": _FORMS,
            "signatures": (
                "(input: Tensor) -> Tensor",
                f"(input: Tensor, dim: Dim, keepdim: bool = False) -> return_types.{name}",
            ),
        },
    )
    return op(whole), op(along)


median, median_dim = _median("median", False, "the median, nan if there is a nan.")
nanmedian, nanmedian_dim = _median("nanmedian", True, "the median of the elements that are numbers.")
