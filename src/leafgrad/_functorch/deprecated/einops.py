"""functorch.einops: the former place of torch.func.rearrange."""

from leafgrad.func import rearrange

__all__ = ["rearrange"]
