"""utils.swap_tensors."""

from __future__ import annotations

from leafgrad._tensor.swapping import swap_tensors as swap_tensors
