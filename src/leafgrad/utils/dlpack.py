"""torch.utils.dlpack: memory that is given to other libraries, and taken from them."""

from __future__ import annotations

from typing import Any

from leafgrad import _missing
from leafgrad.ops.creation.from_data import from_dlpack

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Any) -> Any:
    """to_dlpack(tensor): a capsule with the memory of a tensor, for another library's from_dlpack."""
    return tensor.__dlpack__()


__getattr__ = _missing.attributes_of(__name__)
