"""sort and its relatives: what depends on how many elements there are."""

from __future__ import annotations

import numpy as np
import pytest

import leafgrad as torch


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.float16])
def test_many_of_still_more(dtype: torch.dtype, largest: bool, dim: int) -> None:
    """So many are wanted that they are sorted as 64-bit numbers, after they were found among the others."""
    torch.manual_seed(0)
    x = torch.stack([torch.randperm(2400), torch.randperm(2400)], 1 if dim == 0 else 0).sub(1200).to(dtype)
    values, indices = torch.topk(x, 600, dim, largest)
    expected = np.sort(x.numpy(), dim)
    expected = np.take(np.flip(expected, dim) if largest else expected, np.arange(600), dim)
    np.testing.assert_array_equal(values.numpy(), expected)
    np.testing.assert_array_equal(x.gather(dim, indices).numpy(), expected)


def test_places_in_what_is_not_contiguous_are_warned_of_once() -> None:
    rows = torch.arange(12.0).view(3, 4)
    lying = rows.t().contiguous().t()
    torch.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="boundary tensor is non-contiguous"):
            assert torch.equal(torch.searchsorted(lying, rows), torch.searchsorted(rows, rows))
        with pytest.warns(UserWarning, match="input value tensor is non-contiguous"):
            torch.bucketize(lying, torch.arange(4.0))
    finally:
        torch.set_warn_always(False)


def test_refusals_of_histograms_come_in_pytorchs_order() -> None:
    whole = torch.ones(3, dtype=torch.int32)
    for arguments, words in (
        ((0, 2, 1), "bins must be > 0"),
        ((4, float("inf"), 1), "range of .inf, 1. is not finite"),
        ((4, 5, 1), "max must be larger than min"),
        ((4,), "not implemented for 'Int'"),
    ):
        with pytest.raises(RuntimeError, match=words):
            torch.histc(whole, *arguments)
    for bins, words in (
        (torch.ones((), dtype=torch.float64), "should have the same dtype"),
        (torch.ones(2, 2), "should have one dimension"),
        (torch.ones(0), "bins tensor should have at least 1 element, but got 0 elements in the bins tensor for dim"),
    ):
        with pytest.raises(RuntimeError, match=words):
            torch.histogram(torch.ones(3), bins)
        with pytest.raises(RuntimeError, match=words):
            torch.histogramdd(torch.ones(3, 1), [bins])


def test_histograms_of_points_without_coordinates() -> None:
    for shape in ((0, 0), (3, 0), (2, 3, 0)):
        hist, edges = torch.histogramdd(torch.ones(shape), [])
        assert hist.shape == () and hist.item() == 0 and edges == ()
    assert torch.histogramdd(torch.ones(3, 0), [], density=True).hist.isnan()


def test_distinct_slices_lie_in_memory_in_one_piece() -> None:
    x = torch.arange(60).reshape(3, 4, 5)
    for distinct in (torch.unique, torch.unique_consecutive):
        assert [distinct(x, dim=dim).stride() for dim in range(3)] == [(20, 5, 1), (5, 15, 1), (4, 1, 12)]
        for dim in range(3):
            assert torch.equal(distinct(x, dim=dim), x)
