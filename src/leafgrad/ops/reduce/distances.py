"""Distances and angles between vectors."""

from __future__ import annotations

import numpy as np

from leafgrad import errors
from leafgrad._core.thread_state import state
from leafgrad._dtypes import FLOAT
from leafgrad.ops.promotion import common_dtype
from leafgrad.ops.registry import composite
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Tensor


@composite(
    lambda t: [
        S(t(3, 4), t(3, 4)),
        S(t(4), t(4), 1.0),
        S(t(2, 3, 4), t(3, 4), 3.0, 0.1, True),
        S(t(0, 3), t(0, 3)),
    ],
    method=False,
    places=("nn.functional.pairwise_distance",),
)
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """pairwise_distance(x1, x2, p=2.0, eps=1e-06, keepdim=False): the p-norm of x1 - x2 + eps along the last
    dimension."""
    dim = max(x1.ndim, x2.ndim) - 1
    return (x1 - x2 + eps).norm(p, dim, keepdim)


@composite(
    lambda t: [
        S(t(3, 4), t(3, 4)),
        S(t(4), t(4), 0),
        S(t(2, 3, 4), t(3, 4), -1, 1e-3),
        S(t(3, 0), t(3, 0), 0),
        S(t(2, 1, 3), t(1, 4, 1), 2),
    ],
    method=False,
    places=("nn.functional.cosine_similarity",),
)
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """cosine_similarity(x1, x2, dim=1, eps=1e-08): the cosine of the angle between vectors along a dimension, whose
    norms count as eps at least."""
    shape = x1.array.shape
    if x2.array.shape != shape:
        try:
            shape = np.broadcast_shapes(shape, x2.array.shape)
        except ValueError:
            raise errors.broadcast_mismatch("cosine_similarity", (x1.array, x2.array)) from None
    kind = common_dtype(x1, x2)
    if kind.category != FLOAT:
        first = f"expected common dtype to be floating point, yet common dtype is {kind.alias}"
        raise errors.mistake(RuntimeError, first)
    vectors = [x if x.array.shape == shape else x.expand(shape) for x in (x1.to(kind), x2.to(kind))]
    units = []
    for x in vectors:
        length = x.norm(2, dim, True)
        if state.recording is False or (state.recording is True and not length.needs_grad):
            units.append(x / length.clamp_min(eps))
            continue
        length = length.clone()
        length.detach().clamp_min_(eps)  # whose gradient is that of the length, even below eps
        units.append(x / length)
    return (units[0] * units[1]).sum(dim)
