"""Making tensors."""

from __future__ import annotations
