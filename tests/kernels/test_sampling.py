"""Images in the places of a grid: in C against the composition of other operations, gradients of second order."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from leafgrad import kernels
from leafgrad.kernels import sampling
from leafgrad.ops.conv import grids

if sampling.NATIVE:
    from leafgrad.kernels import _images

F = lg.nn.functional
CASES = [(2, *case) for case in itertools.product(range(3), range(3), (False, True))]
CASES += [(3, *case) for case in itertools.product(range(2), range(3), (False, True))]


def arrays(dims: int, kind: Any, special: bool = False, n: int = 2, c: int = 5) -> Any:
    """g, an image and a grid, some of whose places are outside; also such as are no number."""
    rng = np.random.default_rng(dims)
    sizes, places = (4, 1, 6)[-dims:], (3, 7, 9)[-dims:]
    grid = rng.uniform(-2.5, 2.5, (n, *places, dims))
    if special:
        grid.reshape(-1)[:12] = [np.nan, 0.1, np.inf, 0.2, -np.inf, 0.3, 1e30, 0.1, -1e30, 0.2, np.nan, np.inf]
    found = rng.standard_normal((n, c, *places)), rng.standard_normal((n, c, *sizes)), grid
    return [x.astype(kind) for x in found]


if sampling.NATIVE:

    @pytest.mark.parametrize("most", [16, 32, 64])
    @pytest.mark.parametrize("kind", [np.float32, np.float64])
    @pytest.mark.parametrize("case", CASES)
    def test_native_is_as_composed(case: Any, kind: Any, most: int) -> None:
        dims, *options = case
        g, image, grid = arrays(dims, kind)
        near = {"rtol": 1e-4, "atol": 1e-4} if kind == np.float32 else {"rtol": 1e-11, "atol": 1e-11}
        _images.use_vectors(most)
        try:
            np.testing.assert_allclose(
                sampling.sampled(image, grid, *options), grids.composed(image, grid, *options), **near
            )
            found = sampling.sampled_back(g, image, grid, *options, True, True)
            assert found is not None
            for one, other in zip(found, grids.composed_back(g, image, grid, *options)):
                np.testing.assert_allclose(one, other, **near)
            alone = sampling.sampled_back(g, image, grid, *options, True, False)
            assert alone is not None and alone[1] is None
            np.testing.assert_allclose(alone[0], found[0], **near)
            alone = sampling.sampled_back(g, image, grid, *options, False, True)
            assert alone is not None and alone[0] is None
            np.testing.assert_allclose(alone[1], found[1], **near)
        finally:
            _images.use_vectors(64)

    @pytest.mark.parametrize("case", CASES)
    def test_places_that_are_no_numbers(case: Any) -> None:
        dims, *options = case
        g, image, grid = arrays(dims, np.float64, special=True)
        with np.errstate(all="ignore"):
            expected = grids.composed(image, grid, *options)
        if options[1] < 2:  # a mirror does not say where infinity is
            np.testing.assert_allclose(sampling.sampled(image, grid, *options), expected, rtol=1e-11, atol=1e-11)
        sampling.sampled_back(g, image, grid, *options, True, True)

    @pytest.mark.parametrize("n", [1, 3])
    def test_threads_change_no_bit(n: int) -> None:
        rng = np.random.default_rng(0)
        g, image = rng.standard_normal((2, n, 21, 40, 40)).astype(np.float32)
        grid = rng.uniform(-1.2, 1.2, (n, 40, 40, 2)).astype(np.float32)
        found = []
        for threads in (1, 4):
            kernels.use_threads(threads)
            both = sampling.sampled_back(g, image, grid, 0, 0, False, True, True)
            assert both is not None
            found.append([sampling.sampled(image, grid, 0, 0, False), *both])
        kernels.use_threads(kernels.available_cores())
        for one, other in zip(*found):
            np.testing.assert_array_equal(one, other)


def test_infinity_outside_of_a_place_does_not_spread() -> None:
    image = np.full((1, 1, 2, 2), np.inf)
    image[..., 0, 0] = 3.0
    out = F.grid_sample(lg.tensor(image), lg.full((1, 1, 1, 2), -1.5, dtype=lg.float64), align_corners=True)
    assert out.item() == 3.0 * 0.75**2


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_second_order(mode: str, padding: str) -> None:
    rng = np.random.default_rng(1)
    image = lg.tensor(rng.standard_normal((1, 2, 3, 4)), requires_grad=True)
    grid = lg.tensor(rng.uniform(-1.4, 1.4, (1, 2, 2, 2)), requires_grad=True)
    assert lg.autograd.gradgradcheck(
        lambda x, y: F.grid_sample(x, y, mode=mode, padding_mode=padding, align_corners=False), (image, grid)
    )


def test_graph_is_pytorchs() -> None:
    image, grid = lg.ones(1, 1, 2, 2, requires_grad=True), lg.zeros(1, 1, 1, 2, requires_grad=True)
    node: Any = F.grid_sample(image, grid, align_corners=False).grad_fn
    assert node.name() == "GridSampler2DBackward0" and len(node.next_functions) == 2
    assert node._saved_padding_mode == 0 and node._saved_align_corners is False
