"""Elementwise functions and activations where something ends: at infinities, poles, steps, and with wrong arguments;
beside PyTorch. What they compute elsewhere is the business of the tests that walk the registry."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from both_libraries import LIBRARIES, outcome, values

INF, NAN = float("inf"), float("nan")
POINTS = [-INF, -30.0, -3.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 3.0, 6.0, 30.0, INF, NAN]

UNARY = (
    "tan", "sinh", "cosh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "log1p", "log2", "log10", "expm1",
    "exp2", "erf", "erfc", "erfinv", "lgamma", "digamma", "i0", "sinc", "frac", "deg2rad", "rad2deg", "angle",
    "nan_to_num", "logit", "special.entr", "special.erfcx", "special.i0e", "special.i1", "special.i1e",
    "special.ndtr", "special.ndtri", "special.log_ndtr", "special.spherical_bessel_j0",
    "special.modified_bessel_k0", "special.modified_bessel_k1", "special.scaled_modified_bessel_k0",
    "nn.functional.elu", "nn.functional.selu", "nn.functional.celu", "nn.functional.gelu", "nn.functional.silu",
    "nn.functional.mish", "nn.functional.hardtanh", "nn.functional.hardswish", "nn.functional.hardsigmoid",
    "nn.functional.relu6", "nn.functional.leaky_relu", "nn.functional.softplus", "nn.functional.softsign",
    "nn.functional.softshrink", "nn.functional.hardshrink", "nn.functional.tanhshrink", "nn.functional.rrelu",
)  # fmt: skip
BINARY = (
    "copysign", "fmod", "fmax", "fmin", "hypot", "nextafter", "logaddexp", "logaddexp2", "ldexp", "xlogy",
    "special.xlog1py", "float_power", "heaviside", "igamma", "igammac",
)  # fmt: skip
# PyTorch's values there are rounding errors of sin(pi) and the like, or of its own approximation.
ROUGH = {"special.erfcx": 1e-12, "igamma": 1e-8, "igammac": 1e-8}
# Derivatives at places where there is none, or that PyTorch does not have.
NO_DERIVATIVE = {
    "heaviside", "igamma", "igammac", "special.log_ndtr", "special.i0e", "special.i1e", "special.i1", "i0",
    "special.spherical_bessel_j0", "special.modified_bessel_k0", "special.modified_bessel_k1",
    "special.scaled_modified_bessel_k0", "special.erfcx", "ldexp", "digamma",
}  # fmt: skip


def named(library: Any, name: str) -> Any:
    for part in name.split("."):
        library = getattr(library, part)
    return library


def results(library: Any, name: str, dtype: str, points: list[list[float]]) -> list[Any]:
    tensors = [library.tensor(p, dtype=getattr(library, dtype), requires_grad=True) for p in points]
    out = named(library, name)(*tensors)
    found = [values(out)]
    if out.requires_grad and name not in NO_DERIVATIVE:
        gradients = library.autograd.grad(out.sum(), tensors, allow_unused=True)
        found += [values(g) for g in gradients if g is not None]
    return found


def compare(name: str, dtype: str, points: list[list[float]]) -> None:
    ours, theirs = [results(library, name, dtype, points) for library in LIBRARIES]
    within = ROUGH.get(name, 1e-13) if dtype == "float64" else 2e-6
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, within, within, err_msg=name)


# In single precision PyTorch's gelu has four digits at -3.
CASES = [(name, dtype) for name in UNARY for dtype in ("float64", "float32")]
CASES.remove(("nn.functional.gelu", "float32"))


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_ends_of_functions(name: str, dtype: str) -> None:
    compare(name, dtype, [POINTS])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", BINARY)
def test_ends_of_functions_of_two(name: str, dtype: str) -> None:
    points = [p for p in POINTS if abs(p) != INF and p == p]
    compare(name, dtype, [[p for p in points for _ in points], [p for _ in points for p in points]])


# -- programs ---------------------------------------------------------------------------------------------------------

PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "gumbel": lambda T, x: T.nn.functional.gumbel_softmax(x, tau=0.7),
    "gumbel hard": lambda T, x: T.nn.functional.gumbel_softmax(x, hard=True, dim=0),
    "gumbel of a transposed tensor": lambda T, x: T.nn.functional.gumbel_softmax(x.t()),
    "rrelu of a transposed tensor": lambda T, x: T.nn.functional.rrelu(x.t(), training=True),
    "rrelu in place": lambda T, x: T.rrelu_(x * 1, 0.2, 0.3, True),
    "normalize": lambda T, x: T.nn.functional.normalize(x),
    "normalize by another norm": lambda T, x: T.nn.functional.normalize(x, p=1, dim=0, eps=0.1),
    "softmin": lambda T, x: T.nn.functional.softmin(x, dim=1),
    "softmin in another dtype": lambda T, x: T.nn.functional.softmin(x, dim=1, dtype=T.float64),
    "threshold in place": lambda T, x: T.threshold_(x * 1, 0.1, 3.0),
    "celu in place": lambda T, x: T.celu_(x * 1, 0.3),
    "hardtanh in place": lambda T, x: T.nn.functional.hardtanh_(x * 1, -0.1, 0.2),
    "mish in place": lambda T, x: T.nn.functional.mish(x * 1, inplace=True),
    "polygamma in place": lambda T, x: x.abs().add(0.5).polygamma_(2),
    "mantissa": lambda T, x: T.frexp(x).mantissa,
    "old addcmul": lambda T, x: T.addcmul(x, 2.0, x, x),
    "old addcdiv": lambda T, x: x.addcdiv(0.5, x, x.exp()),
    "old addcmul in place": lambda T, x: (x * 1).addcmul_(2, x, x),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_programs(name: str) -> None:
    def run(library: Any) -> list[Any]:
        library.manual_seed(5)
        x = library.randn(3, 4, requires_grad=True)
        out = PROGRAMS[name](library, x)
        # up to 1, because softmax subtracts such numbers: its gradient has an error of some units in their last place
        (out * (library.arange(out.numel()) / out.numel()).reshape(out.shape)).sum().backward()
        return [values(out), values(x.grad), values(library.rand(2)), out.grad_fn.name()]

    ours, theirs = [run(library) for library in LIBRARIES]
    for a, b in zip(ours[:3], theirs[:3], strict=True):
        np.testing.assert_allclose(a, b, 2e-6, 2e-6)
    assert ours[3] == theirs[3]


NUMBERS_FIRST: list[Callable[[Any], Any]] = [
    lambda T: T.bitwise_and(6, T.arange(8)),
    lambda T: T.bitwise_left_shift(1, T.arange(8)),
    lambda T: T.heaviside(T.tensor([-1.0, 0.0, 1.0]), values=T.tensor(0.5)),
    lambda T: T.special.legendre_polynomial_p(T.tensor([0.1, 0.5]), n=3),
    lambda T: T.special.hermite_polynomial_h(0.3, T.arange(5)),
    lambda T: T.special.zeta(2.0, T.tensor([1.0, 2.0])),
]


@pytest.mark.parametrize("number", range(len(NUMBERS_FIRST)))
def test_calls(number: int) -> None:
    ours, theirs = [NUMBERS_FIRST[number](library) for library in LIBRARIES]
    assert str(ours.dtype) == str(theirs.dtype)
    np.testing.assert_allclose(values(ours), values(theirs), 1e-6)


ERRORS: list[Callable[[Any], Any]] = [
    lambda T: T.nn.functional.gelu(T.ones(2), approximate="foo"),
    lambda T: T.nn.functional.softshrink(T.ones(2), -1.0),
    lambda T: T.nn.functional.celu(T.ones(2), 0.0),
    lambda T: T.nn.functional.hardtanh(T.ones(2), 2.0, 1.0),
    lambda T: T.nn.functional.hardtanh(T.ones(2, dtype=T.uint8)),
    lambda T: T.nn.functional.glu(T.ones(3)),
    lambda T: T.nn.functional.glu(T.tensor(1.0)),
    lambda T: T.nn.functional.prelu(T.ones(2), T.ones(3)),
    lambda T: T.nn.functional.prelu(T.ones(2, 3), T.ones(2)),
    lambda T: T.nn.functional.prelu(T.tensor(1.0), T.ones(2)),
    lambda T: T.nn.functional.prelu(T.ones(2), T.ones(1, dtype=T.float64)),
    lambda T: T.nn.functional.rrelu(T.ones(2), 2.0, 1.0, True),
    lambda T: T.nn.functional.rrelu(T.ones(2), 0.5, INF, True),
    lambda T: T.nn.functional.rrelu(T.ones(2, dtype=T.float16), training=True),
    lambda T: T.nn.functional.elu(T.ones(2, dtype=T.int64)),
    lambda T: T.nn.Softmax2d()(T.ones(2)),
    lambda T: T.nn.Hardtanh(2, 1),
    lambda T: T.polygamma(-1, T.ones(2)),
    lambda T: T.mvlgamma(T.ones(2), 0),
    lambda T: T.heaviside(T.ones(2), T.ones(2, dtype=T.float64)),
    lambda T: T.gcd(T.ones(2), T.ones(2)),
    lambda T: T.heaviside(T.ones(2), 2.0),
    lambda T: T.bitwise_and(2.5, T.ones(2, dtype=T.int64)),
    lambda T: T.signbit(T.ones(2), out=T.ones(2)),
    lambda T: T.isposinf(T.ones(2), out=T.ones(2)),
    lambda T: T.abs(T.ones(2), out=T.ones(2, dtype=T.float64)),
    lambda T: T.bitwise_not(T.ones(2, dtype=T.int64), out=T.ones(2)),
    lambda T: T.fmod(T.ones(2, dtype=T.int64), 0),
    lambda T: T.ones(2).float_power_(2),
    lambda T: T.special.zeta(T.ones(2, dtype=T.float16), 2.0),
    lambda T: T.special.erfcx(T.ones(2, dtype=T.bfloat16)),
    lambda T: T.frexp(T.ones(2, dtype=T.int64)),
    lambda T: T.igamma(T.ones(2, requires_grad=True), T.ones(2)).sum().backward(),
    lambda T: T.nan_to_num(T.ones(2), out=T.ones(2, dtype=T.float64)),
]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors(number: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = [outcome(ERRORS[number], library) for library in LIBRARIES]
    assert theirs[0] != "no error"
    assert ours[0] == theirs[0] and ours[1].split("\n")[0] == theirs[1].split("\n")[0]
