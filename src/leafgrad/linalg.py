"""leafgrad.linalg: decompositions, solvers and norms of matrices. They are operations, which say so in their blocks."""

from __future__ import annotations

from leafgrad._tensor.install import namespace as _namespace
from leafgrad.ops.linalg.matrices import LinAlgError as LinAlgError
from leafgrad.ops.linalg.matrices import _LinAlgError as _LinAlgError

__getattr__, __dir__, __all__ = _namespace(__name__)
