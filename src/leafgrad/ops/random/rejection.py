"""Random numbers that are proposed and then accepted or rejected, bit for bit those of PyTorch 2.13 on the CPU.

How many words of the generator a number takes is known only afterwards, so each is made by itself, by the stream.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from leafgrad.ops.random.dtypes import convert, is_float, require_dtype
from leafgrad.ops.random.generator import Generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


def poisson(generator: Generator, rates: Array) -> Array:
    """How many events there are, where so many are expected, as `torch.poisson(rates)`."""
    require_dtype(rates.dtype, is_float(rates.dtype), "poisson_cpu")
    if not np.all(rates >= 0):
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    drawn = np.empty(rates.shape)
    with generator._lock:
        generator._stream.poissons(drawn, rates.astype(np.float64, order="C"))
    return convert(drawn, rates.dtype)


def binomial(generator: Generator, parameters: Array) -> Array:
    """How many of `parameters[0]` trials succeed, each with probability `parameters[1]`, as `torch.binomial`."""
    count, p = parameters
    kind = count.dtype
    require_dtype(kind, kind.itemsize >= 4 and is_float(kind), "binomial_cpu")
    flipped = p > 0.5
    q = np.where(flipped, (1.0 - p.astype(np.float64)).astype(kind), p)  # of what is rarer, success or failure
    one = kind.type(1)
    each = [
        count,
        q,
        count * q,
        np.sqrt(count * q * (one - q)),
        q / (one - q),
        np.floor((count + one) * q),
        np.log1p(-q),
    ]
    rarer = np.empty(count.shape)
    with generator._lock:
        generator._stream.binomials(rarer, np.stack(each).astype(np.float64, order="C"))
    drawn = np.where(flipped, count - rarer, rarer)
    drawn = np.where((count <= 0) | (p <= 0), 0.0, np.where(p >= 1, count, drawn))
    unknown = np.isnan(count) | (np.isnan(p) & (count > 0))
    return convert(np.where(unknown, np.nan, drawn), kind)


def standard_gamma(generator: Generator, shapes: Array) -> Array:
    """Gamma distributed numbers with scale one, as `torch._standard_gamma(shapes)`; never zero."""
    kind = shapes.dtype
    require_dtype(kind, kind.itemsize >= 4 and is_float(kind), "gamma_cpu")
    drawn = np.empty(shapes.shape, kind)
    with generator._lock:
        dense = np.asarray(shapes, order="C")
        generator._next_normal = generator._stream.gammas(drawn, dense, generator._next_normal)
    return drawn


def dirichlet(generator: Generator, concentrations: Array) -> Array:
    """Probabilities along the last dimension, as `torch._sample_dirichlet`: gamma numbers over their sum."""
    kind = concentrations.dtype
    require_dtype(kind, kind.itemsize >= 4 and is_float(kind), "dirichlet")
    gammas = standard_gamma(generator, concentrations.astype(np.float64))
    numbers = gammas / (gammas.sum(-1, keepdims=True) if gammas.ndim else gammas)
    clipped: Array = np.clip(convert(numbers, kind), np.finfo(kind).tiny, np.nextafter(kind.type(1), kind.type(0)))
    return clipped
