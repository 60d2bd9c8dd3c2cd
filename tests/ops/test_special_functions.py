"""Special functions where their kernels change from one formula to another, and far out, against values that were
computed with 40 digits; and functions of Python's that are applied to elements."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import leafgrad as lg

# points and values
OF_ONE: dict[str, dict[float, float]] = {
    "erf": {
        -3.0: -0.9999779095030014,
        0.5: 0.5204998778130465,
        1.0: 0.8427007929497149,
        1.0000001: 0.8427008344604605,
        5.5: 0.9999999999999927,
    },
    "erfc": {
        -2.0: 1.9953222650189528,
        0.4999: 0.4795880048386134,
        0.5001: 0.4794122483231193,
        3.0: 2.209049699858544e-05,
        20.0: 5.395865611607901e-176,
    },
    "special.erfcx": {
        -3.0: 16205.988853999586,
        0.0: 1.0,
        0.5: 0.6156903441929259,
        30.0: 0.01879588886141675,
        1000000.0: 5.641895835474742e-07,
    },
    "erfinv": {
        -0.9999999: -3.7665625816384707,
        0.4999: 0.4768250236254278,
        0.5001: 0.4770475405909757,
        0.999: 2.3267537655135246,
    },
    "special.ndtri": {
        1e-09: -5.9978070150076865,
        0.2499: -0.67480447011061,
        0.2501: -0.674175097074659,
        0.7499: 0.674175097074659,
        0.7501: 0.67480447011061,
    },
    "special.log_ndtr": {
        -8.0: -35.01343715991455,
        -1.0001: -1.8411741625414106,
        -0.9999: -1.8408691354861395,
        3.0: -0.0013508099647481938,
    },
    "lgamma": {
        -3.5: -1.309006684993042,
        0.01: 4.599479878042022,
        10.0: 12.801827480081469,
        100000.0: 1051287.7089736569,
    },
    "digamma": {
        -3.5: 1.388870926359529,
        0.01: -100.56088545786868,
        9.99: 2.250700372831201,
        10.01: 2.2528037003181356,
        100000.0: 11.512920464961896,
    },
    "i0": {
        0.1: 1.0025015629340956, 19.99: 43135797.87064526, 20.01: 43984910.8348573, 100.0:
        1.0737517071310738e42,
    },
    "special.i1e": {
        -19.99: -0.08752724194828622,
        0.1: 0.045298446808809324,
        20.01: 0.0874852175141268,
        1000.0: 0.012610930256928629,
    },
    "special.modified_bessel_k0": {
        0.01: 4.721244730161095,
        1.99: 0.1153017675517768,
        2.01: 0.11250436099872804,
        50.0: 3.4101677497894956e-23,
    },
    "special.modified_bessel_k1": {
        0.01: 99.97389411829624,
        1.99: 0.14171756162240132,
        2.01: 0.1380408773192077,
        50.0: 3.4441022267175555e-23,
    },
    "special.bessel_j0": {
        0.1: 0.99750156206604,
        5.5: -0.006843869417819197,
        24.9: 0.0832459683530155,
        25.1: 0.10827567149994945,
        100.0: 0.019985850304223122,
    },
    "special.bessel_j1": {
        1e-20: 5e-21,
        5.5: -0.34143821542904335,
        24.9: -0.13485569953140886,
        25.1: -0.11463478413442257,
        100.0: -0.07714535201411216,
    },
    "special.bessel_y0": {
        1e-20: -29.391228250285796,
        5.5: -0.339480592881911,
        24.9: -0.13649918399676522,
        25.1: -0.11676770763803694,
        100.0: -0.07724431336508315,
    },
    "special.bessel_y1": {
        1e-20: -6.3661977236758135e19,
        5.4: 0.010127266682499378,
        24.9: -0.08600255759555425,
        25.1: -0.11062223322783099,
        100.0: -0.020372312002759792,
    },
    "special.airy_ai": {
        -20.0: -0.1764061270779847,
        -8.01: -0.062038322196627325,
        -7.99: -0.043329615727578125,
        -2.0: 0.22740742820168558,
        1.0: 0.13529241631288141,
        2.09: 0.03042031836319838,
        2.11: 0.029491175947627655,
        10.0: 1.1047532552898686e-10,
    },
}  # fmt: skip
OF_TWO: dict[str, dict[tuple[float, float], float]] = {
    "igamma": {
        (0.1, 0.01): 0.6626212599544798,
        (5.0, 2.0): 0.05265301734371116,
        (5.0, 9.0): 0.9450363585048951,
        (200.0, 180.0): 0.07485803498415958,
        (1000.0, 1010.0): 0.6276789447369947,
    },
    "igammac": {
        (0.1, 0.01): 0.3373787400455202,
        (5.0, 2.0): 0.9473469826562888,
        (5.0, 9.0): 0.0549636414951049,
        (200.0, 180.0): 0.9251419650158405,
        (1000.0, 1010.0): 0.3723210552630053,
    },
    "special.zeta": {
        (1.5, 0.1): 34.0529755150756,
        (2.0, 9.5): 0.11099728846909904,
        (7.0, 3.0): 0.0005367773819228268,
        (1.01, 4.0): 98.7517057560542,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", OF_ONE)
def test_functions_of_one(name: str) -> None:
    points, values = list(OF_ONE[name]), list(OF_ONE[name].values())
    found = operator.attrgetter(name)(lg)(lg.tensor(points, dtype=lg.float64))
    np.testing.assert_allclose(found.numpy(), values, 2e-14, 2e-14 if re.search("_j|_y|airy", name) else 0)


@pytest.mark.parametrize("name", OF_TWO)
def test_functions_of_two(name: str) -> None:
    first, second = [lg.tensor(numbers, dtype=lg.float64) for numbers in zip(*OF_TWO[name], strict=True)]
    found = operator.attrgetter(name)(lg)(first, second)
    np.testing.assert_allclose(found.numpy(), list(OF_TWO[name].values()), 1e-13)


# -- functions of the user's ------------------------------------------------------------------------------------------


def test_functions_of_elements() -> None:
    x, y = lg.tensor([[1.0, 2.0], [3.0, 4.0]]), lg.tensor([10.0, 20.0])
    version = x._version
    assert x.apply_(lambda a: a + 1) is x and x.tolist() == [[2.0, 3.0], [4.0, 5.0]] and x._version == version + 1
    assert x.t().map_(y, lambda a, b: a * b).tolist() == [[20.0, 80.0], [30.0, 100.0]]
    assert y.map2_(y, y, lambda a, b, c: a + b - c).tolist() == [10.0, 20.0]
    assert lg.tensor([1, 2]).apply_(lambda a: a + 0.5).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x.requires_grad_().apply_(abs), RuntimeError, "Can't call apply_() on Variable that requires grad."),
        (
            lambda x: x.map_(x.long(), max),
            TypeError,
            "map_: expected torch.FloatTensor for 'other' (got torch.Lo",
        ),
        (
            lambda x: x.map_(lg.ones(3), max),
            RuntimeError,
            "The expanded size of the tensor (2) must match",
        ),
        (lambda x: x.apply_(3), TypeError, "'int' object is not callable"),
    ],
)
def test_refused_elements(call: Callable[[Any], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        call(lg.ones(2))
    assert str(caught.value).startswith(message)


# -- complex logarithms, gradients near zero, and limits of 16 bits ---------------------------------------------------

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    "x, y",
    [
        (1e-19 + 1e-18j, 1e-19 + 1e-18j),
        (1e-18 + 0.1j, 0.00497516542658402 + 0.0996686524911620j),
        (0.1 + 1e-18j, 0.0953101798043249 + 9.09090909090909e-19j),
        (-1.0 + 2.0j, 0.693147180559945 + 1.57079632679490j),
        (1e250 + 1e250j, 575.992846838791 + 0.785398163397448j),
    ],
)
def test_log1p_of_complex_numbers(x: complex, y: complex) -> None:
    found = lg.log1p(lg.tensor(x, dtype=lg.complex128))
    np.testing.assert_allclose([found.real.item(), found.imag.item()], [y.real, y.imag], rtol=1e-13)
    changed = lg.tensor([x], dtype=lg.complex128)
    assert changed.log1p_().item() == found.item()


def test_logarithms_of_sums_of_infinite_complex_numbers() -> None:
    def logaddexp(x: complex, y: complex) -> complex:
        found: complex = lg.logaddexp(*[lg.tensor(value, dtype=lg.complex128) for value in (x, y)]).item()
        return found

    assert logaddexp(complex(INF, 0), complex(INF, 0)) == complex(INF, 0)
    assert logaddexp(complex(-INF, 0), complex(-INF, 0)) == complex(-INF, 0)
    np.testing.assert_allclose(logaddexp(complex(INF, 1), complex(INF, 1)), complex(INF, np.pi / 4))
    assert np.isnan(logaddexp(complex(NAN, 0), 1j)) and np.isnan(logaddexp(1 + 1j, complex(0, NAN)).imag)
    x = lg.tensor([complex(-INF, 0), 1, complex(INF, 1), 2], dtype=lg.complex128)
    assert x.logcumsumexp(0).tolist() == [complex(-INF, 0), 1, complex(INF, 1), complex(INF, 1)]


def test_slopes_of_sinc_near_zero() -> None:
    x = lg.tensor([0.0, 2.3e-308, 1e-200, 1.0], dtype=lg.float64, requires_grad=True)
    lg.sinc(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [0, 0, 0, -1], atol=1e-15)


def test_limits_of_shrinking_are_numbers_of_the_same_size() -> None:
    x = lg.tensor([0.3, 0.5, -0.3], dtype=lg.float16, requires_grad=True)
    for shrink in (lg.nn.functional.hardshrink, lg.nn.functional.softshrink):
        (gradient,) = lg.autograd.grad(shrink(x, 0.3).sum(), x)
        assert gradient.tolist() == [0, 1, 0]
    assert lg.hardshrink(x, 0.3).tolist() == [0, 0.5, 0]
    assert lg.nn.functional.threshold(x, 0.3, 9.0)[:2].tolist() == [x[0].item(), 0.5]  # which compares in float32


def test_infinite_medians() -> None:
    assert lg.empty(2).cauchy_(INF, 0.5).tolist() == [INF, INF]
    assert lg.empty(2).normal_(INF, 0.5).tolist() == [INF, INF]
