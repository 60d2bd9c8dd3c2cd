"""torch._dynamo.utils: what programs ask before they compile a part of themselves."""

from __future__ import annotations

from typing import Any

from leafgrad import _missing


def is_compile_supported(device_type: Any) -> bool:
    """Can code be compiled for this kind of device? leafgrad runs it as it is."""
    return False


__getattr__ = _missing.attributes_of(__name__)
