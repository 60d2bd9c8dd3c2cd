"""leafgrad.nn.parallel: torch.nn.parallel. Batches are not spread over devices, of which there is one.

May import what `nn` may.
"""

from __future__ import annotations

from typing import Any

from leafgrad import _absent
from leafgrad.nn.modules.container import DataParallel
from leafgrad.nn.parallel.distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]


def data_parallel(
    module: Any, inputs: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0, module_kwargs: Any = None
) -> Any:
    """data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None): the module called
    with the inputs, on the one device there is."""
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*inputs, **(module_kwargs or {}))


__getattr__ = _absent.names_refused(
    __name__, "leafgrad does not have {name}: it computes on one device", later={"scatter_gather": "scatter_gather"}
)
