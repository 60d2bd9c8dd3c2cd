"""torch.backends.cuda: not there. Its switches can be set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad import _missing
from leafgrad._settings import get_float32_matmul_precision, set_float32_matmul_precision


class Products:
    """The switches of matrix products on a GPU."""

    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True
    allow_fp16_accumulation = False

    @property
    def allow_tf32(self) -> bool:
        return get_float32_matmul_precision() != "highest"

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        set_float32_matmul_precision("high" if allowed else "highest")


matmul = Products()
_attention = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True}


def is_built() -> bool:
    """is_built(): False, leafgrad computes on the CPU only."""
    return False


def is_flash_attention_available() -> bool:
    """is_flash_attention_available(): False."""
    return False


class SDPAParams:
    """SDPAParams(query, key, value, attn_mask, dropout, is_causal, enable_gqa): a call of attention, of which the
    functions below say whether a kernel for GPUs could compute it."""

    def __init__(
        self, query: Any, key: Any, value: Any, attn_mask: Any, dropout: float, is_causal: bool, enable_gqa: bool
    ) -> None:
        self.query, self.key, self.value, self.attn_mask = query, key, value, attn_mask
        self.dropout, self.is_causal, self.enable_gqa = dropout, is_causal, enable_gqa


def _never(name: str) -> Callable[[SDPAParams, bool], bool]:
    def can_use(params: SDPAParams, debug: bool = False) -> bool:
        return False

    can_use.__name__ = can_use.__qualname__ = name
    can_use.__doc__ = f"{name}(params, debug=False): False, leafgrad computes on the CPU only."
    return can_use


can_use_flash_attention = _never("can_use_flash_attention")
can_use_efficient_attention = _never("can_use_efficient_attention")
can_use_cudnn_attention = _never("can_use_cudnn_attention")


def _preference(name: str, first: str) -> Callable[[Any], Any]:
    """A function that sets which library is preferred on a GPU, if it is told, and returns which one is."""
    chosen = first

    def preferred(backend: str | None = None) -> str:
        nonlocal chosen
        chosen = chosen if backend is None else backend
        return chosen

    preferred.__name__ = preferred.__qualname__ = name
    preferred.__doc__ = f"{name}(backend=None): which library a GPU would use; remembered, without a meaning here."
    return preferred


preferred_linalg_library = _preference("preferred_linalg_library", "default")
preferred_blas_library = _preference("preferred_blas_library", "default")


def _switch(kind: str) -> tuple[Callable[[], bool], Callable[[bool], None]]:
    """The functions that read and set whether a kind of attention may be used on a GPU."""

    def enabled() -> bool:
        return _attention[kind]

    def enable(enabled: bool) -> None:
        _attention[kind] = bool(enabled)

    return enabled, enable


flash_sdp_enabled, enable_flash_sdp = _switch("flash")
mem_efficient_sdp_enabled, enable_mem_efficient_sdp = _switch("mem_efficient")
math_sdp_enabled, enable_math_sdp = _switch("math")
cudnn_sdp_enabled, enable_cudnn_sdp = _switch("cudnn")


class sdp_kernel:
    """sdp_kernel(enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True): a context in which
    kinds of attention are switched."""

    def __init__(
        self,
        enable_flash: bool = True,
        enable_math: bool = True,
        enable_mem_efficient: bool = True,
        enable_cudnn: bool = True,
    ) -> None:
        self.wanted = {
            "flash": enable_flash,
            "math": enable_math,
            "mem_efficient": enable_mem_efficient,
            "cudnn": enable_cudnn,
        }

    def __enter__(self) -> dict[str, Any]:
        self.before = dict(_attention)
        _attention.update(self.wanted)
        return {}

    def __exit__(self, *error: object) -> None:
        _attention.update(self.before)


__getattr__ = _missing.attributes_of(__name__)
