"""torch.distributed.fsdp for programs that import it: leafgrad trains in one process."""

from __future__ import annotations

from leafgrad import _absent
from leafgrad.distributed import SENTENCE

__getattr__ = _absent.names_refused(__name__, SENTENCE)
