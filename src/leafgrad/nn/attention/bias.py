"""Causal masks that need no memory: which keys a query sees follows from the two lengths."""

from __future__ import annotations

from enum import IntEnum, auto
from typing import Any

import leafgrad as torch
from leafgrad import _missing, errors

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    """What the diagonal of a mask begins or ends with: with the first key, or with the last one."""

    UPPER_LEFT = auto()
    LOWER_RIGHT = auto()


class CausalBias(torch.Tensor):
    """CausalBias(variant, seq_len_q, seq_len_kv): a causal mask for scaled_dot_product_attention."""

    variant: CausalVariant
    seq_len_q: int
    seq_len_kv: int

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        self.variant, self.seq_len_q, self.seq_len_kv = variant, seq_len_q, seq_len_kv
        if seq_len_q > seq_len_kv and variant == CausalVariant.LOWER_RIGHT:
            errors.warn("Lower right causal bias will produce NaNs in the output when seq_len_q > seq_len_kv!")

    def _materialize(self, device: Any = None) -> Any:
        """The mask as an ordinary tensor of bools."""
        shift = 0 if self.variant == CausalVariant.UPPER_LEFT else self.seq_len_kv - self.seq_len_q
        return torch.ones(self.seq_len_q, self.seq_len_kv, dtype=torch.bool, device=device).tril(shift)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.nn.functional.scaled_dot_product_attention:
            return masked_attention(*args, **(kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs)

    def __repr__(self) -> str:  # type: ignore[override]
        return repr(self._materialize())


def masked_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """scaled_dot_product_attention with a CausalBias as its mask."""
    if is_causal:
        raise ValueError("CausalBias should not be used with causal=True")
    begins = attn_mask.variant == CausalVariant.UPPER_LEFT or attn_mask.seq_len_q == attn_mask.seq_len_kv
    mask = None if begins else attn_mask._materialize(query.device)
    return torch.nn.functional.scaled_dot_product_attention(
        query, key, value, mask, dropout_p, begins, scale=scale, enable_gqa=enable_gqa
    )


def causal_upper_left(*size: int) -> CausalBias:
    """causal_upper_left(seq_len_q, seq_len_kv): a mask whose first query sees the first key alone."""
    return of_two(size, CausalVariant.UPPER_LEFT)


def causal_lower_right(*size: int) -> CausalBias:
    """causal_lower_right(seq_len_q, seq_len_kv): a mask whose last query sees all keys."""
    return of_two(size, CausalVariant.LOWER_RIGHT)


def of_two(size: tuple[int, ...], variant: CausalVariant) -> CausalBias:
    if len(size) != 2:
        raise AssertionError(f"causal_{variant.name.lower()} only supports 2D tensors")
    return CausalBias(variant, *size)


__getattr__ = _missing.attributes_of(__name__)
