"""Reductions: sums, means, extremes, products, norms; along dimensions or of everything."""

from __future__ import annotations
