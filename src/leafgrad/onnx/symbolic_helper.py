"""torch.onnx.symbolic_helper: marks on functions that describe operators of a program's own to an exporter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad import _missing

__all__ = ["parse_args"]


def parse_args(*arg_descriptors: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """parse_args(*arg_descriptors): a decorator that changes nothing, because nothing is exported."""
    return lambda function: function


__getattr__ = _missing.attributes_of(__name__)
