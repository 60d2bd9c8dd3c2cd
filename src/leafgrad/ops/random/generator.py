"""Generators: PyTorch's seeds and saved states, around a stream of random numbers.

The stream (`leafgrad.kernels.random_stream`) is MT19937 and what is made of its words; `distributions.py` turns that
into the distributions that users call.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from leafgrad._core.tensor import wrap
from leafgrad._device import check_device, names_meta
from leafgrad._device import device as Device
from leafgrad.kernels.random_stream import Stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


class Generator:
    """A source of random numbers with a state of its own.

    `get_state_array` gives the 5056 bytes of PyTorch's `get_state()`, and `set_state_array` takes them, so a stream
    can be handed over in either direction at any point.
    """

    def __init__(self, device: Any = "cpu") -> None:
        if names_meta(device):
            raise RuntimeError("META device type not an accelerator.")
        try:
            check_device(device)
            self.device = Device(device)
        except AssertionError:
            first = "Cannot get CUDA generator without ATen_cuda library."
            raise RuntimeError(f"{first}\n  leafgrad computes on the CPU only, not on '{device}'") from None
        self._lock = threading.Lock()  # held for a whole draw, so two threads cannot share half a normal pair
        self._seed = DEFAULT_SEED
        self._stream = Stream(DEFAULT_SEED & 0xFFFFFFFF)
        # Normals are made in pairs; the second of a pair waits here for the next small draw.
        self._next_normal: float | None = None
        # No CPU kernel uses the float one, but a state carries it and has to hand it on.
        self._next_float_normal: float | None = None
        # The last state that was asked for, and when: fetching it takes long, and checkpoints ask often.
        self._known: tuple[Any, bytes] | None = None

    def manual_seed(self, seed: int) -> Generator:
        if isinstance(seed, (bool, float, str)):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        number = int(seed)
        if not -(2**63) <= number < 2**64:
            raise ValueError("Overflow when unpacking long long")
        with self._lock:
            self._seed = number % 2**64
            self._stream.reseed(number & 0xFFFFFFFF)  # only half of the seed reaches the stream, in PyTorch too
            self._next_normal = self._next_float_normal = None
        return self

    def seed(self) -> int:
        """Seed from the operating system and return that seed."""
        number = int.from_bytes(os.urandom(8), "little")
        self.manual_seed(number)
        return number

    def initial_seed(self) -> int:
        return self._seed

    def _moment(self) -> Any:
        """As long as this is the same, so is the state."""
        return self._stream.changes, self._next_normal, self._next_float_normal

    def get_state_array(self) -> NDArray[np.uint8]:
        with self._lock:
            if self._known is None or self._known[0] != self._moment():
                record = np.zeros((), STATE)
                key, position = self._stream.state()
                record["initial_seed"] = self._seed
                record["left"] = WORDS + 1 - position
                record["seeded"] = 1
                record["next"] = 0 if self._stream.fresh else position
                record["words"] = np.frombuffer(key, np.uint32)
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
            self._load(record)
            self._next_normal = float(record["normal_y"]) if record["normal_valid"] else None
            self._next_float_normal = float(record["float_normal"]) if record["float_normal_valid"] else None

    def _load(self, record: Any) -> None:
        """Set the stream to a saved state; one that no generator can have written is refused."""
        left, next_word = int(record["left"]), int(record["next"])
        due_for_twist = left == 1 and 0 <= next_word <= WORDS  # then PyTorch never looks at next
        if record["seeded"] != 1 or not (due_for_twist or (1 <= left <= WORDS and left + next_word == WORDS + 1)):
            raise RuntimeError("Invalid mt19937 state")
        key = np.asarray(record["words"]).astype(np.uint32)
        self._stream.load(key.tobytes(), WORDS + 1 - left, due_for_twist and next_word == 0)
        self._seed = int(record["initial_seed"])

    def get_state(self) -> Any:
        """get_state(): the state as a tensor of bytes."""

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
