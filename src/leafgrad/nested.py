"""torch.nested for programs that import it: leafgrad has no nested tensors."""

from __future__ import annotations

from leafgrad import _absent

__getattr__ = _absent.names_refused(__name__, "leafgrad does not have {name}: it has no nested tensors")
