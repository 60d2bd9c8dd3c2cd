"""Kernels that only move elements: against NumPy's own functions, in all dtypes, layouts and sizes, bit for bit."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import leafgrad as torch

KINDS = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]
SPECIAL = [0.0, -0.0, float("nan"), float("inf"), -float("inf"), 1.0, 2.5, -3.0]


def layouts(kind: str) -> Iterator[Any]:
    """Arrays of every shape and layout that matter, empty ones and numbers among them."""
    for shape in [(), (0,), (1,), (7,), (2, 3), (3, 0), (2, 3, 4), (1, 5, 1)]:
        count = int(np.prod(shape))
        values = (SPECIAL * (count // 8 + 1))[:count]
        if kind[0] in "bui":
            values = list(range(count))
        array = np.array(values).astype(kind).reshape(shape)
        yield array
        yield array.T
        if shape and shape[0]:
            wide = np.repeat(array, 2, 0)
            yield wide[::2]
            yield np.broadcast_to(array[:1], (3, *shape[1:])).copy()[1:]


def check(found: Any, expected: Any) -> None:
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert found.tobytes() == np.ascontiguousarray(expected).tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_flip(kind: str) -> None:
    for array in layouts(kind):
        x = torch.from_numpy(array)
        for count in range(array.ndim + 1):
            for dims in itertools.combinations(range(array.ndim), count):
                check(x.flip(dims).numpy(), np.flip(array, dims))


@pytest.mark.parametrize("kind", KINDS)
def test_roll(kind: str) -> None:
    for array in layouts(kind):
        x = torch.from_numpy(array)
        for by in (-9, -1, 0, 1, 2, 30):
            check(x.roll(by).numpy(), np.roll(array, by))
            for dim in range(-array.ndim, array.ndim):
                check(x.roll(by, dim).numpy(), np.roll(array, by, dim))
        if array.ndim > 1:
            check(x.roll((1, -1), (0, 1)).numpy(), np.roll(array, (1, -1), (0, 1)))
            check(x.roll((1, 1), (0, 0)).numpy(), np.roll(array, 2, 0))
            assert x.roll(1, 0).is_contiguous()


@pytest.mark.parametrize("kind", KINDS)
def test_expand(kind: str) -> None:
    for array in layouts(kind):
        shape = (2, *array.shape)
        seen = torch.from_numpy(array).expand(shape)
        check(seen.numpy(), np.broadcast_to(array, shape))
        assert seen.stride()[0] == 0 or not array.size
        if array.size:
            assert np.may_share_memory(seen.numpy(), array)
    narrow = torch.arange(3).to(getattr(torch, kind)).reshape(3, 1)
    wide = narrow.expand(3, 4)
    assert wide.stride() == (1, 0)
    narrow[0] = 1  # seen in every repetition
    assert wide[0].tolist() == [narrow[0, 0].item()] * 4


@pytest.mark.parametrize("kind", KINDS)
def test_cat_and_stack(kind: str) -> None:
    for array in layouts(kind):
        x = torch.from_numpy(array)
        for dim in range(array.ndim):
            joined = torch.cat([x, x, x], dim)
            check(joined.numpy(), np.concatenate([array] * 3, dim))
            assert joined.is_contiguous()
        for dim in range(array.ndim + 1):
            stacked = torch.stack([x, x], dim)
            check(stacked.numpy(), np.stack([array] * 2, dim))
            assert stacked.is_contiguous()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("index_kind", ["int32", "int64"])
def test_gather(kind: str, index_kind: str) -> None:
    for array in layouts(kind):
        x = torch.from_numpy(array)
        for dim in range(array.ndim):
            if not array.shape[dim]:
                continue
            at = np.random.RandomState(dim).randint(0, array.shape[dim], array.shape).astype(index_kind)
            check(x.gather(dim, torch.from_numpy(at)).numpy(), np.take_along_axis(array, at.astype(np.int64), dim))
            check(x.gather(dim, torch.from_numpy(at.copy().T).permute(*range(at.ndim - 1, -1, -1))).numpy(),
                  np.take_along_axis(array, at.astype(np.int64), dim))  # fmt: skip


@pytest.mark.parametrize("wrong", [-1, 4, -(2**40), 2**40])
def test_indices_out_of_range_are_found(wrong: int) -> None:
    x, at = torch.arange(4.0), torch.tensor([0, 3, wrong])
    with pytest.raises(RuntimeError, match=f"index {wrong} is out of bounds"):
        x.gather(0, at)
    with pytest.raises(IndexError, match="index out of range in self"):
        x.index_select(0, at)
    if wrong == -1:
        x[at] = torch.zeros(3)
        assert x.tolist() == [0.0, 1.0, 2.0, 0.0]
    else:
        with pytest.raises(IndexError, match=f"index {wrong} is out of bounds"):
            x[at] = torch.zeros(3)


@pytest.mark.parametrize("kind", KINDS)
def test_masks(kind: str) -> None:
    for array in layouts(kind):
        x = torch.from_numpy(array)
        for ndim in range(1, array.ndim + 1):
            mask = np.arange(int(np.prod(array.shape[:ndim]))).reshape(array.shape[:ndim]) % 2 == 0
            check(x[torch.from_numpy(mask)].numpy(), array[mask])
            check(x[torch.from_numpy(np.asfortranarray(mask))].numpy(), array[mask])


def test_masks_in_a_graph_keep_places_of_their_own() -> None:
    x = torch.arange(4.0).requires_grad_()
    mask = torch.tensor([True, False, True, False])
    y = x[mask]
    mask[1] = True
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 0.0, 1.0, 0.0]


def test_linspace_rounds_once() -> None:
    """as PyTorch does, with one instruction for the product and the sum; the numbers are PyTorch's"""
    assert torch.linspace(-1, 1, 7)[3].item() == -2.9802322387695312e-08
    assert torch.linspace(-1.3, 1.3, 1001)[500].item() == -5.122274160385132e-08
    grid = torch.nn.functional.affine_grid(torch.eye(2, 3)[None], (1, 1, 1, 7), align_corners=False)
    assert grid[0, 0, 2:5, 0].tolist() == [-0.2857142686843872, -2.554484801464696e-08, 0.2857142686843872]


@pytest.mark.parametrize("kind", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("steps", [0, 1, 2, 3, 10, 11, 1001])
def test_linspace_is_symmetric(kind: str, steps: int) -> None:
    x = torch.linspace(-1.3, 1.3, steps, dtype=getattr(torch, kind)).numpy()
    assert len(x) == steps
    if steps > 1:
        half = steps // 2  # without the middle one, which is as near to zero as PyTorch's is
        assert np.array_equal(x[:half], -x[::-1][:half])
        assert x[0] == np.dtype(kind).type(-1.3)
