"""Linear maps and look-ups in tables."""

from __future__ import annotations

from leafgrad.nn._functional.overridable import overridable
from leafgrad.ops.index import masks
from leafgrad.ops.index.embedding import embedding as embedding_op
from leafgrad.ops.linalg import affine
from leafgrad.ops.public_forms import overridable_function

__all__ = ["embedding", "linear", "one_hot"]

linear = affine.linear.function  # which asks by itself whether a call is taken over
embedding = overridable(embedding_op.function)
one_hot = overridable_function(masks.one_hot.function)
