"""torch.backends.cudnn: not there. Its switches can be set."""

from __future__ import annotations

from typing import Any

from leafgrad import _absent, _missing

enabled = True
benchmark = False
benchmark_limit: int | None = None
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """is_available(): False, there is no GPU."""
    return False


def version() -> None:
    """version(): None, there is no cuDNN."""


def is_acceptable(tensor: Any) -> bool:
    """is_acceptable(tensor): False, tensors are on the CPU."""
    return False


def flags(
    enabled: bool | None = None,
    benchmark: bool | None = None,
    benchmark_limit: int | None = None,
    deterministic: bool | None = None,
    allow_tf32: bool | None = None,
) -> _absent.Switch:
    """flags(enabled, benchmark, benchmark_limit, deterministic, allow_tf32): a context in which switches are set."""
    return _absent.Switch(__name__, locals())


__getattr__ = _missing.attributes_of(__name__)
