"""leafgrad.signal: windows for the spectra of signals, which are made in ops. May import `_tensor`."""

from __future__ import annotations

from leafgrad.signal import windows as windows

__all__ = ["windows"]
