"""torch.backends.mps: not there."""

from __future__ import annotations

from leafgrad import _absent, _missing

globals().update(_absent.answers(__name__, is_available=False, is_built=False, is_macos13_or_newer=False))

__getattr__ = _missing.attributes_of(__name__)
