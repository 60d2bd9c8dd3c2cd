"""Grids of coordinates, and what is built of them: all combinations of elements, and their powers."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.ops.index.masks import masked_select
from leafgrad.ops.pointwise.elementwise import mul
from leafgrad.ops.promotion import sum_dtype
from leafgrad.ops.registry import composite
from leafgrad.ops.samples import S
from leafgrad.ops.shape.join import arrays_of, stack
from leafgrad.ops.shape.views import expand, reshape
from leafgrad.ops.signature import Tensor, Tensors


@composite(
    lambda t: [S(t(3), t(2), indexing="ij"), S(t(3), t(), t(2), indexing="xy"), S([t(3), t(2)], indexing="ij")],
    method=False,
    in_python=("function",),
)
def meshgrid(*tensors: Tensor | Tensors, indexing: str | None = None) -> tuple[Tensor, ...]:
    """meshgrid(*tensors, indexing=None): for each of some vectors, its elements spread over the grid of all of them.
    'ij' lets the first vector vary along dimension 0, 'xy' along dimension 1."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    arrays_of(tensors)
    for t in tensors:
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


def _check_vector(t: TensorBase) -> None:
    if t.array.ndim != 1:
        raise errors.mistake(RuntimeError, f"Expect a 1D vector, but got shape {errors.size(t.array.shape)}")


@composite(lambda t: [S(t(3), t(2)), S(t(2), t(1), t(3)), S(t(3)), S(t(2), t(0))], method=False)
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """cartesian_prod(*tensors): all ways to take one element of each vector, a row for each; of one vector, itself."""
    arrays_of(tensors)
    for t in tensors:
        _check_vector(t)
    if len(tensors) == 1:
        return tensors[0]
    return stack.function([reshape(grid, (-1,)) for grid in meshgrid(*tensors, indexing="ij")], 1)


@composite(lambda t: [S(t(4)), S(t(3), 3, True), S(t(3), 1), S(t(2), 3)], method=False)
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """combinations(input, r=2, with_replacement=False): all ways to take r elements of a vector, a row for each."""
    _check_vector(input)
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


def _powers(torch: Any, x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """What vander is in PyTorch, which cannot differentiate its own."""
    exponents = list(range(len(x) if N is None else N))
    return torch.stack([x**k for k in (exponents if increasing else exponents[::-1])], 1)


@composite(
    lambda t: [S(t(3, low=0.3)), S(t(3, low=0.3), 4), S(t(2, low=0.3), 3, True), S(t(0), 2)],
    method=False,
    reference=_powers,
)
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """vander(x, N=None, increasing=False): the Vandermonde matrix of a vector, whose columns are its powers."""
    if x.array.ndim != 1:
        raise errors.mistake(RuntimeError, "x must be a one-dimensional tensor.")
    count = x.array.size if N is None else N
    if count < 0:
        raise errors.mistake(RuntimeError, "N must be non-negative.")
    x = x.to(sum_dtype(from_numpy_dtype(x.array.dtype)))
    if count == 0:
        return wrap(np.empty((x.array.size, 0), x.array.dtype))
    powers: list[Any] = [wrap(np.ones(x.array.shape, x.array.dtype))]
    for _ in range(1, count):
        powers.append(x if len(powers) == 1 else mul.function(powers[-1], x))
    return stack.function(powers if increasing else powers[::-1], 1)
