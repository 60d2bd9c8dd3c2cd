"""Linear maps along dimensions: in C against the same on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from leafgrad import kernels
from leafgrad.ops.conv import axis_maps
from leafgrad.ops.conv.axis_maps import AxisMap, mapped
from leafgrad.ops.conv.resampling import resampling_maps

MODES = ["nearest", "nearest-exact", "linear", "bicubic", "smooth bilinear", "smooth bicubic"]


def on_numpy(x: Any, maps: Any) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(axis_maps, "is_native", lambda x: False)
        return mapped(x, maps)


if axis_maps.NATIVE:
    from leafgrad.kernels import _images

    @pytest.mark.parametrize("kind", [np.float32, np.float64])
    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize("sizes", [((5,), (9,)), ((4, 6), (7, 3)), ((3, 1, 5), (2, 6, 11)), ((9, 8), (9, 8))])
    def test_native_is_as_on_numpy(sizes: Any, mode: str, kind: Any) -> None:
        maps = resampling_maps(*sizes, mode, False, (None,) * 3, np.dtype(kind))
        x = np.random.default_rng(0).standard_normal((2, 3, *sizes[0])).astype(kind)
        near = {"rtol": 1e-4, "atol": 1e-5} if kind == np.float32 else {"rtol": 1e-12, "atol": 1e-12}
        for most in (16, 32, 64):
            _images.use_vectors(most)
            out = mapped(x, maps)
            np.testing.assert_allclose(out, on_numpy(x, maps), **near)
            back = [each.transpose for each in maps]
            np.testing.assert_allclose(mapped(out, back), on_numpy(out, back), **near)

    def test_threads_change_no_bit() -> None:
        maps = resampling_maps((40, 40), (57, 81), "bicubic", False, (None,) * 2, np.dtype(np.float32))
        x = np.random.default_rng(0).standard_normal((3, 7, 40, 40)).astype(np.float32)
        found = []
        for threads in (1, 4):
            kernels.use_threads(threads)
            found.append(mapped(x, maps))
        kernels.use_threads(kernels.available_cores())
        np.testing.assert_array_equal(*found)

    def test_maps_that_leave_the_image_are_refused() -> None:
        starts, elements = np.array([0, 1]), np.array([3])
        for wrong in [(starts, elements, None), (elements, starts, None), (starts, elements, np.ones(1)), (starts,)]:
            with pytest.raises((TypeError, ValueError)):
                _images.map_axes(np.ones((1, 3), np.float32), (wrong,))


def test_results_of_nothing_are_zero_and_infinity_stays_where_it_is() -> None:
    each = AxisMap(3, 4, np.array([0, 2, 2]), np.array([0, 1, 2]), np.array([0.5, 1.0, 2.0]))
    out = mapped(np.array([[np.inf, 1.0, 2.0]]), (each,))
    np.testing.assert_array_equal(out, [[np.inf, 0.0, 5.0, 0.0]])
