"""torch.backends.cpu: the processor."""

from __future__ import annotations

from leafgrad import _missing


def get_cpu_capability() -> str:
    """get_cpu_capability(): "NO AVX": which instructions are used is NumPy's decision."""
    return "NO AVX"


__getattr__ = _missing.attributes_of(__name__)
