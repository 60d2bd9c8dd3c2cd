"""torch._dynamo, for the settings of torch.compile that programs change: they can be set, and nothing is compiled.

May import `_absent`, `_missing` and `compiler`.
"""

from __future__ import annotations

from types import SimpleNamespace

from leafgrad import _absent, _missing
from leafgrad.compiler import allow_in_graph, disable, same

__all__ = ["allow_in_graph", "config", "disable"]

config = SimpleNamespace(suppress_errors=False, verbose=False, cache_size_limit=8, recompile_limit=8)
globals().update(_absent.refused(__name__, "leafgrad does not have {name}: it compiles nothing", "OptimizedModule"))
globals().update(_absent.answers(__name__, reset=None, is_compiling=False, optimize=same, mark_dynamic=None))

__getattr__ = _missing.attributes_of(__name__)
