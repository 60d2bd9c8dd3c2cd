"""torch.backends.quantized: not there, leafgrad has no quantized tensors."""

from __future__ import annotations

from leafgrad import _missing

engine = "none"
supported_engines = ["none"]

__getattr__ = _missing.attributes_of(__name__)
