"""A stream of random numbers, computed with NumPy. Where `_random.c` was built, its `Stream` does the same faster.

NumPy ships MT19937 in C, so nothing is twisted or tempered here. `numpy.random` is imported at the first draw, because
importing it takes time and many programs that import leafgrad never draw. From the 32-bit words come uniforms on
[0, 1), and from those standard normals; `leafgrad/ops/random/distributions.py` makes distributions of them.

Arrays that are filled (`out`) lie dense in memory and hold float32 or float64 unless told otherwise.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from leafgrad.kernels import _random_rejection
from leafgrad.kernels._random_rounding import add_scaled, spacing

if TYPE_CHECKING:
    from numpy.random import MT19937, RandomState
    from numpy.typing import NDArray

    Array = NDArray[Any]

WORDS = 624  # 32-bit words in the state, and outputs between two twists
FEW = 16  # up to here Python's own arithmetic is faster than NumPy's
PIECE = 16 * WORDS  # so many at a time, so that the intermediate results stay in cache

# As arrays without dimensions, which NumPy takes much faster than numbers.
_LOW_24 = np.array(0xFFFFFF, np.uint32)
_LOW_53 = np.array(2**53 - 1, np.uint64)
_UNIT32 = np.array(2.0**-24, np.float32)
_UNIT64 = np.array(2.0**-53)
_HALF = np.array(32, np.uint64)


class Stream:
    """A stream of 32-bit words and what is made of them. Not locked: the Generator that owns it holds the lock."""

    def __init__(self, seed: int) -> None:
        self._bits: MT19937 | None = None
        self._seeder: RandomState | None = None
        self.changes = 0  # of the state
        self.reseed(seed)

    def reseed(self, seed: int) -> None:
        """Start anew from a number of 32 bits."""
        self._seed = seed
        self.fresh = True  # seeded and nothing drawn yet; PyTorch saves this state differently from "all 624 used"
        self.changes += 1
        self._forget(WORDS)
        if self._seeder is not None:
            self._seeder.seed(seed)

    def _forget(self, position: int) -> None:
        """NumPy's generator was changed: it has used `position` words of its 624, and no words wait in the block."""
        self._numpy_position = position
        self._block = _NO_WORDS  # words up to the next twist, drawn but not used: small draws take them from here
        self._uniforms: Array | None = None  # the same words as float32
        self._used = 0  # of the block

    def _source(self) -> MT19937:
        if self._bits is None:
            from numpy.random import MT19937, RandomState

            self._bits = MT19937(0)
            # RandomState.seed is the public way to NumPy's pre-2019 seeding, which is the one PyTorch uses.
            self._seeder = RandomState(self._bits)
            self._seeder.seed(self._seed)
        return self._bits

    def state(self) -> tuple[bytes, int]:
        """The 624 words from which the outputs are made, and how many of those have been used."""
        state: Any = self._source().state["state"]
        waiting = len(self._block) - self._used
        return np.asarray(state["key"], np.uint32).tobytes(), int(state["pos"]) - waiting

    def load(self, key: bytes, position: int, fresh: bool) -> None:
        """Go on from a state."""
        words = np.frombuffer(key, np.uint32).copy()
        self._source().state = {"bit_generator": "MT19937", "state": {"key": words, "pos": position}}
        self._forget(position)
        self.fresh = fresh
        self.changes += 1

    # -- words --------------------------------------------------------------------------------------------------------

    def words(self, count: int) -> NDArray[np.uint64]:
        """The next `count` outputs, each in 0 .. 2**32 - 1. They are not to be written to."""
        if count == 0:
            return _NO_WORDS
        self.changes += 1
        self.fresh = False
        return self._take(count)

    def _take(self, count: int) -> NDArray[np.uint64]:
        first = self._used
        self._used = end = first + count
        if end <= len(self._block):
            return self._block[first:end]
        rest = self._block[first:]
        missing = count - len(rest)
        drawn = self._draw(missing) if missing > WORDS else self._take_new(missing)
        return np.concatenate([rest, drawn]) if len(rest) else drawn

    def _draw(self, count: int) -> NDArray[np.uint64]:
        drawn: NDArray[np.uint64] = self._source().random_raw(count)
        self._forget((self._numpy_position + count - 1) % WORDS + 1)
        return drawn

    def _take_new(self, count: int) -> NDArray[np.uint64]:
        """The next few words, when none wait in the block. What is left up to the next twist will wait there."""
        block = self._draw(WORDS - self._numpy_position % WORDS)
        self._block = block
        return self._take(count)

    def words64(self, count: int) -> NDArray[np.uint64]:
        """The next `count` 64-bit numbers: two outputs each, the first is the high half."""
        halves = self.words(2 * count)
        joined: NDArray[np.uint64] = np.left_shift(halves[0::2], _HALF)
        joined |= halves[1::2]
        return joined

    def integers(self, out: Array, base: int, span: int, wide: bool) -> None:
        """base + (word modulo span), modulo 2**64, into int64; with 64-bit words if `wide`."""
        out = out.reshape(-1)
        if len(out) <= FEW and not wide:
            out[...] = [(base + word % span + 2**63) % 2**64 - 2**63 for word in self.words(len(out)).tolist()]
            return
        divisor, first = np.array(span % 2**64, np.uint64), np.array(base % 2**64, np.uint64)
        numbers = out.view(np.uint64)
        for piece in pieces(len(out)):
            part = numbers[piece]
            words = (self.words64 if wide else self.words)(len(part))
            if span < 2**64:
                words = np.remainder(words, divisor, out=part)
            np.add(words, first, out=part)

    def permutation(self, out: Array) -> None:
        """0, 1, ... in random order, into int64: an exchange with a random place, from the front."""
        out = out.reshape(-1)
        count = len(out)
        if count < 2:
            out.fill(0)
            return
        places: Array = np.arange(count - 1, dtype=np.uint64)
        places += self.words(count - 1) % (np.uint64(count) - places)
        order = list(range(count))
        for here, there in enumerate(places.tolist()):
            order[here], order[there] = order[there], order[here]
        out[...] = order

    # -- uniforms -----------------------------------------------------------------------------------------------------

    def uniform(self, out: Array, low: float = 0.0, high: float = 1.0) -> None:
        """Uniform on [low, high). A float64 costs two words (53 bits are kept), a float32 one (24 bits are kept)."""
        out = out.reshape(-1)
        if out.itemsize == 8:
            for piece in pieces(len(out)):
                self._unit64(out[piece])
        else:
            self._unit32(out)
        if low != 0 or high != 1:
            _stretch(out, low, high)

    def _unit32(self, out: Array) -> None:
        count = len(out)
        if 0 < count <= len(self._block) - self._used:
            if self._uniforms is None:
                self._uniforms = np.empty(len(self._block), np.float32)
                _unit_float32(self._block, self._uniforms)
            first = self._used
            self.words(count)
            out[...] = self._uniforms[first : first + count]
            return
        for piece in pieces(count):
            part = out[piece]
            _unit_float32(self.words(len(part)), part)

    def _unit64(self, out: Array) -> None:
        words = self.words64(len(out))
        words &= _LOW_53
        np.multiply(words.view(np.int64), _UNIT64, out=out)

    def exponential(self, out: Array, scale: float) -> None:
        """scale ln(1 - u): two words each."""
        out = out.reshape(-1)
        for piece in pieces(len(out)):
            part = out[piece]
            units = np.empty(len(part))
            self._unit64(units)
            np.negative(units, out=units)
            part[...] = scale * libm("log1p")(units)

    def bernoulli(self, out: Array, p: float) -> None:
        """One with probability p, else zero, into any dtype: two words each."""
        out = out.reshape(-1)
        limit = np.array(math.ceil(p * 2.0**53), np.uint64)  # u < p, said of the 53 bits that u is made of
        for piece in pieces(len(out)):
            part = out[piece]
            words = self.words64(len(part))
            words &= _LOW_53
            part[...] = np.less(words, limit)

    # -- normals ------------------------------------------------------------------------------------------------------

    def normal_blocks(self, out: Array, mean: float, std: float, narrow: bool) -> None:
        """Box-Muller on blocks of 16 uniforms, for 16 numbers or more. When 16 does not divide the count, the last 16
        numbers are drawn anew: the wide dtypes have by then spent a word on every number, the narrow ones only on
        those in full blocks."""
        out = out.reshape(-1)
        count = len(out)
        full = count - count % 16
        draw = self._unit64 if out.itemsize == 8 else self._unit32
        std, mean = float(out.dtype.type(std)), float(out.dtype.type(mean))
        last_piece = (full - 1) // BLOCKS_AT_A_TIME * BLOCKS_AT_A_TIME
        for start in range(0, last_piece, BLOCKS_AT_A_TIME):
            part = out[start : start + BLOCKS_AT_A_TIME]
            draw(part)
            box_muller(part)
            add_scaled(part, std, mean)
        numbers = out[last_piece:]
        if full < count:  # the last piece and the numbers that are drawn anew, together
            numbers = np.empty(full - last_piece + 16, out.dtype)
            draw(numbers[:-16])
            if not narrow:
                draw(out[full:])
            draw(numbers[-16:])
        else:
            draw(numbers)
        box_muller(numbers)
        add_scaled(numbers, std, mean)
        if full < count:
            out[last_piece:full] = numbers[:-16]
            out[-16:] = numbers[-16:]

    def normal_pairs(self, out: Array, mean: float, std: float, waiting: float | None) -> float | None:
        """Box-Muller pair by pair in float64 whatever the dtype. `waiting` is the unused half of the last pair, and
        what is returned is to be given to the next call."""
        out = out.reshape(-1)
        values = []
        if len(out) and waiting is not None:
            values.append(waiting)
            waiting = None
        words = self.words(4 * ((len(out) - len(values) + 1) // 2)).tolist()
        for place in range(0, len(words), 4):
            high, low, radius_high, radius_low = words[place : place + 4]
            angle = 2 * math.pi * ((high << 32 | low) & 2**53 - 1) * 2.0**-53
            radius = math.sqrt(-2 * math.log1p(((radius_high << 32 | radius_low) & 2**53 - 1) * -(2.0**-53)))
            values.append(radius * math.cos(angle))
            values.append(radius * math.sin(angle))
        if len(values) > len(out):
            waiting = values.pop()
        if mean != 0 or std != 1:
            scaled = np.array(values, np.float64)
            add_scaled(scaled, std, mean)
            out[...] = scaled
        else:
            out[...] = values
        return waiting

    # -- numbers that are accepted or rejected ------------------------------------------------------------------------

    def gammas(self, out: Array, shapes: Array, waiting: float | None) -> float | None:
        """Standard gamma numbers, not below the smallest normal number, for shapes of the same dtype. `waiting` and
        what is returned are those of normal_pairs."""
        return _random_rejection.gammas(self, out, shapes, waiting)

    def poissons(self, out: Array, rates: Array) -> None:
        """How many events there are, where so many are expected, all in float64."""
        _random_rejection.poissons(self, out, rates)

    def binomials(self, out: Array, parameters: Array) -> None:
        """Numbers of successes, in float64, of seven arrays one after the other: how many trials, with which
        probability, and of that distribution mean, standard deviation, odds, mode, and log(1 - probability)."""
        _random_rejection.binomials(self, out, parameters)


_NO_WORDS: NDArray[np.uint64] = np.empty(0, np.uint64)


def pieces(count: int) -> list[slice]:
    """0 .. count in pieces that are worked on while they are in cache."""
    if count <= PIECE:
        return [slice(0, count)] if count else []
    return [slice(start, min(start + PIECE, count)) for start in range(0, count, PIECE)]


def _unit_float32(words: Array, out: Array) -> None:
    """The low 24 bits of words as multiples of 2**-24 in [0, 1)."""
    short = words.astype(np.uint32)
    short &= _LOW_24
    out[...] = short.view(np.int32)
    out *= _UNIT32


def _stretch(out: Array, low: float, high: float) -> None:
    """Uniforms on [0, 1) become uniforms on [low, high)."""
    real = out.dtype.type
    low, high = float(real(low)), float(real(high))
    span = float(real(high - low)) if real is np.float32 else high - low
    exact = False
    if real is np.float32:
        # Uniforms are multiples of 2**-24. If the sums of theirs fit float64, nothing is rounded twice, and it is easy
        # to see whether the largest becomes `high`.
        unit = min(spacing(low), spacing(span) * 2.0**-24)
        exact = max(abs(low), abs(high)) < 2.0**52 * unit
    add_scaled(out, span, low, exact)
    if exact and np.float32((1 - 2.0**-24) * span + low) != np.float32(high):
        return
    # Rounding can reach the excluded end; such a number becomes the included one.
    for piece in pieces(len(out)):
        part = out[piece]
        reached = np.equal(part, real(high))
        if reached.any():
            part[reached] = low


# -- the functions that normals are made of ---------------------------------------------------------------------------


@functools.cache
def libm(name: str) -> Callable[[Array], Array]:
    """The C library's float64 function over an array: PyTorch calls it, so its last bit is the one to have.

    NumPy calls it as well, except on processors for which it brings its own vector code (AVX-512 at the time of
    writing). Whether it does is seen by trying; `math` always calls the C library, about eight times slower.
    """
    ufunc: Callable[[Array], Array] = getattr(np, name)
    scalar: Callable[[float], float] = getattr(math, name)

    def one_by_one(x: Array) -> Array:
        flat = map(scalar, x.ravel().tolist())
        return np.fromiter(flat, np.float64, x.size).reshape(x.shape)

    probe = np.linspace(0.001, 0.999, 4001) * (-1 if name == "log1p" else 1)
    return ufunc if np.array_equal(ufunc(probe), one_by_one(probe)) else one_by_one


BLOCKS_AT_A_TIME = 8192  # numbers: a multiple of 16


def box_muller(numbers: Array) -> None:
    """Uniforms become standard normals, in blocks of 16: the first eight give the radius, the last eight the angle."""
    blocks = numbers.reshape(-1, 2, 8)
    if numbers.itemsize == 8:
        log = libm("log")(1.0 - blocks[:, 0])  # [0, 1) becomes (0, 1], which has a logarithm
        angle = (2 * math.pi) * blocks[:, 1]
        sine, cosine = libm("sin")(angle), libm("cos")(angle)
        radius = np.sqrt(-2.0 * log)
    else:
        log = log_float32(_ONE - blocks[:, 0])
        sine, cosine = sin_cos_float32(_TWO_PI * blocks[:, 1])
        radius = np.sqrt(log * _MINUS_TWO)
    np.multiply(radius, cosine, out=blocks[:, 0])
    np.multiply(radius, sine, out=blocks[:, 1])


# Float32 normals need PyTorch's float32 logarithm, sine and cosine, which are those of the Cephes library, evaluated
# with fused multiply-adds. Which multiplication is fused with which addition follows the compiled AVX2 kernel, the one
# that PyTorch also runs on processors with AVX-512. (Without AVX2 it runs another, which differs by about 1e-7.)
#
# A fused multiply-add rounds once. Here the product of two float32 is exact in float64; the sum is rounded to 53 bits
# and then to 24, which can differ from rounding once, about one time in 2**29. For the 2**24 uniforms that can reach
# these functions it never does; all of them have been tried.


def _float32(number: float) -> Array:
    return np.array(number, np.float32)


def _coefficients(*numbers: float) -> list[Array]:
    """Rounded to float32, as float64."""
    return [_float32(number).astype(np.float64) for number in numbers]


_ONE, _TWO_PI, _MINUS_TWO, _MINUS_HALF = _float32(1), _float32(2 * math.pi), _float32(-2), _float32(-0.5)
_OCTANTS = _float32(4 / math.pi)
_LOG = _coefficients(7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1)
_LOG += _coefficients(-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)
_SIN = _coefficients(-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS = _coefficients(2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
# ln 2 and pi/4 are the sums of a number with few bits, so that small multiples of it are exact, and a correction.
_LN2, _LN2_CORRECTION = _float32(0.693359375), _float32(-2.12194440e-4)
_PI4, _PI4_CORRECTION = _float32(0.78515625), _float32(2.4187564849853515625e-4)
(_PI4_CORRECTION_2,) = _coefficients(-3.77489497744594108e-8)
_SQRT_HALF_BITS = np.array(np.float32(math.sqrt(0.5)).view(np.int32))
_ONE_BIT, _TWO_BITS, _FOUR_BITS = (np.array(n, np.int32) for n in (1, 2, 4))
_EXPONENT_SHIFT, _SIGN_SHIFT = np.array(23, np.int32), np.array(29, np.int32)


def _fma(a: Array, b: Array, c: Array) -> Array:
    """a * b + c of float32, rounded once."""
    total = a.astype(np.float64) * b
    total += c
    return total.astype(np.float32)


def _polynomial(coefficients: list[Array], x: Array) -> Array:
    """Horner's rule with fused multiply-adds."""
    wide = x.astype(np.float64)
    value = coefficients[0]
    for coefficient in coefficients[1:]:
        value = _fma(value, wide, coefficient)
    return value


def log_float32(x: Array) -> Array:
    """ln x for float32 x in (0, 1]: x = 2**exponent * (1 + t) with 1 + t between sqrt(1/2) and sqrt(2)."""
    bits = x.view(np.int32)
    shift = (bits - _SQRT_HALF_BITS) >> _EXPONENT_SHIFT
    exponent = shift.astype(np.float32)
    t = (bits - (shift << _EXPONENT_SHIFT)).view(np.float32) - _ONE
    t2 = t * t
    tail = _fma(_polynomial(_LOG, t) * t, t2, exponent * _LN2_CORRECTION)
    tail += t2 * _MINUS_HALF  # halving is exact, so this too rounds once
    tail += t
    tail += exponent * _LN2
    return tail


def sin_cos_float32(angle: Array) -> tuple[Array, Array]:
    """Sine and cosine of float32 angles in [0, 2 pi], by reduction to [-pi/4, pi/4]."""
    octant = (angle * _OCTANTS).astype(np.int32)
    octant += octant & _ONE_BIT
    turns = octant.astype(np.float32)
    x = _fma(turns, _PI4_CORRECTION_2, angle - turns * _PI4 - turns * _PI4_CORRECTION)
    x2 = x * x
    cosine = _fma(_polynomial(_COS, x2) * x2, x2, x2 * _MINUS_HALF) + _ONE
    sine = _fma(_polynomial(_SIN, x2) * x2, x, x)
    # In every other pair of octants the two are exchanged: where a mask has ones, all bits in which they differ flip.
    sine_bits, cosine_bits = sine.view(np.int32), cosine.view(np.int32)
    differing = (sine_bits ^ cosine_bits) & -(octant >> _ONE_BIT & _ONE_BIT)
    # And the signs: bit 2 of the octant, moved to bit 31.
    sine_bits ^= differing ^ (octant & _FOUR_BITS) << _SIGN_SHIFT
    cosine_bits ^= differing ^ (octant + _TWO_BITS & _FOUR_BITS) << _SIGN_SHIFT
    return sine, cosine
