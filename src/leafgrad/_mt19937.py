"""The stream behind every random number: MT19937 with PyTorch's seeding, and what is made of its words directly.

NumPy ships the same generator in C, so nothing is twisted or tempered here; `Engine` only translates seeds and saved
states between the two. `numpy.random` is imported at the first draw, because importing it takes time and many
programs that import leafgrad never draw. From the words come uniforms on [0, 1), and from those standard normals;
`random.py` turns these into the distributions that users call.
"""

from __future__ import annotations

import functools
import math
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from leafgrad.device import device as Device

if TYPE_CHECKING:
    from numpy.random import MT19937, RandomState
    from numpy.typing import NDArray

    Array = NDArray[Any]

DEFAULT_SEED = 67280421310721
WORDS = 624  # 32-bit words in the state, and outputs between two twists

# The bytes of torch.get_rng_state(). The words sit in 64-bit slots, and normal_x and normal_rho are always zero: an
# older PyTorch cached the second normal of a pair as (x, rho); now normal_y holds the number itself.
STATE = np.dtype(
    [
        ("initial_seed", "<u8"),
        ("left", "<i4"),  # outputs until the next twist, plus one
        ("seeded", "<i4"),
        ("next", "<u8"),  # index of the next word
        ("words", "<u8", (WORDS,)),
        ("normal_x", "<f8"),
        ("normal_y", "<f8"),
        ("normal_rho", "<f8"),
        ("normal_valid", "<i4"),
        ("padding", "<i4"),
        ("float_normal", "<f4"),
        ("float_normal_valid", "?"),
        ("padding_end", "u1", (3,)),
    ]
)


class Engine:
    """A stream of 32-bit words. Not locked: the Generator that owns it holds the lock."""

    def __init__(self, seed: int) -> None:
        self.initial_seed = seed
        self._fresh = True  # seeded and nothing drawn yet; PyTorch saves this state differently from "all 624 used"
        self._bits: MT19937 | None = None
        self._seeder: RandomState | None = None
        self.changes = 0  # of the state

    def reseed(self, seed: int) -> None:
        self.initial_seed = seed
        self._fresh = True
        self.changes += 1
        if self._seeder is not None:
            # Only the low half of a 64-bit seed reaches the generator, in PyTorch too.
            self._seeder.seed(seed & 0xFFFFFFFF)

    def words(self, count: int) -> NDArray[np.uint64]:
        """The next `count` outputs, each in 0 .. 2**32 - 1."""
        drawn: NDArray[np.uint64] = self._source().random_raw(count)
        self.changes += 1
        self._fresh = self._fresh and count == 0
        return drawn

    def words64(self, count: int) -> NDArray[np.uint64]:
        """The next `count` 64-bit numbers: two outputs each, the first is the high half."""
        halves = self.words(2 * count)
        joined: NDArray[np.uint64] = halves[0::2] << np.uint64(32)
        joined |= halves[1::2]
        return joined

    def _source(self) -> MT19937:
        if self._bits is None:
            from numpy.random import MT19937, RandomState

            self._bits = MT19937(0)
            # RandomState.seed is the public way to NumPy's pre-2019 seeding, which is the one PyTorch uses.
            self._seeder = RandomState(self._bits)
            self._seeder.seed(self.initial_seed & 0xFFFFFFFF)
        return self._bits

    def save(self, record: Any) -> None:
        """Write this engine's part of a STATE record."""
        state: Any = self._source().state["state"]
        position = int(state["pos"])
        record["initial_seed"] = self.initial_seed
        record["left"] = WORDS + 1 - position
        record["seeded"] = 1
        record["next"] = 0 if self._fresh else position
        record["words"] = state["key"]

    def load(self, record: Any) -> None:
        """Read this engine's part of a STATE record; one that no generator can have written is refused."""
        left, next_word = int(record["left"]), int(record["next"])
        due_for_twist = left == 1 and 0 <= next_word <= WORDS  # then PyTorch never looks at next
        if record["seeded"] != 1 or not (due_for_twist or (1 <= left <= WORDS and left + next_word == WORDS + 1)):
            raise RuntimeError("Invalid mt19937 state")
        key = np.asarray(record["words"]).astype(np.uint32)
        self._source().state = {"bit_generator": "MT19937", "state": {"key": key, "pos": WORDS + 1 - left}}
        self._fresh = due_for_twist and next_word == 0
        self.changes += 1
        self.initial_seed = int(record["initial_seed"])


class Generator:
    """A source of random numbers with a state of its own.

    `get_state_array` gives the 5056 bytes of PyTorch's `get_state()`, and `set_state_array` takes them, so a stream
    can be handed over in either direction at any point.
    """

    def __init__(self, device: Any = "cpu") -> None:
        try:
            self.device = Device(device)  # refuses every other one
        except AssertionError:
            first = "Cannot get CUDA generator without ATen_cuda library."
            raise RuntimeError(f"{first}\n  leafgrad computes on the CPU only, not on '{device}'") from None
        self._lock = threading.Lock()  # held for a whole draw, so two threads cannot share half a normal pair
        self._engine = Engine(DEFAULT_SEED)
        # Normals are made in pairs; the second of a pair waits here for the next small draw.
        self._next_normal: float | None = None
        # No CPU kernel uses the float one, but a state carries it and has to hand it on.
        self._next_float_normal: float | None = None
        # The last state that was asked for, and when: fetching it from NumPy takes long, and checkpoints ask often.
        self._known: tuple[Any, bytes] | None = None

    def manual_seed(self, seed: int) -> Generator:
        if isinstance(seed, (bool, float, str)):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        number = int(seed)
        if not -(2**63) <= number < 2**64:
            raise ValueError("Overflow when unpacking long long")
        with self._lock:
            self._engine.reseed(number % 2**64)
            self._next_normal = self._next_float_normal = None
        return self

    def seed(self) -> int:
        """Seed from the operating system and return that seed."""
        number = int.from_bytes(os.urandom(8), "little")
        self.manual_seed(number)
        return number

    def initial_seed(self) -> int:
        return self._engine.initial_seed

    def _moment(self) -> Any:
        """As long as this is the same, so is the state."""
        return self._engine.changes, self._next_normal, self._next_float_normal

    def get_state_array(self) -> NDArray[np.uint8]:
        with self._lock:
            if self._known is None or self._known[0] != self._moment():
                record = np.zeros((), STATE)
                self._engine.save(record)
                if self._next_normal is not None:
                    record["normal_valid"], record["normal_y"] = 1, self._next_normal
                if self._next_float_normal is not None:
                    record["float_normal_valid"], record["float_normal"] = True, self._next_float_normal
                self._known = (self._moment(), record.tobytes())
            return np.frombuffer(self._known[1], np.uint8).copy()

    def set_state_array(self, state: NDArray[np.uint8]) -> None:
        if state.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if state.size != STATE.itemsize:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {STATE.itemsize} "
                f"but found the input RNG state size to be {state.size}"
            )
        new = state.tobytes()
        record = np.frombuffer(new, STATE)[0]
        with self._lock:
            if self._known is not None and self._known[0] == self._moment() and self._known[1] == new:
                return  # it is in that state already
            self._engine.load(record)
            self._next_normal = float(record["normal_y"]) if record["normal_valid"] else None
            self._next_float_normal = float(record["float_normal"]) if record["float_normal_valid"] else None

    def get_state(self) -> Any:
        """get_state(): the state as a tensor of bytes."""
        from leafgrad._core import wrap

        return wrap(self.get_state_array())

    def set_state(self, new_state: Any) -> Generator:
        """set_state(new_state): go on from a state that get_state() returned."""
        array = getattr(new_state, "array", None)
        if array is None:
            raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        self.set_state_array(array)
        return self

    def clone_state(self) -> Generator:
        """A new generator that will draw what this one would draw next."""
        twin = Generator(self.device)
        twin.set_state_array(self.get_state_array())
        return twin

    def __reduce__(self) -> tuple[Any, ...]:
        # A lock can be neither pickled nor copied, and the state is the whole generator.
        return _restore, (self.get_state_array(),)


def _restore(state: NDArray[np.uint8]) -> Generator:
    generator = Generator()
    generator.set_state_array(state)
    return generator


# ---------------------------------------------------------------------------------------------- uniforms


_UNIT32 = np.float32(2.0**-24)


def uniform32(gen: Generator, count: int) -> Array:
    """Multiples of 2**-24 in [0, 1), float32, one word each. The caller holds the lock, here and below."""
    words = gen._engine.words(count).astype(np.uint32)
    words &= 0xFFFFFF
    unit: Array = words.view(np.int32).astype(np.float32) * _UNIT32
    return unit


def uniform64(gen: Generator, count: int) -> Array:
    """Multiples of 2**-53 in [0, 1), float64, two words each."""
    words = gen._engine.words64(count)
    words &= 2**53 - 1
    unit: Array = words.view(np.int64) * 2.0**-53
    return unit


# ---------------------------------------------------------------------------------------------- normals


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


def normal_blocks(gen: Generator, count: int, dtype: np.dtype[Any]) -> Array:
    """Box-Muller on blocks of 16 uniforms. When 16 does not divide the count, the last 16 numbers are drawn anew.

    The wide dtypes have by then spent a word on every number, the 16-bit ones only on those in full blocks.
    """
    full = count - count % 16
    spent = count if dtype.itemsize > 2 else full
    again = 16 if full < count else 0
    draw = uniform64 if dtype == np.float64 else uniform32
    uniforms = draw(gen, spent + again)
    normals = _box_muller(np.concatenate([uniforms[:full], uniforms[spent:]]) if again else uniforms)
    if again:
        normals = np.concatenate([normals[: count - 16], normals[full:]])
    return normals


def normal_pairs(gen: Generator, count: int) -> Array:
    """Box-Muller pair by pair in float64 whatever the dtype; the unused half of a pair is kept for the next call."""
    values = []
    if count and gen._next_normal is not None:
        values.append(gen._next_normal)
        gen._next_normal = None
    pairs = (count - len(values) + 1) // 2
    uniforms = iter(uniform64(gen, 2 * pairs).tolist())
    for for_angle, for_radius in zip(uniforms, uniforms):
        radius = math.sqrt(-2 * math.log1p(-for_radius))
        angle = 2 * math.pi * for_angle
        values.append(radius * math.cos(angle))
        values.append(radius * math.sin(angle))
    if len(values) > count:
        gen._next_normal = values.pop()
    return np.array(values, np.float64)


# Float32 normals need PyTorch's float32 logarithm, sine and cosine, which are those of the Cephes library, evaluated
# with fused multiply-adds. Which multiplication is fused with which addition follows the compiled AVX2 kernel, the one
# that PyTorch also runs on processors with AVX-512. (Without AVX2 it runs another, which differs by about 1e-7.)


def _as_float32(*numbers: float) -> list[float]:
    return [float(np.float32(number)) for number in numbers]


_LOG = _as_float32(7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1)
_LOG += _as_float32(-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)
_SIN = _as_float32(-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS = _as_float32(2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
# ln 2 and pi/4 are the sums of a number with few bits, so that small multiples of it are exact, and a correction.
_LN2, _LN2_CORRECTION = np.float32(0.693359375), np.float32(-2.12194440e-4)
_PI4, _PI4_CORRECTION, _PI4_CORRECTION_2 = _as_float32(0.78515625, 2.4187564849853515625e-4, 3.77489497744594108e-8)


def _fma32(a: Array, b: Array | np.float64, c: Array | float) -> Array:
    """a * b + c in float32 with one rounding; b comes as float64, so that the product of two float32 is exact.

    The sum is rounded to 53 bits and then to 24, which can differ from rounding once, about one time in 2**29. For
    the 2**24 uniforms that can reach the functions below it never does; all of them have been tried.
    """
    product: Array = a * b
    product += c
    return product.astype(np.float32)


def _polynomial(coefficients: list[float], x: Array) -> Array:
    value = (coefficients[0] * x + coefficients[1]).astype(np.float32)
    for coefficient in coefficients[2:]:
        value = _fma32(value, x, coefficient)
    return value


def _log_float32(x: Array) -> Array:
    """ln x for float32 x in (0, 1]: x = 2**exponent * (1 + t) with 1 + t between sqrt(1/2) and sqrt(2)."""
    bits = x.view(np.int32)
    fraction = ((bits & 0x007FFFFF) | 0x3F000000).view(np.float32)  # in [1/2, 1)
    small = fraction < np.float32(math.sqrt(0.5))
    exponent = ((bits >> 23) - 126 - small).astype(np.float32)
    t = np.where(small, fraction + fraction, fraction) - np.float32(1)
    t2 = t * t
    tail = _polynomial(_LOG, t.astype(np.float64)) * t
    tail = _fma32(tail, t2.astype(np.float64), exponent * _LN2_CORRECTION)
    tail -= np.float32(0.5) * t2  # halving is exact, so this too rounds once
    return (t + tail) + exponent * _LN2


def _sin_cos_float32(angle: Array) -> tuple[Array, Array]:
    """Sine and cosine of float32 angles in [0, 2 pi], by reduction to [-pi/4, pi/4]."""
    octant = (angle * np.float32(4 / math.pi)).astype(np.int32)
    octant += 1
    octant &= ~1
    turns = octant.astype(np.float32)
    x = angle - turns * np.float32(_PI4)
    x -= turns * np.float32(_PI4_CORRECTION)
    x = _fma32(turns, np.float64(-_PI4_CORRECTION_2), x)
    x2 = x * x
    wide = x2.astype(np.float64)
    cosine = _fma32(_polynomial(_COS, wide) * x2, wide, np.float32(-0.5) * x2) + np.float32(1)
    sine = _fma32(_polynomial(_SIN, wide) * x2, x.astype(np.float64), x)
    swapped = (octant & 2) != 0
    sine, cosine = np.where(swapped, cosine, sine), np.where(swapped, sine, cosine)
    np.negative(sine, out=sine, where=(octant & 4) != 0)
    np.negative(cosine, out=cosine, where=((octant + 2) & 4) != 0)
    return sine, cosine


def _box_muller(uniforms: Array) -> Array:
    """Standard normals in blocks of 16: of the uniforms the first eight give the radius, the last eight the angle."""
    blocks = uniforms.reshape(-1, 2, 8)
    normals = np.empty_like(blocks)
    real = uniforms.dtype.type
    for start in range(0, len(blocks), 512):  # a piece at a time, so that the intermediate results stay in cache
        piece = slice(start, start + 512)
        for_radius = real(1) - blocks[piece, 0]  # [0, 1) becomes (0, 1], which has a logarithm
        angle = real(2 * math.pi) * blocks[piece, 1]
        if real is np.float32:
            log = _log_float32(for_radius)
            sine, cosine = _sin_cos_float32(angle)
        else:
            log = libm("log")(for_radius)
            sine, cosine = libm("sin")(angle), libm("cos")(angle)
        radius = np.sqrt(real(-2) * log)
        np.multiply(radius, cosine, out=normals[piece, 0])
        np.multiply(radius, sine, out=normals[piece, 1])
    return normals.reshape(-1)
