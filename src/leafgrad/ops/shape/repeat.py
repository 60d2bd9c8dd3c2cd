"""repeat_interleave: each element several times in a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import TensorBase, with_layout_noted
from leafgrad._device import contiguous_format
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.ops.arguments import matched
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.index.gather import index_select
from leafgrad.ops.pointwise.convert import clone_in_format
from leafgrad.ops.registry import Family, composite, op
from leafgrad.ops.samples import S
from leafgrad.ops.shape.view_history import view_of
from leafgrad.ops.shape.views import expand, reshape, unsqueeze, view
from leafgrad.ops.signature import Dim, Tensor


@op
class repeated_indices(Family):
    """repeated_indices(repeats, output_size): each index as many times as the element there says."""

    inputs = ("repeats",)
    options = ("output_size",)
    differentiable = False
    public_name = ""
    reference = lambda torch, repeats, output_size: torch.repeat_interleave(repeats, output_size=output_size)
    aten = "repeat_interleave"
    exempt = {"vmap": "dynamic shape"}

    def meta(counts: Any, output_size: Any) -> Any:
        if output_size is None:
            raise errors.mistake(RuntimeError, "cannot repeat_interleave a meta tensor without output_size")
        return (output_size,)

    def kernel(counts: Any, output_size: Any) -> Any:
        if counts.size and counts.min() < 0:
            raise errors.mistake(RuntimeError, "repeats can not be negative")
        if output_size is not None and output_size != counts.sum():
            raise errors.mistake(RuntimeError, "allocated size does not match required size")
        return np.repeat(np.arange(counts.size, dtype=counts.dtype), counts)

    def call(repeats: Tensor, output_size: int | None) -> Tensor:
        counts = repeats.array
        if counts.ndim != 1:
            raise errors.mistake(RuntimeError, "repeat_interleave only accept 1D vector as repeat")
        if counts.dtype not in (np.int64, np.int32):
            alias = from_numpy_dtype(counts.dtype).alias
            raise errors.mistake(NotImplementedError, f"\"repeat_interleave_cpu\" not implemented for '{alias}'")
        return repeated_indices.record(repeats, output_size)

    def vmap(batch: Any, counts: Any, output_size: Any) -> Any:
        raise batch.dynamic_shape()

    samples = lambda t: [S(t(3, dtype="int64", low=0, high=4), None)]


@composite(
    lambda t: [
        S(t(2, 3), 2),
        S(t(2, 3), 2, 1),
        S(t(), 3),
        S(t(3, 2), t(3, dtype="int64", low=0, high=4), -2),
        S(t(3), t(1, dtype="int64", low=1, high=4), output_size=None),
        S(t(0), 2),
    ],
    exempt={"vmap": "dynamic shape"},  # of what the tensor `repeats` says
    signatures=(
        "(repeats: Tensor, *, output_size: int | None = None) -> Tensor",
        "(input: Tensor, repeats: Tensor, dim: Dim | None = None, *, output_size: int | None = None) -> Tensor",
        "(input: Tensor, repeats: int, dim: Dim | None = None, *, output_size: int | None = None) -> Tensor",
    ),
)
def repeat_interleave(
    input: Tensor | None = None,
    repeats: Tensor | int | None = None,
    dim: Dim | None = None,
    *,
    output_size: int | None = None,
) -> Tensor:
    """repeat_interleave(input, repeats, dim=None, *, output_size=None): each element (each slice of a dimension) so
    many times in a row. repeat_interleave(repeats): each index as many times as the element there says."""
    if input is None or repeats is None:
        alone = repeats if input is None else input
        if not isinstance(alone, TensorBase) or dim is not None:
            matched(repeat_interleave, (repeats, dim), {})  # which raises
        return repeated_indices.function(alone, output_size)
    if dim is None:
        input, dim = input if input.array.ndim == 1 else reshape(input, (-1,)), 0
    dim = wrap_dim(dim, input.array.ndim)
    if input.array.ndim == 0:
        raise errors.mistake(IndexError, "Dimension specified as 0 but tensor has no dimensions")
    if isinstance(repeats, TensorBase):
        counts = _counts_along(input.array.shape[dim], repeats)
        return index_select.function(input, dim, repeated_indices.function(counts, output_size))
    return _each(input, repeats, dim, output_size)


def _each(input: Any, repeats: int, dim: int, output_size: int | None) -> Any:
    """Each slice of a dimension equally often."""
    if repeats < 0:
        raise errors.mistake(RuntimeError, "Repeats must be non-negative")
    shape = input.array.shape
    if output_size is not None and output_size != shape[dim] * repeats:
        first = f"repeat_interleave: Invalid output_size, expected {shape[dim] * repeats} but got {output_size}"
        raise errors.mistake(RuntimeError, first)
    before, behind = shape[:dim], shape[dim + 1 :]
    spread = view_of(expand, view_of(unsqueeze, input, dim + 1), (*before, shape[dim], repeats, *behind))
    copy = with_layout_noted(clone_in_format.record(spread, contiguous_format))
    return view_of(view, copy, (*before, shape[dim] * repeats, *behind))


def _counts_along(count: int, repeats: Any) -> Any:
    """How often each slice of a dimension is wanted; one number stands for all."""
    counts = repeats.array
    if counts.ndim > 1:
        raise errors.mistake(RuntimeError, "repeats must be 0-dim or 1-dim tensor")
    if counts.size == 1:
        return expand.function(reshape(repeats, (1,)), (count,))
    if counts.size != count:
        raise errors.mistake(
            RuntimeError,
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {counts.size} and "
            f"input.size(0) = {count}",
        )
    return repeats
