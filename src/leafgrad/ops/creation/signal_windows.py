"""torch.signal.windows: windows of M points. Each is a function of numbers in equal steps, which are made first: so a
window that requires a gradient has a graph, as in PyTorch. A window that is not symmetric, but periodic, is the
beginning of one that is a point longer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from leafgrad import errors
from leafgrad._device import strided
from leafgrad._dtypes import float32, float64, get_default_dtype
from leafgrad.ops.creation.factories import empty, ones
from leafgrad.ops.creation.from_data import tensor
from leafgrad.ops.creation.ranges import arange, linspace
from leafgrad.ops.pointwise.bessel import i0
from leafgrad.ops.registry import composite
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.signature import Options, Tensor


def window(**given: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes a function a public one, of which the tests call two windows with the arguments `given`."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__.removeprefix("signal_windows_")

        def run(torch: Any, x: Any) -> Any:
            make = getattr(torch.signal.windows, name)
            return [x * make(5, **given, dtype=x.dtype), x * make(6, **given, sym=False, dtype=x.dtype)]

        samples = ValuesOnly("takes no tensor", lambda t: [S(t(1, dtype="float64"))], run)
        return composite(samples, places=(f"signal.windows.{name}",), public_name="", method=False)(function)

    return register


def few(name: str, length: int, options: dict[str, Any]) -> Any:
    """A window of no point, or of one; None if there are more."""
    kind, layout = options.get("dtype") or get_default_dtype(), options.get("layout")
    if length < 0:
        raise errors.mistake(ValueError, f"{name} requires non-negative window length, got M={length}")
    if layout is not None and layout is not strided:
        raise errors.mistake(ValueError, f"{name} is implemented for strided tensors only, got: {layout}")
    if kind not in (float32, float64):
        raise errors.mistake(ValueError, f"{name} expects float32 or float64 dtypes, got: {kind}")
    return None if length > 1 else ones(1, **options) if length else empty(0, **options)


def steps(start: float, step: float, length: int, options: dict[str, Any]) -> Any:
    """start, start + 1, ..., each times `step`."""
    return linspace(start * step, (start + length - 1) * step, length, **options)


def middle(length: int, sym: bool) -> float:
    return (length - 1 if sym or length == 1 else length) / 2


def positive(what: str, value: float) -> None:
    if value <= 0:
        raise errors.mistake(ValueError, f"{what} must be positive, got: {value} instead.")


@window()
def signal_windows_bartlett(M: int, *, sym: bool = True, **options: Options) -> Tensor:
    """signal.windows.bartlett(M, *, sym=True, **options): a triangle."""
    if (made := few("bartlett", M, options)) is not None:
        return made
    step = 2 / (M - 1 if sym else M)
    return 1 - linspace(-1, -1 + (M - 1) * step, M, **options).abs()


@window()
def signal_windows_cosine(M: int, *, sym: bool = True, **options: Options) -> Tensor:
    """signal.windows.cosine(M, *, sym=True, **options): half a period of a sine."""
    if (made := few("cosine", M, options)) is not None:
        return made
    return steps(0.5, math.pi / (M if sym else M + 1), M, options).sin()


@window(tau=2.0)
def signal_windows_exponential(
    M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, **options: Options
) -> Tensor:
    """signal.windows.exponential(M, *, center=None, tau=1.0, sym=True, **options): exp(-|k - center| / tau)."""
    made = few("exponential", M, options)
    positive("Tau", tau)
    if sym and center is not None:
        raise errors.mistake(ValueError, "Center must be None for symmetric windows")
    if M == 0:
        return made
    return (-steps(-(middle(M, sym) if center is None else center), 1 / tau, M, options).abs()).exp()


@window(std=2.0)
def signal_windows_gaussian(M: int, *, std: float = 1.0, sym: bool = True, **options: Options) -> Tensor:
    """signal.windows.gaussian(M, *, std=1.0, sym=True, **options): the bell of a normal distribution."""
    made = few("gaussian", M, options)
    positive("Standard deviation", std)
    if M == 0:
        return made
    return (-(steps(-middle(M, sym), 1 / (std * math.sqrt(2)), M, options) ** 2)).exp()


@window(beta=3.0)
def signal_windows_kaiser(M: int, *, beta: float = 12.0, sym: bool = True, **options: Options) -> Tensor:
    """signal.windows.kaiser(M, *, beta=12.0, sym=True, **options): a Bessel function of a half circle."""
    made = few("kaiser", M, options)
    if beta < 0:
        raise errors.mistake(ValueError, f"beta must be non-negative, got: {beta} instead.")
    if made is not None:
        return made
    end = min(beta, -beta + (M - 1) * 2 * beta / (M - 1 if sym else M))
    k = linspace(-beta, end, M, **options)
    height = tensor(beta, dtype=options.get("dtype"))
    return i0.function((height * height - k**2).sqrt()) / i0.function(height)


# -- sums of cosines --------------------------------------------------------------------------------------------------


def cosines(length: int, weights: Any, sym: bool, options: dict[str, Any], name: str = "general_cosine") -> Any:
    """A sum of cosines with alternating signs."""
    if (made := few(name, length, options)) is not None:
        return made
    if not isinstance(weights, (list, tuple)):
        raise errors.mistake(TypeError, "Coefficients must be a list/tuple")
    if not weights:
        raise errors.mistake(ValueError, "Coefficients cannot be empty")
    angles = steps(0, 2 * math.pi / (length - 1 if sym else length), length, options)
    constant = {**options, "requires_grad": False}
    factors = tensor([(-1) ** k * weight for k, weight in enumerate(weights)], **constant)
    orders = arange(len(weights), **{"dtype": angles.dtype, **constant})
    return (factors.unsqueeze(-1) * (orders.unsqueeze(-1) * angles).cos()).sum(0)


@window(a=[0.6, 0.3, 0.1])
def signal_windows_general_cosine(M: int, *, a: Any, sym: bool = True, **options: Options) -> Tensor:
    """signal.windows.general_cosine(M, *, a, sym=True, **options): a[0] - a[1] cos(x) + a[2] cos(2 x) - ..."""
    return cosines(M, a, sym, options)


@window(alpha=0.7)
def signal_windows_general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, **options: Options) -> Tensor:
    """signal.windows.general_hamming(M, *, alpha=0.54, sym=True, **options): alpha - (1 - alpha) cos(x)."""
    return cosines(M, [alpha, 1.0 - alpha], sym, options)


@window()
def signal_windows_hamming(M: int, *, sym: bool = True, **options: Options) -> Tensor:
    """signal.windows.hamming(M, *, sym=True, **options): 0.54 - 0.46 cos(x)."""
    return cosines(M, [0.54, 0.46], sym, options)


@window()
def signal_windows_hann(M: int, *, sym: bool = True, **options: Options) -> Tensor:
    """signal.windows.hann(M, *, sym=True, **options): (1 - cos(x)) / 2."""
    return cosines(M, [0.5, 0.5], sym, options)


@window()
def signal_windows_blackman(M: int, *, sym: bool = True, **options: Options) -> Tensor:
    """signal.windows.blackman(M, *, sym=True, **options): 0.42 - 0.5 cos(x) + 0.08 cos(2 x)."""
    return cosines(M, [0.42, 0.5, 0.08], sym, options, "blackman")


@window()
def signal_windows_nuttall(M: int, *, sym: bool = True, **options: Options) -> Tensor:
    """signal.windows.nuttall(M, *, sym=True, **options): four cosines, whose weights keep what leaks low."""
    return cosines(M, [0.3635819, 0.4891775, 0.1365995, 0.0106411], sym, options)
