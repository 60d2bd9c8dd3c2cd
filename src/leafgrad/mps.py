"""torch.mps for programs that ask before they use it: there is none."""

from __future__ import annotations

from leafgrad import _absent

globals().update(_absent.answers(__name__, is_available=False, device_count=0, manual_seed=None))

__getattr__ = _absent.names_refused(__name__, "{name}() cannot be called without MPS backend.", RuntimeError)
