"""torch._vmap_internals, which programs and PyTorch's own gradient checks used before there was `torch.func.vmap`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad import _missing
from leafgrad.func.vmap import vmap

__all__ = ["_vmap", "vmap"]


def _vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, allow_none_pass_through: bool = False
) -> Callable[..., Any]:
    """_vmap(func, in_dims=0, out_dims=0): vmap. Results that are None are refused, so they cannot pass through."""
    if allow_none_pass_through:
        raise NotImplementedError("leafgrad's vmap does not pass None through")
    return vmap(func, in_dims, out_dims)


__getattr__ = _missing.attributes_of(__name__)
