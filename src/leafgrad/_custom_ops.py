"""torch._custom_ops: the former place of torch.library, for programs that still import it."""

from __future__ import annotations

from leafgrad import _missing

__getattr__ = _missing.attributes_of(__name__)
