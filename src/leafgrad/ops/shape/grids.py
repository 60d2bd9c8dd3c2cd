"""Grids of coordinates."""

from __future__ import annotations

from leafgrad import errors
from leafgrad._core.tensor import TensorBase
from leafgrad.ops.registry import composite
from leafgrad.ops.samples import S
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
