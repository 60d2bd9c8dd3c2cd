"""leafgrad.signal.windows: windows for the spectra of signals, as tensors."""

from __future__ import annotations

from leafgrad._tensor.install import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(__name__)
