"""torch.library for programs that import it: leafgrad's operations are the blocks in leafgrad.ops."""

from __future__ import annotations

from leafgrad import _absent

__getattr__ = _absent.names_refused(
    __name__, "leafgrad does not have {name}: an operation of your own is a torch.autograd.Function"
)
