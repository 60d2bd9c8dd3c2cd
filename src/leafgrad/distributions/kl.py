"""Kullback-Leibler divergences: `kl_divergence(p, q)`, and the pairs of distributions for which it is known."""

from __future__ import annotations

from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import _kl_of_one_family, _kl_of_two_families
from leafgrad.distributions._kl_registry import _KL_REGISTRY as _KL_REGISTRY
from leafgrad.distributions._kl_registry import kl_divergence, register_kl
from leafgrad.distributions.exp_family import ExponentialFamily, gradient_of_normalizer
from leafgrad.distributions.independent import Independent
from leafgrad.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from leafgrad.distributions.multivariate_normal import (
    MultivariateNormal,
    half_log_det,
    mahalanobis,
    solve_triangular,
)
from leafgrad.distributions.transformed_distribution import TransformedDistribution
from leafgrad.distributions.utils import _sum_rightmost

__all__ = ["kl_divergence", "register_kl"]

PAIRS = (_kl_of_one_family, _kl_of_two_families)  # which register when they are imported


@register_kl(ExponentialFamily, ExponentialFamily)
def of_exponential_families(p: Any, q: Any) -> Tensor:
    """The Bregman divergence of the log normaliser."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot "
            "                            be computed using Bregman divergences"
        )
    parameters, normalizer, means = gradient_of_normalizer(p)
    result = q._log_normalizer(*q._natural_params) - normalizer
    for own, other, mean in zip(parameters, q._natural_params, means):
        result = result - _sum_rightmost((other - own) * mean, len(q.event_shape))
    divergence: Tensor = result
    return divergence


@register_kl(TransformedDistribution, TransformedDistribution)
def of_transformed(p: Any, q: Any) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def of_independent(p: Any, q: Any) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


# -- normal vectors ---------------------------------------------------------------------------------------------------


def squares(matrix: Tensor) -> Tensor:
    """trace(matrix @ matrix.mT)."""
    return matrix.square().sum((-2, -1))


def solved(factor: Tensor, matrix: Tensor) -> Tensor:
    """inverse(factor) @ matrix, for batches of one shape."""
    batch = torch.broadcast_shapes(factor.shape[:-2], matrix.shape[:-2])
    factor, matrix = [x.expand((*batch, *x.shape[-2:])) for x in (factor, matrix)]
    result: Tensor = solve_triangular(factor, matrix)
    return result


def log_det(p: Any) -> Any:
    return p._log_det() if isinstance(p, LowRankMultivariateNormal) else 2 * half_log_det(p._unbroadcasted_scale_tril)


def trace_of_ratio(p: Any, q: Any) -> Any:
    """trace(inverse(covariance of q) @ covariance of p), from the parts that they have."""
    if isinstance(p, LowRankMultivariateNormal):
        parts = [p._unbroadcasted_cov_factor, torch.diag_embed(p._unbroadcasted_cov_diag.sqrt())]
    else:
        parts = [p._unbroadcasted_scale_tril]
    if not isinstance(q, LowRankMultivariateNormal):
        return sum(squares(solved(q._unbroadcasted_scale_tril, part)) for part in parts)
    diagonal = q._unbroadcasted_cov_diag
    inner = solved(q._capacitance_tril, q._unbroadcasted_cov_factor.mT / diagonal.unsqueeze(-2))
    return sum(squares(part * diagonal.rsqrt().unsqueeze(-1)) - squares(inner @ part) for part in parts)


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def of_normal_vectors(p: Any, q: Any) -> Tensor:
    if p.event_shape != q.event_shape:
        low = [isinstance(each, LowRankMultivariateNormal) for each in (p, q)]
        kind = "Low Rank " if all(low) else "(Low Rank) " if any(low) else ""
        raise ValueError(
            f"KL-divergence between two {kind}Multivariate Normals with                          "
            "different event shapes cannot be computed"
        )
    far = q.loc - p.loc
    if isinstance(q, LowRankMultivariateNormal):
        distance = q._distance(far)
    else:
        distance = mahalanobis(q._unbroadcasted_scale_tril, far)
    divergence: Tensor = 0.5 * (log_det(q) - log_det(p) + trace_of_ratio(p, q) + distance - p.event_shape[0])
    return divergence
