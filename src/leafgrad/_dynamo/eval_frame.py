"""Where PyTorch has the class of compiled modules."""

from __future__ import annotations

from leafgrad import _absent, _missing

globals().update(_absent.refused(__name__, "leafgrad does not have {name}: it compiles nothing", "OptimizedModule"))

__getattr__ = _missing.attributes_of(__name__)
