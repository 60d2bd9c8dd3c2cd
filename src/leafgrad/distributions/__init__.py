"""leafgrad.distributions: probability distributions, with samples that have gradients where they can, transforms of
them, and constraints of their parameters. A file for each, imported when it is first asked for.

May import `leafgrad`, `autograd`, `nn`, `ops`, `overrides` and `errors`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from leafgrad import _missing

# What is in which file.
FILES = {
    "bernoulli": "Bernoulli",
    "beta": "Beta",
    "binomial": "Binomial",
    "categorical": "Categorical",
    "cauchy": "Cauchy",
    "chi2": "Chi2",
    "constraint_registry": "biject_to transform_to",
    "constraints": "",
    "continuous_bernoulli": "ContinuousBernoulli",
    "dirichlet": "Dirichlet",
    "distribution": "Distribution",
    "exp_family": "ExponentialFamily",
    "exponential": "Exponential",
    "fishersnedecor": "FisherSnedecor",
    "gamma": "Gamma",
    "generalized_pareto": "GeneralizedPareto",
    "geometric": "Geometric",
    "gumbel": "Gumbel",
    "half_cauchy": "HalfCauchy",
    "half_normal": "HalfNormal",
    "independent": "Independent",
    "inverse_gamma": "InverseGamma",
    "kl": "kl_divergence register_kl",
    "kumaraswamy": "Kumaraswamy",
    "laplace": "Laplace",
    "lkj_cholesky": "LKJCholesky",
    "log_normal": "LogNormal",
    "logistic_normal": "LogisticNormal",
    "lowrank_multivariate_normal": "LowRankMultivariateNormal",
    "mixture_same_family": "MixtureSameFamily",
    "multinomial": "Multinomial",
    "multivariate_normal": "MultivariateNormal",
    "negative_binomial": "NegativeBinomial",
    "normal": "Normal",
    "one_hot_categorical": "OneHotCategorical OneHotCategoricalStraightThrough",
    "pareto": "Pareto",
    "poisson": "Poisson",
    "relaxed_bernoulli": "RelaxedBernoulli",
    "relaxed_categorical": "RelaxedOneHotCategorical",
    "studentT": "StudentT",
    "transformed_distribution": "TransformedDistribution",
    "transforms": "AbsTransform AffineTransform CatTransform ComposeTransform CorrCholeskyTransform "
    "CumulativeDistributionTransform ExpTransform IndependentTransform LowerCholeskyTransform "
    "PositiveDefiniteTransform PowerTransform ReshapeTransform SigmoidTransform SoftmaxTransform SoftplusTransform "
    "StackTransform StickBreakingTransform TanhTransform Transform identity_transform",
    "uniform": "Uniform",
    "utils": "",
    "von_mises": "VonMises",
    "weibull": "Weibull",
    "wishart": "Wishart",
}
_LATER = {name: file for file, names in FILES.items() for name in (file, *names.split())}

__all__ = [name for name in _LATER if name not in FILES]

_later = _missing.attributes_of(__name__, _LATER)


def __getattr__(name: str) -> Any:
    return _later(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


class _Package(ModuleType):
    """Who asks for its dictionary, as programs do that go through all distributions, gets it with everything in it."""

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        names: dict[str, Any] = _missing.names_of(self)
        names.update({name: _later(name) for name in _LATER if name not in names})
        return names


sys.modules[__name__].__class__ = _Package
