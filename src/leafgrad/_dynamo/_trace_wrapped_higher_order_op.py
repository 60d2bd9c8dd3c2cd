"""What transformers puts around `vmap`, so that PyTorch indexes with tensors there, and not with numbers."""

from __future__ import annotations

from contextlib import nullcontext

from leafgrad import _missing


class TransformGetItemToIndex(nullcontext[None]):
    """Changes nothing: leafgrad's `vmap` indexes with tensors anyway."""


__getattr__ = _missing.attributes_of(__name__)
