"""Writes modules/*.json.gz: what PyTorch's modules print, have and compute in three steps of training
(tests/support/module_cases.py), for tests that run without PyTorch; a file for each file of rows.

Run it with PyTorch installed: ``python tests/data/make_modules.py [file of rows ...]``.
"""

from __future__ import annotations

import gzip
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

from module_cases import DTYPES, Case, rows, trained

DIGITS = {"float32": 8, "float64": 13}


def rounded(value: Any, digits: int) -> Any:
    if isinstance(value, list):
        return [rounded(member, digits) for member in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def stored(case: Case) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {dtype: trained(torch, case, dtype) for dtype in DTYPES}
    return {dtype: {key: rounded(value, DIGITS[dtype]) for key, value in seen.items()} for dtype, seen in found.items()}


if __name__ == "__main__":
    torch.set_num_threads(1)
    for file, cases in rows().items():
        if not sys.argv[1:] or file in sys.argv[1:]:
            text = json.dumps({name: stored(case) for name, case in cases.items()}, separators=(",", ":"))
            path = Path(__file__).parent / "modules" / f"{file}.json.gz"
            if not path.exists() or gzip.decompress(path.read_bytes()) != text.encode():
                path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
                print(f"wrote {path.name}")
