"""torch.ao.quantization: the newer place of torch.quantization."""

from __future__ import annotations

from leafgrad.quantization import __getattr__ as __getattr__
