"""Kullback-Leibler divergences of two distributions of the same family."""

from __future__ import annotations

from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions._kl_registry import register_kl
from leafgrad.distributions.bernoulli import Bernoulli
from leafgrad.distributions.beta import Beta
from leafgrad.distributions.binomial import Binomial
from leafgrad.distributions.categorical import Categorical
from leafgrad.distributions.cauchy import Cauchy
from leafgrad.distributions.continuous_bernoulli import ContinuousBernoulli
from leafgrad.distributions.dirichlet import Dirichlet
from leafgrad.distributions.exponential import Exponential
from leafgrad.distributions.gamma import Gamma
from leafgrad.distributions.geometric import Geometric
from leafgrad.distributions.gumbel import Gumbel
from leafgrad.distributions.half_normal import HalfNormal
from leafgrad.distributions.laplace import Laplace
from leafgrad.distributions.normal import Normal
from leafgrad.distributions.one_hot_categorical import OneHotCategorical
from leafgrad.distributions.pareto import Pareto
from leafgrad.distributions.poisson import Poisson
from leafgrad.distributions.uniform import Uniform
from leafgrad.distributions.utils import euler_constant, softplus


def replaced(values: Tensor, *places: tuple[Tensor, float]) -> Tensor:
    """Values with others in some places; later ones count."""
    for where, value in places:
        values = torch.where(where, torch.full_like(values, value), values)
    return values


@register_kl(Bernoulli, Bernoulli)
def of_bernoulli(p: Any, q: Any) -> Tensor:
    ones = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    zeros = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    ones = replaced(ones, (q.probs == 0, torch.inf), (p.probs == 0, 0))
    return ones + replaced(zeros, (q.probs == 1, torch.inf), (p.probs == 1, 0))


@register_kl(Beta, Beta)
def of_beta(p: Any, q: Any) -> Tensor:
    both = [(p.concentration1, q.concentration1), (p.concentration0, q.concentration0)]
    total_p, total_q = p.concentration1 + p.concentration0, q.concentration1 + q.concentration0
    result: Tensor = total_p.lgamma() - total_q.lgamma() + (total_q - total_p) * total_p.digamma()
    for a, b in both:
        result = result + b.lgamma() - a.lgamma() + (a - b) * a.digamma()
    return result


@register_kl(Binomial, Binomial)
def of_binomial(p: Any, q: Any) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    each = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return replaced(p.total_count * each, (p.total_count > q.total_count, torch.inf))


@register_kl(Categorical, Categorical)
def of_categorical(p: Any, q: Any) -> Tensor:
    terms = p.probs * (p.logits - q.logits)
    return replaced(terms, (q.probs == 0, torch.inf), (p.probs == 0, 0)).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def of_one_hot(p: Any, q: Any) -> Tensor:
    return of_categorical(p._categorical, q._categorical)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def of_continuous_bernoulli(p: Any, q: Any) -> Tensor:
    own = p._cont_bern_log_norm() + torch.log1p(-p.probs)
    result: Tensor = p.mean * (p.logits - q.logits) + own - q._cont_bern_log_norm() - torch.log1p(-q.probs)
    return result


@register_kl(Dirichlet, Dirichlet)
def of_dirichlet(p: Any, q: Any) -> Tensor:
    total_p, total_q = p.concentration.sum(-1), q.concentration.sum(-1)
    normalizers = total_p.lgamma() - total_q.lgamma() - (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    logs = p.concentration.digamma() - total_p.digamma().unsqueeze(-1)
    result: Tensor = normalizers + ((p.concentration - q.concentration) * logs).sum(-1)
    return result


@register_kl(Exponential, Exponential)
def of_exponential(p: Any, q: Any) -> Tensor:
    ratio: Tensor = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Gamma, Gamma)
def of_gamma(p: Any, q: Any) -> Tensor:
    a, b = p.concentration, q.concentration
    normalizers = b * (p.rate / q.rate).log() + torch.lgamma(b) - torch.lgamma(a)
    result: Tensor = normalizers + (a - b) * torch.digamma(a) + (q.rate - p.rate) * (a / p.rate)
    return result


@register_kl(Geometric, Geometric)
def of_geometric(p: Any, q: Any) -> Tensor:
    result: Tensor = -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits
    return result


@register_kl(Gumbel, Gumbel)
def of_gumbel(p: Any, q: Any) -> Tensor:
    ratio: Tensor = p.scale / q.scale
    far = q.loc / q.scale - p.loc / q.scale
    last = torch.exp(far + (1 + ratio).lgamma())
    result: Tensor = -ratio.log() - far + ratio * euler_constant + last - (1 + euler_constant)
    return result


@register_kl(Laplace, Laplace)
def of_laplace(p: Any, q: Any) -> Tensor:
    ratio, far = p.scale / q.scale, (p.loc - q.loc).abs()
    result: Tensor = -ratio.log() + far / q.scale + ratio * torch.exp(-far / p.scale) - 1
    return result


@register_kl(Normal, Normal)
def of_normal(p: Any, q: Any) -> Tensor:
    ratio: Tensor = (p.scale / q.scale).pow(2)
    result: Tensor = 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())
    return result


@register_kl(HalfNormal, HalfNormal)
def of_half_normal(p: Any, q: Any) -> Tensor:
    return of_normal(p.base_dist, q.base_dist)


@register_kl(Pareto, Pareto)
def of_pareto(p: Any, q: Any) -> Tensor:
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return replaced(result, (p.support.lower_bound < q.support.lower_bound, torch.inf))


@register_kl(Poisson, Poisson)
def of_poisson(p: Any, q: Any) -> Tensor:
    result: Tensor = p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)
    return result


@register_kl(Uniform, Uniform)
def of_uniform(p: Any, q: Any) -> Tensor:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return replaced(result, ((q.low > p.low) | (q.high < p.high), torch.inf))


@register_kl(Cauchy, Cauchy)
def of_cauchy(p: Any, q: Any) -> Tensor:
    result: Tensor = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()
    return result
