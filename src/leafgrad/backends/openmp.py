"""torch.backends.openmp: not there, threads are those of leafgrad and of NumPy's BLAS."""

from __future__ import annotations

from leafgrad import _absent, _missing

globals().update(_absent.answers(__name__, is_available=False))

__getattr__ = _missing.attributes_of(__name__)
