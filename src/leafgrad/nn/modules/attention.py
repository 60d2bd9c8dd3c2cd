"""Attention as a layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad._core.recorder import needs_recording
from leafgrad._tensor.tensor import Tensor
from leafgrad.nn import functional as F
from leafgrad.nn import init
from leafgrad.nn.modules.linear import NonDynamicallyQuantizableLinear, uninitialized
from leafgrad.nn.modules.module import Module
from leafgrad.ops.signature import Device, Dtype

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """MultiheadAttention(embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False,
    kdim=None, vdim=None, batch_first=False): each of several heads averages values by how well its query and its keys
    agree; a projection of all heads together is the result. Returns it and the weights of the averages."""

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Device | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, "
                f"got embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        same = self._qkv_same_embed_dim
        widths = {"q_proj_weight": embed_dim, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        if not same:
            for name, width in widths.items():
                setattr(self, name, uninitialized((embed_dim, width), dtype, device))
        in_proj = uninitialized((3 * embed_dim, embed_dim), dtype, device) if same else None
        self.register_parameter("in_proj_weight", in_proj)
        if same:
            for name in widths:
                self.register_parameter(name, None)
        self.register_parameter("in_proj_bias", uninitialized((3 * embed_dim,), dtype, device) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        self.bias_k = uninitialized((1, 1, embed_dim), dtype, device) if add_bias_kv else None
        self.bias_v = uninitialized((1, 1, embed_dim), dtype, device) if add_bias_kv else None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            for weight in (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:
        turned = self.batch_first and query.dim() == 3
        masks = [mask for mask in (key_padding_mask, attn_mask) if mask is not None]
        hides_all = (
            not need_weights and query is key is value and not any([mask.is_floating_point() for mask in masks])
            and self._finds_nan(query, key_padding_mask, attn_mask)
        )  # fmt: skip
        if turned:  # what was one tensor stays one, because its projections are one product
            made = {id(t): t.transpose(1, 0) for t in (query, key, value)}
            query, key, value = made[id(query)], made[id(key)], made[id(value)]
        found, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights or hides_all,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return found.transpose(1, 0) if turned else found, weights if need_weights else None

    def _finds_nan(self, query: Any, padding: Any, mask: Any) -> bool:
        """Are all keys hidden from a query of a sequence that attends to itself, and would PyTorch compute this in one
        step of its own, in which such a query finds nan?"""
        return (
            (padding is not None or mask is not None)
            and self.batch_first and not self.training and query.dim() == 3
            and self._qkv_same_embed_dim and self.in_proj_bias is not None and self.num_heads % 2 == 0
            and self.bias_k is None and not self.add_zero_attn
            and not needs_recording((query, *self.parameters()))
            and hides_every_key(padding, mask)
        )  # fmt: skip


def hides_every_key(padding: Any, mask: Any) -> bool:
    """Do masks hide all keys from any query?"""
    if any([given is not None and given.array.__class__ is not np.ndarray for given in (padding, mask)]):
        return False
    hidden: Any = np.False_
    if mask is not None:
        hidden = mask.array if mask.array.dtype.kind == "b" else np.isneginf(mask.array)
    if padding is not None:
        found = padding.array if padding.array.dtype.kind == "b" else np.isneginf(padding.array)
        if hidden.ndim == 3:
            hidden = hidden.reshape(len(found), -1, *hidden.shape[1:])
        hidden = hidden | found.reshape(len(found), *[1] * max(hidden.ndim - 1, 1), -1)
    return bool(hidden.all(-1).any())
