"""Indexing: x[...] in all its forms, reading and writing, with gradients."""

from __future__ import annotations
