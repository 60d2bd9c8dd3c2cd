"""torch.onnx for programs that import it: leafgrad exports nothing.

May import `_absent` and `_missing`.
"""

from __future__ import annotations

from typing import Any

from leafgrad import _absent


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Any, opset_version: int) -> None:
    """register_custom_op_symbolic(symbolic_name, symbolic_fn, opset_version): how an operator would be exported, which
    nobody asks for."""


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """unregister_custom_op_symbolic(symbolic_name, opset_version): take that back."""


__getattr__ = _absent.names_refused(__name__, "leafgrad does not have {name}: it writes no ONNX files")
