"""leafgrad.autograd._functions: Functions that old programs use by name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from leafgrad import _missing, errors
from leafgrad.autograd.function import Function

__all__ = ["Resize"]
__getattr__ = _missing.attributes_of(__name__)


class Resize(Function):
    """Resize.apply(tensor, sizes): the tensor in another shape, of as many elements."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, sizes: Sequence[int]) -> Any:
        count = math.prod(sizes)
        if tensor.numel() != count:
            asked, given = ["x".join(map(str, shape)) for shape in (sizes, tensor.shape)]
            raise RuntimeError(
                f"requested resize to {asked} ({count} elements in total), but the given tensor has a size of {given} "
                f"({tensor.numel()} elements). autograd's resize can only change the shape of a given tensor, while "
                f"preserving the number of elements. \n  at {errors.here()}"
            )
        ctx.shape = tensor.shape
        return tensor.contiguous().view(*sizes)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g.contiguous().view(ctx.shape), None
