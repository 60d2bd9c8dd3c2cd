"""Layers that switch elements off at random while a model is trained."""

from __future__ import annotations

from leafgrad._tensor.tensor import Tensor
from leafgrad.nn import functional as F
from leafgrad.nn.modules.linear import _Layer

__all__ = ["Dropout"]


class Dropout(_Layer):
    """Dropout(p=0.5, inplace=False): in training, each element is zero with probability p, else x / (1 - p)."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"
