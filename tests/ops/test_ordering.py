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
