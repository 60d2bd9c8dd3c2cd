"""leafgrad.cuda: torch.cuda for programs that ask before they use it: there is none.

May import `_absent`, and `amp`, `errors` and `_dtypes` for mixed precision by its old names.
"""

from __future__ import annotations

from typing import Any

from leafgrad import _absent

globals().update(
    _absent.answers(
        __name__,
        is_available=False, is_initialized=False, is_bf16_supported=False, is_tf32_supported=False, device_count=0,
        manual_seed=None, manual_seed_all=None, seed=None, seed_all=None, empty_cache=None,
        memory_allocated=0, max_memory_allocated=0, memory_reserved=0, max_memory_reserved=0,
        memory_cached=0, max_memory_cached=0, memory_stats={}, memory_summary="", reset_peak_memory_stats=None,
        reset_max_memory_allocated=None, reset_max_memory_cached=None,
        get_arch_list=[], get_gencode_flags="", get_rng_state_all=[], set_rng_state_all=None,
    )
)  # fmt: skip

default_generators: tuple[Any, ...] = ()
has_half = True


class OutOfMemoryError(RuntimeError):
    """What programs catch when the memory of a GPU is not enough. Nothing raises it here."""


class AcceleratorError(RuntimeError):
    """What programs catch when a GPU fails. Nothing raises it here."""


CudaError = AcceleratorError

__getattr__ = _absent.names_refused(__name__, "Torch not compiled with CUDA enabled", AssertionError, {"amp": "amp"})
