"""Several dimensions as one, and one as several."""

from __future__ import annotations

from collections.abc import Sequence

from leafgrad._tensor.tensor import Tensor
from leafgrad.nn.modules.linear import _Layer

__all__ = ["Flatten", "Unflatten"]


class Flatten(_Layer):
    """Flatten(start_dim=1, end_dim=-1): the dimensions from start_dim to end_dim become one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(_Layer):
    """Unflatten(dim, unflattened_size): one dimension becomes several, of these sizes."""

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        if not isinstance(unflattened_size, (tuple, list)):
            kind = type(unflattened_size).__name__
            raise TypeError(f"unflattened_size must be a tuple of ints, but found type {kind}")
        for at, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                kind = type(size).__name__
                raise TypeError(f"unflattened_size must be tuple of ints, but found element of type {kind} at pos {at}")
        if isinstance(dim, str):
            raise NotImplementedError("leafgrad has no named dimensions: dim must be a number")
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
