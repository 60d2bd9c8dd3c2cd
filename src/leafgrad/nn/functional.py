"""leafgrad.nn.functional: what layers compute, as functions. They are in nn/_functional, or operations."""

from __future__ import annotations

from leafgrad._tensor.install import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(__name__)
