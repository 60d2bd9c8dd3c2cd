"""Numbers as text: short, and the same in every report."""

from __future__ import annotations

from typing import Any

import numpy as np

BYTES = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")]
COUNTS = [(1e12, "T"), (1e9, "G"), (1e6, "M")]


def amount(value: float) -> str:
    """Two digits and a power of ten: 3.1e-07, inf, nan."""
    return f"{value:.1e}"


def ratio(value: float) -> str:
    return f"{value:.2g}"


def percent(part: float, digits: int = 1) -> str:
    return f"{100 * part:.{digits}f} %"


def few_percent(count: int, of: int) -> str:
    """A share of elements: 0 % and 100 % are said of none and all of them only."""
    if count in (0, of) or of == 0:
        return "0 %" if count == 0 else "100 %"
    return f"{min(max(100 * count / of, 0.1), 99.9):.1f} %"


def memory(count: float) -> str:
    """A number of bytes."""
    for size, unit in BYTES:
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:.0f} B"


def many(count: float) -> str:
    """A large number of operations: 12.3 M. A small one is written out."""
    for size, unit in COUNTS:
        if count >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count:,.0f}"


def plural(count: int, one: str, more: str | None = None) -> str:
    """1 layer, 2 layers."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def number(value: Any) -> str:
    """An element of a small table."""
    return f"{value:.4g}"


def as_list(array: Any) -> Any:
    """An array as nested lists of Python numbers, for `to_dict()`."""
    return np.asarray(array).tolist()


def magnitude(array: Any) -> float:
    """The Euclidean norm of all elements, in double precision, so that the squares of large ones do not overflow."""
    flat = np.asarray(array).ravel()
    flat = flat.astype(np.complex128 if flat.dtype.kind == "c" else np.float64)
    return float(np.sqrt(np.sum(np.abs(flat) ** 2)))
