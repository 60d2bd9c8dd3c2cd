"""Linear maps."""

from __future__ import annotations

from leafgrad.ops.index import masks
from leafgrad.ops.linalg import affine
from leafgrad.ops.public_forms import overridable_function

__all__ = ["linear", "one_hot"]

linear = overridable_function(affine.linear.function)
one_hot = overridable_function(masks.one_hot.function)
