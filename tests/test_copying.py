"""Copies keep every bit, whoever makes them: NumPy, or the native loops by several threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import leafgrad as torch
from leafgrad.kernels import SPLIT_CHEAP
from leafgrad.kernels.copying import copied, keeps_bits

KINDS = ["bool", "uint8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]


def bits(array: Any) -> Any:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def any_bits(kind: str, count: int) -> Any:
    """Numbers of all kinds, nan with every payload among them."""
    random = np.random.RandomState(count)
    if kind == "bool":
        return random.randint(0, 2, count).astype(bool)
    return np.frombuffer(random.bytes(count * np.dtype(kind).itemsize), kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [0, 1, 7, SPLIT_CHEAP - 1, SPLIT_CHEAP, SPLIT_CHEAP + 5, 3 * SPLIT_CHEAP + 1])
def test_all_bits_are_kept(kind: str, count: int) -> None:
    x = any_bits(kind, count)
    copy = copied(x)
    assert copy.dtype == x.dtype and copy.shape == x.shape and copy.flags.owndata and copy.flags.writeable
    assert np.array_equal(bits(copy), bits(x))
    assert not np.may_share_memory(copy, x) or not count


@pytest.mark.parametrize("kind", KINDS)
def test_other_layouts_become_row_major(kind: str) -> None:
    x = any_bits(kind, 4 * SPLIT_CHEAP).reshape(4, -1)
    for seen in (x.T, x[:, ::2], x[::-1], x[1:3], np.broadcast_to(x[:1], (3, SPLIT_CHEAP))):
        copy = copied(seen)
        assert copy.flags.c_contiguous and copy.shape == seen.shape
        assert np.array_equal(bits(copy), bits(seen))


def test_zero_dimensional() -> None:
    for value in (-0.0, float("inf"), float("nan")):
        copy = copied(np.array(value, np.float32))
        assert np.array_equal(bits(copy), bits(np.array(value, np.float32)))


def test_special_numbers_survive_a_clone() -> None:
    special = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-45, 1.5], np.float32)
    x = torch.from_numpy(np.tile(special, SPLIT_CHEAP // 8))
    assert np.array_equal(bits(x.clone().numpy()), bits(x.numpy()))


def test_the_question_raises_no_error() -> None:
    with np.errstate(all="raise"):
        keeps_bits()
