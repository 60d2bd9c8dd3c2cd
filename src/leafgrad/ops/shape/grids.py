"""Grids of coordinates."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad.ops.index.masks import masked_select
from leafgrad.ops.registry import composite
from leafgrad.ops.samples import S
from leafgrad.ops.shape.arrange import flatten
from leafgrad.ops.shape.join import stack
from leafgrad.ops.shape.views import expand, reshape
from leafgrad.ops.signature import Tensor, Tensors


@composite(
    lambda t: [S(t(3), t(2), indexing="ij"), S(t(3), t(), t(2), indexing="xy"), S([t(3), t(2)], indexing="ij")],
    method=False,
)
def meshgrid(*tensors: Tensor | Tensors, indexing: str | None = None) -> tuple[Tensor, ...]:
    """meshgrid(*tensors, indexing=None): for each of some vectors, its elements spread over the grid of all of them.
    'ij' lets the first vector vary along dimension 0, 'xy' along dimension 1."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for t in tensors:
        if not isinstance(t, TensorBase):
            raise errors.not_a_tensor("meshgrid", "tensors", 1, t)
        if t.array.ndim > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {t!r}")
        if t.array.dtype != tensors[0].array.dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    if indexing is None:
        errors.warn("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
    elif indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    swap = indexing == "xy" and len(tensors) > 1
    ordered = (tensors[1], tensors[0], *tensors[2:]) if swap else tensors
    shape = tuple([t.array.size for t in ordered])
    grids = []
    for dim, t in enumerate(ordered):
        column = reshape(t, [-1 if d == dim else 1 for d in range(len(shape))])
        grids.append(expand.function(column, shape))
    if swap:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


@composite(lambda t: [S(t(3), t(2)), S(t(3)), S(t(2), t(1), t(2))], method=False)
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """cartesian_prod(*tensors): all combinations of an element of each of some vectors, as rows."""
    for t in tensors:
        if not isinstance(t, TensorBase):
            raise errors.mistake(TypeError, f"expected Tensor as element 0 in argument 0, but got {type(t).__name__}")
        if t.array.ndim != 1:
            raise errors.mistake(RuntimeError, f"Expect a 1D vector, but got shape {errors.size(t.array.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    grids = meshgrid(*tensors, indexing="ij")
    return stack.function([flatten(grid) for grid in grids], 1)


@composite(
    lambda t: [S(t(4)), S(t(3), 3), S(t(3), 2, True), S(t(2), 1), S(t(2), 3)],
    method=False,
)
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """combinations(input, r=2, with_replacement=False): all ways to choose r elements of a vector, as rows."""
    if input.array.ndim != 1:
        raise errors.mistake(RuntimeError, f"Expect a 1D vector, but got shape {errors.size(input.array.shape)}")
    if r < 0:
        raise errors.mistake(RuntimeError, f"Expect a non-negative number, but got {r}")
    if r == 0:
        return wrap(np.empty(0, input.array.dtype))
    places = np.indices((input.array.size,) * r)
    below = np.less_equal if with_replacement else np.less
    mask = np.ones(places.shape[1:], bool)
    for one, next_one in pairwise(places):
        mask &= below(one, next_one)
    grids = meshgrid(*[input] * r, indexing="ij")
    return stack.function([masked_select.function(grid, wrap(mask)) for grid in grids], 1)
