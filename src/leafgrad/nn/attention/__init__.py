"""leafgrad.nn.attention: which algorithm computes attention (there is one here, as good as PyTorch's for CPUs), and
attention by functions of scores.

May import `_missing`, `errors` and `leafgrad`.
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(enum.Enum):
    """PyTorch's algorithms for scaled_dot_product_attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __int__(self) -> int:
        return self.value


FOR_CPUS = {SDPBackend.MATH, SDPBackend.FLASH_ATTENTION}


@contextlib.contextmanager
def sdpa_kernel(backends: SDPBackend | list[SDPBackend], set_priority: bool = False) -> Iterator[None]:
    """sdpa_kernel(backends, set_priority=False): choose among algorithms, in a `with` block or as a decorator. Those
    for CPUs are one here, so the choice and its order change nothing; a choice without them is refused."""
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, "
            f"got {type(backends).__name__}"
        )
    chosen = [backends] if isinstance(backends, SDPBackend) else backends
    if FOR_CPUS.isdisjoint(chosen):
        raise RuntimeError(
            "No viable backend for scaled_dot_product_attention was found. This is likely due to turning off both the "
            f"math kernel and the fused kernels.\n  chosen: {chosen}\n"
            "  fix: SDPBackend.MATH or SDPBackend.FLASH_ATTENTION, which CPUs have"
        )
    yield
