"""Attention of several heads."""

from __future__ import annotations

from typing import Any

from module_cases import Case


def self_attention(**options: Any) -> Any:
    """One sequence attends to itself."""
    return lambda module, x: module(x, x, x, **options)


def masked(make: Any, **options: Any) -> Any:
    """A call with masks, `make(library)` of the number of keys."""
    return lambda module, x, *others: module(x, others[0], others[-1], **options, **make(x))


def padding(x: Any) -> Any:
    """Of two sequences of three keys the last key of the second does not count."""
    mask = x.new_zeros(2, 3).bool()
    mask[1, 2] = True
    return {"key_padding_mask": mask}


def causal(x: Any) -> Any:
    return {"attn_mask": x.new_ones(3, 3).triu(1).bool()}


def of_heads(x: Any) -> Any:
    """A mask that is added to the scores, another one for each sequence and head."""
    return {"attn_mask": x.new_ones(4, 3, 3).cumsum(2).sin()}


def both(x: Any) -> Any:
    return {**padding(x), **causal(x)}


ROWS = {
    "MultiheadAttention": Case(lambda nn: nn.MultiheadAttention(4, 2), (3, 2, 4), (5, 2, 4), (5, 2, 4)),
    "MultiheadAttention of itself": Case(
        lambda nn: nn.MultiheadAttention(4, 2, batch_first=True), (2, 3, 4), call=self_attention()
    ),
    "MultiheadAttention of one sequence": Case(
        lambda nn: nn.MultiheadAttention(4, 1, bias=False), (3, 4), call=self_attention(average_attn_weights=False)
    ),
    "MultiheadAttention of other sizes": Case(
        lambda nn: nn.MultiheadAttention(4, 2, kdim=3, vdim=5, add_bias_kv=True), (3, 2, 4), (5, 2, 3), (5, 2, 5)
    ),
    "MultiheadAttention with dropout": Case(
        lambda nn: nn.MultiheadAttention(4, 2, dropout=0.3), (3, 2, 4), call=self_attention()
    ),
    "MultiheadAttention with dropout, without weights": Case(
        lambda nn: nn.MultiheadAttention(4, 2, dropout=0.2), (3, 2, 4), call=self_attention(need_weights=False)
    ),
    "MultiheadAttention with padding": Case(
        lambda nn: nn.MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True), (3, 2, 4), (3, 2, 4),
        call=masked(padding),
    ),
    "MultiheadAttention with a causal mask": Case(
        lambda nn: nn.MultiheadAttention(4, 2), (3, 2, 4), (3, 2, 4),
        call=masked(causal, need_weights=False, is_causal=True),
    ),
    "MultiheadAttention with a mask of each head": Case(
        lambda nn: nn.MultiheadAttention(4, 2, add_zero_attn=True), (3, 2, 4), (3, 2, 4), (3, 2, 4),
        call=masked(of_heads, need_weights=False),
    ),
    "MultiheadAttention with both masks": Case(
        lambda nn: nn.MultiheadAttention(4, 2, batch_first=True), (2, 3, 4), (2, 3, 4), call=masked(both)
    ),
    "MultiheadAttention with both masks, without weights": Case(
        lambda nn: nn.MultiheadAttention(4, 2), (3, 2, 4), (3, 2, 4), call=masked(both, need_weights=False)
    ),
}  # fmt: skip
