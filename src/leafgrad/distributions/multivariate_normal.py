"""The multivariate normal distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.distribution import Distribution as Distribution  # programs import it from here too
from leafgrad.distributions.distribution import Parametric, Size
from leafgrad.distributions.utils import _standard_normal, lazy_property

__all__ = ["MultivariateNormal"]


def solve_triangular(factor: Tensor, matrix: Tensor) -> Tensor:
    """inverse(factor) @ matrix, for lower triangular factors."""
    solved: Tensor = torch.linalg.solve_triangular(factor, matrix, upper=False)
    return solved


def times_vector(matrix: Tensor, vector: Tensor) -> Tensor:
    """Products of matrices and vectors, both in batches."""
    return torch.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def mahalanobis(factor: Tensor, x: Tensor) -> Tensor:
    """x @ inverse(factor @ factor.mT) @ x, of lower triangular factors."""
    n = x.size(-1)
    batch = torch.broadcast_shapes(factor.shape[:-2], x.shape[:-1])
    if factor.dim() == 2:  # all vectors at once
        columns = x.reshape(-1, n).mT
    else:
        columns, factor = x.expand((*batch, n)).unsqueeze(-1), factor.expand((*batch, n, n))
    squares: Tensor = solve_triangular(factor, columns).square().sum(-2)
    return squares.reshape(batch)


def _precision_to_scale_tril(precision: Tensor) -> Tensor:
    """The Cholesky factor of the inverse: Cholesky from the other end, then a triangular inverse."""
    from_end = torch.linalg.cholesky(torch.flip(precision, (-2, -1)))
    upper = torch.transpose(torch.flip(from_end, (-2, -1)), -2, -1)
    result: Tensor = solve_triangular(upper, torch.eye(precision.shape[-1], dtype=precision.dtype))
    return result


def half_log_det(factor: Tensor) -> Tensor:
    """log(det(factor)) of triangular factors."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


class ByCovariance(Parametric):
    """Distributions with the parameter covariance_matrix, precision_matrix or scale_tril; the others are computed."""

    _unbroadcasted_scale_tril: Tensor

    def _take_matrix(self, given: dict[str, Any], batch: Size) -> None:
        """Take the matrix that is not None."""
        ((name, matrix),) = [(name, matrix) for name, matrix in given.items() if matrix is not None]
        self.__dict__[name] = matrix.expand((*batch, -1, -1))

    def _factor(self, given: dict[str, Any]) -> None:
        """Find the Cholesky factor of the covariance."""
        if given["scale_tril"] is not None:
            self._unbroadcasted_scale_tril = given["scale_tril"]
        elif given["covariance_matrix"] is not None:
            self._unbroadcasted_scale_tril = torch.linalg.cholesky(given["covariance_matrix"])
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(given["precision_matrix"])

    def _expand_matrix(self, matrix: Tensor) -> Tensor:
        return matrix.expand((*self._batch_shape, *matrix.shape[-2:]))

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance."""
        return self._expand_matrix(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        factor = self._unbroadcasted_scale_tril
        return self._expand_matrix(torch.matmul(factor, factor.mT))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        factor = self._unbroadcasted_scale_tril
        inverse = solve_triangular(factor, torch.eye(factor.shape[-1], dtype=factor.dtype))
        return self._expand_matrix(inverse.mT @ inverse)


class MultivariateNormal(ByCovariance):
    """MultivariateNormal(loc, covariance_matrix=None, precision_matrix=None, scale_tril=None): normal vectors, with one
    of three matrices."""

    arg_constraints = {
        "loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky,
    }  # fmt: skip
    support = constraints.real_vector
    has_rsample = True
    loc: Tensor

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {
            "scale_tril": scale_tril, "covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix,
        }  # fmt: skip
        matrices = [(name, matrix) for name, matrix in given.items() if matrix is not None]
        if len(matrices) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        name, matrix = matrices[0]
        if matrix.dim() < 2:
            what = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(f"{what} must be at least two-dimensional, with optional leading batch dimensions")
        batch = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self._take_matrix(given, batch)
        self.loc = loc.expand((*batch, -1))
        super().__init__(batch, self.loc.shape[-1:], validate_args=validate_args)
        self._factor(given)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        variance = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return variance.expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        normal = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self.loc + times_vector(self._unbroadcasted_scale_tril, normal)

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        distance = mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        result: Tensor = -0.5 * (constant + distance) - half_log_det(self._unbroadcasted_scale_tril)
        return result

    def entropy(self) -> Tensor:
        constant = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        result: Tensor = (constant + half_log_det(self._unbroadcasted_scale_tril)).expand(self._batch_shape)
        return result
