"""torch.fx.experimental, of which libraries ask whether a tracer is running and what it knows of sizes.

May import `_absent` and `_missing`.
"""

from __future__ import annotations

from leafgrad import _missing

__getattr__ = _missing.attributes_of(__name__)
