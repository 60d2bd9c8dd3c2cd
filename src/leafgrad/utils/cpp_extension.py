"""torch.utils.cpp_extension for programs that import it: leafgrad builds no extensions."""

from __future__ import annotations

from leafgrad import _absent

__getattr__ = _absent.names_refused(
    __name__, "leafgrad does not have {name}: it is written in Python and builds no extensions"
)
