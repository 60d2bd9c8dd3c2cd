"""torch.onnx for programs that import it: leafgrad writes no ONNX files."""

from __future__ import annotations

from leafgrad import _absent

__getattr__ = _absent.names_refused(__name__, "leafgrad does not have {name}: it writes no ONNX files")
