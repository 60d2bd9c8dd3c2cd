"""Functions with an underscore that PyTorch's own Python code, and what is generated from its graphs, calls."""

from __future__ import annotations

import math
from typing import Any

from leafgrad import errors
from leafgrad._dtypes import dtype as Dtype
from leafgrad.ops.conv.padding import constant_pad_nd
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.normalization.batch_norm import native_batch_norm
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.reduce.softmax import softmax
from leafgrad.ops.shape.join import cat
from leafgrad.ops.signature import Dim, Number, Tensor, Tensors, by_name, declared


@declared()
def _softmax_backward_data(grad_output: Tensor, output: Tensor, dim: Dim, input_dtype: Dtype) -> Tensor:
    """_softmax_backward_data(grad_output, output, dim, input_dtype): the gradient of softmax, of its result."""
    shares = grad_output * output
    return (shares - output * shares.sum(dim, True)).to(input_dtype)


@declared()
def _safe_softmax(input: Tensor, dim: Dim, dtype: Dtype | None = None) -> Tensor:
    """_safe_softmax(input, dim, dtype=None): softmax, with zeros where all elements are -inf."""
    nothing = (input == -math.inf).all(dim, keepdim=True)
    return softmax.function(input.masked_fill(nothing, 0), dim, dtype=dtype).masked_fill(nothing, 0)


@declared()
def _native_batch_norm_legit(input: Tensor, weight: Tensor | None, bias: Tensor | None, *args: Any) -> Any:
    """_native_batch_norm_legit(input, weight, bias, [running_mean, running_var,] training, momentum, eps):
    native_batch_norm, also without running statistics."""
    return native_batch_norm(input, weight, bias, *(args if len(args) == 5 else (None, None, *args)))


@declared()
def _chunk_cat(tensors: Tensors, dim: Dim, num_chunks: int) -> Tensor:
    """_chunk_cat(tensors, dim, num_chunks): each tensor in so many chunks along a dimension, the last ones filled up
    with zeros, and the chunks of all tensors side by side."""
    if num_chunks < 1:
        raise errors.mistake(RuntimeError, "_chunk_cat expects positive num_chunks")
    at = wrap_dim(dim, min([t.array.ndim for t in tensors]))
    chunks = []
    for t in tensors:
        missing = -t.array.shape[at] % num_chunks
        whole = constant_pad_nd.function(t, (*(0, 0) * (t.array.ndim - 1 - at), 0, missing), 0) if missing else t
        chunks.append(whole.reshape((*whole.array.shape[:at], num_chunks, -1)))
    return cat.function(chunks, at + 1)


def _inside(mask: Any, indices: Any) -> tuple[Any, ...]:
    """Indices that are zero where the mask is False, so that they may be anything there."""
    return tuple([slice(None) if index is None else where.function(mask, index, 0) for index in indices])


@declared()
def _unsafe_masked_index(input: Tensor, mask: Tensor, indices: Tensors, fill: Number) -> Tensor:
    """_unsafe_masked_index(input, mask, indices, fill): input[indices], and `fill` where the mask is False."""
    return input[_inside(mask, indices)].masked_fill(~mask, fill)


@declared()
def _unsafe_masked_index_put_accumulate(input: Tensor, mask: Tensor, indices: Tensors, values: Tensor) -> Tensor:
    """_unsafe_masked_index_put_accumulate(input, mask, indices, values): input, with those values added at the indices
    for which the mask is True."""
    return input.index_put(_inside(mask, indices), values.masked_fill(~mask, 0), accumulate=True)


FUNCTIONS = by_name(
    _chunk_cat,
    _native_batch_norm_legit,
    _safe_softmax,
    _softmax_backward_data,
    _unsafe_masked_index,
    _unsafe_masked_index_put_accumulate,
)
