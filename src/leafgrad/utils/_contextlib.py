"""torch.utils._contextlib: the base of context managers that are decorators as well."""

from __future__ import annotations

from leafgrad import _missing
from leafgrad.autograd.grad_mode import _DecoratorContextManager as _DecoratorContextManager

__getattr__ = _missing.attributes_of(__name__)
