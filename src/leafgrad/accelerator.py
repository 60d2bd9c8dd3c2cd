"""torch.accelerator for programs that ask before they use one: there is none."""

from __future__ import annotations

from typing import Any, NoReturn

from leafgrad import _missing


def is_available() -> bool:
    """is_available(): False, leafgrad computes on the CPU only."""
    return False


def device_count() -> int:
    """device_count(): 0."""
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """current_accelerator(): None."""
    return None


def synchronize(device: Any = None) -> NoReturn:
    """synchronize(): refused, there is nothing to wait for."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


__getattr__ = _missing.attributes_of(__name__)
