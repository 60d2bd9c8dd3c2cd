"""Tensors of numbers that are accepted or rejected one by one: Poisson, binomial, gamma, Dirichlet."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad.ops.arguments import declared_and_checked
from leafgrad.ops.creation.fresh import zeros_like
from leafgrad.ops.random import implicit
from leafgrad.ops.random.drawing import Drawing, numbers, program
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.signature import Generator, Tensor, by_name

A = Any  # an array, or a tensor under create_graph


def integers(t: Any, high: int) -> Any:
    """The sample of a function without a derivative, which is not to be asked for one."""
    return t(3, 4, dtype="int64", low=1, high=high)


def refused(name: str, kind: type[Exception] = RuntimeError) -> Any:
    """The rule of what PyTorch has no derivative of."""
    words = f"derivative for aten::{name} is not implemented"
    if kind is NotImplementedError:
        words = f"the derivative for '{name}' is not implemented."

    def vjp(g: A) -> NoReturn:
        raise errors.mistake(kind, words)

    return vjp


@op
class draw_poisson(Drawing):
    """draw_poisson(input, source): numbers of events."""

    options = ("source",)
    differentiable = True
    node_name = "PoissonBackward0"
    aten = "poisson"
    vjp = zeros_like
    samples = program(lambda torch, x: torch.poisson(x), lambda t: [S(t(3, 4, low=0.0, high=30.0)), S(t(0, low=0.1))])

    @staticmethod
    def kernel(input: A, source: Generator | None) -> A:
        return numbers().poisson(source, input)


@declared_and_checked
def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """poisson(input, generator=None): numbers of events, of which input says how many are expected."""
    return bind(draw_poisson.core, (input,), (generator,))


@op
class draw_binomial(Drawing):
    """draw_binomial(count, prob, source): numbers of successes."""

    inputs = ("count", "prob")
    options = ("source",)
    differentiable = True
    node_name = "NotImplemented"
    aten = "binomial"
    vjp_count = vjp_prob = refused("binomial")
    samples = program(lambda torch, n: torch.binomial(n.double(), n.double() / 50), lambda t: [S(integers(t, 50))])

    @staticmethod
    def kernel(count: A, prob: A, source: Generator | None) -> A:
        return numbers().binomial(source, np.stack(np.broadcast_arrays(count, prob)))


@declared_and_checked
def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """binomial(count, prob, generator=None): how many of `count` trials succeed, each with probability `prob`."""
    if not count.dtype.is_floating_point:
        first = "binomial only supports floating-point dtypes for count, got: "
        raise ValueError(first + count.dtype.alias)
    if count.dtype is not prob.dtype:
        raise RuntimeError(f"Found dtype {prob.dtype.alias} but expected {count.dtype.alias}")
    return bind(draw_binomial.core, (count, prob), (generator,))


# -- gamma and Dirichlet, with derivatives by their parameters --------------------------------------------------------


@op
class gamma_gradient(Family):
    """gamma_gradient(input, output): by how much gamma numbers grow with their parameter."""

    inputs = ("input", "output")
    public_name = ""
    aten = "_standard_gamma_grad"
    derivatives = 0
    vjp_input = vjp_output = refused("_standard_gamma_grad", NotImplementedError)
    vmap = "elementwise"
    samples = ValuesOnly(
        "it has no derivative",
        lambda t: [S(integers(t, 80), integers(t, 80))],
        lambda torch, a, x: torch._standard_gamma_grad(a.double() / 4, x.double() / 4),
    )
    kernel = implicit.gamma_gradient


@declared_and_checked
def _standard_gamma_grad(input: Tensor, output: Tensor) -> Tensor:
    """_standard_gamma_grad(input, output): by how much numbers of the gamma distribution grow with its parameter."""
    return bind(gamma_gradient.core, (input, output))


@op
class draw_gamma(Drawing):
    """draw_gamma(input, source): numbers of the standard gamma distribution."""

    options = ("source",)
    differentiable = True
    node_name = "StandardGammaBackward0"
    derivatives = 1
    aten = "_standard_gamma"
    samples = program(lambda torch, x: torch._standard_gamma(x), lambda t: [S(t(3, 4, low=0.1, high=20.0))])

    @staticmethod
    def kernel(input: A, source: Generator | None) -> A:
        return numbers().standard_gamma(source, input)

    def vjp(g: A, input: A, out: A) -> A:
        return g * gamma_gradient(input, out)


@declared_and_checked
def _standard_gamma(input: Tensor, generator: Generator | None = None) -> Tensor:
    """_standard_gamma(input, generator=None): numbers of the gamma distribution with scale one."""
    return bind(draw_gamma.core, (input,), (generator,))


@op
class dirichlet_gradient(Family):
    """dirichlet_gradient(x, alpha, total): by how much numbers of the beta distribution grow with alpha, over 1 - x."""

    inputs = ("x", "alpha", "total")
    public_name = ""
    aten = "_dirichlet_grad"
    derivatives = 0
    vjp_x = vjp_alpha = vjp_total = refused("_dirichlet_grad")
    vmap = "elementwise"
    samples = ValuesOnly(
        "it has no derivative",
        lambda t: [S(integers(t, 80), integers(t, 80))],
        lambda torch, x, a: torch._dirichlet_grad(x.double() / 80, a.double() / 4, a.double() / 4 + 3),
    )
    kernel = implicit.dirichlet_gradient


@declared_and_checked
def _dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor) -> Tensor:
    """_dirichlet_grad(x, alpha, total): by how much numbers of the beta distribution grow with alpha, over 1 - x."""
    return bind(dirichlet_gradient.core, (x, alpha, total))


@op
class draw_dirichlet(Drawing):
    """draw_dirichlet(input, source): probabilities along the last dimension."""

    options = ("source",)
    differentiable = True
    node_name = "NotImplemented"
    aten = "_sample_dirichlet"
    vjp = refused("_sample_dirichlet")
    samples = program(lambda torch, x: torch._sample_dirichlet(x.double() / 4), lambda t: [S(integers(t, 80))])

    @staticmethod
    def kernel(input: A, source: Generator | None) -> A:
        return numbers().dirichlet(source, input)


@declared_and_checked
def _sample_dirichlet(input: Tensor, generator: Generator | None = None) -> Tensor:
    """_sample_dirichlet(input, generator=None): numbers of the Dirichlet distribution, along the last dimension."""
    return bind(draw_dirichlet.core, (input,), (generator,))


FUNCTIONS = by_name(_dirichlet_grad, _sample_dirichlet, _standard_gamma, _standard_gamma_grad, binomial, poisson)
