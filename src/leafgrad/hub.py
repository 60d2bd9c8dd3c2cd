"""torch.hub for programs that import it: leafgrad fetches nothing from the network."""

from __future__ import annotations

from leafgrad import _absent

__getattr__ = _absent.names_refused(
    __name__, "leafgrad does not have {name}: it fetches nothing from the network; torch.load reads files of weights"
)
