"""Causal masks that are no tensors of bools: attention with them is attention with those."""

from __future__ import annotations

from typing import Any

import pytest

import leafgrad as torch
from leafgrad.nn.attention.bias import CausalBias, CausalVariant, causal_lower_right, causal_upper_left
from leafgrad.nn.functional import scaled_dot_product_attention


@pytest.mark.parametrize(("queries", "keys"), [(2, 4), (3, 3)])
@pytest.mark.parametrize(("make", "shift"), [(causal_lower_right, None), (causal_upper_left, 0)])
def test_attention_with_a_causal_bias(queries: int, keys: int, make: Any, shift: int | None) -> None:
    torch.manual_seed(0)
    q, k, v = torch.randn(1, 2, queries, 8), torch.randn(1, 2, keys, 8), torch.randn(1, 2, keys, 8)
    mask = torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries if shift is None else shift)
    found = scaled_dot_product_attention(q, k, v, attn_mask=make(queries, keys))
    torch.testing.assert_close(found, scaled_dot_product_attention(q, k, v, attn_mask=mask))
    assert repr(make(queries, keys)) == repr(mask)
    with pytest.raises(ValueError, match="CausalBias should not be used with causal=True"):
        scaled_dot_product_attention(q, k, v, attn_mask=make(queries, keys), is_causal=True)


def test_what_it_is_made_of() -> None:
    bias = causal_upper_left(2, 4)
    assert (bias.variant, bias.seq_len_q, bias.seq_len_kv) == (CausalVariant.UPPER_LEFT, 2, 4)
    with pytest.raises(AssertionError, match="variant must be a CausalVariant, got int"):
        CausalBias(1, 2, 3)  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="only supports 2D tensors"):
        causal_lower_right(1, 2, 3)
    with pytest.warns(UserWarning, match="Lower right causal bias will produce NaNs"):
        causal_lower_right(4, 2)
