"""leafgrad.distributed: torch.distributed, for programs that ask whether they are one of several processes. leafgrad
trains in one.

May import `_absent` and `_missing`.
"""

from __future__ import annotations

import enum
from typing import Any

from leafgrad import _absent

globals().update(
    _absent.answers(
        __name__, is_available=False, is_initialized=False, is_torchelastic_launched=False, is_nccl_available=False,
        is_gloo_available=False, is_mpi_available=False, is_ucc_available=False, is_xccl_available=False,
    )
)  # fmt: skip


class ReduceOp(enum.Enum):
    """How the processes of a group would put their tensors together."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)


class group:
    """The group of all processes, which there is not."""

    WORLD: Any = None


SENTENCE = "leafgrad does not have {name}: it trains in one process, and torch.distributed.is_available() is False"
__getattr__ = _absent.names_refused(
    __name__, SENTENCE, later={name: name for name in ("device_mesh", "fsdp", "optim", "tensor")}
)
