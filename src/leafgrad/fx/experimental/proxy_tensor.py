"""Tracing by tensors that stand for others: no tracer ever runs."""

from __future__ import annotations

from leafgrad import _absent

WITHOUT = "leafgrad does not have {name}: it does not make programs of graphs"
globals().update(_absent.answers(__name__, get_proxy_mode=None))

__getattr__ = _absent.names_refused(__name__, WITHOUT)
