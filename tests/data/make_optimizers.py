"""Writes optimizers.json.gz: the parameters of a tiny network after 20 steps of PyTorch's optimisers with all of their
options (tests/support/optim_cases.py), for tests that run without PyTorch.

Run it with PyTorch installed: ``python tests/data/make_optimizers.py``.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

from optim_cases import ALL, twenty_steps

DIGITS = {"float32": 9, "float64": 15}


def parameters(case: str) -> dict[str, Any]:
    return {
        dtype: [float(f"{number:.{digits}g}") for number in twenty_steps(torch, case, dtype)]
        for dtype, digits in DIGITS.items()
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    text = "{" + ",\n".join([f"{json.dumps(case)}: {json.dumps(parameters(case))}" for case in ALL]) + "}\n"
    (Path(__file__).parent / "optimizers.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
