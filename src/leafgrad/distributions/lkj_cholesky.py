"""The distribution of correlations of Lewandowski, Kurowicka and Joe."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.beta import Beta
from leafgrad.distributions.distribution import Parametric

__all__ = ["LKJCholesky"]


class LKJCholesky(Parametric):
    """LKJCholesky(dim, concentration=1.0): lower Cholesky factors of correlation matrices, with density proportional to
    det(matrix) ** (concentration - 1)."""

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    concentration: Tensor

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        shape = self._broadcast(concentration=concentration)
        offset = torch.arange(dim - 1, dtype=self.concentration.dtype)
        offset = torch.cat([offset.new_zeros((1,)), offset])
        marginal = self.concentration + 0.5 * (dim - 2)
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(shape, (dim, dim), validate_args)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """The onion method: each row is a point on a hypersphere, whose length the beta distribution gives."""
        y = self._beta.sample(sample_shape).unsqueeze(-1)
        normal = torch.randn(self._extended_shape(sample_shape), dtype=y.dtype).tril(-1)
        points = normal / normal.square().sum(-1, keepdim=True).sqrt()
        points[..., 0, :] = 0.0
        w = torch.sqrt(y) * points
        rest = torch.clamp(1 - (w**2).sum(-1), min=torch.finfo(w.dtype).tiny).sqrt()
        return w + torch.diag_embed(rest)

    def log_prob(self, value: Tensor) -> Tensor:
        diagonal = self._checked(value).diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - torch.arange(2, self.dim + 1)
        rows = self.dim - 1
        alpha = self.concentration + 0.5 * rows
        normalizer = 0.5 * rows * math.log(math.pi) + torch.mvlgamma(alpha - 0.5, rows) - torch.lgamma(alpha) * rows
        return (order * diagonal.log()).sum(-1) - normalizer
