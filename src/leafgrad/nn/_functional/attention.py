"""Attention: averages of values, weighted by how well queries and keys agree."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import execute
from leafgrad._core.tensor import TensorBase, is_batched, is_meta, wrap
from leafgrad._dtypes import bool_, float32, from_numpy_dtype
from leafgrad.ops.arguments import declared_and_checked
from leafgrad.ops.autocast import lowered
from leafgrad.ops.conv.layout import lay_as
from leafgrad.ops.linalg.products import matmul
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.random.dropout import dropout_mask
from leafgrad.ops.reduce.softmax import softmax
from leafgrad.ops.signature import Tensor

__all__ = ["scaled_dot_product_attention"]

OTHER_MASKS = "Explicit attn_mask should not be set when is_causal=True"


@declared_and_checked
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None,
    enable_gqa=False): softmax(scale * query @ keyᵀ + mask) @ value, with scale = 1 / sqrt(the numbers of a query). A
    bool mask tells which keys count; with `is_causal`, no key after a query's own place does."""
    query, key, value, attn_mask = lowered(query, key, value, attn_mask)
    check(query, key, value, attn_mask, dropout_p, is_causal)
    if enable_gqa:
        key, value = [for_each_query_head(query, given) for given in (key, value)]
    size = query.shape[-1]
    factor = (1 / math.sqrt(size) if size else 1.0) if scale is None else scale
    scores = matmul.function(query * factor, key.transpose(-2, -1))
    dead = None
    if is_causal:
        scores = scores + wrap(causal_mask(query.shape[-2], key.shape[-2], scores.array.dtype))
    elif attn_mask is not None:
        added, dead = as_summand(attn_mask, scores.array.dtype)
        scores = scores + added
    weights = softmax.function(scores, -1)
    if weights.array.dtype != value.array.dtype:  # a mask in single precision beside others in half
        weights = weights.to(value.dtype)
    if dead is not None:
        weights = weights.masked_fill(dead, 0.0)
    if dropout_p:
        weights = weights * wrap(execute(dropout_mask.core, (weights.array,), (float(dropout_p),)))
    out = matmul.function(weights, value)
    if not dropout_p and lies_as_query(query, key, value, attn_mask):
        lay_as(query, out)
    return out


def lies_as_query(query: TensorBase, key: TensorBase, value: TensorBase, mask: Any) -> bool:
    """Does the result lie in memory as the query does, so that `out.transpose(1, 2).view(...)` works? It does where
    PyTorch has a kernel for the whole of it."""
    arrays = [query.array, key.array, value.array]
    if any([x.ndim != 4 or x.shape[-1] != arrays[0].shape[-1] or x.strides[-1] != x.itemsize for x in arrays]):
        return False
    return arrays[0].size > 0 and arrays[1].size > 0 and (mask is None or not mask.requires_grad)


def check(q: Any, k: Any, v: Any, mask: Any, dropout_p: float, is_causal: bool) -> None:
    """PyTorch's words about arguments that do not go together."""
    dims = [t.array.ndim for t in (q, k, v)]
    if min(dims) < 2:
        raise errors.mistake(
            RuntimeError,
            "Expected query, key, and value to all be  at least 2 dimensional, but got "
            f"query.dim: {dims[0]} key.dim: {dims[1]} and value.dim: {dims[2]} instead.",
        )
    kinds = [t.dtype for t in (q, k, v)]
    if not kinds[0] == kinds[1] == kinds[2]:
        own, of_keys, of_values = [c_name(kind) for kind in kinds]
        raise errors.mistake(
            RuntimeError,
            "Expected query, key, and value to have the same dtype, but got "
            f"query.dtype: {own} key.dtype: {of_keys} and value.dtype: {of_values} instead.",
        )
    if q.array.dtype.kind in "biuc":
        alias = from_numpy_dtype(q.array.dtype).alias
        raise errors.mistake(NotImplementedError, f"\"scaled_dot_product_attention\" not implemented for '{alias}'")
    if mask is not None:
        if mask.dtype not in (bool_, float32, q.dtype):
            raise errors.mistake(
                RuntimeError,
                "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
                f"attn_mask.dtype: {c_name(mask.dtype)} and  query.dtype: {c_name(q.dtype)} instead.",
            )
        if is_causal:
            raise errors.mistake(RuntimeError, f"_scaled_dot_product_attention: {OTHER_MASKS}")
    if not 0 <= dropout_p <= 1:
        raise errors.mistake(RuntimeError, f"dropout probability has to be between 0 and 1, but got {dropout_p:g}")


C_NAMES = {
    "Long": "long int", "Int": "int", "Short": "short int", "Char": "signed char", "Byte": "unsigned char",
    "Half": "c10::Half", "BFloat16": "c10::BFloat16", "ComplexFloat": "c10::complex<float>",
    "ComplexDouble": "c10::complex<double>",
}  # fmt: skip


def c_name(kind: Any) -> str:
    """What C++ calls a dtype, and so does PyTorch in some messages."""
    alias: str = kind.alias
    return C_NAMES.get(alias, alias.lower())


def for_each_query_head(query: TensorBase, given: Any) -> Any:
    """Keys or values whose heads serve several heads of queries, repeated."""
    heads, own = query.array.shape[-3], given.array.shape[-3]
    if not own or heads % own:
        words = "Number of heads in key and value must divide the number of heads in "
        raise errors.mistake(RuntimeError, words)
    return given if heads == own else given.repeat_interleave(heads // own, -3)


def causal_mask(rows: int, columns: int, kind: Any) -> Any:
    """Zeros up to the diagonal, -inf after it."""
    return np.where(np.tri(rows, columns, dtype=np.bool_), 0, -np.inf).astype(kind)


def as_summand(mask: Any, kind: Any) -> tuple[Any, Any]:
    """(what a mask adds to scores, which rows have no key at all). To those rows it adds nothing: they are set to zero
    after the softmax, which would make nan of them. None if there are none."""
    if mask.array.dtype.kind == "b":
        dead = (~mask).all(-1, keepdim=True)
        added = where.function(mask | dead, 0.0, -math.inf).to(from_numpy_dtype(kind))
    else:
        dead = (mask.detach() == -math.inf).all(-1, keepdim=True)
        added = mask.masked_fill(dead, 0.0)
    if is_batched(dead.array) or is_meta(dead.array) or dead.array.any():
        return added, dead
    return (added if mask.array.dtype.kind == "b" else mask), None
