"""torch.utils.mobile_optimizer for programs that import it: leafgrad does not export programs."""

from __future__ import annotations

from leafgrad import _absent

__getattr__ = _absent.names_refused(__name__, "leafgrad does not have {name}: it does not export programs")
