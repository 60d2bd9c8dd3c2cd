"""torch.utils.collect_env for programs that import it: `python -m leafgrad config` says what leafgrad runs on."""

from __future__ import annotations

from leafgrad import _absent

__getattr__ = _absent.names_refused(
    __name__, "leafgrad does not have {name}: python -m leafgrad config says what it runs on"
)
