"""The Wishart distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import leafgrad as torch
from leafgrad import Tensor, errors
from leafgrad.distributions import constraints
from leafgrad.distributions.chi2 import Chi2
from leafgrad.distributions.exp_family import ExponentialFamily
from leafgrad.distributions.multivariate_normal import ByCovariance, half_log_det

__all__ = ["Wishart"]


def multivariate_digamma(x: Tensor, p: int) -> Tensor:
    return torch.digamma(x.unsqueeze(-1) - torch.arange(p, dtype=x.dtype) / 2).sum(-1)


class Wishart(ByCovariance, ExponentialFamily):
    """Wishart(df, covariance_matrix=None, precision_matrix=None, scale_tril=None): sums of x @ x.mT of `df` normal
    vectors, with one of three matrices."""

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    df: Tensor

    @property
    def arg_constraints(self) -> dict[str, Any]:
        """Where the parameters may lie."""
        return {
            "covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky, "df": constraints.greater_than(self.event_shape[-1] - 1),
        }  # fmt: skip

    def __init__(
        self,
        df: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        given = {
            "scale_tril": scale_tril, "covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix,
        }  # fmt: skip
        matrices = [matrix for matrix in given.values() if matrix is not None]
        if len(matrices) != 1:
            raise AssertionError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        matrix = matrices[0]
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        n = matrix.shape[-1]
        self.df = df if isinstance(df, Tensor) else torch.tensor(df, dtype=matrix.dtype)
        batch = torch.broadcast_shapes(matrix.shape[:-2], self.df.shape)
        self.df = self.df.expand(batch) if isinstance(df, Tensor) else self.df
        if self.df.le(n - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {n - 1}.")
        self._take_matrix(given, batch)
        if self.df.lt(n).any():
            errors.warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.")
        super().__init__(batch, matrix.shape[-2:], validate_args=validate_args)
        self._factor(given)
        below = torch.arange(n, dtype=matrix.dtype).expand((*batch, -1))
        self._dist_chi2 = Chi2(df=self.df.unsqueeze(-1) - below)

    def _df_of_matrices(self) -> Tensor:
        return self.df.expand(self._batch_shape).reshape((*self._batch_shape, 1, 1))

    @property
    def mean(self) -> Tensor:
        return self._df_of_matrices() * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self._df_of_matrices() - self._event_shape[-1] - 1
        return torch.where(factor <= 0, torch.nan, factor) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(dim1=-2, dim2=-1)
        return self._df_of_matrices() * (covariance.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def _bartlett(self, sample_shape: Sequence[int]) -> Tensor:
        """Bartlett's decomposition: triangles of normal numbers, with roots of chi-squared ones on the diagonal."""
        p = self._event_shape[-1]
        roots = self._dist_chi2.rsample(sample_shape).sqrt()
        noise = roots.clamp(min=torch.finfo(roots.dtype).eps).diag_embed(dim1=-2, dim2=-1)
        i, j = torch.tril_indices(p, p, offset=-1)
        count = p * (p - 1) // 2
        noise[..., i, j] = torch.randn((*sample_shape, *self._batch_shape, count), dtype=noise.dtype)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def rsample(self, sample_shape: Sequence[int] = (), max_try_correction: int | None = None) -> Tensor:
        sample = self._bartlett(sample_shape)
        batch_dims = tuple(range(-len(self._batch_shape), 0))

        def any_of_batch(checked: Tensor) -> Tensor:
            return checked.any(batch_dims) if batch_dims else checked

        # PyTorch draws the samples anew that are *not* singular, once. So the same numbers are drawn here.
        again = any_of_batch(self.support.check(sample))
        if again.any():
            errors.warn("Singular sample detected.")
            for _ in range(10 if max_try_correction is None else max_try_correction):
                new = self._bartlett(again[again].shape)
                sample[again] = new
                again[again.clone()] = any_of_batch(~self.support.check(new))
                if not again.any():
                    break
        return sample

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        nu, p, factor = self.df, self._event_shape[-1], self._unbroadcasted_scale_tril
        normalizer = nu * (p * math.log(2) / 2 + half_log_det(factor)) + torch.mvlgamma(nu / 2, p=p)
        trace = torch.linalg.solve(factor @ factor.mT, value).diagonal(dim1=-2, dim2=-1).sum(-1)
        result: Tensor = (nu - p - 1) / 2 * torch.linalg.slogdet(value).logabsdet - trace / 2 - normalizer
        return result

    def entropy(self) -> Tensor:
        nu, p = self.df, self._event_shape[-1]
        volume = (p + 1) * (p * math.log(2) / 2 + half_log_det(self._unbroadcasted_scale_tril))
        mean = (nu - p - 1) / 2 * multivariate_digamma(nu / 2, p=p)
        result: Tensor = volume + torch.mvlgamma(nu / 2, p=p) - mean + nu * p / 2
        return result

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        p = self._event_shape[-1]
        half = y + (p + 1) / 2
        result: Tensor = half * (-torch.linalg.slogdet(-2 * x).logabsdet + math.log(2) * p) + torch.mvlgamma(half, p=p)
        return result
