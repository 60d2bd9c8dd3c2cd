"""torch.backends.mha: the switch of PyTorch's fast path for attention, which leafgrad does not have."""

from __future__ import annotations

from leafgrad import _missing

_switch = {"fastpath": True}


def get_fastpath_enabled() -> bool:
    """get_fastpath_enabled(): what set_fastpath_enabled was told."""
    return _switch["fastpath"]


def set_fastpath_enabled(value: bool) -> None:
    """set_fastpath_enabled(value): kept; the results are the same either way."""
    _switch["fastpath"] = bool(value)


__getattr__ = _missing.attributes_of(__name__)
