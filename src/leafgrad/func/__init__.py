"""Functions of functions: vmap, and the derivatives of a function as a function. What PyTorch has as torch.func."""

from __future__ import annotations

from leafgrad.func.vmap import vmap

__all__ = ["vmap"]
