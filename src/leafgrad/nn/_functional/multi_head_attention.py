"""Attention of several heads: projections before and after, masks, and what else a sequence may attend to."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import wrap
from leafgrad._device import Size
from leafgrad.nn._functional.attention import scaled_dot_product_attention
from leafgrad.nn._functional.dropout import dropout
from leafgrad.nn._functional.linear import linear
from leafgrad.nn._functional.overridable import overridable
from leafgrad.ops.linalg.products import bmm
from leafgrad.ops.reduce.softmax import softmax
from leafgrad.ops.shape.join import cat
from leafgrad.ops.signature import Tensor

__all__ = ["multi_head_attention_forward"]

NEEDS_MASK = (
    "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
    "`generate_square_subsequent_mask` to create this mask."
)


@overridable
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """multi_head_attention_forward(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias,
    bias_k, bias_v, add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, ...): what nn.MultiheadAttention computes,
    and the weights of the average if `need_weights`. Sequences are (length, batch, features)."""
    check_dimensions(query, key, value, key_padding_mask, attn_mask, num_heads)
    is_single = query.dim() == 2
    if is_single:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    if is_causal and attn_mask is None:
        raise RuntimeError(NEEDS_MASK)
    if key_padding_mask is not None and attn_mask is not None and key_padding_mask.dtype != attn_mask.dtype:
        errors.warn(
            "Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type for both instead."
        )
    padding = as_summand(key_padding_mask, "key_padding_mask", query)
    causal = is_causal and padding is None and not need_weights  # then the mask is not even looked at
    mask = None if causal else as_summand(attn_mask, "attn_mask", query)
    separate = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    check_sizes(query, key, value, embed_dim_to_check, num_heads, separate, in_proj_weight)
    q, k, v = projected(query, key, value, in_proj_weight, in_proj_bias, separate)
    length, count, width = q.shape
    if mask is not None:
        mask = checked_mask(mask, count * num_heads, length, key.shape[0])
    further = 0  # places that every query may attend to
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            what = "key" if static_k is not None else "value"
            raise AssertionError(f"bias cannot be added to static {what}.")
        k, v = [cat.call([t, b.repeat(1, count, 1)]) for t, b in ((k, bias_k), (v, bias_v))]
        further += 1
    elif bias_k is not None or bias_v is not None:
        given, missing = ("bias_k", "bias_v") if bias_v is None else ("bias_v", "bias_k")
        raise AssertionError(f"{given} is set but {missing} is None")
    q, k, v = [t.reshape(t.shape[0], count * num_heads, width // num_heads).transpose(0, 1) for t in (q, k, v)]
    k = k if static_k is None else checked_static("static_k", static_k, k)
    v = v if static_v is None else checked_static("static_v", static_v, v)
    if add_zero_attn:
        k, v = [cat.call([t, zeros_of(t, (t.shape[0], 1, t.shape[2]))], 1) for t in (k, v)]
        further += 1
    mask = combined(mask, padding, further, count, num_heads, k.shape[1])
    p = dropout_p if training else 0.0
    heads, weights = attended(q, k, v, mask, causal, p, need_weights, count, num_heads)
    out = heads.transpose(0, 1).reshape(length * count, width)
    out = linear(out, out_proj_weight, out_proj_bias).reshape(length, count, out_proj_weight.shape[0])
    if weights is not None and average_attn_weights:
        weights = weights.mean(1)
    if is_single:
        return out.squeeze(1), None if weights is None else weights.squeeze(0)
    return out, weights


def attended(
    q: Any, k: Any, v: Any, mask: Any, causal: bool, p: float, need_weights: bool, count: int, heads: int
) -> tuple[Any, Any]:
    """(what all heads of all sequences find, (sequences * heads, length, features of a head); the weights)."""
    if not need_weights:
        apart = [t.reshape(count, heads, *t.shape[1:]) for t in (q, k, v)]
        if mask is not None:
            mask = mask.unsqueeze(0) if mask.shape[0] == 1 else mask.reshape(count, heads, *mask.shape[1:])
        found = scaled_dot_product_attention(*apart, mask, p, causal)
        return found.reshape(q.shape[0], *found.shape[2:]), None
    scores = bmm.function(q * math.sqrt(1.0 / q.shape[2]), k.transpose(1, 2))
    weights = softmax.function(scores if mask is None else scores + mask, -1)
    if p > 0:
        weights = dropout(weights, p)
    return bmm.function(weights, v), weights.reshape(count, heads, *weights.shape[1:])


# -- projections ------------------------------------------------------------------------------------------------------


def projected(query: Any, key: Any, value: Any, weight: Any, bias: Any, separate: Any) -> list[Any]:
    """Queries, keys and values. Those that come from one tensor by one weight are one product."""
    biases = [None] * 3 if bias is None else bias.chunk(3)
    if separate is not None:
        return [linear(*each) for each in zip((query, key, value), separate, biases, strict=True)]
    size = weight.shape[0] // 3
    if query is key is value:
        return list(linear(query, weight, bias).split(size, -1))
    own, *others = weight.split(size)
    if key is value:
        both = linear(key, weight[size:], None if bias is None else bias[size:])
        return [linear(query, own, biases[0]), *both.split(size, -1)]
    return [linear(query, own, biases[0]), linear(key, others[0], biases[1]), linear(value, others[1], biases[2])]


def zeros_of(like: Any, shape: tuple[int, ...]) -> Any:
    return wrap(np.zeros(shape, like.array.dtype))


# -- masks ------------------------------------------------------------------------------------------------------------


def as_summand(mask: Any, name: str, query: Any) -> Any:
    """A mask as what it adds to scores. True means that a key does not count."""
    if mask is None or mask.is_floating_point():
        return mask
    if mask.array.dtype.kind != "b":
        raise AssertionError(f"only bool and floating types of {name} are supported")
    return zeros_of(query, tuple(mask.shape)).masked_fill(mask, -math.inf)


def checked_mask(mask: Any, heads: int, length: int, keys: int) -> Any:
    """A mask with a first dimension for the heads of all sequences, or 1 for all of them."""
    expected = (length, keys) if mask.dim() == 2 else (heads, length, keys)
    if tuple(mask.shape) != expected:
        raise RuntimeError(f"The shape of the {mask.dim()}D attn_mask is {Size(mask.shape)}, but should be {expected}.")
    return mask.unsqueeze(0) if mask.dim() == 2 else mask


def combined(mask: Any, padding: Any, further: int, count: int, heads: int, keys: int) -> Any:
    """Both masks as one; `further` keys at the end always count."""
    if further:
        mask, padding = [
            m if m is None else cat.call([m, zeros_of(m, (*m.shape[:-1], further))], -1) for m in (mask, padding)
        ]
    if padding is None:
        return mask
    for dim, expected in enumerate((count, keys)):
        if padding.shape[dim] != expected:
            found = padding.shape[dim]
            raise AssertionError(f"Expected key_padded_mask.shape[{dim}] to be {expected}, but got {found}")
    padding = padding.reshape(count, 1, 1, keys).expand(-1, heads, -1, -1).reshape(count * heads, 1, keys)
    return padding if mask is None else mask + padding


# -- checks -----------------------------------------------------------------------------------------------------------


def check_dimensions(query: Any, key: Any, value: Any, padding: Any, mask: Any, heads: int) -> None:
    """PyTorch's words about the numbers of dimensions."""
    n = query.dim()
    if n not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {n}-D query tensor")
    given = f"For {'batched' if n == 3 else 'unbatched'} ({n}-D) `query`, expected"
    if key.dim() != n or value.dim() != n:
        found = f"{key.dim()}-D and {value.dim()}-D tensors respectively"
        raise AssertionError(f"{given} `key` and `value` to be {n}-D but found {found}")
    if padding is not None and padding.dim() != n - 1:
        found = f"but found {padding.dim()}-D tensor instead"
        raise AssertionError(f"{given} `key_padding_mask` to be `None` or {n - 1}-D {found}")
    if mask is not None and mask.dim() not in (2, 3):
        raise AssertionError(f"{given} `attn_mask` to be `None`, 2-D or 3-D but found {mask.dim()}-D tensor instead")
    if n == 2 and mask is not None and mask.dim() == 3:
        expected = (heads, query.shape[0], key.shape[0])
        if tuple(mask.shape) != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {Size(mask.shape)}")


def check_sizes(query: Any, key: Any, value: Any, expected: int, heads: int, separate: Any, weight: Any) -> None:
    """PyTorch's words about the sizes of features and sequences, and about weights that are missing."""
    width = query.shape[2]
    if width != expected:
        raise AssertionError(f"was expecting embedding dimension of {expected}, but got {width}")
    if width % heads:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {heads}")
    if separate is None:
        if key.shape != value.shape:
            raise AssertionError(f"key shape {Size(key.shape)} does not match value shape {Size(value.shape)}")
        if weight is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        return
    if key.shape[:2] != value.shape[:2]:
        raise AssertionError(
            f"key's sequence and batch dims {Size(key.shape[:2])} do not match value's {Size(value.shape[:2])}"
        )
    for name, each in zip(("q", "k", "v"), separate, strict=True):
        if each is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")


def checked_static(name: str, static: Any, like: Any) -> Any:
    """Keys or values that are given for each head, in the place of those that were computed."""
    for dim in (0, 2):
        if static.shape[dim] != like.shape[dim]:
            raise AssertionError(f"expecting {name}.size({dim}) of {like.shape[dim]}, but got {static.shape[dim]}")
    return static
