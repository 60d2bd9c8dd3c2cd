"""torch._functorch.apis: where PyTorch keeps vmap and grad."""

from leafgrad.func import grad, grad_and_value
from leafgrad.func.vmap import chunk_vmap, vmap

__all__ = ["chunk_vmap", "grad", "grad_and_value", "vmap"]
