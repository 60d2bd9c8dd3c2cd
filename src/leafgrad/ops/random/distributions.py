"""Random numbers, bit for bit those of PyTorch 2.13 on the CPU.

Everything here works on NumPy arrays; the tensor layer wraps it. A function takes a generator (None means
`default_generator`), draws as many 32-bit words as PyTorch would, in PyTorch's order, and returns a fresh
C-contiguous array, or fills `out`, which must be one, and returns that. The numbers themselves are made by the
generator's stream, see `kernels/random_stream.py`; here are the checks, the shapes and the dtypes.

    >>> normal(Generator().manual_seed(0), (3,), np.float32)
    array([ 1.5409961, -0.2934289, -2.1787894], dtype=float32)
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leafgrad import errors
from leafgrad._dtypes import dtype as Dtype
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.kernels._random_numpy import libm
from leafgrad.kernels._random_rounding import add_scaled
from leafgrad.ops.random import rejection
from leafgrad.ops.random.dtypes import DIGITS, convert, is_float, largest, last_integer, require_dtype
from leafgrad.ops.random.generator import Generator as Generator
from leafgrad.ops.signature import Tensor, declared

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    Array = NDArray[Any]
    Out = Array | None
    Shape = int | Sequence[int]
    Source = Generator | None

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_FLOAT32, _FLOAT64, _INT64 = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int64)
_USUAL: dict[np.dtype[Any], np.dtype[Any]] = {_FLOAT32: _FLOAT32, _FLOAT64: _FLOAT64, _INT64: _INT64}


# ---------------------------------------------------------------------------------------------- generators


default_generator = Generator()
default_generator.seed()


@declared()
def manual_seed(seed: int) -> Generator:
    """manual_seed(seed): start the default generator anew; -1 means 2**64 - 1, and so on."""
    return default_generator.manual_seed(int(seed))


@declared()
def seed() -> int:
    """seed(): start the default generator anew with a number from the operating system, which is returned."""
    return default_generator.seed()


@declared()
def initial_seed() -> int:
    """initial_seed(): the number with which the default generator was started."""
    return default_generator.initial_seed()


@declared()
def get_rng_state() -> Tensor:
    """get_rng_state(): the state of the default generator, a tensor of bytes."""
    return default_generator.get_state()


@declared()
def set_rng_state(new_state: Tensor) -> None:
    """set_rng_state(new_state): go on from a state that get_rng_state() returned."""
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


# ---------------------------------------------------------------------------------------------- helpers


def _dims(shape: Shape) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def _usual(dtype: DTypeLike) -> np.dtype[Any]:
    """A dtype of NumPy; for the three frequent ones always the same object (a pickled array has its own)."""
    dtype = np.dtype(dtype)
    return _USUAL.get(dtype) or dtype


def _result(numbers: Array, dtype: np.dtype[Any], out: Out) -> Array:
    """Numbers which are not yet in `out`, in the dtype that was asked for."""
    values = convert(numbers, dtype)
    if out is None:
        return values
    out[...] = values
    return out


def _real_part_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.float32 if dtype.itemsize == 8 else np.float64)


# ---------------------------------------------------------------------------------------------- distributions


def uniform(
    gen: Source, shape: Shape, dtype: DTypeLike, low: float = 0.0, high: float = 1.0, *, out: Out = None
) -> Array:
    """Uniform on [low, high), as `tensor.uniform_(low, high)`."""
    gen = gen or default_generator
    if dtype is not _FLOAT32:
        dtype = _usual(dtype)
    if dtype is _FLOAT32 or dtype is _FLOAT64:  # nearly always
        if low != 0 or high != 1:
            _check_uniform_bounds(from_numpy_dtype(dtype), low, high)
        if out is None:
            out = np.empty(shape, dtype)
        with gen._lock:
            gen._stream.uniform(out, low, high)
        return out
    if dtype.kind == "c":
        return _joined(uniform(gen, (*_dims(shape), 2), _real_part_dtype(dtype), low, high), dtype, out)
    about = from_numpy_dtype(dtype)
    require_dtype(dtype, about.is_floating_point, "check_uniform_bounds")
    if low != 0 or high != 1:
        _check_uniform_bounds(about, low, high)
    values = convert(uniform(gen, shape, _FLOAT32, low, high), dtype)
    # Rounding can reach the excluded end; such a number becomes the included one.
    included, excluded = convert(np.array([low, high], np.float32), dtype)
    values[values == excluded] = included
    return _result(values, dtype, out)


def _joined(parts: Array, dtype: np.dtype[Any], out: Out) -> Array:
    """Real and imaginary parts as complex numbers."""
    return _result(parts.view(dtype)[..., 0], dtype, out)


def _check_uniform_bounds(about: Dtype, low: float, high: float) -> None:
    for bound, which in ((low, "from"), (high, "to")):
        if not abs(bound) <= largest(about):
            raise RuntimeError(f"{which} is out of bounds for {about.cpp}")
    if low > high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
    if high - low > largest(about):
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{about.alias}>::max(), "
            f"but found to={high:g} and from={low:g} which result in to-from to exceed the limit"
        )


def normal(
    gen: Source,
    shape: Shape,
    dtype: DTypeLike,
    mean: float = 0.0,
    std: float = 1.0,
    *,
    contiguous: bool = True,
    out: Out = None,
) -> Array:
    """Gaussian, as `tensor.normal_(mean, std)`; a complex number's two parts share the variance.

    Sixteen numbers or more come from the block method, fewer from the pair method, and so does every tensor that is
    not contiguous: say `contiguous=False` when the result fills one.
    """
    gen = gen or default_generator
    if dtype is not _FLOAT32:
        dtype = _usual(dtype)
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    if dtype.kind == "c":
        own, part, of_part = (*_dims(shape), 2), _real_part_dtype(dtype), std / math.sqrt(2)
        return _joined(normal(gen, own, part, mean, of_part, contiguous=contiguous), dtype, out)
    usual = dtype is _FLOAT32 or dtype is _FLOAT64
    numbers = out if usual and out is not None else np.empty(shape, dtype if usual else _FLOAT32)
    if not usual:
        require_dtype(dtype, numbers.size == 0 or is_float(dtype), "normal_kernel_cpu")
    with gen._lock:
        if contiguous and numbers.size >= 16:
            gen._stream.normal_blocks(numbers, mean, std, not usual)
        else:
            gen._next_normal = gen._stream.normal_pairs(numbers, mean, std, gen._next_normal)
    return numbers if usual else _result(numbers, dtype, out)


def log_normal(
    gen: Source, shape: Shape, dtype: DTypeLike, mean: float = 1.0, std: float = 2.0, *, out: Out = None
) -> Array:
    """exp of a Gaussian, as `tensor.log_normal_(mean, std)`; always by pairs."""
    dtype = _usual(dtype)
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    require_dtype(dtype, is_float(dtype), "log_normal_cpu")
    numbers = normal(gen, shape, _FLOAT64, mean, std, contiguous=False)
    return _result(libm("exp")(numbers.reshape(-1)).reshape(shape), dtype, out)


def exponential(gen: Source, shape: Shape, dtype: DTypeLike, lambd: float = 1.0, *, out: Out = None) -> Array:
    """-ln(1 - u) / lambd, as `tensor.exponential_(lambd)`."""
    gen, dtype = gen or default_generator, _usual(dtype)
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    usual = dtype is _FLOAT32 or dtype is _FLOAT64
    if not usual:
        _require_continuous("Exponential", dtype, from_numpy_dtype(dtype).alias)
    numbers = out if usual and out is not None else np.empty(shape, dtype if usual else _FLOAT64)
    with gen._lock:
        gen._stream.exponential(numbers, -1.0 / lambd)
    return numbers if usual else _result(numbers, dtype, out)


def cauchy(
    gen: Source, shape: Shape, dtype: DTypeLike, median: float = 0.0, sigma: float = 1.0, *, out: Out = None
) -> Array:
    """median + sigma tan(pi (u - 1/2)), as `tensor.cauchy_(median, sigma)`."""
    dtype = _usual(dtype)
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    _require_continuous("Cauchy", dtype, from_numpy_dtype(dtype).cpp)
    numbers = libm("tan")(math.pi * (_uniform64(gen, shape) - 0.5))
    add_scaled(numbers, sigma, median)
    return _result(numbers.reshape(shape), dtype, out)


def _require_continuous(distribution: str, dtype: np.dtype[Any], name: str) -> None:
    if not is_float(dtype):
        raise RuntimeError(
            f"{distribution} distribution is a continuous probability distribution. "
            f"dtype must be a floating point but you specified {name}"
        )


def geometric(gen: Source, shape: Shape, dtype: DTypeLike, p: float, *, out: Out = None) -> Array:
    """ceil(ln u / ln(1 - p)), as `tensor.geometric_(p)`."""
    dtype = _usual(dtype)
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    require_dtype(dtype, dtype.kind not in "bc", "geometric_cpu")
    with np.errstate(divide="ignore"):  # ln 0 does happen, once in 2**53
        numbers = np.ceil(libm("log")(_uniform64(gen, shape)) / math.log1p(-p))
        return _result(numbers.reshape(shape), dtype, out)


def _uniform64(gen: Source, shape: Shape) -> Array:
    """Uniforms in float64, in one dimension, so that functions of a single one are arrays as well."""
    return uniform(gen, shape, _FLOAT64).reshape(-1)


def bernoulli_p(gen: Source, shape: Shape, dtype: DTypeLike, p: float, *, out: Out = None) -> Array:
    """One with probability p, else zero, as `tensor.bernoulli_(p)`: two words each, for every dtype."""
    gen, dtype = gen or default_generator, _usual(dtype)
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    require_dtype(dtype, dtype.kind != "c", "bernoulli_scalar_cpu_")
    numbers = np.empty(shape, dtype) if out is None else out
    with gen._lock:
        gen._stream.bernoulli(numbers, p)
    return numbers


def bernoulli_t(gen: Source, probs: Array, dtype: DTypeLike | None = None) -> Array:
    """One with the probability found at each place, as `torch.bernoulli(probs)` and `tensor.bernoulli_(probs)`.

    The dtype of the probabilities decides how many words are drawn, whatever the dtype of the result.
    """
    dtype = _usual(dtype or probs.dtype)
    require_dtype(dtype, dtype.kind != "c", "bernoulli_tensor_cpu_self_")
    require_dtype(probs.dtype, is_float(probs.dtype), "bernoulli_tensor_cpu_p_")
    wide = _FLOAT64 if probs.dtype == _FLOAT64 else _FLOAT32
    p: Array = np.ascontiguousarray(probs, wide)  # which makes one dimension of none
    if p.size and not (p.min() >= 0 and p.max() <= 1):  # nan is neither
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    u = uniform(gen, probs.shape, wide)
    p = p.reshape(probs.shape)
    return np.less(u, p, out=u) if dtype is wide else convert(np.less(u, p, out=np.empty(u.shape, bool)), dtype)


def randint(gen: Source, low: int, high: int, shape: Shape, dtype: DTypeLike = np.int64) -> Array:
    """Integers in [low, high), in any real dtype, as `torch.randint(low, high, shape, dtype=dtype)`."""
    return random_(gen, shape, dtype, low, high)


def random_(
    gen: Source, shape: Shape, dtype: DTypeLike, low: int | None = None, high: int | None = None, *, out: Out = None
) -> Array:
    """As `tensor.random_(low, high)`: integers in [low, high), by default all that the dtype holds from zero on."""
    dtype = _usual(dtype)
    if dtype is _INT64 and low.__class__ is int and high.__class__ is int and _INT64_MIN < low < high <= _INT64_MAX:
        # What nearly every call of randint asks for: all of it fits.
        span = high - low
        return _integers(gen, shape, dtype, low, span, span >= 2**28, out)
    about = from_numpy_dtype(dtype)
    if low is None and high is None:
        require_dtype(dtype, dtype.kind != "c", "random_kernel_cpu")
        return _integers(gen, shape, dtype, 0, last_integer(about) + 1, about.name in ("int64", "float64"), out)
    if dtype.kind == "c":
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    if low == _INT64_MIN and high is None:
        accepted = about.name in ("int64", "float64", "float32", "bfloat16")
        require_dtype(dtype, accepted, "random_full_64_bits_range_kernel_cpu")
        return _integers(gen, shape, dtype, 0, 2**64, True, out)
    start = low or 0
    stop = last_integer(about) + 1 if high is None else high
    if start >= stop:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={start} >= to={stop}")
    if about.is_floating_point:
        start = _inwards(dtype, start, +1)
        stop = stop if high is None else _inwards(dtype, stop, -1)
    _check_integer_bounds(about, start, stop)
    # From 2**28 on, the remainder of a 32-bit word would favour small numbers too visibly.
    return _integers(gen, shape, dtype, start, stop - start, stop - start >= 2**28, out)


def _check_integer_bounds(about: Dtype, start: int, stop: int) -> None:
    if about.is_floating_point:
        if start >= stop:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, "
                f"but got from={start} >= to={stop}"
            )
        lowest, highest = -largest(about), largest(about)
    else:
        highest = min(last_integer(about), _INT64_MAX)
        lowest = 0 if about.name[0] in "ub" else -highest - 1
    for bound, which in ((start, "from"), (stop - 1, "to - 1")):
        if not lowest <= bound <= highest:
            raise RuntimeError(f"{which} is out of bounds for {about.cpp}")
        if about.is_floating_point and abs(bound) > last_integer(about):
            gaps = f"{which} is out of bounds [-(2^{DIGITS[about]}), 2^{DIGITS[about]}]. There {about.name} has gaps."
            errors.warn(gaps)


def _inwards(dtype: np.dtype[Any], bound: int, step: int) -> int:
    """Move an end of a range inwards, where the number next to it would be rounded out of the range."""
    neighbour = float(convert(np.array(bound + step), dtype))
    outside = neighbour < bound if step > 0 else neighbour >= bound
    if not outside or not _INT64_MIN <= neighbour <= _INT64_MAX:
        return bound
    gap = 1 << (abs(bound + step).bit_length() - DIGITS[from_numpy_dtype(dtype)])
    return int(neighbour) + step * gap


def _integers(gen: Source, shape: Shape, dtype: np.dtype[Any], base: int, span: int, wide: bool, out: Out) -> Array:
    """base + (word modulo span), modulo 2**64, with 64-bit words if `wide`."""
    gen = gen or default_generator
    usual = dtype is _INT64
    numbers = out if usual and out is not None else np.empty(shape, _INT64)
    with gen._lock:
        gen._stream.integers(numbers, base, span, wide)
    return numbers if usual else _result(numbers, dtype, out)


def randperm(gen: Source, n: int, dtype: DTypeLike = _INT64) -> Array:
    """0 .. n - 1 in random order, as `torch.randperm(n)`: an exchange with a random place, from the front."""
    gen, dtype = gen or default_generator, dtype if dtype is _INT64 else _usual(dtype)
    about = from_numpy_dtype(dtype)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    require_dtype(dtype, dtype.kind not in "bc", "randperm")
    if n - 1 > last_integer(about) and about.name != "bfloat16":
        if not about.is_floating_point:
            raise RuntimeError(f"value cannot be converted to type {about.name}_t without overflow")
        limit = "2049" if about.name == "float16" else f"2^{DIGITS[about]}+1"
        raise RuntimeError(f"n cannot be greater than {limit} for {about.alias} type.")
    order = np.empty(n, _INT64)
    with gen._lock:
        gen._stream.permutation(order)
    return order if dtype is _INT64 else convert(order, dtype)


def multinomial(gen: Source, probs: Array, num_samples: int, replacement: bool = False) -> Array:
    """Indices drawn with probabilities proportional to each row of `probs`, as `torch.multinomial`.

    Several samples without replacement come in the order of their scores; where two scores are equal (zero
    probabilities, 16-bit floats, thousands of categories) PyTorch may put the two the other way round.
    """
    _check_multinomial(probs, num_samples, replacement)
    if len(probs) == 0:
        return np.empty((0, num_samples), np.int64)
    if not replacement or num_samples == 1:
        return _multinomial_race(gen, probs, num_samples)
    wide = np.float64 if probs.dtype == np.float64 else np.float32
    rows: Array = np.cumsum(probs.reshape(-1, probs.shape[-1]), axis=1, dtype=wide)
    rows = rows / rows[:, -1:]
    u = uniform(gen, (len(rows), num_samples), _FLOAT64)
    drawn = [np.searchsorted(row, row_u) for row, row_u in zip(rows.astype(np.float64), u)]
    return np.stack(drawn).astype(np.int64).reshape(*probs.shape[:-1], num_samples)


def _multinomial_race(gen: Source, probs: Array, num_samples: int) -> Array:
    """Each category waits an exponential time divided by its probability; the first to arrive are drawn."""
    # PyTorch gives the times the strides of `probs`, and fills them in the order of memory.
    by_columns = probs.flags.f_contiguous and not probs.flags.c_contiguous
    waits = exponential(gen, probs.T.shape, probs.dtype).T if by_columns else exponential(gen, probs.shape, probs.dtype)
    with np.errstate(all="ignore"):
        speeds = probs / waits
    if num_samples == 1:
        fastest: Array = speeds.argmax(axis=-1, keepdims=True)
        return fastest.astype(np.int64, copy=False)
    order: Array = np.argsort(-speeds, axis=-1, kind="stable")
    return order[..., :num_samples].astype(np.int64)


def _check_multinomial(probs: Array, num_samples: int, replacement: bool) -> None:
    about = from_numpy_dtype(probs.dtype)
    if probs.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if not about.is_floating_point:
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {about.alias}")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > probs.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if probs.shape[-1] > 2**24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    if probs.size and probs.min() >= 0:  # nan is not
        most: Array = probs.max(axis=-1)
        if most.min() > 0 and most.max() < np.inf:
            return
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


def poisson(gen: Source, rates: Array) -> Array:
    """As `torch.poisson`."""
    return rejection.poisson(gen or default_generator, rates)


def binomial(gen: Source, parameters: Array) -> Array:
    """As `torch.binomial`, of counts and probabilities."""
    return rejection.binomial(gen or default_generator, parameters)


def standard_gamma(gen: Source, shapes: Array) -> Array:
    """As `torch._standard_gamma`."""
    return rejection.standard_gamma(gen or default_generator, shapes)


def dirichlet(gen: Source, concentrations: Array) -> Array:
    """As `torch._sample_dirichlet`."""
    return rejection.dirichlet(gen or default_generator, concentrations)


# How each function that draws is called inside of vmap, by the name of a method of leafgrad.func.randomness.ForSamples.
BATCHING: dict[Callable[..., Array], str] = {bernoulli_t: "by_array", multinomial: "by_array", randperm: "one_by_one"}
BATCHING |= dict.fromkeys((poisson, binomial, standard_gamma, dirichlet), "by_array")
for _draw in (uniform, normal, log_normal, exponential, cauchy, geometric, bernoulli_p, random_):
    BATCHING[_draw] = "by_shape"
