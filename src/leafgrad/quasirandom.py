"""leafgrad.quasirandom: Sobol sequences, whose points fill the unit cube more evenly than random ones.

Point number i is the exclusive or of direction numbers, one for each bit of the Gray code of i. The direction numbers
of a dimension follow by a recurrence from a primitive polynomial and a few first numbers; `sobol_directions.txt` has
those that S. Joe and F. Y. Kuo found (2008), one line for each dimension.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import leafgrad as torch
from leafgrad import Tensor, errors

__all__ = ["SobolEngine"]

TABLE = Path(__file__).with_name("sobol_directions.txt")
STATED = 21201  # the number of dimensions that PyTorch has
FLOATS = (torch.float32, torch.float64)


def direction_numbers(dimension: int, bits: int) -> list[list[int]]:
    """For each dimension its direction numbers, which are fractions of 2**bits."""
    numbers = []
    with TABLE.open(encoding="ascii") as lines:
        for line, _ in zip(lines, range(dimension)):
            polynomial, *first = map(int, line.split())
            numbers.append([m << bits - 1 - i for i, m in enumerate(continued(polynomial, first, bits))])
    return numbers


def continued(polynomial: int, first: list[int], count: int) -> list[int]:
    """`count` numbers of the recurrence that the coefficients of a polynomial of two elements make."""
    degree = polynomial.bit_length() - 1
    numbers = first[:]
    while len(numbers) < count:
        latest = numbers[-degree] if degree else 1
        for k in range(1, degree + 1):
            if polynomial >> degree - k & 1:
                latest ^= numbers[-k] << k
        numbers.append(latest)
    return numbers


class SobolEngine:
    """SobolEngine(dimension, scramble=False, seed=None): draws the points of a Sobol sequence, one after the other."""

    MAXBIT = 30
    MAXDIM = 1111

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if dimension > STATED or dimension < 1:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {STATED}]")
        if dimension > self.MAXDIM:
            raise errors.mistake(
                NotImplementedError,
                f"leafgrad has the direction numbers of {self.MAXDIM} dimensions, and not of {dimension}",
            )
        self.seed = seed
        self.scramble = scramble
        self.dimension = dimension
        self.sobolstate = torch.tensor(direction_numbers(dimension, self.MAXBIT))
        if scramble:
            self._scramble()
        else:
            self.shift = torch.zeros(dimension, dtype=torch.int64)
        self.quasi = self.shift.clone()
        self._first_point = (self.quasi / 2**self.MAXBIT).reshape(1, -1)
        self.num_generated = 0

    def _scramble(self) -> None:
        """Owen's scrambling by a random triangular matrix of bits for each dimension, and a random shift."""
        generator = None
        if self.seed is not None:
            generator = torch.Generator()
            generator.manual_seed(self.seed)
        bits = self.MAXBIT
        powers = 2 ** torch.arange(bits)
        shift = torch.randint(2, (self.dimension, bits), generator=generator)
        self.shift = (shift * powers).sum(1)
        matrices = torch.randint(2, (self.dimension, bits, bits), generator=generator).tril(-1) + torch.eye(bits).long()
        digits = self.sobolstate.unsqueeze(-1) >> torch.arange(bits - 1, -1, -1) & 1  # the highest first
        self.sobolstate = (digits @ matrices.mT % 2 * powers.flip(0)).sum(-1)

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: torch.dtype | None = None) -> Tensor:
        """draw(n=1, out=None, dtype=None): the next n points, one in a row."""
        dtype = dtype or torch.get_default_dtype()
        if self.num_generated == 0:
            result: Tensor = self._first_point.to(dtype)
            if n != 1:
                result = torch.cat((result, self._points(n - 1, 0, dtype)))
        else:
            result = self._points(n, self.num_generated - 1, dtype)
        self.num_generated += n
        if out is None:
            return result
        out.resize_as_(result).copy_(result)
        return out

    def _points(self, n: int, before: int, dtype: torch.dtype) -> Tensor:
        """The n points behind that with the number `before`, the last of which becomes the state."""
        if not isinstance(n, int):
            raise TypeError(f"_sobol_engine_draw(): argument 'n' (position 2) must be int, not {type(n).__name__}")
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {[n, self.dimension]}")
        if dtype not in FLOATS:
            raise NotImplementedError(f"\"_sobol_engine_draw\" not implemented for '{dtype.alias}'")
        numbers = torch.arange(before + 1, before + n + 1)
        gray = numbers ^ numbers >> 1
        points = self.shift.expand(n, -1)
        for bit in range((before + n).bit_length()):
            points = points ^ (gray >> bit & 1).unsqueeze(1) * self.sobolstate[:, bit]
        if n:
            self.quasi = points[-1].clone()
        result: Tensor = points.to(dtype) / 2**self.MAXBIT
        return result

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: torch.dtype | None = None) -> Tensor:
        """draw_base2(m, out=None, dtype=None): the next 2**m points. All that were drawn have to be a power of two."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: n={self.num_generated}+2**{m}="
                f"{total}. If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """reset(): begin again with the first point."""
        self.quasi = self.shift.clone()
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """fast_forward(n): leave out the next n points."""
        if self.num_generated + n > 1:
            self._points(1, self.num_generated + n - 2, torch.float32)
        self.num_generated += n
        return self

    def __repr__(self) -> str:
        facts: dict[str, Any] = {"dimension": self.dimension}
        if self.scramble:
            facts["scramble"] = True
        if self.seed is not None:
            facts["seed"] = self.seed
        return f"SobolEngine({', '.join(f'{name}={value}' for name, value in facts.items())})"
