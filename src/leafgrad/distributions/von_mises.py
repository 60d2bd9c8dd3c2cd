"""The von Mises distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.distributions import constraints
from leafgrad.distributions.distribution import Parametric
from leafgrad.distributions.utils import lazy_property

__all__ = ["VonMises"]

# Polynomials for Bessel functions of order 0 and 1, for small arguments and for large ones (Abramowitz and Stegun 9.8).
SMALL = [
    [1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.360768e-1, 0.45813e-2],
    [0.5, 0.87890594, 0.51498869, 0.15084934, 0.2658733e-1, 0.301532e-2, 0.32411e-3],
]
LARGE = [
    [0.39894228, 0.1328592e-1, 0.225319e-2, -0.157565e-2, 0.916281e-2, -0.2057706e-1, 0.2635537e-1, -0.1647633e-1,
     0.392377e-2],
    [0.39894228, -0.3988024e-1, -0.362018e-2, 0.163801e-2, -0.1031555e-1, 0.2282967e-1, -0.2895312e-1, 0.1787654e-1,
     -0.420059e-2],
]  # fmt: skip


def polynomial(y: Tensor, coefficients: list[float]) -> Tensor:
    value: Any = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        value = coefficient + y * value
    found: Tensor = value
    return found


def log_bessel(x: Tensor, order: int) -> Tensor:
    """The logarithm of the modified Bessel function of the first kind."""
    small = polynomial((x / 3.75) * (x / 3.75), SMALL[order])
    small = (x.abs() * small if order == 1 else small).log()
    large = x - 0.5 * x.log() + polynomial(3.75 / x, LARGE[order]).log()
    return torch.where(x < 3.75, small, large)


class VonMises(Parametric):
    """VonMises(loc, concentration): angles around `loc`, with density proportional to exp(concentration * cos(x -
    loc))."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    loc: Tensor
    concentration: Tensor

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        super().__init__(self._broadcast(loc=loc, concentration=concentration), (), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        """1 - the length of the mean direction."""
        return 1 - (log_bessel(self.concentration, 1) - log_bessel(self.concentration, 0)).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        log_prob = self.concentration * torch.cos(value - self.loc)
        return log_prob - math.log(2 * math.pi) - log_bessel(self.concentration, 0)

    @lazy_property
    def _proposal(self) -> Tensor:
        """The parameter of the wrapped Cauchy distribution from which proposals come."""
        kappa = self.concentration.double()
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        return torch.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))

    @torch.no_grad()
    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Best and Fisher (1979), "Efficient simulation of the von Mises distribution"."""
        x = torch.empty(self._extended_shape(sample_shape), dtype=torch.float64)
        done = torch.zeros(x.shape, dtype=torch.bool)
        r, concentration = self._proposal, self.concentration.double()
        while not done.all():
            u1, u2, u3 = torch.rand((3, *x.shape), dtype=torch.float64).unbind()
            z = torch.cos(math.pi * u1)
            f = (1 + r * z) / (r + z)
            c = concentration * (r - f)
            accepted = (c * (2 - c) - u2 > 0) | ((c / u2).log() + 1 - c >= 0)
            x = torch.where(accepted, (u3 - 0.5).sign() * f.acos(), x)  # also where one was accepted before
            done = done | accepted
        return ((x + math.pi + self.loc.double()) % (2 * math.pi) - math.pi).to(self.loc.dtype)
