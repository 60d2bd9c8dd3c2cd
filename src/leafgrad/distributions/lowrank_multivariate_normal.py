"""The multivariate normal distribution with a covariance of low rank and a diagonal."""

from __future__ import annotations

import math
from collections.abc import Sequence

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.distribution import Parametric
from leafgrad.distributions.multivariate_normal import half_log_det, mahalanobis, solve_triangular, times_vector
from leafgrad.distributions.utils import _standard_normal, lazy_property

__all__ = ["LowRankMultivariateNormal"]


def capacitance_tril(factor: Tensor, diagonal: Tensor) -> Tensor:
    """The Cholesky factor of I + W.mT @ inv(D) @ W, from which Woodbury's identity gets all the rest."""
    inner = torch.matmul(factor.mT / diagonal.unsqueeze(-2), factor)
    result: Tensor = torch.linalg.cholesky(inner + torch.eye(inner.shape[-1], dtype=inner.dtype))
    return result


class LowRankMultivariateNormal(Parametric):
    """LowRankMultivariateNormal(loc, cov_factor, cov_diag): normal vectors with the covariance cov_factor @
    cov_factor.mT + diag(cov_diag)."""

    arg_constraints = {
        "loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }  # fmt: skip
    support = constraints.real_vector
    has_rsample = True
    loc: Tensor
    cov_factor: Tensor
    cov_diag: Tensor

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        events = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != events:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {events[0]} x m")
        if cov_diag.shape[-1:] != events:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {events}")
        try:
            batch = torch.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from error
        self.loc, self.cov_diag = loc.expand((*batch, -1)), cov_diag.expand((*batch, -1))
        self.cov_factor = cov_factor.expand((*batch, -1, -1))
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = capacitance_tril(cov_factor, cov_diag)
        super().__init__(batch, events, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    def _expanded_to(self, x: Tensor, dims: int) -> Tensor:
        return x.expand((*self._batch_shape, *[self._event_shape[0]] * dims))

    @lazy_property
    def variance(self) -> Tensor:
        """The variance."""
        variance = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return self._expanded_to(variance, 1)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance."""
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        inner = torch.matmul(scaled, scaled.mT) + torch.eye(self._event_shape[0], dtype=root.dtype)
        return self._expanded_to(root * torch.linalg.cholesky(inner), 2)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        factor = self._unbroadcasted_cov_factor
        covariance = torch.matmul(factor, factor.mT) + torch.diag_embed(self._unbroadcasted_cov_diag)
        return self._expanded_to(covariance, 2)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        diagonal = self._unbroadcasted_cov_diag
        a = solve_triangular(self._capacitance_tril, self._unbroadcasted_cov_factor.mT / diagonal.unsqueeze(-2))
        return self._expanded_to(torch.diag_embed(diagonal.reciprocal()) - a.mT @ a, 2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        of_factor = _standard_normal((*shape[:-1], self.cov_factor.shape[-1]), self.loc.dtype, self.loc.device)
        of_diagonal = _standard_normal(shape, self.loc.dtype, self.loc.device)
        moved = self.loc + times_vector(self._unbroadcasted_cov_factor, of_factor)
        return moved + self._unbroadcasted_cov_diag.sqrt() * of_diagonal

    def _distance(self, x: Tensor) -> Tensor:
        """Of Mahalanobis, squared."""
        scaled = self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)
        inner = mahalanobis(self._capacitance_tril, times_vector(scaled, x))
        return (x.pow(2) / self._unbroadcasted_cov_diag).sum(-1) - inner

    def _log_det(self) -> Tensor:
        return 2 * half_log_det(self._capacitance_tril) + self._unbroadcasted_cov_diag.log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        result: Tensor = -0.5 * (constant + self._log_det() + self._distance(value - self.loc))
        return result

    def entropy(self) -> Tensor:
        constant = self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        result: Tensor = (0.5 * (constant + self._log_det())).expand(self._batch_shape)
        return result
