"""leafgrad.masked: reductions and normalizations of those elements that a mask keeps. They are composed of operations,
and lie with them. (Tensors that carry a mask of their own, MaskedTensor, are not there.)"""

from __future__ import annotations

from leafgrad._tensor.install import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(__name__)
