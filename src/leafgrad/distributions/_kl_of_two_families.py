"""Kullback-Leibler divergences of distributions of different families. Most of them are -entropy(p) minus the mean of
log q under p."""

from __future__ import annotations

import math
from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions._kl_of_one_family import replaced
from leafgrad.distributions._kl_registry import register_kl
from leafgrad.distributions.bernoulli import Bernoulli
from leafgrad.distributions.beta import Beta
from leafgrad.distributions.binomial import Binomial
from leafgrad.distributions.continuous_bernoulli import ContinuousBernoulli
from leafgrad.distributions.exponential import Exponential
from leafgrad.distributions.gamma import Gamma
from leafgrad.distributions.gumbel import Gumbel
from leafgrad.distributions.laplace import Laplace
from leafgrad.distributions.normal import Normal
from leafgrad.distributions.pareto import Pareto
from leafgrad.distributions.poisson import Poisson
from leafgrad.distributions.uniform import Uniform
from leafgrad.distributions.utils import euler_constant

# Where p draws what q cannot: p, the parameter that has the shape, and q.
INFINITE: list[tuple[Any, str, tuple[Any, ...]]] = [
    (Beta, "concentration1", (Pareto,)),
    (ContinuousBernoulli, "probs", (Pareto,)),
    (Exponential, "rate", (Beta, ContinuousBernoulli, Pareto, Uniform)),
    (Gamma, "concentration", (Beta, ContinuousBernoulli, Pareto, Uniform)),
    (Gumbel, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Laplace, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Normal, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Pareto, "scale", (Beta, ContinuousBernoulli, Uniform)),
    (Poisson, "rate", (Bernoulli, Binomial)),
]


def register_infinite(p_type: Any, parameter: str, q_types: tuple[Any, ...]) -> None:
    for q_type in q_types:
        register_kl(p_type, q_type)(lambda p, q: torch.full_like(getattr(p, parameter), torch.inf))


for _row in INFINITE:
    register_infinite(*_row)


def to_normal(entropy: Tensor, mean: Tensor, square: Tensor, q: Any) -> Tensor:
    """From a distribution with this entropy, mean and mean of squares to a normal one."""
    variance: Tensor = q.scale.pow(2)
    far = 0.5 * square - q.loc * mean + 0.5 * q.loc.pow(2)
    result: Tensor = -entropy + 0.5 * (variance * 2 * math.pi).log() + far / variance
    return result


def to_gamma(entropy: Tensor, mean: Tensor, log: Tensor, q: Any) -> Tensor:
    """From a distribution with this entropy, mean and mean of logarithms to a gamma distribution."""
    normalizer: Tensor = q.concentration.lgamma() - q.concentration * q.rate.log()
    result: Tensor = -entropy + normalizer - (q.concentration - 1) * log + q.rate * mean
    return result


def to_exponential(entropy: Tensor, mean: Tensor, q: Any) -> Tensor:
    result: Tensor = -entropy - q.rate.log() + q.rate * mean
    return result


def to_continuous_bernoulli(entropy: Tensor, mean: Tensor, q: Any) -> Tensor:
    result: Tensor = -entropy - mean * q.logits - torch.log1p(-q.probs) - q._cont_bern_log_norm()
    return result


@register_kl(Bernoulli, Poisson)
def bernoulli_poisson(p: Any, q: Any) -> Tensor:
    result: Tensor = -p.entropy() - (p.probs * q.rate.log() - q.rate)
    return result


# -- from Beta and ContinuousBernoulli --------------------------------------------------------------------------------


@register_kl(Beta, ContinuousBernoulli)
def beta_continuous_bernoulli(p: Any, q: Any) -> Tensor:
    return to_continuous_bernoulli(p.entropy(), p.mean, q)


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
def with_mean_exponential(p: Any, q: Any) -> Tensor:
    return to_exponential(p.entropy(), p.mean, q)


@register_kl(Beta, Gamma)
def beta_gamma(p: Any, q: Any) -> Tensor:
    log = p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    return to_gamma(p.entropy(), p.mean, log, q)


@register_kl(Beta, Normal)
@register_kl(ContinuousBernoulli, Normal)
def with_variance_normal(p: Any, q: Any) -> Tensor:
    return to_normal(p.entropy(), p.mean, p.variance + p.mean.pow(2), q)


@register_kl(Beta, Uniform)
def beta_uniform(p: Any, q: Any) -> Tensor:
    result = -p.entropy() + (q.high - q.low).log()
    outside = (q.low > p.support.lower_bound) | (q.high < p.support.upper_bound)
    return replaced(result, (outside, torch.inf))


@register_kl(ContinuousBernoulli, Uniform)
def continuous_bernoulli_uniform(p: Any, q: Any) -> Tensor:
    """PyTorch's condition, which takes some uniform distributions for too narrow that are not."""
    result = -p.entropy() + (q.high - q.low).log()
    outside = (q.low >= p.support.lower_bound) | (q.high <= p.support.upper_bound)
    return replaced(result, (outside, torch.inf))


# -- from Exponential and Gamma ---------------------------------------------------------------------------------------


@register_kl(Exponential, Gamma)
def exponential_gamma(p: Any, q: Any) -> Tensor:
    return to_gamma(p.entropy(), p.mean, -p.rate.log() - euler_constant, q)


@register_kl(Exponential, Normal)
def exponential_normal(p: Any, q: Any) -> Tensor:
    return to_normal(p.entropy(), p.mean, 2 * p.variance, q)


@register_kl(Exponential, Gumbel)
def exponential_gumbel(p: Any, q: Any) -> Tensor:
    product, far = p.rate * q.scale, q.loc / q.scale
    result: Tensor = product.log() - 1 - far + torch.exp(far) * product / (product + 1) + product.reciprocal()
    return result


@register_kl(Gamma, Exponential)
def gamma_exponential(p: Any, q: Any) -> Tensor:
    return to_exponential(p.entropy(), p.mean, q)


@register_kl(Gamma, Normal)
def gamma_normal(p: Any, q: Any) -> Tensor:
    return to_normal(p.entropy(), p.mean, p.variance + p.mean.pow(2), q)


@register_kl(Gamma, Gumbel)
def gamma_gumbel(p: Any, q: Any) -> Tensor:
    product, far, a = p.rate * q.scale, q.loc / q.scale, p.concentration
    own = (a - 1) * a.digamma() - a.lgamma() - a
    last = torch.exp(far) * (1 + product.reciprocal()).pow(-a)
    result: Tensor = own + product.log() + a / product + last - far
    return result


# -- from Gumbel, Laplace, Normal -------------------------------------------------------------------------------------


@register_kl(Gumbel, Normal)
@register_kl(Laplace, Normal)
def with_moments_normal(p: Any, q: Any) -> Tensor:
    return to_normal(p.entropy(), p.mean, p.variance + p.mean.pow(2), q)


@register_kl(Normal, Gumbel)
def normal_gumbel(p: Any, q: Any) -> Tensor:
    far, ratio = (p.loc - q.loc) / q.scale, (p.scale / q.scale).pow(2)
    last = torch.exp(-far + 0.5 * ratio)
    result: Tensor = -0.5 * ratio.log() + far + last - 0.5 * (1 + math.log(2 * math.pi))
    return result


@register_kl(Normal, Laplace)
def normal_laplace(p: Any, q: Any) -> Tensor:
    far = p.loc - q.loc
    scaled = far / p.scale
    mean = math.sqrt(2 / math.pi) * p.scale * torch.exp(-0.5 * scaled.pow(2)) + far * torch.erf(math.sqrt(0.5) * scaled)
    result: Tensor = -torch.log(p.scale / q.scale) + mean / q.scale - 0.5 * (1 + math.log(0.5 * math.pi))
    return result


# -- from Pareto and Uniform ------------------------------------------------------------------------------------------


@register_kl(Pareto, Exponential)
def pareto_exponential(p: Any, q: Any) -> Tensor:
    mean = p.alpha * p.scale / (p.alpha - 1)
    return replaced(to_exponential(p.entropy(), mean, q), (p.alpha <= 1, torch.inf))


@register_kl(Pareto, Gamma)
def pareto_gamma(p: Any, q: Any) -> Tensor:
    mean, log = p.alpha * p.scale / (p.alpha - 1), p.scale.log() + p.alpha.reciprocal()
    return replaced(to_gamma(p.entropy(), mean, log, q), (p.alpha <= 1, torch.inf))


@register_kl(Pareto, Normal)
def pareto_normal(p: Any, q: Any) -> Tensor:
    mean, square = p.alpha * p.scale / (p.alpha - 1), p.alpha * p.scale.pow(2) / (p.alpha - 2)
    return replaced(to_normal(p.entropy(), mean, square, q), (p.alpha <= 2, torch.inf))


def mean_log(low: Tensor, high: Tensor) -> Tensor:
    """The mean of log(x) for uniform x."""
    return (torch.special.xlogy(high, high) - torch.special.xlogy(low, low)) / (high - low) - 1


@register_kl(Uniform, Beta)
def uniform_beta(p: Any, q: Any) -> Tensor:
    a, b = q.concentration1, q.concentration0
    normalizer = a.lgamma() + b.lgamma() - (a + b).lgamma()
    logs = (a - 1) * mean_log(p.low, p.high) + (b - 1) * mean_log(1 - p.high, 1 - p.low)
    outside = (p.high > q.support.upper_bound) | (p.low < q.support.lower_bound)
    return replaced(normalizer - p.entropy() - logs, (outside, torch.inf))


@register_kl(Uniform, ContinuousBernoulli)
def uniform_continuous_bernoulli(p: Any, q: Any) -> Tensor:
    outside = (p.high >= q.support.upper_bound) | (p.low <= q.support.lower_bound)
    return replaced(to_continuous_bernoulli(p.entropy(), p.mean, q), (outside, torch.inf))


@register_kl(Uniform, Exponential)
def uniform_exponential(p: Any, q: Any) -> Tensor:
    return replaced(to_exponential(p.entropy(), p.mean, q), (p.low < q.support.lower_bound, torch.inf))


@register_kl(Uniform, Gamma)
def uniform_gamma(p: Any, q: Any) -> Tensor:
    result = to_gamma(p.entropy(), p.mean, mean_log(p.low, p.high), q)
    return replaced(result, (p.low < q.support.lower_bound, torch.inf))


@register_kl(Uniform, Gumbel)
def uniform_gumbel(p: Any, q: Any) -> Tensor:
    ratio = q.scale / (p.high - p.low)
    high, low = (p.high - q.loc) / q.scale, (p.low - q.loc) / q.scale
    result: Tensor = ratio.log() + 0.5 * (high + low) - ratio * (torch.exp(-high) - torch.exp(-low))
    return result


@register_kl(Uniform, Normal)
def uniform_normal(p: Any, q: Any) -> Tensor:
    return to_normal(p.entropy(), p.mean, p.variance + p.mean.pow(2), q)


@register_kl(Uniform, Pareto)
def uniform_pareto(p: Any, q: Any) -> Tensor:
    width = p.high - p.low
    result = mean_log(p.low, p.high) * (q.alpha + 1) - (q.alpha * q.scale.pow(q.alpha) * width).log()
    return replaced(result, (p.low < q.support.lower_bound, torch.inf))
