"""Distributions with parameters, and all that they are asked: the same questions to PyTorch and to leafgrad.

`answers(torch, case, dtype)` is a dict of numbers and texts. PyTorch's are stored by tests/data/make_distributions.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

Build = Callable[[Any, Any, Any], Any]  # of torch.distributions, of a maker of leaves, and of torch

POSITIVE, OTHER = [0.4, 1.5, 7.0], [2.5, 0.8, 1.2]
REAL, PROBS = [-1.2, 0.3, 2.0], [0.15, 0.5, 0.9]
SHARES, LOGITS = [[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]], [[0.3, -1.0, 0.5], [0.0, 2.0, 1.0]]
MATRIX = [[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 0.7]]
TRIANGLE = [[1.1, 0.0, 0.0], [0.4, 0.8, 0.0], [-0.3, 0.2, 1.3]]

CASES: dict[str, Build] = {
    "Bernoulli": lambda d, t, T: d.Bernoulli(t(PROBS)),
    "Bernoulli by logits": lambda d, t, T: d.Bernoulli(logits=t(REAL)),
    "Beta": lambda d, t, T: d.Beta(t(POSITIVE), t(OTHER)),
    "Binomial": lambda d, t, T: d.Binomial(40, t(PROBS)),
    "Binomial by logits": lambda d, t, T: d.Binomial(T.tensor([3.0, 9.0, 60.0]), logits=t(REAL)),
    "Categorical": lambda d, t, T: d.Categorical(t(SHARES)),
    "Categorical by logits": lambda d, t, T: d.Categorical(logits=t(LOGITS)),
    "Cauchy": lambda d, t, T: d.Cauchy(t(REAL), t(POSITIVE)),
    "Chi2": lambda d, t, T: d.Chi2(t(POSITIVE)),
    "ContinuousBernoulli": lambda d, t, T: d.ContinuousBernoulli(t([0.15, 0.5002, 0.9])),
    "ContinuousBernoulli by logits": lambda d, t, T: d.ContinuousBernoulli(logits=t(REAL)),
    "Dirichlet": lambda d, t, T: d.Dirichlet(t([POSITIVE, OTHER])),
    "Exponential": lambda d, t, T: d.Exponential(t(POSITIVE)),
    "FisherSnedecor": lambda d, t, T: d.FisherSnedecor(t(POSITIVE), t([2.5, 0.8, 6.0])),
    "Gamma": lambda d, t, T: d.Gamma(t(POSITIVE), t(OTHER)),
    "GeneralizedPareto": lambda d, t, T: d.GeneralizedPareto(t(REAL), t(POSITIVE), t([-0.4, 0.0, 0.7])),
    "Geometric": lambda d, t, T: d.Geometric(t(PROBS)),
    "Geometric by logits": lambda d, t, T: d.Geometric(logits=t(REAL)),
    "Gumbel": lambda d, t, T: d.Gumbel(t(REAL), t(POSITIVE)),
    "HalfCauchy": lambda d, t, T: d.HalfCauchy(t(POSITIVE)),
    "HalfNormal": lambda d, t, T: d.HalfNormal(t(POSITIVE)),
    "Independent": lambda d, t, T: d.Independent(d.Normal(t(REAL), t(POSITIVE)), 1),
    "InverseGamma": lambda d, t, T: d.InverseGamma(t(POSITIVE), t(OTHER)),
    "Kumaraswamy": lambda d, t, T: d.Kumaraswamy(t(POSITIVE), t(OTHER)),
    "LKJCholesky": lambda d, t, T: d.LKJCholesky(3, t(OTHER)),
    "Laplace": lambda d, t, T: d.Laplace(t(REAL), t(POSITIVE)),
    "LogNormal": lambda d, t, T: d.LogNormal(t(REAL), t(OTHER)),
    "LogisticNormal": lambda d, t, T: d.LogisticNormal(t(REAL), t(OTHER)),
    "LowRankMultivariateNormal": lambda d, t, T: d.LowRankMultivariateNormal(
        t(REAL), t([[0.5, 1.0], [0.2, -0.4], [1.0, 0.0]]), t(OTHER)
    ),
    "MixtureSameFamily": lambda d, t, T: d.MixtureSameFamily(
        d.Categorical(t(SHARES)), d.Normal(t([REAL, PROBS]), t([POSITIVE, OTHER]))
    ),
    "MixtureSameFamily of vectors": lambda d, t, T: d.MixtureSameFamily(
        d.Categorical(t([0.4, 0.6])), d.Independent(d.Normal(t([REAL, PROBS]), t([POSITIVE, OTHER])), 1)
    ),
    "Multinomial": lambda d, t, T: d.Multinomial(10, t(SHARES)),
    "Multinomial by logits": lambda d, t, T: d.Multinomial(7, logits=t(LOGITS)),
    "MultivariateNormal": lambda d, t, T: d.MultivariateNormal(t(REAL), t(MATRIX)),
    "MultivariateNormal by precision": lambda d, t, T: d.MultivariateNormal(
        t([REAL, PROBS]), precision_matrix=t(MATRIX)
    ),
    "MultivariateNormal by factor": lambda d, t, T: d.MultivariateNormal(
        t([REAL, PROBS]), scale_tril=t([TRIANGLE] * 2)
    ),
    "NegativeBinomial": lambda d, t, T: d.NegativeBinomial(t([3.0, 9.0, 20.0]), t(PROBS)),
    "NegativeBinomial by logits": lambda d, t, T: d.NegativeBinomial(5, logits=t(REAL)),
    "Normal": lambda d, t, T: d.Normal(t(REAL), t(POSITIVE)),
    "Normal of numbers": lambda d, t, T: d.Normal(0.5, 2.0),
    "Normal of many": lambda d, t, T: d.Normal(t([REAL] * 3).mT, t(POSITIVE)),
    "OneHotCategorical": lambda d, t, T: d.OneHotCategorical(t(SHARES)),
    "OneHotCategoricalStraightThrough": lambda d, t, T: d.OneHotCategoricalStraightThrough(logits=t(LOGITS)),
    "Pareto": lambda d, t, T: d.Pareto(t(POSITIVE), t([0.5, 1.5, 3.0])),
    "Poisson": lambda d, t, T: d.Poisson(t([0.4, 5.0, 50.0])),
    "RelaxedBernoulli": lambda d, t, T: d.RelaxedBernoulli(t([0.7]), t(PROBS)),
    "RelaxedBernoulli by logits": lambda d, t, T: d.RelaxedBernoulli(t([2.2]), logits=t(REAL)),
    "RelaxedOneHotCategorical": lambda d, t, T: d.RelaxedOneHotCategorical(t([0.7]), t(SHARES)),
    "RelaxedOneHotCategorical by logits": lambda d, t, T: d.RelaxedOneHotCategorical(t([1.7]), logits=t(LOGITS)),
    "StudentT": lambda d, t, T: d.StudentT(t([0.5, 1.5, 7.0]), t(REAL), t(OTHER)),
    "TransformedDistribution": lambda d, t, T: d.TransformedDistribution(
        d.Normal(t(REAL), t(POSITIVE)),
        [d.TanhTransform(), d.AffineTransform(t([1.0]), t([-2.0])), d.SigmoidTransform()],
    ),
    "Uniform": lambda d, t, T: d.Uniform(t(REAL), t([0.0, 2.3, 2.5])),
    "VonMises": lambda d, t, T: d.VonMises(t(REAL), t([0.4, 1.5, 7.0])),
    "Weibull": lambda d, t, T: d.Weibull(t(POSITIVE), t(OTHER)),
    "Wishart": lambda d, t, T: d.Wishart(t([6.5]), t(MATRIX)),
    "Wishart by factor": lambda d, t, T: d.Wishart(7.0, scale_tril=t(TRIANGLE)),
}  # fmt: skip

WRONG: dict[str, Build] = {
    "a negative scale": lambda d, t, T: d.Normal(t([0.0, 0.0]), t([1.0, -1.0])),
    "a sample outside": lambda d, t, T: d.Exponential(t(POSITIVE)).log_prob(t([-1.0])),
    "a sample of another shape": lambda d, t, T: d.Normal(t(REAL), t(POSITIVE)).log_prob(t([1.0, 2.0])),
    "an event of another shape": lambda d, t, T: d.Dirichlet(t(POSITIVE)).log_prob(t([0.5, 0.5])),
    "both parameters": lambda d, t, T: d.Bernoulli(probs=t(PROBS), logits=t(REAL)),
    "no parameter": lambda d, t, T: d.Categorical(),
    "a number of categories": lambda d, t, T: d.Categorical(t(0.5)),
    "no probability": lambda d, t, T: d.Bernoulli(1.5),
    "an empty interval": lambda d, t, T: d.Uniform(t([1.0]), t([0.0])),
    "no covariance": lambda d, t, T: d.MultivariateNormal(t([0.0, 0.0]), t([[1.0, 2.0], [2.0, 1.0]])),
    "two matrices": lambda d, t, T: d.MultivariateNormal(t(REAL), t(MATRIX), t(MATRIX)),
    "no divergence": lambda d, t, T: d.kl_divergence(d.Normal(0.0, 1.0), d.Poisson(1.0)),
    "a parameter that is text": lambda d, t, T: d.Normal("0", 1.0),
    "too few degrees of freedom": lambda d, t, T: d.Wishart(t([1.5]), t(MATRIX)),
    "shapes that do not fit": lambda d, t, T: d.Normal(t([1.0, 2.0]), t(POSITIVE)),
    "no sample": lambda d, t, T: d.Normal(0.0, 1.0).log_prob(1.0),
    "a number in place of a shape": lambda d, t, T: d.Normal(0.0, 1.0).sample(3),
    "no gradient of samples": lambda d, t, T: d.Poisson(1.0).rsample(),
    "no mode": lambda d, t, T: d.LogisticNormal(t(REAL), t(OTHER)).mode,
    "too many dimensions": lambda d, t, T: d.Independent(d.Normal(0.0, 1.0), 1),
    "no transform": lambda d, t, T: d.TransformedDistribution(d.Normal(0.0, 1.0), 3),
}  # fmt: skip


def listed(value: Any) -> Any:
    """A tensor as lists, or what else was answered as text."""
    if hasattr(value, "tolist"):
        return value.detach().tolist()
    return value if isinstance(value, list) else repr(value)


def asked(question: Callable[[], Any]) -> Any:
    """The answer; or the exception, with its first line."""
    try:
        return listed(question())
    except Exception as error:
        return [type(error).__name__, (str(error).splitlines() or [""])[0].replace("leafgrad", "torch")]


def answers(torch: Any, build: Build, dtype: str) -> dict[str, Any]:
    kind = getattr(torch, dtype)
    leaves: list[Any] = []

    def leaf(values: Any) -> Any:
        leaves.append(torch.tensor(values, dtype=kind, requires_grad=True))
        return leaves[-1]

    def gradients(result: Any) -> Any:
        weights = torch.linspace(0.5, 1.5, result.numel(), dtype=result.dtype).reshape(result.shape)
        grads = torch.autograd.grad((result * weights).sum(), leaves, retain_graph=True, allow_unused=True)
        return [None if grad is None else grad.tolist() for grad in grads]

    torch.manual_seed(0)
    before = torch.get_default_dtype()
    torch.set_default_dtype(kind)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that of Wishart, which is compared by itself
            return questions(torch, build(torch.distributions, leaf, torch), leaves, gradients)
    finally:
        torch.set_default_dtype(before)


def questions(torch: Any, dist: Any, leaves: list[Any], gradients: Callable[[Any], Any]) -> dict[str, Any]:
    sample = dist.sample((2, 3))
    told = {
        "printed": repr(dist).splitlines(),
        "shapes": f"{dist.batch_shape} {dist.event_shape} {dist.has_rsample} {dist.has_enumerate_support}",
        "constraints": sorted(
            [f"{name}: {c}" for name, c in dist.arg_constraints.items() if "Dep" not in str(type(c))]
        ),
        "support": [str(dist.support.event_dim), str(dist.support.is_discrete), type(dist.support).__name__],
        "sample": listed(sample),
        "rsample": asked(lambda: dist.rsample((3,))),
        "gradient of rsample": asked(lambda: gradients(dist.rsample((3,)))) if leaves else "",
        "log_prob": asked(lambda: dist.log_prob(sample)),
        "gradient of log_prob": asked(lambda: gradients(dist.log_prob(sample))) if leaves else "",
        "cdf": asked(lambda: dist.cdf(sample)),
        "icdf": asked(lambda: dist.icdf(torch.full(dist.batch_shape, 0.3))),
        "gradient of entropy": asked(lambda: gradients(dist.entropy())) if leaves else "",
    }
    for name in ("entropy", "perplexity", "enumerate_support"):
        told[name] = asked(lambda name=name: getattr(dist, name)())  # type: ignore[misc]
    for name in ("mean", "mode", "variance", "stddev"):
        told[name] = asked(lambda name=name: getattr(dist, name))  # type: ignore[misc]
    larger = dist.expand((2, *dist.batch_shape))
    told["expanded"] = [
        repr(larger).splitlines(),
        asked(lambda: larger.sample()),
        asked(lambda: larger.log_prob(sample[0, :2])),
    ]
    told["valid"] = asked(lambda: dist.support.check(sample).all())
    told["next number"] = torch.rand(1).tolist()
    return told


# -- divergences ------------------------------------------------------------------------------------------------------

DIVERGENCES = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "ContinuousBernoulli", "Dirichlet", "Exponential",
    "Gamma", "Geometric", "Gumbel", "HalfNormal", "Independent", "Laplace", "LogNormal", "LowRankMultivariateNormal",
    "MultivariateNormal", "MultivariateNormal by factor", "Normal", "OneHotCategorical", "Pareto", "Poisson", "Uniform",
    "Chi2", "Weibull", "StudentT",
]  # fmt: skip

# A second one of each family, where its parameters cannot be those of the first, scaled.
SECOND: dict[str, Build] = {
    "Bernoulli": lambda d, t, T: d.Bernoulli(t([0.3, 0.6, 0.4])),
    "Binomial": lambda d, t, T: d.Binomial(40, t([0.3, 0.6, 0.4])),
    "Categorical": lambda d, t, T: d.Categorical(t([[0.3, 0.3, 0.4], [0.1, 0.7, 0.2]])),
    "OneHotCategorical": lambda d, t, T: d.OneHotCategorical(t([[0.3, 0.3, 0.4], [0.1, 0.7, 0.2]])),
    "ContinuousBernoulli": lambda d, t, T: d.ContinuousBernoulli(t([0.3, 0.6, 0.5001])),
    "Geometric": lambda d, t, T: d.Geometric(t([0.3, 0.6, 0.4])),
    "Uniform": lambda d, t, T: d.Uniform(t([-2.0, 0.4, -1.0]), t([0.5, 2.4, 3.0])),
}  # fmt: skip
INSIDE: dict[str, Build] = {"Uniform": lambda d, t, T: d.Uniform(t([0.1, 0.2, 0.5]), t([0.4, 0.9, 0.8]))}


def divergences(torch: Any, dtype: str) -> dict[str, Any]:
    """Of all pairs, with gradients by the parameters of both."""
    kind = getattr(torch, dtype)
    told = {}
    for first in DIVERGENCES:
        for second in DIVERGENCES:
            leaves: list[Any] = []

            def leaf(values: Any, leaves: list[Any] = leaves, scale: float = 1.0) -> Any:
                leaves.append((torch.tensor(values, dtype=kind) * scale).requires_grad_())
                return leaves[-1]

            p = INSIDE.get(first, CASES[first])(torch.distributions, leaf, torch)
            if second in SECOND:
                q = SECOND[second](torch.distributions, leaf, torch)
            else:
                q = CASES[second](torch.distributions, lambda values: leaf(values, scale=1.3), torch)

            def both(p: Any = p, q: Any = q, leaves: list[Any] = leaves) -> Any:
                divergence = torch.distributions.kl_divergence(p, q)
                found = (
                    torch.autograd.grad(divergence.sum(), leaves, allow_unused=True) if divergence.requires_grad else ()
                )
                flat = [number for g in found if g is not None for number in g.reshape(-1).tolist()]
                return torch.tensor([*divergence.reshape(-1).tolist(), *flat], dtype=kind)

            answer = asked(both)
            if answer[:1] != ["NotImplementedError"]:
                told[f"{first} | {second}"] = answer
    return told


def mistake(torch: Any, build: Build) -> Any:
    return asked(lambda: build(torch.distributions, lambda values: torch.tensor(values), torch))


# -- transforms -------------------------------------------------------------------------------------------------------

Making = Callable[[Any, Any], Any]  # of torch.distributions and of a maker of tensors: the transform and its input

VECTORS = [[0.3, -0.8, 1.1], [-1.5, 0.2, 0.4]]
TRANSFORMS: dict[str, Making] = {
    "exp": lambda d, t: (d.ExpTransform(), t(REAL)),
    "power": lambda d, t: (d.PowerTransform(t([2.0, -1.5, 0.5])), t(POSITIVE)),
    "sigmoid": lambda d, t: (d.SigmoidTransform(), t(REAL)),
    "softplus": lambda d, t: (d.SoftplusTransform(), t(REAL)),
    "tanh": lambda d, t: (d.TanhTransform(), t(REAL)),
    "abs": lambda d, t: (d.AbsTransform(), t(REAL)),
    "affine": lambda d, t: (d.AffineTransform(t(REAL), t([2.0, -1.0, 0.5])), t(POSITIVE)),
    "affine of vectors": lambda d, t: (d.AffineTransform(t(REAL), t([2.0, -1.0, 0.5]), event_dim=1), t(VECTORS)),
    "affine of numbers": lambda d, t: (d.AffineTransform(1, -2), t(REAL)),
    "softmax": lambda d, t: (d.SoftmaxTransform(), t(VECTORS)),
    "stick breaking": lambda d, t: (d.StickBreakingTransform(), t(VECTORS)),
    "lower cholesky": lambda d, t: (d.LowerCholeskyTransform(), t(MATRIX)),
    "positive definite": lambda d, t: (d.PositiveDefiniteTransform(), t(TRIANGLE)),
    "correlations": lambda d, t: (d.CorrCholeskyTransform(), t(VECTORS)),
    "reshape": lambda d, t: (d.ReshapeTransform((3,), (3, 1)), t(VECTORS)),
    "cat": lambda d, t: (d.CatTransform([d.ExpTransform(), d.TanhTransform()], -1, [1, 2]), t(VECTORS)),
    "stack": lambda d, t: (d.StackTransform([d.ExpTransform(), d.TanhTransform()]), t(VECTORS)),
    "independent": lambda d, t: (d.IndependentTransform(d.ExpTransform(), 1), t(VECTORS)),
    "composed": lambda d, t: (
        d.ComposeTransform([d.AffineTransform(0.5, 2.0), d.StickBreakingTransform(), d.PowerTransform(2.0)]), t(VECTORS)
    ),
    "identity": lambda d, t: (d.identity_transform, t(REAL)),
    "inverse": lambda d, t: (d.ExpTransform().inv, t(POSITIVE)),
    "cached": lambda d, t: (d.TanhTransform(cache_size=1), t(REAL)),
    "of a distribution": lambda d, t: (d.CumulativeDistributionTransform(d.Normal(0.5, 2.0)), t(REAL)),
    "to an interval": lambda d, t: (d.biject_to(d.constraints.interval(-1.0, 3.0)), t(REAL)),
    "to a half line": lambda d, t: (d.transform_to(d.constraints.less_than(2.0)), t(REAL)),
    "to a simplex": lambda d, t: (d.transform_to(d.constraints.simplex), t(VECTORS)),
    "bijection to a simplex": lambda d, t: (d.biject_to(d.constraints.simplex), t(VECTORS)),
    "to positive vectors": lambda d, t: (d.biject_to(d.constraints.independent(d.constraints.positive, 1)), t(VECTORS)),
    "to correlations": lambda d, t: (d.transform_to(d.constraints.corr_cholesky), t(VECTORS)),
    "to a matrix": lambda d, t: (d.transform_to(d.constraints.positive_definite), t(TRIANGLE)),
    "to parts": lambda d, t: (
        d.biject_to(d.constraints.stack([d.constraints.positive, d.constraints.unit_interval])), t(VECTORS),
    ),
}  # fmt: skip


def transformed(torch: Any, build: Making) -> dict[str, Any]:
    transform, x = build(torch.distributions, lambda values: torch.tensor(values, dtype=torch.float64))
    x.requires_grad_()
    y = transform(x)
    weights = torch.linspace(0.5, 1.5, y.numel(), dtype=y.dtype).reshape(y.shape)
    return {
        "printed": repr(transform).splitlines(),
        "result": listed(y),
        "gradient": listed(torch.autograd.grad((y * weights).sum(), x, retain_graph=True)[0]),
        "back": asked(lambda: transform.inv(y.detach())),
        "jacobian": asked(lambda: transform.log_abs_det_jacobian(x, y)),
        "sign": asked(lambda: transform.sign),
        "facts": [str(transform.bijective), *[type(c).__name__ for c in (transform.domain, transform.codomain)]],
        "shapes": [repr(transform.forward_shape(x.shape)), repr(transform.inverse_shape(y.shape))],
        "equal": str(transform == build(torch.distributions, lambda v: torch.tensor(v, dtype=torch.float64))[0]),
        "valid": [listed(transform.domain.check(x)), listed(transform.codomain.check(y))],
    }
