"""torch.cuda for programs that ask before they use it: there is none."""

from __future__ import annotations

from typing import Any, NoReturn

from leafgrad import _missing


def is_available() -> bool:
    """is_available(): False, leafgrad computes on the CPU only."""
    return False


def device_count() -> int:
    """device_count(): 0."""
    return 0


def is_initialized() -> bool:
    """is_initialized(): False."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """is_bf16_supported(): False."""
    return False


def manual_seed(seed: int) -> None:
    """manual_seed(seed): does nothing, as in PyTorch without a GPU."""


def manual_seed_all(seed: int) -> None:
    """manual_seed_all(seed): does nothing, as in PyTorch without a GPU."""


def empty_cache() -> None:
    """empty_cache(): does nothing, as in PyTorch without a GPU."""


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise AssertionError("Torch not compiled with CUDA enabled")


current_device = get_device_name = get_device_properties = set_device = synchronize = _refuse


__getattr__ = _missing.attributes_of(__name__)
