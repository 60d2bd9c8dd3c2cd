"""torch.backends.mkldnn: not there. Its switches can be set."""

from __future__ import annotations

from leafgrad import _absent, _missing

enabled = True
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """is_available(): False, leafgrad computes with NumPy."""
    return False


def flags(
    enabled: bool | None = None, deterministic: bool | None = None, allow_tf32: bool | None = None
) -> _absent.Switch:
    """flags(enabled, deterministic, allow_tf32): a context in which switches are set."""
    return _absent.Switch(__name__, locals())


__getattr__ = _missing.attributes_of(__name__)
