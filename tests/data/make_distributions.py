"""Writes distributions.json.gz: what PyTorch's distributions answer, for tests that run without PyTorch.

Run it with PyTorch installed: ``python tests/data/make_distributions.py``. What is asked is in
tests/support/distribution_cases.py.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "support"))

import torch  # noqa: E402

import distribution_cases  # noqa: E402


def shortened(value: Any, digits: int) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, list):
        return [shortened(each, digits) for each in value]
    return value


def main() -> None:
    stored: dict[str, Any] = {"answers": {}, "divergences": {}}
    for dtype, digits in (("float32", 8), ("float64", 13)):
        for name, build in distribution_cases.CASES.items():
            told = distribution_cases.answers(torch, build, dtype)
            stored["answers"][f"{name} {dtype}"] = {key: shortened(value, digits) for key, value in told.items()}
    for key, value in distribution_cases.divergences(torch, "float64").items():
        stored["divergences"][key] = shortened(value, 12)
    stored["mistakes"] = {
        name: distribution_cases.mistake(torch, build) for name, build in distribution_cases.WRONG.items()
    }
    stored["transforms"] = {
        name: shortened(distribution_cases.transformed(torch, build), 12)
        for name, build in distribution_cases.TRANSFORMS.items()
    }
    text = json.dumps(stored, separators=(",", ":")).encode()
    (HERE / "distributions.json.gz").write_bytes(gzip.compress(text, mtime=0))


if __name__ == "__main__":
    main()
