"""Images in the places of a grid, natively: see images_sampling.h. None where the extension `_images` cannot; then
leafgrad/ops/conv/grids.py composes the same of other operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad.kernels.convolution import NATIVE, is_native

if NATIVE:
    from leafgrad.kernels import _images

Array = Any


def sampled(image: Array, grid: Array, *options: Any) -> Array | None:
    """image (n, c, ...) at the places of a grid (n, ..., 2 or 3)."""
    if not is_native(image, grid) or image.size >= 2**31:
        return None
    return _images.sample(np.ascontiguousarray(image), np.ascontiguousarray(grid), *options)


def sampled_back(g: Array, image: Array, grid: Array, *options: Any) -> tuple[Array | None, Array | None] | None:
    """The gradients by the image and by the grid, of which the last two options tell whether they are wanted."""
    if not is_native(image, grid) or image.size >= 2**31 or g.dtype != image.dtype:
        return None
    g, image, grid = [np.ascontiguousarray(x) for x in (g, image, grid)]
    return _images.sample_back(g, image, grid, *options)
