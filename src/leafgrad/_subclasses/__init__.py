"""torch._subclasses, which libraries ask whether a tensor is a fake one, without memory: none is.

May import `_absent` and `_missing`.
"""

from __future__ import annotations

from leafgrad import _missing

__getattr__ = _missing.attributes_of(__name__)
