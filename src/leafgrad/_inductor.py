"""torch._inductor, for the settings of torch.compile that programs change: they can be set, and nothing is compiled."""

from __future__ import annotations

from types import SimpleNamespace

from leafgrad import _missing

config = SimpleNamespace(triton=SimpleNamespace(), fx_graph_cache=False, coordinate_descent_tuning=False)

__getattr__ = _missing.attributes_of(__name__)
