"""torch.mtia for programs that ask before they use it: there is none."""

from __future__ import annotations

from leafgrad import _absent

globals().update(
    _absent.answers(
        __name__,
        is_available=False, is_initialized=False, is_bf16_supported=False, device_count=0, manual_seed=None,
        manual_seed_all=None, seed=None, seed_all=None, empty_cache=None, memory_allocated=0, max_memory_allocated=0,
        get_rng_state_all=[],
    )
)  # fmt: skip

__getattr__ = _absent.names_refused(__name__, "Torch not compiled with MTIA enabled", AssertionError)
