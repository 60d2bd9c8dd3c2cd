"""torch.distributed.tensor: tensors that are spread over processes, to be imported and not used."""

from __future__ import annotations

from leafgrad import _absent, _missing
from leafgrad.distributed import SENTENCE

NAMES = "DTensor DeviceMesh Partial Placement Replicate Shard distribute_module distribute_tensor init_device_mesh"
globals().update(_absent.refused(__name__, SENTENCE, NAMES))
__all__ = NAMES.split()
__getattr__ = _missing.attributes_of(__name__)
