"""DistributedDataParallel for programs that import it: leafgrad trains in one process."""

from __future__ import annotations

from typing import Any

from leafgrad import _absent

__all__ = ["DistributedDataParallel"]

SENTENCE = "leafgrad does not have torch.nn.parallel.DistributedDataParallel: it trains in one process"
DistributedDataParallel: Any = _absent.refusing(
    "torch.nn.parallel.DistributedDataParallel", NotImplementedError, SENTENCE
)
