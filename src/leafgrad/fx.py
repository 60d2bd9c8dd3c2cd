"""torch.fx for programs that import it: leafgrad does not trace programs into graphs that could be changed."""

from __future__ import annotations

from leafgrad import _absent

__getattr__ = _absent.names_refused(__name__, "leafgrad does not have {name}: it does not make programs of graphs")
