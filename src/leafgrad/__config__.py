"""torch.__config__: what this installation runs on."""

from __future__ import annotations

from leafgrad import _missing
from leafgrad._settings import get_num_threads, show_config


def show() -> str:
    """show(): leafgrad.show_config()."""
    return show_config()


def parallel_info() -> str:
    """parallel_info(): the number of threads."""
    return f"leafgrad computes with up to {get_num_threads()} threads\n"


__getattr__ = _missing.attributes_of(__name__)
