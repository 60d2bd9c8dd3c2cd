"""torch._jit_internal: marks that programs put on functions for TorchScript, which change nothing for Python."""

from __future__ import annotations

from leafgrad import _missing
from leafgrad.compiler import same

_copy_to_script_wrapper = export = unused = _overload = _overload_method = same

__getattr__ = _missing.attributes_of(__name__)
