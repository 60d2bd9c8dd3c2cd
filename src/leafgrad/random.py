"""Random numbers, bit for bit those of PyTorch 2.13 on the CPU.

Everything here works on NumPy arrays; the tensor layer wraps it. A function takes a generator (None means
`default_generator`), draws as many 32-bit words as PyTorch would, in PyTorch's order, and returns a fresh
C-contiguous array. Two facts run through the file:

- A float64 costs two words (53 bits are kept), everything narrower costs one (24 bits are kept).
- PyTorch's kernels are compiled with fused multiply-add, which rounds once where NumPy rounds twice. `_fma` does
  the same, and so do the float32 logarithm and sine in `_mt19937.py`.

    >>> normal(Generator().manual_seed(0), (3,), np.float32)
    array([ 1.5409961, -0.2934289, -2.1787894], dtype=float32)
"""

from __future__ import annotations

import contextlib
import functools
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._mt19937 import Generator as Generator
from ._mt19937 import libm, normal_blocks, normal_pairs, uniform32, uniform64

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    Array = NDArray[Any]
    Shape = int | Sequence[int]

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1


# ---------------------------------------------------------------------------------------------- generators


default_generator = Generator()
default_generator.seed()


def manual_seed(seed: int) -> Generator:
    """Seed the default generator; -1 means 2**64 - 1, and so on."""
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    return default_generator.seed()


def initial_seed() -> int:
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """The state of the default generator, a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Go on from a state that `get_rng_state` returned."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices: Any = (), enabled: bool = True) -> Iterator[None]:
    """What is drawn inside leaves the default generator as it was."""
    if devices:
        raise RuntimeError("fork_rng(): leafgrad computes on the CPU only, and other devices were named")
    state = default_generator.get_state_array()
    try:
        yield
    finally:
        if enabled:
            default_generator.set_state_array(state)


# ---------------------------------------------------------------------------------------------- one rounding


def _two_sum(a: Array, b: Array | float) -> tuple[Array, Array]:
    """a + b rounded, and what the rounding lost (Knuth)."""
    total = a + b
    b_part = total - a
    return total, (a - (total - b_part)) + (b - b_part)


def _two_product(a: Array, b: float) -> tuple[Array, Array]:
    """a * b rounded, and what the rounding lost (Dekker, for float64)."""

    def halves(x: Any) -> tuple[Any, Any]:
        scaled = x * 134217729.0  # 2**27 + 1
        high = scaled - (scaled - x)
        return high, x - high

    product = a * b
    (a_high, a_low), (b_high, b_low) = halves(a), halves(b)
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _fma(a: Array, b: float, c: float) -> Array:
    """a * b + c rounded once, in a's dtype, which is float32 or float64."""
    real = a.dtype.type
    if b == 1 or c == 0:  # then one of the two roundings does nothing
        moved: Array = a + real(c) if b == 1 else a * real(b) + real(c)
        return moved
    out: Array = np.empty_like(a)
    for start in range(0, len(a), 4096):  # a piece at a time, so that the intermediate results stay in cache
        piece = a[start : start + 4096]
        fused = _fma_by_float64 if real is np.float32 else _fma_in_float64
        out[start : start + 4096] = fused(piece, b, c)
    return out


def _fma_by_float64(a: Array, b: float, c: float) -> Array:
    """For float32, whose products are exact in float64. Only the sum is rounded before it is rounded to float32."""
    product = a.astype(np.float64) * b
    total = product + c
    # That is once too often where the sum has become a tie between two float32 and was none: a nudge decides it.
    ties = np.flatnonzero(total.view(np.int64) & 0x1FFFFFFF == 0x10000000)
    if len(ties):
        tie, lost = _two_sum(product[ties], c)
        total[ties] = np.where(lost == 0, tie, np.nextafter(tie, np.copysign(np.inf, lost)))
    return total.astype(np.float32)


def _fma_in_float64(a: Array, b: float, c: float) -> Array:
    """For float64, with twice its precision in pairs of numbers; wrong with a probability of about 2**-53."""
    if abs(b) > 2.0**900:  # keep clear of overflow in the intermediate results
        return np.ldexp(_fma_in_float64(a, b * 2.0**-200, c * 2.0**-200), 200)
    product, product_lost = _two_product(a, b)
    total, total_lost = _two_sum(product, c)
    result: Array = total + (total_lost + product_lost)
    return result


# ---------------------------------------------------------------------------------------------- helpers


class _Facts(NamedTuple):
    """About a dtype: its name, PyTorch's name for it, the C++ name that PyTorch's messages use."""

    name: str
    torch: str
    cpp: str
    digits: int = 0  # bits of a float's significand with the hidden one; 0 if it is no float
    largest: float = math.inf  # finite number, where it matters

    @property
    def is_float(self) -> bool:
        return self.digits > 0

    @property
    def last_integer(self) -> int:
        """The largest integer; for a float, the end of those that it holds without gaps."""
        if self.is_float:
            return 1 << self.digits
        return 1 if self.name == "bool" else int(np.iinfo(self.name).max)


_FACTS = [
    _Facts("uint8", "Byte", "unsigned char"),
    _Facts("int8", "Char", "signed char"),
    _Facts("int16", "Short", "short int"),
    _Facts("int32", "Int", "int"),
    _Facts("int64", "Long", "long int"),
    _Facts("uint16", "UInt16", "short unsigned int"),
    _Facts("uint32", "UInt32", "unsigned int"),
    _Facts("uint64", "UInt64", "long unsigned int"),
    _Facts("bool", "Bool", "bool"),
    _Facts("float16", "Half", "c10::Half", 11, 65504.0),
    _Facts("bfloat16", "BFloat16", "c10::BFloat16", 8, 3.3895313892515355e38),
    _Facts("float32", "Float", "float", 24, 3.4028234663852886e38),
    _Facts("float64", "Double", "double", 53),
    _Facts("complex64", "ComplexFloat", "c10::complex<float>"),
    _Facts("complex128", "ComplexDouble", "c10::complex<double>"),
]
_INTEGER_AND_FLOAT = ("uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
_REAL = (*_INTEGER_AND_FLOAT, "bool")  # the younger uint16, uint32 and uint64 are unknown to most kernels


@functools.cache
def _facts(dtype: np.dtype[Any]) -> _Facts:
    # By name, because bfloat16 comes from ml_dtypes, which need not be installed.
    return next(facts for facts in _FACTS if facts.name == dtype.name)


def _require_dtype(dtype: np.dtype[Any], accepted: bool, kernel: str) -> None:
    if not accepted:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{_facts(dtype).torch}'")


def _dims(shape: Shape) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def _convert(values: Array, dtype: np.dtype[Any]) -> Array:
    """Cast as PyTorch does: to a 16-bit float by way of float32, which is not always the nearest."""
    if values.dtype == dtype:
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype.itemsize == 2 and _facts(dtype).is_float:
            values = values.astype(np.float32)
        return values.astype(dtype)


def _real_part_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.float32 if dtype.itemsize == 8 else np.float64)


# ---------------------------------------------------------------------------------------------- distributions


def uniform(gen: Generator | None, shape: Shape, dtype: DTypeLike, low: float = 0.0, high: float = 1.0) -> Array:
    """Uniform on [low, high), as `tensor.uniform_(low, high)`."""
    gen, dtype, shape = gen or default_generator, np.dtype(dtype), _dims(shape)
    if dtype.kind == "c":
        return uniform(gen, (*shape, 2), _real_part_dtype(dtype), low, high).view(dtype)[..., 0]
    facts = _facts(dtype)
    _require_dtype(dtype, facts.is_float, "check_uniform_bounds")
    if low != 0 or high != 1:
        _check_uniform_bounds(facts, low, high)
    with gen._lock:
        unit = (uniform64 if dtype == np.float64 else uniform32)(gen, math.prod(shape))
    real = unit.dtype.type
    values = _convert(_fma(unit, float(real(high) - real(low)), float(real(low))), dtype)
    if dtype.itemsize == 2 or low != 0 or high != 1:
        # Rounding can reach the excluded end; such a number becomes the included one.
        included, excluded = _convert(np.array([low, high], real), dtype)
        values[values == excluded] = included
    return values.reshape(shape)


def _check_uniform_bounds(facts: _Facts, low: float, high: float) -> None:
    for bound, which in ((low, "from"), (high, "to")):
        if not abs(bound) <= facts.largest:
            raise RuntimeError(f"{which} is out of bounds for {facts.cpp}")
    if low > high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
    if high - low > facts.largest:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{facts.torch}>::max(), "
            f"but found to={high:g} and from={low:g} which result in to-from to exceed the limit"
        )


def normal(
    gen: Generator | None,
    shape: Shape,
    dtype: DTypeLike,
    mean: float = 0.0,
    std: float = 1.0,
    *,
    contiguous: bool = True,
) -> Array:
    """Gaussian, as `tensor.normal_(mean, std)`; a complex number's two parts share the variance.

    Sixteen numbers or more come from the block method, fewer from the pair method, and so does every tensor that is
    not contiguous: say `contiguous=False` when the result fills one.
    """
    gen, dtype, shape = gen or default_generator, np.dtype(dtype), _dims(shape)
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    if dtype.kind == "c":
        parts = normal(gen, (*shape, 2), _real_part_dtype(dtype), mean, std / math.sqrt(2), contiguous=contiguous)
        return parts.view(dtype)[..., 0]
    count = math.prod(shape)
    _require_dtype(dtype, count == 0 or _facts(dtype).is_float, "normal_kernel_cpu")
    with gen._lock:
        standard = normal_blocks(gen, count, dtype) if count >= 16 and contiguous else normal_pairs(gen, count)
    real = standard.dtype.type
    return _convert(_fma(standard, float(real(std)), float(real(mean))), dtype).reshape(shape)


def log_normal(gen: Generator | None, shape: Shape, dtype: DTypeLike, mean: float = 1.0, std: float = 2.0) -> Array:
    """exp of a Gaussian, as `tensor.log_normal_(mean, std)`; always by pairs."""
    gen, dtype, shape = gen or default_generator, np.dtype(dtype), _dims(shape)
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    _require_dtype(dtype, _facts(dtype).is_float, "log_normal_cpu")
    with gen._lock:
        standard = normal_pairs(gen, math.prod(shape))
    return _convert(libm("exp")(_fma(standard, std, mean)), dtype).reshape(shape)


def exponential(gen: Generator | None, shape: Shape, dtype: DTypeLike, lambd: float = 1.0) -> Array:
    """-ln(1 - u) / lambd, as `tensor.exponential_(lambd)`."""
    dtype = np.dtype(dtype)
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    if not _facts(dtype).is_float:
        raise _not_continuous("Exponential", _facts(dtype).torch)
    return _from_uniform64(gen, shape, dtype, lambda u: (-1.0 / lambd) * libm("log1p")(-u))


def cauchy(gen: Generator | None, shape: Shape, dtype: DTypeLike, median: float = 0.0, sigma: float = 1.0) -> Array:
    """median + sigma tan(pi (u - 1/2)), as `tensor.cauchy_(median, sigma)`."""
    dtype = np.dtype(dtype)
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    if not _facts(dtype).is_float:
        raise _not_continuous("Cauchy", _facts(dtype).cpp)
    return _from_uniform64(gen, shape, dtype, lambda u: _fma(libm("tan")(math.pi * (u - 0.5)), sigma, median))


def _not_continuous(distribution: str, dtype_name: str) -> RuntimeError:
    return RuntimeError(
        f"{distribution} distribution is a continuous probability distribution. "
        f"dtype must be a floating point but you specified {dtype_name}"
    )


def geometric(gen: Generator | None, shape: Shape, dtype: DTypeLike, p: float) -> Array:
    """ceil(ln u / ln(1 - p)), as `tensor.geometric_(p)`."""
    dtype = np.dtype(dtype)
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    _require_dtype(dtype, _facts(dtype).name in _INTEGER_AND_FLOAT, "geometric_cpu")
    with np.errstate(divide="ignore"):  # ln 0 does happen, once in 2**53
        return _from_uniform64(gen, shape, dtype, lambda u: np.ceil(libm("log")(u) / math.log1p(-p)))


def bernoulli_p(gen: Generator | None, shape: Shape, dtype: DTypeLike, p: float) -> Array:
    """One with probability p, else zero, as `tensor.bernoulli_(p)`: two words each, for every dtype."""
    dtype = np.dtype(dtype)
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    _require_dtype(dtype, _facts(dtype).name in _REAL, "bernoulli_scalar_cpu_")
    return _from_uniform64(gen, shape, dtype, lambda u: u < p)


def _from_uniform64(
    gen: Generator | None, shape: Shape, dtype: np.dtype[Any], formula: Callable[[Array], Array]
) -> Array:
    gen, shape = gen or default_generator, _dims(shape)
    with gen._lock:
        u = uniform64(gen, math.prod(shape))
    return _convert(formula(u), dtype).reshape(shape)


def bernoulli_t(gen: Generator | None, probs: Array, dtype: DTypeLike | None = None) -> Array:
    """One with the probability found at each place, as `torch.bernoulli(probs)` and `tensor.bernoulli_(probs)`.

    The dtype of the probabilities decides how many words are drawn, whatever the dtype of the result.
    """
    gen, dtype = gen or default_generator, np.dtype(dtype or probs.dtype)
    _require_dtype(dtype, _facts(dtype).name in _REAL, "bernoulli_tensor_cpu_self_")
    _require_dtype(probs.dtype, _facts(probs.dtype).is_float, "bernoulli_tensor_cpu_p_")
    wide = np.float64 if probs.dtype == np.float64 else np.float32
    p: Array = np.ascontiguousarray(probs).astype(wide)
    if not np.all((p >= 0) & (p <= 1)):
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    with gen._lock:
        u = (uniform64 if wide is np.float64 else uniform32)(gen, p.size)
    return _convert(u.reshape(p.shape) < p, dtype)


def randint(gen: Generator | None, low: int, high: int, shape: Shape, dtype: DTypeLike = np.int64) -> Array:
    """Integers in [low, high), in any real dtype, as `torch.randint(low, high, shape, dtype=dtype)`."""
    return random_(gen, shape, dtype, low, high)


def random_(
    gen: Generator | None, shape: Shape, dtype: DTypeLike, low: int | None = None, high: int | None = None
) -> Array:
    """As `tensor.random_(low, high)`: integers in [low, high), by default all that the dtype holds from zero on."""
    dtype = np.dtype(dtype)
    facts = _facts(dtype)
    if dtype.kind == "c":
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    if low is None and high is None:
        _require_dtype(dtype, facts.name in _REAL, "random_kernel_cpu")
        return _integers(gen, shape, dtype, 0, facts.last_integer + 1, facts.name in ("int64", "float64"))
    if low == _INT64_MIN and high is None:
        accepted = facts.name in ("int64", "float64", "float32", "bfloat16")
        _require_dtype(dtype, accepted, "random_full_64_bits_range_kernel_cpu")
        return _integers(gen, shape, dtype, 0, 2**64, True)
    start = low or 0
    stop = facts.last_integer + 1 if high is None else high
    if start >= stop:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={start} >= to={stop}")
    if facts.is_float:
        start = _inwards(dtype, start, +1)
        stop = stop if high is None else _inwards(dtype, stop, -1)
    _check_integer_bounds(facts, start, stop)
    # From 2**28 on, the remainder of a 32-bit word would favour small numbers too visibly.
    return _integers(gen, shape, dtype, start, stop - start, stop - start >= 2**28)


def _check_integer_bounds(facts: _Facts, start: int, stop: int) -> None:
    if facts.is_float:
        if start >= stop:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, "
                f"but got from={start} >= to={stop}"
            )
        lowest, highest = -facts.largest, facts.largest
    else:
        highest = min(facts.last_integer, _INT64_MAX)
        lowest = 0 if facts.name[0] in "ub" else -highest - 1
    for bound, which in ((start, "from"), (stop - 1, "to - 1")):
        if not lowest <= bound <= highest:
            raise RuntimeError(f"{which} is out of bounds for {facts.cpp}")
        if facts.is_float and abs(bound) > facts.last_integer:
            gaps = f"{which} is out of bounds [-(2^{facts.digits}), 2^{facts.digits}]. There {facts.name} has gaps."
            warnings.warn(gaps, stacklevel=4)


def _inwards(dtype: np.dtype[Any], bound: int, step: int) -> int:
    """Move an end of a range inwards, where the number next to it would be rounded out of the range."""
    neighbour = float(_convert(np.array(bound + step), dtype))
    outside = neighbour < bound if step > 0 else neighbour >= bound
    if not outside or not _INT64_MIN <= neighbour <= _INT64_MAX:
        return bound
    gap = 1 << (abs(bound + step).bit_length() - _facts(dtype).digits)
    return int(neighbour) + step * gap


def _integers(gen: Generator | None, shape: Shape, dtype: np.dtype[Any], base: int, span: int, wide: bool) -> Array:
    """base + (word modulo span), modulo 2**64, with 64-bit words if `wide`."""
    gen, shape = gen or default_generator, _dims(shape)
    with gen._lock:
        words = (gen._engine.words64 if wide else gen._engine.words)(math.prod(shape))
    if span < 2**64:
        words %= np.uint64(span)
    words += np.uint64(base % 2**64)
    return _convert(words.view(np.int64), dtype).reshape(shape)


def randperm(gen: Generator | None, n: int, dtype: DTypeLike = np.int64) -> Array:
    """0 .. n - 1 in random order, as `torch.randperm(n)`: an exchange with a random place, from the front."""
    gen, dtype = gen or default_generator, np.dtype(dtype)
    facts = _facts(dtype)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    if dtype.kind != "b" and n - 1 > facts.last_integer and facts.name != "bfloat16":
        if not facts.is_float:
            raise RuntimeError(f"value cannot be converted to type {facts.name}_t without overflow")
        limit = "2049" if facts.name == "float16" else f"2^{facts.digits}+1"
        raise RuntimeError(f"n cannot be greater than {limit} for {facts.torch} type.")
    _require_dtype(dtype, facts.name in _INTEGER_AND_FLOAT, "randperm")
    with gen._lock:
        words = gen._engine.words(max(n - 1, 0))
    places = np.arange(n - 1, dtype=np.uint64)
    places += words % (np.uint64(n) - places)
    order = list(range(n))
    for here, there in enumerate(places.tolist()):
        order[here], order[there] = order[there], order[here]
    return _convert(np.array(order, np.int64), dtype)


def multinomial(gen: Generator | None, probs: Array, num_samples: int, replacement: bool = False) -> Array:
    """Indices drawn with probabilities proportional to each row of `probs`, as `torch.multinomial`.

    Several samples without replacement come in the order of their scores; where two scores are equal (zero
    probabilities, 16-bit floats, thousands of categories) PyTorch may put the two the other way round.
    """
    gen = gen or default_generator
    _check_multinomial(probs, num_samples, replacement)
    if len(probs) == 0:
        return np.empty((0, num_samples), np.int64)
    if not replacement or num_samples == 1:
        return _multinomial_race(gen, probs, num_samples)
    wide = np.float64 if probs.dtype == np.float64 else np.float32
    rows: Array = np.cumsum(probs.reshape(-1, probs.shape[-1]), axis=1, dtype=wide)
    rows = rows / rows[:, -1:]
    with gen._lock:
        u = uniform64(gen, len(rows) * num_samples).reshape(len(rows), num_samples)
    drawn = [np.searchsorted(row, row_u) for row, row_u in zip(rows.astype(np.float64), u)]
    return np.stack(drawn).astype(np.int64).reshape(*probs.shape[:-1], num_samples)


def _multinomial_race(gen: Generator, probs: Array, num_samples: int) -> Array:
    """Each category waits an exponential time divided by its probability; the first to arrive are drawn."""
    # PyTorch gives the times the strides of `probs`, and fills them in the order of memory.
    by_columns = probs.flags.f_contiguous and not probs.flags.c_contiguous
    waits = exponential(gen, probs.T.shape, probs.dtype).T if by_columns else exponential(gen, probs.shape, probs.dtype)
    with np.errstate(all="ignore"):
        speeds = probs / waits
    if num_samples == 1:
        fastest: Array = np.argmax(speeds, axis=-1, keepdims=True)
        return fastest.astype(np.int64)
    order: Array = np.argsort(-speeds, axis=-1, kind="stable")
    return order[..., :num_samples].astype(np.int64)


def _check_multinomial(probs: Array, num_samples: int, replacement: bool) -> None:
    facts = _facts(probs.dtype)
    if probs.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if not facts.is_float:
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {facts.torch}")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > probs.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if probs.shape[-1] > 2**24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    negative, finite = bool(np.any(probs < 0)), bool(np.all(np.isfinite(probs)))
    if not replacement or num_samples == 1:
        if negative or not finite:
            raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    elif negative:
        raise RuntimeError("invalid multinomial distribution (encountering probability entry < 0)")
    elif not finite:
        raise RuntimeError("invalid multinomial distribution (encountering probability entry = infinity or NaN)")
    if not np.all(np.any(probs > 0, axis=-1)):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
