"""torch.distributed._tensor: the former place of torch.distributed.tensor."""

from __future__ import annotations

from leafgrad.distributed.tensor import *  # noqa: F403
