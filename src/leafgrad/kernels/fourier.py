"""Fourier transforms natively (_fourier.c): many lines side by side in vector registers, groups of them on several
threads. The definitions are those of leafgrad/ops/fourier/transforms.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Native: Any = None
try:
    from leafgrad.kernels._fourier import Native
except ImportError:  # not built
    pass


def native_transform(name: str) -> Callable[[Callable[..., Any]], Any]:
    """Before a function on NumPy: computed by the one of this name in _fourier.c for the arrays that it takes."""
    if Native is None:
        return lambda otherwise: otherwise
    return lambda otherwise: Native(name, otherwise)
