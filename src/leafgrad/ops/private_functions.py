"""Functions that PyTorch's own Python code, and what is generated from its graphs, calls: those with an underscore, and
others that no page of its documentation has."""

from __future__ import annotations

import math
from typing import Any

from leafgrad import errors
from leafgrad._dtypes import bool_
from leafgrad._dtypes import dtype as Dtype
from leafgrad.ops.conv.padding import constant_pad_nd
from leafgrad.ops.creation.factories import empty
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.linalg.matrix_norms import linalg_matrix_norm
from leafgrad.ops.normalization.batch_norm import native_batch_norm
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.reduce.norms import vector_norm
from leafgrad.ops.reduce.softmax import softmax
from leafgrad.ops.shape.join import cat
from leafgrad.ops.signature import Device, Dim, DimOrDims, Number, Shape, Tensor, Tensors, by_name, declared


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


def _dim_of_chunks(arrays: Any, dim: int, num_chunks: int) -> int:
    """The dimension that is cut, counted from the first, if the tensors can be cut there and put side by side."""
    if num_chunks < 1:
        raise errors.mistake(RuntimeError, "_chunk_cat expects positive num_chunks")
    if not arrays:
        raise errors.mistake(RuntimeError, "_chunk_cat expects a non-empty input tensor list")
    first, fewest = arrays[0], min([x.ndim for x in arrays])
    if any([x.dtype != first.dtype for x in arrays]):
        raise errors.mistake(RuntimeError, "_chunk_cat expects all input tensors with the same dtype")
    if not all([x.size for x in arrays]):
        raise errors.mistake(RuntimeError, "_chunk_cat expects non-empty tensor")
    if any([x.ndim != first.ndim for x in arrays]):
        if dim < 0:
            words = "_chunk_cat expects non-negative dim when input tensors have different ndims"
            raise errors.mistake(RuntimeError, words)
        if dim >= fewest:
            raise errors.mistake(RuntimeError, "_chunk_cat expects dim < ndim for all input tensors")
    at = wrap_dim(dim, fewest)
    if any([x.shape[:at] != first.shape[:at] for x in arrays]):
        words = "_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors"
        raise errors.mistake(RuntimeError, words)
    return at


@declared()
def _chunk_cat(tensors: Tensors, dim: Dim, num_chunks: int) -> Tensor:
    """_chunk_cat(tensors, dim, num_chunks): each tensor in so many chunks along a dimension, the last ones filled up
    with zeros, and the chunks of all tensors side by side."""
    at = _dim_of_chunks([t.array for t in tensors], dim, num_chunks)
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


@declared()
def empty_permuted(
    size: Shape, physical_layout: Shape, *, dtype: Dtype | None = None, device: Device | None = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """empty_permuted(size, physical_layout, *, dtype=None): a tensor of any values whose dimensions lie in memory in
    this order, the one with the largest step first."""
    dims, order = len(size), tuple(physical_layout)
    if len(order) != dims:
        raise errors.mistake(
            RuntimeError,
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = "
            f"{dims} is not equal to len(physical_layout) = {len(order)}",
        )
    for i, dim in enumerate(order):
        if not 0 <= dim < dims:
            raise errors.mistake(
                RuntimeError,
                f"Dimension out of range (expected to be between 0 and {dims - 1}, but got {dim} at index {i}).  NB: "
                "negative dims not currently supported; file an issue if you want it.",
            )
    if len(set(order)) != dims:
        raise errors.mistake(RuntimeError, "Duplicate dim not allowed")
    lying = empty(tuple([size[dim] for dim in order]), dtype=dtype, device=device, requires_grad=requires_grad)
    return lying.permute(tuple([order.index(dim) for dim in range(dims)]))


@declared()
def frobenius_norm(input: Tensor, dim: DimOrDims, keepdim: bool = False) -> Tensor:
    """frobenius_norm(input, dim, keepdim=False): the square root of the sum of squares."""
    return vector_norm.function(input, 2, dim, keepdim)


@declared()
def nuclear_norm(input: Tensor, dim: DimOrDims = (-2, -1), keepdim: bool = False) -> Tensor:
    """nuclear_norm(input, dim=(-2, -1), keepdim=False): the sum of the singular values."""
    return linalg_matrix_norm(input, "nuc", dim, keepdim)


@declared()
def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """native_dropout(input, p, train): dropout, and which elements it kept."""
    if train is False or not p:
        return input.clone(), input.new_ones(input.shape, dtype=bool_)
    if p == 1:
        return input * 0, input.new_zeros(input.shape, dtype=bool_)
    kept = input.new_empty(input.shape).bernoulli_(1 - p)
    return input * kept * (1 / (1 - p)), kept.bool()


@declared()
def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """norm_except_dim(v, pow=2, dim=0): the norms over all dimensions but one, which weight_norm divides by."""
    if dim == -1:
        return vector_norm.function(v, pow)
    others = [i for i in range(v.ndim) if i != wrap_dim(dim, v.ndim)]
    return vector_norm.function(v, pow, others, True) if others else v.abs()


FUNCTIONS = by_name(
    _chunk_cat,
    _native_batch_norm_legit,
    _safe_softmax,
    _softmax_backward_data,
    _unsafe_masked_index,
    _unsafe_masked_index_put_accumulate,
    empty_permuted,
    frobenius_norm,
    native_dropout,
    norm_except_dim,
    nuclear_norm,
)
