"""Means and variances of few elements and of many, computed in different ways, are the same."""

from __future__ import annotations

import numpy as np
import pytest

from leafgrad.ops.normalization.standardize import Normalization, layout_by, plainly


@pytest.mark.parametrize("shape", [(2, 3, 8), (2, 3, 4000), (1, 3, 30_000), (5, 3, 9000)])
@pytest.mark.parametrize("over", [(0, 2), (2,), (1, 2)])
def test_statistics_of_few_and_of_many_elements(shape: tuple[int, ...], over: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).standard_normal(shape) + 3
    layout = layout_by(shape, over, (1, 3, 1), (3,))
    out, *statistics = plainly(x, None, None, layout, 1e-5)
    found, own = Normalization.kernel(x, None, None, layout, 1e-5)
    np.testing.assert_allclose(found, out, rtol=1e-9, atol=1e-12)
    assert found.flags.c_contiguous
    for one, other in zip(own, statistics, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-9)
