"""torch.distributed.optim: optimisers of several processes, to be imported and not used."""

from __future__ import annotations

from leafgrad import _absent, _missing
from leafgrad.distributed import SENTENCE

NAMES = "DistributedOptimizer PostLocalSGDOptimizer ZeroRedundancyOptimizer"
globals().update(_absent.refused(__name__, SENTENCE, NAMES))
__getattr__ = _missing.attributes_of(__name__)
