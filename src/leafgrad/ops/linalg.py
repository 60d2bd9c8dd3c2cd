"""Products of matrices and vectors."""

from __future__ import annotations
