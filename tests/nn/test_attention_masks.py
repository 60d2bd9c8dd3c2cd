"""Masks of attention in other dtypes than the queries."""

from __future__ import annotations

import pytest

import leafgrad as torch
from leafgrad.nn.functional import scaled_dot_product_attention as attention


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float64"])
@pytest.mark.parametrize("of_mask", ["own", "float32", "bool"])
def test_a_mask_has_the_dtype_of_the_queries_or_is_of_floats_or_bools(kind: str, of_mask: str) -> None:
    own = getattr(torch, kind)
    q, k, v = [torch.arange(24.0).sin().reshape(2, 3, 4).mul(factor).to(own) for factor in (1, 2, 3)]
    allowed = torch.ones(3, 3, dtype=torch.bool).tril()
    mask = torch.zeros(3, 3).masked_fill(~allowed, -torch.inf)
    given = allowed if of_mask == "bool" else mask.to(own if of_mask == "own" else torch.float32)
    wanted = attention(q.double(), k.double(), v.double(), mask.double())
    got = attention(q, k, v, given)
    assert got.dtype is own
    assert torch.allclose(got.double(), wanted, rtol=0, atol=1e-12 if kind == "float64" else 0.02)


def test_a_mask_of_floats_has_a_gradient_beside_queries_in_half_precision() -> None:
    x = torch.arange(12.0).sin().reshape(3, 4).bfloat16()
    mask = torch.zeros(3, 3, requires_grad=True)
    attention(x, x, x, mask).float().square().sum().backward()
    assert mask.grad is not None and mask.grad.dtype is torch.float32 and bool(mask.grad.any())
