"""make_tensor: random tensors for tests."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import leafgrad
from leafgrad._device import memory_format as MemoryFormat
from leafgrad._dtypes import BOOL, INTEGER, dtype, finfo


def make_tensor(
    *shape: Any,
    dtype: dtype,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: MemoryFormat | None = None,
) -> Any:
    """make_tensor(*shape, dtype, device, low=None, high=None, requires_grad=False, noncontiguous=False,
    exclude_zero=False, memory_format=None): random numbers from `low` to `high`: by default -9 to 9, 0 to 9 for uint8,
    and both bools."""
    sizes = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    if requires_grad and dtype.category in (BOOL, INTEGER):
        raise ValueError(
            f"`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype={dtype}"
        )
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"noncontiguous={noncontiguous!r} and memory_format={memory_format!r}"
        )
    lowest, highest = limits(dtype, low, high)
    with_gaps = noncontiguous and math.prod(sizes) > 1
    if with_gaps:
        sizes = (*sizes[:-1], 2 * sizes[-1])
    if dtype.category in (BOOL, INTEGER):
        result = leafgrad.randint(int(lowest), min(int(highest), 2**63 - 1), sizes, dtype=dtype, device=device)
    else:
        result = leafgrad.empty(sizes, dtype=dtype, device=device)
        drawn(leafgrad.view_as_real(result) if dtype.is_complex else result, lowest, highest)
    if with_gaps:
        result = result[..., 1::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        result[result == 0] = 1 if dtype.category in (BOOL, INTEGER) else finfo(dtype).tiny
    return result.requires_grad_() if requires_grad else result


def limits(kind: dtype, low: float | None, high: float | None) -> tuple[float, float]:
    """From where to where numbers are drawn, as far as the dtype goes; that of integers ends before `high`."""
    usual: tuple[int, int]
    smallest: float
    largest: float
    if kind.category == BOOL:
        usual, smallest, largest = (0, 2), 0, 2
    elif kind.category == INTEGER:
        info = np.iinfo(kind.np)
        usual, smallest, largest = (-9 if kind.is_signed else 0, 10), int(info.min), int(info.max) + 1
    else:
        usual, smallest, largest = (-9, 9), finfo(kind).min, finfo(kind).max
    low, high = [given if given is not None else default for given, default in zip((low, high), usual)]
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low!r} and high={high!r}")
    if low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    if kind.category == INTEGER:
        low, high = (x if math.isinf(x) else f(x) for x, f in ((low, math.floor), (high, math.ceil)))
    if high < smallest or low > largest:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {kind} only supports "
            f"[{smallest}, {largest})"
        )
    return max(low, smallest), min(high, largest)


def drawn(result: Any, low: float, high: float) -> None:
    """Fill with uniform numbers, also where the interval is longer than the largest number."""
    if high - low >= finfo(result.dtype).max:
        result.uniform_(low / 2, high / 2).mul_(2)
    else:
        result.uniform_(low, high)
