"""torch.ao for programs that import it: leafgrad has no quantized tensors.

May import `_missing` and `quantization`.
"""

from __future__ import annotations

from leafgrad import _missing

__getattr__ = _missing.attributes_of(__name__, {"quantization": "quantization"})
