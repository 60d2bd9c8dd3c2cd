"""Answers of two libraries about distributions, compared."""

from __future__ import annotations

from typing import Any

# In single precision the derivatives of densities lose digits: sums of numbers that cancel each other.
TOLERANCE = {"float32": 3e-4, "float64": 1e-9}

# PyTorch changes a mask in place that its graph of samples needs, and so refuses their gradients. Here they are there.
BETTER = {("Wishart", "gradient of rsample"), ("Wishart by factor", "gradient of rsample")}


def differences(name: str, expected: Any, found: Any, tolerance: float) -> list[str]:
    if isinstance(expected, dict):
        told = [key for key in expected if (name, key) not in BETTER]
        return [d for key in told for d in differences(key, expected[key], found[key], tolerance)]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [d for pair in zip(expected, found) for d in differences(name, *pair, tolerance)]
    if isinstance(expected, float) and isinstance(found, float):
        both_nan = expected != expected and found != found
        if both_nan or expected == found or abs(expected - found) <= tolerance * (1 + abs(expected)):
            return []
    return [] if expected == found else [f"{name}: {found!r} is not {expected!r}"]
